/* SPDX-License-Identifier: MIT */
/* The widget that paints a difference map and lets an element be chosen. */

#include "panel/adj-difference-view.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>

#include "canvas/adj-graph-view.h"
#include "canvas/adj-heat.h"
#include "canvas/adj-scene-painter.h"

#define GRID_FROM 7 /* pixels: larger cells are separated by lines */
#define MAX_CELL 36 /* pixels: greatest size of a cell */
#define MIN_WIDTH 160
#define MIN_HEIGHT 80

struct _AdjDifferenceView
{
  GtkWidget parent_instance;

  const AdjDifferenceMap *map; /* (unowned) (nullable) */
  gint64 element;              /* row-major; -1: none */
  gint64 hovered;              /* element under the pointer; -1: none */
  GdkTexture *picture;         /* (owned) (nullable): cells at their present size */
};

G_DEFINE_FINAL_TYPE (AdjDifferenceView, adj_difference_view, GTK_TYPE_WIDGET)

static guint described_signal;

/* The area of the cells, in pixels of the widget; cells are square if there is room. */
static AdjRect
get_area (AdjDifferenceView *self)
{
  float width = gtk_widget_get_width (GTK_WIDGET (self));
  float height = gtk_widget_get_height (GTK_WIDGET (self));
  float columns = adj_difference_map_get_n_columns (self->map);
  float rows = adj_difference_map_get_n_rows (self->map);

  return (AdjRect){ 0, 0, MIN (width, columns * MAX_CELL), MIN (height, rows * MAX_CELL) };
}

/* -- the cells -- */

/* The colour of a difference: 0 has the card's colour; the square root makes small ones visible
 * beside the largest. */
static float
get_share (const AdjDifferenceMap *map, double delta)
{
  if (!(delta > 0) || map->max <= 0)
    return 0;
  return (float) (0.1 + 0.9 * sqrt (delta / map->max));
}

/* The worst of the cells under a pixel, so that a single one is visible. */
static double
worst_of (const AdjDifferenceMap *map, const gint64 rows[2], const gint64 columns[2])
{
  double worst = 0;

  for (gint64 r = rows[0]; r < rows[1]; r++)
    for (gint64 c = columns[0]; c < columns[1]; c++)
      {
        double delta = map->delta[adj_difference_map_index (map, r, c)];

        if (isnan (delta))
          return NAN;
        worst = MAX (worst, delta);
      }
  return worst;
}

static void
put_color (guchar *pixel, const AdjColor *color)
{
  pixel[0] = (guchar) (color->red * 255 + 0.5f);
  pixel[1] = (guchar) (color->green * 255 + 0.5f);
  pixel[2] = (guchar) (color->blue * 255 + 0.5f);
}

/* The range of @cells that pixel @at of @n covers. */
static void
get_stretch (int at, int n, gint64 cells, gint64 out[2])
{
  out[0] = at * cells / n;
  out[1] = MAX ((at + 1) * cells / n, out[0] + 1);
}

static GdkTexture *
paint_cells (const AdjDifferenceMap *map, int width, int height, AdjScheme scheme)
{
  gsize stride = (gsize) width * 3;
  guchar *pixels = g_malloc (stride * (gsize) height);
  g_autoptr (GBytes) bytes = g_bytes_new_take (pixels, stride * (gsize) height);
  const AdjColor *odd = &adj_palette_get (scheme)->roles[ADJ_ROLE_OPAQUE];

  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      {
        gint64 rows[2], columns[2];
        double delta;
        AdjColor color;

        get_stretch (y, height, adj_difference_map_get_n_rows (map), rows);
        get_stretch (x, width, adj_difference_map_get_n_columns (map), columns);
        delta = worst_of (map, rows, columns);
        color = isnan (delta) ? *odd : adj_heat_color (get_share (map, delta), scheme);
        put_color (pixels + (gsize) y * stride + (gsize) x * 3, &color);
      }
  return gdk_memory_texture_new (width, height, GDK_MEMORY_R8G8B8, bytes, stride);
}

