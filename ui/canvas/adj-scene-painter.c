/* SPDX-License-Identifier: MIT */
/* Paints the visible part of a scene into a snapshot, by level of detail and tint. */

#include "canvas/adj-scene-painter.h"

#include <math.h>

#include "canvas/painter-private.h"

/* Smaller texts, in pixels, are not painted. */
#define MIN_TEXT_PX 5.5f
/* With more boxes, cards are plain shapes without names when zoomed out. */
#define MANY_NAMES 700
#define NARROWEST 0.5f /* how far text is squeezed before it is shortened */
#define MIN_KEPT 4     /* letters of a shortened text */

GdkRGBA
adj_color_to_rgba (const AdjColor *color)
{
  return (GdkRGBA){ color->red, color->green, color->blue, color->alpha };
}

AdjRect
adj_painter_snap (const AdjPainter *painter, const AdjRect *rect)
{
  float s = painter->frame->device_scale;
  float x0 = roundf (rect->x * s) / s, y0 = roundf (rect->y * s) / s;
  float x1 = roundf ((rect->x + rect->width) * s) / s;
  float y1 = roundf ((rect->y + rect->height) * s) / s;

  return (AdjRect){ x0, y0, MAX (x1 - x0, 1 / s), MAX (y1 - y0, 1 / s) };
}

static GskRoundedRect
rounded (const AdjRect *rect, float radius)
{
  GskRoundedRect result;
  graphene_rect_t bounds = GRAPHENE_RECT_INIT (rect->x, rect->y, rect->width, rect->height);

  gsk_rounded_rect_init_from_rect (&result, &bounds, MIN (radius, rect->height / 2));
  return result;
}

void
adj_painter_fill (AdjPainter *painter, const AdjRect *rect, float radius, const AdjColor *color)
{
  GskRoundedRect outline = rounded (rect, radius);
  GdkRGBA rgba = adj_color_to_rgba (color);

  if (radius >= 1)
    gtk_snapshot_push_rounded_clip (painter->snapshot, &outline);
  gtk_snapshot_append_color (painter->snapshot, &rgba, &outline.bounds);
  if (radius >= 1)
    gtk_snapshot_pop (painter->snapshot);
}

void
adj_painter_frame (
    AdjPainter *painter, const AdjRect *rect, float radius, float width, const AdjColor *color)
{
  GskRoundedRect outline = rounded (rect, radius);
  GdkRGBA rgba = adj_color_to_rgba (color);

  gtk_snapshot_append_border (painter->snapshot, &outline, (float[4]){ width, width, width, width },
                              (GdkRGBA[4]){ rgba, rgba, rgba, rgba });
}

static void
trace_rounded (cairo_t *cr, const AdjRect *rect, double radius)
{
  double x0 = rect->x + radius, x1 = rect->x + rect->width - radius;
  double y0 = rect->y + radius, y1 = rect->y + rect->height - radius;

  cairo_new_sub_path (cr);
  cairo_arc (cr, x1, y0, radius, -G_PI_2, 0);
  cairo_arc (cr, x1, y1, radius, 0, G_PI_2);
  cairo_arc (cr, x0, y1, radius, G_PI_2, G_PI);
  cairo_arc (cr, x0, y0, radius, G_PI, 3 * G_PI_2);
  cairo_close_path (cr);
}

void
adj_painter_dashes (AdjPainter *painter,
                    const AdjRect *rect,
                    float radius,
                    float width,
                    const double dash[2],
                    const AdjColor *color)
{
  graphene_rect_t bounds = GRAPHENE_RECT_INIT (rect->x, rect->y, rect->width, rect->height);
  AdjRect line = { rect->x + width / 2, rect->y + width / 2, rect->width - width,
                   rect->height - width };
  cairo_t *cr = gtk_snapshot_append_cairo (painter->snapshot, &bounds);

  cairo_set_source_rgba (cr, color->red, color->green, color->blue, color->alpha);
  cairo_set_line_width (cr, width);
  cairo_set_dash (cr, dash, 2, 0);
  trace_rounded (cr, &line, MIN (radius, line.height / 2));
  cairo_stroke (cr);
  cairo_destroy (cr);
}

float
adj_painter_text_width (AdjPainter *painter, AdjTextStyle style, const char *text)
{
  float width;

  adj_text_cache_get (painter->frame->texts, style, text, &width, NULL);
  return width;
}

/* Paints both ends of a text that is much too long, since names differ there. */
static void
paint_shortened (AdjPainter *painter, const AdjTextRun *run, float squeeze)
{
  glong n = g_utf8_strlen (run->text, -1);
  glong kept = MAX ((glong) ((float) n * squeeze / NARROWEST) - 2, MIN_KEPT);
  glong begin = kept * 2 / 3;
  g_autofree char *text = NULL;
  AdjTextRun shorter = *run;

  if (kept >= n - 1)
    return;
  text =
      g_strdup_printf ("%.*s…%s", (int) (g_utf8_offset_to_pointer (run->text, begin) - run->text),
                       run->text, g_utf8_offset_to_pointer (run->text, n - (kept - begin)));
  shorter.text = text;
  adj_painter_text (painter, &shorter);
}

