/* SPDX-License-Identifier: MIT */
/* Printing of the shown graph. */

#include "window/window-printing.h"

#include <glib/gi18n.h>
#include <math.h>

#include "scene/paint-cairo.h"
#include "window/window-private.h"

#define LARGEST 0.75 /* points per unit: the size on the screen at 100 % */

guint
adj_print_count_pages (const AdjRect *bounds, double width, double height, double *scale)
{
  *scale = MIN (LARGEST, width / MAX (bounds->width, 1));
  return (guint) MAX (ceil (bounds->height * *scale / height), 1);
}

static void
on_begin (GtkPrintOperation *operation, GtkPrintContext *context, AdjScene *scene)
{
  AdjRect bounds = adj_scene_get_bounds (scene);
  double scale;

  gtk_print_operation_set_n_pages (
      operation, (int) adj_print_count_pages (&bounds, gtk_print_context_get_width (context),
                                              gtk_print_context_get_height (context), &scale));
}

static void
on_draw (GtkPrintOperation *operation, GtkPrintContext *context, int page, AdjScene *scene)
{
  double width = gtk_print_context_get_width (context);
  double height = gtk_print_context_get_height (context), scale;
  AdjRect bounds = adj_scene_get_bounds (scene), part = bounds;
  AdjPaintOptions options = { .scheme = ADJ_SCHEME_LIGHT, .part = &part };
  cairo_t *cr = gtk_print_context_get_cairo_context (context);

  adj_print_count_pages (&bounds, width, height, &scale);
  part.y += (float) (page * height / scale);
  part.height = MIN ((float) (height / scale), bounds.y + bounds.height - part.y);
  cairo_rectangle (cr, 0, 0, width, part.height * scale);
  cairo_clip (cr);
  cairo_scale (cr, scale, scale);
  cairo_translate (cr, -part.x, -part.y);
  adj_scene_paint (scene, cr, &options);
}

GtkPrintOperation *
adj_print_new (AdjScene *scene, const char *title)
{
  GtkPrintOperation *operation = gtk_print_operation_new ();

  gtk_print_operation_set_job_name (operation, title);
  g_signal_connect_data (operation, "begin-print", G_CALLBACK (on_begin), adj_scene_ref (scene),
                         (GClosureNotify) (void (*) (void)) adj_scene_unref, 0);
  g_signal_connect_data (operation, "draw-page", G_CALLBACK (on_draw), adj_scene_ref (scene),
                         (GClosureNotify) (void (*) (void)) adj_scene_unref, 0);
  return operation;
}

void
adj_print (AdjWindow *self, GVariant *unused)
{
  AdjScene *scene = adj_document_get_scene (self->document);
  g_autoptr (GtkPrintOperation) operation = NULL;
  g_autoptr (GError) error = NULL;

  if (scene == NULL)
    return;
  operation = adj_print_new (scene, adj_document_get_title (self->document));
  if (gtk_print_operation_run (operation, GTK_PRINT_OPERATION_ACTION_PRINT_DIALOG,
                               GTK_WINDOW (self), &error) == GTK_PRINT_OPERATION_RESULT_ERROR)
    adj_window_remark (self, error->message);
}