static void
forget_picture (AdjDifferenceView *self)
{
  g_clear_object (&self->picture);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
paint_lines (AdjDifferenceView *self, GtkSnapshot *snapshot, const AdjRect *area, GdkRGBA color)
{
  gint64 rows = adj_difference_map_get_n_rows (self->map);
  gint64 columns = adj_difference_map_get_n_columns (self->map);

  color.alpha = 0.12f;
  for (gint64 c = 0; area->width >= columns * GRID_FROM && c <= columns; c++)
    gtk_snapshot_append_color (
        snapshot, &color,
        &GRAPHENE_RECT_INIT (roundf (area->width * c / columns), 0, 1, area->height));
  for (gint64 r = 0; area->height >= rows * GRID_FROM && r <= rows; r++)
    gtk_snapshot_append_color (
        snapshot, &color,
        &GRAPHENE_RECT_INIT (0, roundf (area->height * r / rows), area->width, 1));
}

static void
paint_frame (AdjDifferenceView *self,
             GtkSnapshot *snapshot,
             const AdjRect *area,
             gint64 element,
             const GdkRGBA *color)
{
  gint64 row, column;
  float width = area->width / adj_difference_map_get_n_columns (self->map);
  float height = area->height / adj_difference_map_get_n_rows (self->map);
  graphene_rect_t cell;

  if (element < 0 || !adj_difference_map_find (self->map, element, &row, &column))
    return;
  /* A small cell is marked by a frame around it. */
  cell = GRAPHENE_RECT_INIT (column * width + width / 2 - MAX (width, 8) / 2,
                             row * height + height / 2 - MAX (height, 8) / 2, MAX (width, 8),
                             MAX (height, 8));
  gtk_snapshot_append_border (
      snapshot,
      &GSK_ROUNDED_RECT_INIT (cell.origin.x, cell.origin.y, cell.size.width, cell.size.height),
      (float[4]){ 2, 2, 2, 2 }, (GdkRGBA[4]){ *color, *color, *color, *color });
}

static void
paint_element (AdjDifferenceView *self, GtkSnapshot *snapshot, const AdjRect *area)
{
  const AdjPalette *palette = adj_palette_get (adj_scheme_from_style ());
  GdkRGBA chosen = adj_color_to_rgba (&palette->selection);
  GdkRGBA hovered = adj_color_to_rgba (&palette->text);

  hovered.alpha = 0.6f;
  if (self->hovered != self->element)
    paint_frame (self, snapshot, area, self->hovered, &hovered);
  paint_frame (self, snapshot, area, self->element, &chosen);
}

static void
adj_difference_view_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  AdjDifferenceView *self = ADJ_DIFFERENCE_VIEW (widget);
  int scale = gtk_widget_get_scale_factor (widget);
  AdjScheme scheme = adj_scheme_from_style ();
  AdjRect area;

  if (self->map == NULL)
    return;
  area = get_area (self);
  if (area.width < 1 || area.height < 1)
    return;
  if (self->picture == NULL)
    self->picture =
        paint_cells (self->map, (int) area.width * scale, (int) area.height * scale, scheme);
  gtk_snapshot_append_texture (snapshot, self->picture,
                               &GRAPHENE_RECT_INIT (0, 0, area.width, area.height));
  paint_lines (self, snapshot, &area, adj_color_to_rgba (&adj_palette_get (scheme)->text));
  paint_element (self, snapshot, &area);
}

static void
adj_difference_view_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  g_clear_object (&ADJ_DIFFERENCE_VIEW (widget)->picture);
}

static void
adj_difference_view_measure (GtkWidget *widget,
                             GtkOrientation orientation,
                             int for_size,
                             int *minimum,
                             int *natural,
                             int *minimum_baseline,
                             int *natural_baseline)
{
  *minimum = *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? MIN_WIDTH : MIN_HEIGHT;
}

/* -- choosing -- */

static void
choose (AdjDifferenceView *self, gint64 element)
{
  adj_difference_view_set_element (self, element);
  g_signal_emit (self, described_signal, 0);
}

/* The element at a point, or the nearest one. */
static gint64
nearest (AdjDifferenceView *self, double x, double y)
{
  AdjRect area = get_area (self);
  gint64 rows = adj_difference_map_get_n_rows (self->map);
  gint64 columns = adj_difference_map_get_n_columns (self->map);
  gint64 row = (gint64) floor (y / MAX (area.height, 1) * rows);
  gint64 column = (gint64) floor (x / MAX (area.width, 1) * columns);

  return adj_difference_map_index (self->map, CLAMP (row, 0, rows - 1),
                                   CLAMP (column, 0, columns - 1));
}

static gboolean
is_inside (AdjDifferenceView *self, double x, double y)
{
  AdjRect area;

  if (self->map == NULL)
    return FALSE;
  area = get_area (self);
  return x >= 0 && y >= 0 && x < area.width && y < area.height;
}

static void
hover (AdjDifferenceView *self, gint64 element)
{
  if (element == self->hovered)
    return;
  self->hovered = element;
  gtk_widget_queue_draw (GTK_WIDGET (self));
  g_signal_emit (self, described_signal, 0);
}

static void
on_motion (AdjDifferenceView *self, double x, double y)
{
  hover (self, is_inside (self, x, y) ? nearest (self, x, y) : -1);
}

static void
on_leave (AdjDifferenceView *self)
{
  hover (self, -1);
}