void
adj_painter_text (AdjPainter *painter, const AdjTextRun *run)
{
  static const float sizes[ADJ_N_TEXT_STYLES] = {
    [ADJ_TEXT_TITLE] = ADJ_TITLE_SIZE,        [ADJ_TEXT_TITLE_PLAIN] = ADJ_TITLE_SIZE,
    [ADJ_TEXT_SUBTITLE] = ADJ_SUBTITLE_SIZE,  [ADJ_TEXT_CHIP] = ADJ_CHIP_TEXT_SIZE,
    [ADJ_TEXT_HEADER] = ADJ_HEADER_TEXT_SIZE, [ADJ_TEXT_SIGN] = 9,
  };
  GtkSnapshot *snapshot = painter->snapshot;
  GdkRGBA rgba = adj_color_to_rgba (run->color);
  PangoLayout *layout;
  float width, height, shown, squeeze = 1;

  if (*run->text == '\0' || sizes[run->style] * run->scale < MIN_TEXT_PX || run->max_width <= 2)
    return;

  layout = adj_text_cache_get (painter->frame->texts, run->style, run->text, &width, &height);
  shown = width * run->scale;
  if (shown > run->max_width)
    {
      squeeze = run->max_width / shown;
      if (squeeze < NARROWEST)
        {
          paint_shortened (painter, run, squeeze);
          return;
        }
      shown = run->max_width;
    }

  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT (run->x - shown * (float) run->align / 2,
                                                          run->y - height * run->scale / 2));
  gtk_snapshot_scale (snapshot, run->scale * squeeze, run->scale);
  gtk_snapshot_append_layout (snapshot, layout, &rgba);
  gtk_snapshot_restore (snapshot);
}

const AdjPalette *
adj_painter_palette_for_box (const AdjPainter *painter, guint box)
{
  const AdjHighlight *highlight = painter->frame->highlight;
  const AdjMorph *morph = painter->frame->morph;

  if (morph != NULL && (painter->frame->ghosts || !adj_morph_stays (morph, box)))
    return &painter->coming;
  return highlight == NULL || adj_highlight_has_box (highlight, box) ? &painter->lit
                                                                     : &painter->dim;
}

/* -- a frame -- */

static AdjColor
mix (const AdjColor *a, const AdjColor *b, float share)
{
  return (AdjColor){ b->red + (a->red - b->red) * share, b->green + (a->green - b->green) * share,
                     b->blue + (a->blue - b->blue) * share, a->alpha };
}

/* The palette of unlit items: all colours moved towards the background. */
static AdjPalette
dimmed (const AdjPalette *palette, float share)
{
  AdjPalette result = *palette;
  AdjColor *single[] = { &result.card,       &result.card_frame, &result.text,
                         &result.dim_text,   &result.gutter,     &result.bridge_fill,
                         &result.chip_fill,  &result.copy_fill,  &result.sign_text,
                         &result.group_frame };

  for (guint i = 0; i < G_N_ELEMENTS (single); i++)
    *single[i] = mix (single[i], &palette->background, share);
  for (guint i = 0; i < ADJ_N_EDGE_KINDS; i++)
    result.edges[i] = mix (&palette->edges[i], &palette->background, share);
  for (guint i = 0; i < ADJ_N_ROLES; i++)
    result.roles[i] = mix (&palette->roles[i], &palette->background, share);
  return result;
}

/* The palette of boxes that appear or vanish: transparent. */
static AdjPalette
fading (const AdjPalette *palette, float share)
{
  AdjPalette result = *palette;
  AdjColor *single[] = { &result.card,        &result.card_frame, &result.text,
                         &result.dim_text,    &result.group,      &result.bridge_fill,
                         &result.chip_fill,   &result.copy_fill,  &result.sign_text,
                         &result.group_frame, &result.selection };

  for (guint i = 0; i < G_N_ELEMENTS (single); i++)
    single[i]->alpha *= share;
  for (guint i = 0; i < ADJ_N_ROLES; i++)
    result.roles[i].alpha *= share;
  for (guint i = 0; i < ADJ_N_EDGE_KINDS; i++)
    result.edges[i].alpha *= share;
  return result;
}

/* The opacity of lines: those of the scene before fade out in the first half of the transition,
 * those of the next fade in in the second, since their ends move in between. */
static float
get_line_share (const AdjSceneFrame *frame)
{
  float t = frame->morph != NULL ? adj_morph_get_progress (frame->morph) : 1;

  return CLAMP (frame->ghosts ? 1 - 2 * t : 2 * t - 1, 0, 1);
}

static gboolean
collect (guint index, gpointer data)
{
  g_array_append_val ((GArray *) data, index);
  return TRUE;
}

/* Collects highlighted lines whose pieces other lines draw here. */
static gboolean
collect_lit (guint index, gpointer data)
{
  AdjPainter *painter = data;

  if (adj_highlight_has_edge (painter->frame->highlight, index))
    g_array_append_val (painter->edges, index);
  return TRUE;
}

