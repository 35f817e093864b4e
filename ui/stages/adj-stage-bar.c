/* SPDX-License-Identifier: MIT */
/* The bar of stages above the canvas. */

#include "stages/adj-stage-bar.h"

#include <glib/gi18n.h>

#include "ir/adj-graph.h"
#include "model/adj-stages.h"

struct _AdjStageBar
{
  AdjPanel parent_instance;

  GtkBox *stages;
  AdjRecording *recording; /* (owned) (nullable): whose buttons are there */
  gboolean updating;
};

G_DEFINE_FINAL_TYPE (AdjStageBar, adj_stage_bar, ADJ_TYPE_PANEL)

static gint
count_change (const AdjRecording *recording, const AdjStage *stage)
{
  const AdjStage *from = adj_recording_get_stage (recording, (guint) stage->from);

  return (gint) adj_graph_get_n_calls (stage->graph) - (gint) adj_graph_get_n_calls (from->graph);
}

/* "62 nodes, +21, 4.1 ms" */
static char *
describe (const AdjRecording *recording, const AdjStage *stage)
{
  GString *text = g_string_new (NULL);

  if (stage->graph == NULL)
    g_string_append (text, _ ("failed"));
  else
    g_string_append_printf (text, _ ("%u nodes"), adj_graph_get_n_calls (stage->graph));
  if (stage->graph != NULL && stage->from >= 0)
    {
      gint change = count_change (recording, stage);

      if (change != 0)
        g_string_append_printf (text, ", %s%d", change > 0 ? "+" : "−", ABS (change));
      else
        g_string_append (text, _ (", as many"));
    }
  if (stage->ns >= 0)
    g_string_append_printf (text, ", %.1f ms", (double) stage->ns / 1e6);
  return g_string_free (text, FALSE);
}

static void
on_toggled (GtkToggleButton *button, AdjStageBar *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  guint stage = GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (button), "stage"));

  if (!self->updating && document != NULL && gtk_toggle_button_get_active (button))
    adj_stages_show (document, stage);
}

static GtkWidget *
make_button (const AdjRecording *recording, guint index)
{
  const AdjStage *stage = adj_recording_get_stage (recording, index);
  g_autofree char *description = describe (recording, stage);
  g_autofree char *label = g_strdup_printf ("%s, %s", stage->name, description);
  GtkWidget *button = gtk_toggle_button_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *title = gtk_label_new (stage->name);
  GtkWidget *details = gtk_label_new (description);

  gtk_widget_add_css_class (details, "caption");
  gtk_widget_add_css_class (details, "dim-label");
  gtk_widget_add_css_class (details, "numeric");
  gtk_box_append (GTK_BOX (box), title);
  gtk_box_append (GTK_BOX (box), details);
  gtk_button_set_child (GTK_BUTTON (button), box);
  gtk_widget_set_tooltip_text (button, stage->failure != NULL ? stage->failure : stage->summary);
  if (stage->failure != NULL)
    gtk_widget_add_css_class (button, "failed");
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, label,
                                  -1);
  g_object_set_data (G_OBJECT (button), "stage", GUINT_TO_POINTER (index));
  return button;
}

static void
remove_all (AdjStageBar *self)
{
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->stages))))
    gtk_box_remove (self->stages, child);
}

static void
fill (AdjStageBar *self)
{
  GtkToggleButton *first = NULL;

  for (guint i = 0; i < adj_recording_get_n_stages (self->recording); i++)
    {
      GtkWidget *button = make_button (self->recording, i);

      if (i > 0)
        gtk_box_append (self->stages, gtk_image_new_from_icon_name ("go-next-symbolic"));
      if (first != NULL)
        gtk_toggle_button_set_group (GTK_TOGGLE_BUTTON (button), first);
      else
        first = GTK_TOGGLE_BUTTON (button);
      g_signal_connect (button, "toggled", G_CALLBACK (on_toggled), self);
      gtk_box_append (self->stages, button);
    }
}

static void
mark_current (AdjStageBar *self, gint current)
{
  GtkWidget *child = gtk_widget_get_first_child (GTK_WIDGET (self->stages));

  self->updating = TRUE;
  for (; child != NULL; child = gtk_widget_get_next_sibling (child))
    if (GTK_IS_TOGGLE_BUTTON (child))
      gtk_toggle_button_set_active (
          GTK_TOGGLE_BUTTON (child),
          GPOINTER_TO_INT (g_object_get_data (G_OBJECT (child), "stage")) == current);
  self->updating = FALSE;
}

static void
update (AdjStageBar *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  AdjRecording *recording = document != NULL ? adj_stages_get_recording (document) : NULL;

  if (recording != self->recording)
    {
      remove_all (self);
      g_clear_pointer (&self->recording, adj_recording_unref);
      if (recording != NULL)
        {
          self->recording = adj_recording_ref (recording);
          fill (self);
        }
    }
  gtk_widget_set_visible (GTK_WIDGET (self), recording != NULL);
  if (recording != NULL)
    mark_current (self, adj_stages_get_current (document));
}

static void
adj_stage_bar_dispose (GObject *object)
{
  g_clear_pointer (&ADJ_STAGE_BAR (object)->recording, adj_recording_unref);

  G_OBJECT_CLASS (adj_stage_bar_parent_class)->dispose (object);
}

static void
adj_stage_bar_class_init (AdjStageBarClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = adj_stage_bar_dispose;
  ADJ_PANEL_CLASS (klass)->update = (AdjPanelUpdate) update;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/stage-bar.ui");
  gtk_widget_class_bind_template_child (widget_class, AdjStageBar, stages);
}

static void
adj_stage_bar_init (AdjStageBar *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  adj_panel_watch (ADJ_PANEL (self), "notify::bundle", G_CALLBACK (update));
  adj_panel_watch (ADJ_PANEL (self), "notify::graph-index", G_CALLBACK (update));
  adj_panel_watch (ADJ_PANEL (self), "notify::problem", G_CALLBACK (update));
}