static void
on_drag_begin (GtkGestureDrag *drag, double x, double y, AdjDifferenceView *self)
{
  gtk_widget_grab_focus (GTK_WIDGET (self));
  if (is_inside (self, x, y))
    choose (self, nearest (self, x, y));
  else
    gtk_gesture_set_state (GTK_GESTURE (drag), GTK_EVENT_SEQUENCE_DENIED);
}

static void
on_drag_update (GtkGestureDrag *drag, double dx, double dy, AdjDifferenceView *self)
{
  double x, y;

  if (self->map != NULL && gtk_gesture_drag_get_start_point (drag, &x, &y))
    choose (self, nearest (self, x + dx, y + dy));
}

static gboolean
on_arrow (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjDifferenceView *self = ADJ_DIFFERENCE_VIEW (widget);
  gint64 row = 0, column = 0;
  gint32 dx, dy;

  if (self->map == NULL)
    return FALSE;
  g_variant_get (args, "(ii)", &dx, &dy);
  if (self->element < 0 || !adj_difference_map_find (self->map, self->element, &row, &column))
    dx = dy = 0;
  row = CLAMP (row + dy, 0, adj_difference_map_get_n_rows (self->map) - 1);
  column = CLAMP (column + dx, 0, adj_difference_map_get_n_columns (self->map) - 1);
  choose (self, adj_difference_map_index (self->map, row, column));
  return TRUE;
}

void
adj_difference_view_set_map (AdjDifferenceView *self, const AdjDifferenceMap *map)
{
  self->map = map;
  self->hovered = -1;
  if (map == NULL || self->element >= map->n)
    self->element = -1;
  forget_picture (self);
}

gint64
adj_difference_view_get_element (AdjDifferenceView *self)
{
  return self->element;
}

gint64
adj_difference_view_get_described (AdjDifferenceView *self)
{
  return self->hovered >= 0 ? self->hovered : self->element;
}

void
adj_difference_view_set_element (AdjDifferenceView *self, gint64 index)
{
  g_autofree char *text = NULL;

  self->element = index;
  text = index >= 0 && self->map != NULL ? adj_difference_map_describe (self->map, index)
                                         : g_strdup (_ ("No element is chosen"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Difference map"), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text,
                                  -1);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
adj_difference_view_dispose (GObject *object)
{
  g_clear_object (&ADJ_DIFFERENCE_VIEW (object)->picture);

  G_OBJECT_CLASS (adj_difference_view_parent_class)->dispose (object);
}

static void
adj_difference_view_class_init (AdjDifferenceViewClass *klass)
{
  static const struct
  {
    guint key;
    gint32 dx, dy;
  } arrows[] = {
    { GDK_KEY_Left, -1, 0 },    { GDK_KEY_KP_Left, -1, 0 }, { GDK_KEY_Right, 1, 0 },
    { GDK_KEY_KP_Right, 1, 0 }, { GDK_KEY_Up, 0, -1 },      { GDK_KEY_KP_Up, 0, -1 },
    { GDK_KEY_Down, 0, 1 },     { GDK_KEY_KP_Down, 0, 1 },
  };
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = adj_difference_view_dispose;
  widget_class->snapshot = adj_difference_view_snapshot;
  widget_class->size_allocate = adj_difference_view_size_allocate;
  widget_class->measure = adj_difference_view_measure;
  described_signal = g_signal_new ("described", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                                   NULL, NULL, NULL, G_TYPE_NONE, 0);
  for (guint i = 0; i < G_N_ELEMENTS (arrows); i++)
    gtk_widget_class_add_binding (widget_class, arrows[i].key, 0, on_arrow, "(ii)", arrows[i].dx,
                                  arrows[i].dy);
  gtk_widget_class_set_css_name (widget_class, "differenceview");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
adj_difference_view_init (AdjDifferenceView *self)
{
  AdwStyleManager *style = adw_style_manager_get_default ();
  GtkGesture *drag = gtk_gesture_drag_new ();
  GtkEventController *motion = gtk_event_controller_motion_new ();

  self->hovered = -1;
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  g_signal_connect (drag, "drag-begin", G_CALLBACK (on_drag_begin), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (on_drag_update), self);
  g_signal_connect_swapped (motion, "enter", G_CALLBACK (on_motion), self);
  g_signal_connect_swapped (motion, "motion", G_CALLBACK (on_motion), self);
  g_signal_connect_swapped (motion, "leave", G_CALLBACK (on_leave), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (drag));
  gtk_widget_add_controller (GTK_WIDGET (self), motion);
  g_signal_connect_object (style, "notify::dark", G_CALLBACK (forget_picture), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (style, "notify::high-contrast", G_CALLBACK (forget_picture), self,
                           G_CONNECT_SWAPPED);
  adj_difference_view_set_element (self, -1);
}