static void
paint_kind (AdjPainter *painter, AdjBoxKind kind, void (*paint) (AdjPainter *, guint))
{
  for (guint i = 0; i < painter->boxes->len; i++)
    {
      guint index = g_array_index (painter->boxes, guint, i);

      if (adj_scene_get_box (painter->frame->scene, index)->kind == kind)
        paint (painter, index);
    }
}

static void
paint_edges (AdjPainter *painter, gboolean lit)
{
  const AdjHighlight *highlight = painter->frame->highlight;

  if (!lit && highlight == NULL)
    return;
  for (guint i = 0; i < painter->edges->len; i++)
    {
      guint index = g_array_index (painter->edges, guint, i);

      if (highlight == NULL || adj_highlight_has_edge (highlight, index) == lit)
        adj_painter_edge (painter, index);
    }
}

static void
paint_gutter (AdjPainter *painter)
{
  const AdjSceneFrame *frame = painter->frame;

  for (guint i = 0; i < painter->boxes->len; i++)
    {
      const AdjSceneBox *box =
          adj_scene_get_box (frame->scene, g_array_index (painter->boxes, guint, i));

      if (box->kind == ADJ_BOX_HEADER && box->side == ADJ_SIDE_NONE && box->rect.height > 60)
        {
          AdjRect below = { box->rect.x, box->rect.y + ADJ_BAND_TOP, box->rect.width,
                            box->rect.height - ADJ_BAND_TOP };
          AdjRect band = adj_camera_rect_to_widget (&frame->camera, &below);

          adj_painter_fill (painter, &band, 8 * frame->camera.zoom, &painter->lit.gutter);
        }
    }
}

void
adj_scene_painter_paint (const AdjSceneFrame *frame, GtkSnapshot *snapshot)
{
  const AdjPalette *palette = adj_palette_get (frame->scheme);
  gboolean contrast = frame->scheme == ADJ_SCHEME_HIGH_CONTRAST_LIGHT ||
                      frame->scheme == ADJ_SCHEME_HIGH_CONTRAST_DARK;
  g_autoptr (GArray) boxes = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (GArray) edges = g_array_new (FALSE, FALSE, sizeof (guint));
  AdjRect visible = adj_camera_visible (&frame->camera, frame->width, frame->height);
  AdjPainter painter = {
    .frame = frame,
    .snapshot = snapshot,
    .lod = adj_lod_from_zoom (frame->camera.zoom),
    .lit = *palette,
    .dim = dimmed (palette, contrast ? 0.6f : 0.35f),
    .boxes = boxes,
    .edges = edges,
    .line_share = get_line_share (frame),
  };

  if (frame->morph != NULL)
    {
      const GArray *moved =
          frame->ghosts ? adj_morph_get_ghosts (frame->morph) : adj_morph_get_boxes (frame->morph);
      float t = adj_morph_get_progress (frame->morph);

      g_array_append_vals (boxes, moved->data, moved->len);
      painter.coming = fading (palette, frame->ghosts ? 1 - t : t);
      if (frame->ghosts)
        painter.lit = painter.coming;
    }
  else
    adj_scene_foreach_box (frame->scene, &visible, collect, boxes);
  if (painter.line_share > 0)
    {
      adj_scene_foreach_edge (frame->scene, &visible, collect, edges);
      if (frame->highlight != NULL)
        adj_scene_foreach_passing_edge (frame->scene, &visible, collect_lit, &painter);
    }

  if (!frame->ghosts)
    paint_gutter (&painter);
  paint_kind (&painter, ADJ_BOX_GROUP, adj_painter_group);
  paint_edges (&painter, FALSE);
  paint_edges (&painter, TRUE);
  if (painter.lod >= ADJ_LOD_NAMES)
    paint_kind (&painter, ADJ_BOX_GROUP, adj_painter_group_title);
  if (painter.lod == ADJ_LOD_FULL && frame->labeling != ADJ_LABEL_NOTHING)
    for (guint i = 0; i < edges->len; i++)
      adj_painter_edge_label (&painter, g_array_index (edges, guint, i));
  paint_kind (&painter, ADJ_BOX_NODE, adj_painter_box);
  paint_kind (&painter, ADJ_BOX_PILL, adj_painter_box);
  paint_kind (&painter, ADJ_BOX_CHIP, adj_painter_box);
  paint_kind (&painter, ADJ_BOX_BRIDGE, adj_painter_box);
  if (painter.lod == ADJ_LOD_MODULES && boxes->len <= MANY_NAMES)
    {
      paint_kind (&painter, ADJ_BOX_NODE, adj_painter_plain_name);
      paint_kind (&painter, ADJ_BOX_PILL, adj_painter_plain_name);
    }
  if (painter.lod == ADJ_LOD_MODULES)
    paint_kind (&painter, ADJ_BOX_GROUP, adj_painter_group_title);
  if (!frame->ghosts)
    adj_painter_headers (&painter);
}
