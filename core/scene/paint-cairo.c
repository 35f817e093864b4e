/* SPDX-License-Identifier: MIT */
/* Paints a scene with cairo, for SVG, PNG and PDF. */

#include "scene/paint-cairo.h"

#include <gio/gio.h>
#include <math.h>
#include <pango/pangocairo.h>

#include "scene/adj-font.h"
#include "scene/paint-cairo-private.h"

#define FAMILY "Cantarell, DejaVu Sans, sans-serif"
#define MIN_TEXT_PX 5.0f
#define SIGN_RADIUS 7.5f
#define SIGN_SIZE 9.5f
#define TEXT_INSET 13.0f
#define REPORT_EVERY 64 /* boxes and lines between two reports */

typedef enum
{
  ALIGN_LEFT,
  ALIGN_CENTER,
  ALIGN_RIGHT,
} Align;

static void
round_rect (CairoPainter *self, const AdjRect *r, float radius)
{
  cairo_t *cr = self->cr;

  radius = MIN (radius, MIN (r->width, r->height) / 2);
  cairo_new_sub_path (cr);
  cairo_arc (cr, r->x + r->width - radius, r->y + radius, radius, -G_PI_2, 0);
  cairo_arc (cr, r->x + r->width - radius, r->y + r->height - radius, radius, 0, G_PI_2);
  cairo_arc (cr, r->x + radius, r->y + r->height - radius, radius, G_PI_2, G_PI);
  cairo_arc (cr, r->x + radius, r->y + radius, radius, G_PI, 3 * G_PI_2);
  cairo_close_path (cr);
}

/* The outline of a card: of an object with its corners cut off, @inset inside of
 * its rectangle. */
static void
trace_card (CairoPainter *self, const AdjSceneBox *box, float inset, float radius)
{
  AdjRect r = { box->rect.x + inset, box->rect.y + inset, box->rect.width - 2 * inset,
                box->rect.height - 2 * inset };
  AdjPoint points[8];

  if (!box->object)
    {
      round_rect (self, &r, radius);
      return;
    }
  adj_rect_cut_corners (&r, ADJ_CARD_CUT - inset / 2, points);
  cairo_new_sub_path (self->cr);
  for (guint i = 0; i < G_N_ELEMENTS (points); i++)
    cairo_line_to (self->cr, points[i].x, points[i].y);
  cairo_close_path (self->cr);
}

typedef struct
{
  AdjFont font;
  float size;
  Align align;
  const AdjColor *color;
} Style;

/* Draws one line of text centred at @y, squeezed where this machine's font is wider than the table
 * of the layout. */
static void
draw_text (CairoPainter *self, const Style *style, const char *text, float x, float y)
{
  PangoFontDescription *font;
  PangoRectangle extents;
  float wanted = adj_font_measure (style->font, style->size, text), squeeze, width;

  if (!*text || style->size < self->min_size)
    return;
  font = pango_font_description_from_string (FAMILY);
  pango_font_description_set_absolute_size (font, style->size * PANGO_SCALE);
  pango_font_description_set_weight (font, style->font == ADJ_FONT_BOLD ? PANGO_WEIGHT_BOLD
                                                                        : PANGO_WEIGHT_NORMAL);
  pango_layout_set_font_description (self->layout, font);
  pango_layout_set_text (self->layout, text, -1);
  pango_layout_get_extents (self->layout, NULL, &extents);
  width = (float) extents.width / PANGO_SCALE;
  squeeze = width > wanted * 1.03f ? wanted * 1.03f / width : 1;

  x -= style->align == ALIGN_CENTER  ? width * squeeze / 2
       : style->align == ALIGN_RIGHT ? width * squeeze
                                     : 0;
  cairo_painter_set_color (self, style->color);
  cairo_save (self->cr);
  cairo_translate (self->cr, x, y - (float) extents.height / PANGO_SCALE / 2);
  cairo_scale (self->cr, squeeze, 1);
  pango_cairo_show_layout (self->cr, self->layout);
  cairo_restore (self->cr);
  pango_font_description_free (font);
}

static void
set_frame_style (CairoPainter *self, AdjFrameStyle frame)
{
  static const struct
  {
    double dash[2];
    float width; /* width of a plain frame */
  } styles[] = {
    [ADJ_FRAME_SOLID] = { { 0, 0 }, 1.2f },      [ADJ_FRAME_DOUBLE] = { { 0, 0 }, 1.2f },
    [ADJ_FRAME_DASHED] = { { 5, 3 }, 1.3f },     [ADJ_FRAME_HEAVY_DASHED] = { { 6, 3 }, 1.9f },
    [ADJ_FRAME_DOTTED] = { { 1.5, 2.5 }, 1.2f }, [ADJ_FRAME_THICK] = { { 0, 0 }, 1.8f },
  };

  cairo_set_line_width (self->cr, self->palette->frame_width * styles[frame].width);
  cairo_set_dash (self->cr, styles[frame].dash, styles[frame].dash[0] > 0 ? 2 : 0, 0);
}

static void
stroke_frame (CairoPainter *self, const AdjSceneBox *box, float radius)
{
  AdjFrameStyle frame = adj_role_frame (box->role);

  cairo_painter_set_color (self, &self->palette->roles[box->role]);
  set_frame_style (self, frame);
  trace_card (self, box, 0, radius);
  cairo_stroke (self->cr);
  if (frame == ADJ_FRAME_DOUBLE)
    {
      cairo_set_line_width (self->cr, 1);
      trace_card (self, box, 3, MAX (radius - 2, 1));
      cairo_stroke (self->cr);
    }
  cairo_set_dash (self->cr, NULL, 0, 0);
}

static void
draw_stripe (CairoPainter *self, const AdjSceneBox *box)
{
  const AdjRect *rect = &box->rect;

  cairo_save (self->cr);
  trace_card (self, box, 0, ADJ_CARD_RADIUS);
  cairo_clip (self->cr);
  cairo_painter_set_color (self, &self->palette->roles[box->role]);
  cairo_rectangle (self->cr, rect->x, rect->y, ADJ_STRIPE_WIDTH, rect->height);
  if (!adj_role_is_hatched (box->role))
    cairo_fill (self->cr);
  else
    {
      cairo_clip (self->cr);
      cairo_set_line_width (self->cr, 2);
      for (float y = rect->y - 4; y < rect->y + rect->height + 8; y += 5)
        {
          cairo_move_to (self->cr, rect->x - 1, y + 7);
          cairo_line_to (self->cr, rect->x + 8, y - 2);
        }
      cairo_stroke (self->cr);
    }
  cairo_restore (self->cr);
}

static float
sign_width (AdjRole role)
{
  const char *sign = adj_role_sign (role);

  return *sign ? 2 * SIGN_RADIUS + (g_utf8_strlen (sign, -1) > 1 ? 6 : 0) : 0;
}

/* The disc, @right being its right end. */
static void
draw_sign (CairoPainter *self, AdjRole role, float right, float y)
{
  float width = sign_width (role);
  AdjRect disc = { right - width, y - SIGN_RADIUS, width, 2 * SIGN_RADIUS };
  Style style = { ADJ_FONT_BOLD, SIGN_SIZE, ALIGN_CENTER, &self->palette->sign_text };

  if (width == 0)
    return;
  cairo_painter_set_color (self, &self->palette->roles[role]);
  round_rect (self, &disc, SIGN_RADIUS);
  cairo_fill (self->cr);
  draw_text (self, &style, adj_role_sign (role), right - width / 2, y);
}

static void
draw_node (CairoPainter *self, const AdjSceneBox *box)
{
  const AdjPalette *p = self->palette;
  gboolean copy = box->role == ADJ_ROLE_RECOMPUTE_COPY;
  Style title = { copy ? ADJ_FONT_REGULAR : ADJ_FONT_BOLD, ADJ_TITLE_SIZE, ALIGN_LEFT, &p->text };
  Style subtitle = { ADJ_FONT_REGULAR, ADJ_SUBTITLE_SIZE, ALIGN_LEFT, &p->dim_text };
  const AdjRect *r = &box->rect;

  cairo_painter_set_color (self, copy ? &p->copy_fill : &p->card);
  trace_card (self, box, 0, ADJ_CARD_RADIUS);
  cairo_fill (self->cr);
  if (adj_role_has_stripe (box->role))
    draw_stripe (self, box);
  stroke_frame (self, box, ADJ_CARD_RADIUS);
  draw_text (self, &title, box->title, r->x + TEXT_INSET,
             r->y + r->height * (*box->subtitle ? 0.33f : 0.5f));
  draw_text (self, &subtitle, box->subtitle, r->x + TEXT_INSET, r->y + r->height * 0.72f);
  draw_sign (self, box->role, r->x + r->width - 4, r->y + 4 + SIGN_RADIUS);
}

static void
draw_pill (CairoPainter *self, const AdjSceneBox *box)
{
  const AdjPalette *p = self->palette;
  Style title = { ADJ_FONT_BOLD, ADJ_TITLE_SIZE, ALIGN_CENTER, &p->text };
  const AdjRect *r = &box->rect;

  cairo_painter_set_color (self, &p->card);
  round_rect (self, r, r->height / 2);
  cairo_fill (self->cr);
  stroke_frame (self, box, r->height / 2);
  draw_text (self, &title, box->title, r->x + r->width / 2, r->y + r->height / 2);
}

/* Draws a chip with the short line to its card. */
static void
draw_chip (CairoPainter *self, const AdjSceneBox *box)
{
  const AdjPalette *p = self->palette;
  Style title = { ADJ_FONT_BOLD, ADJ_CHIP_TEXT_SIZE, ALIGN_CENTER,
                  box->role == ADJ_ROLE_NONE ? &p->dim_text : &p->roles[box->role] };
  const AdjRect *r = &box->rect;
  float y = r->y + r->height / 2;

  cairo_painter_set_color (self, &p->roles[box->role]);
  cairo_set_line_width (self->cr, 1);
  if (box->anchor != ADJ_NO_BOX)
    {
      const AdjRect *card = &adj_scene_get_box (self->scene, box->anchor)->rect;

      cairo_move_to (self->cr, r->x < card->x ? r->x + r->width : r->x, y);
      cairo_line_to (self->cr, r->x < card->x ? card->x : card->x + card->width, y);
      cairo_stroke (self->cr);
    }
  cairo_painter_set_color (self, box->role == ADJ_ROLE_PARAMETER ? &p->chip_fill
                                 : box->role == ADJ_ROLE_SAVED   ? &p->bridge_fill
                                                                 : &p->card);
  round_rect (self, r, 4);
  cairo_fill_preserve (self->cr);
  cairo_painter_set_color (self, &p->roles[box->role]);
  cairo_stroke (self->cr);
  draw_text (self, &title, box->title, r->x + r->width / 2, y);
}

static void
draw_bridge (CairoPainter *self, const AdjSceneBox *box)
{
  const AdjPalette *p = self->palette;
  gboolean saved = box->role == ADJ_ROLE_SAVED;
  AdjColor edge = p->edges[saved ? ADJ_EDGE_BRIDGE : ADJ_EDGE_RECOMPUTE];
  Style title = { ADJ_FONT_BOLD, ADJ_CHIP_TEXT_SIZE, ALIGN_CENTER, &edge };
  static const double dashes[] = { 4, 3 };

  cairo_painter_set_color (self, saved ? &p->bridge_fill : &p->copy_fill);
  round_rect (self, &box->rect, box->rect.height / 2);
  cairo_fill_preserve (self->cr);
  cairo_painter_set_color (self, &edge);
  cairo_set_line_width (self->cr, p->frame_width);
  cairo_set_dash (self->cr, dashes, saved ? 0 : 2, 0);
  cairo_stroke (self->cr);
  cairo_set_dash (self->cr, NULL, 0, 0);
  draw_text (self, &title, box->title, box->rect.x + box->rect.width / 2,
             box->rect.y + box->rect.height / 2);
}

static void
draw_band (CairoPainter *self, const AdjSceneBox *box)
{
  const AdjPalette *p = self->palette;
  AdjRect band = { box->rect.x, box->rect.y + 36, box->rect.width, box->rect.height - 36 };

  cairo_painter_set_color (self, &p->gutter);
  round_rect (self, &band, ADJ_CARD_RADIUS);
  cairo_fill (self->cr);
}

static void
draw_header (CairoPainter *self, const AdjSceneBox *box)
{
  const AdjPalette *p = self->palette;
  gboolean gutter = box->side == ADJ_SIDE_NONE;
  Style title = { ADJ_FONT_BOLD, ADJ_HEADER_TEXT_SIZE, ALIGN_CENTER,
                  gutter ? &p->edges[ADJ_EDGE_BRIDGE] : &p->dim_text };
  Style subtitle = { ADJ_FONT_BOLD, ADJ_SUBTITLE_SIZE + 1, ALIGN_CENTER,
                     &p->edges[ADJ_EDGE_BRIDGE] };
  float x = box->rect.x + box->rect.width / 2;

  draw_text (self, &title, box->title, x, box->rect.y + (gutter ? 8 : 12));
  if (gutter)
    draw_text (self, &subtitle, box->subtitle, x, box->rect.y + 25);
}

static void
draw_group (CairoPainter *self, const AdjSceneBox *box)
{
  const AdjPalette *p = self->palette;

  cairo_painter_set_color (self, &p->group);
  round_rect (self, &box->rect, ADJ_GROUP_RADIUS);
  cairo_fill_preserve (self->cr);
  cairo_painter_set_color (self, &p->group_frame);
  cairo_set_line_width (self->cr, p->frame_width);
  cairo_stroke (self->cr);
}

static void
draw_triangle (CairoPainter *self, float x, float y, gboolean open)
{
  cairo_painter_set_color (self, &self->palette->text);
  if (open)
    {
      cairo_move_to (self->cr, x, y - 2.5);
      cairo_line_to (self->cr, x + 7, y - 2.5);
      cairo_line_to (self->cr, x + 3.5, y + 3);
    }
  else
    {
      cairo_move_to (self->cr, x + 1, y - 3.5);
      cairo_line_to (self->cr, x + 6.5, y);
      cairo_line_to (self->cr, x + 1, y + 3.5);
    }
  cairo_close_path (self->cr);
  cairo_fill (self->cr);
}

/* Clears the ground behind a text, since lines run through frames. */
static void
clear_behind (CairoPainter *self, float x, float y, float width)
{
  AdjRect behind = { x - 3, y - 8, width + 6, 16 };

  cairo_painter_set_color (self, &self->palette->group);
  round_rect (self, &behind, 3);
  cairo_fill (self->cr);
}

static void
draw_group_title (CairoPainter *self, const AdjSceneBox *box)
{
  const AdjPalette *p = self->palette;
  Style title = { ADJ_FONT_BOLD, ADJ_TITLE_SIZE, ALIGN_LEFT, &p->text };
  Style count = { ADJ_FONT_REGULAR, ADJ_SUBTITLE_SIZE, ALIGN_RIGHT, &p->dim_text };
  gboolean open = box->fold == ADJ_FOLD_OPEN;
  float y = open ? box->rect.y + ADJ_GROUP_TITLE_HEIGHT / 2 : box->rect.y + box->rect.height / 2;
  float x = box->rect.x + 9, right = box->rect.x + box->rect.width - 10;
  g_autofree char *same = box->n_same > 1
                              ? g_strdup_printf ("same ×%u  ·  %s", box->n_same, box->subtitle)
                              : g_strdup (box->subtitle);
  float width = adj_font_measure (count.font, count.size, same);

  clear_behind (self, x, y, 13 + adj_font_measure (title.font, title.size, box->title));
  clear_behind (self, right - width, y, width);
  draw_triangle (self, x, y, open);
  draw_text (self, &title, box->title, x + 12, y);
  draw_text (self, &count, same, right, y);
}

/* Reports progress; %FALSE when cancelled. */
static gboolean
go_on (CairoPainter *self, guint n)
{
  const AdjPaintOptions *options = self->options;
  guint before = self->done;

  self->done += n;
  if (before / REPORT_EVERY == self->done / REPORT_EVERY)
    return TRUE;
  if (options->progress != NULL)
    options->progress (self->done, self->total, options->data);
  return !g_cancellable_is_cancelled (options->cancellable);
}

static gboolean
draw_all_edges (CairoPainter *self, const GArray *edges)
{
  const guint *at = (const guint *) (gconstpointer) edges->data;

  for (guint from = 0, to; from < edges->len; from = to)
    {
      const AdjSceneEdge *first = adj_scene_get_edge (self->scene, at[from]);

      for (to = from + 1; to < edges->len; to++)
        if (!cairo_painter_same_line (first, adj_scene_get_edge (self->scene, at[to])))
          break;
      cairo_painter_draw_lines (self, at + from, to - from);
      if (!go_on (self, to - from))
        return FALSE;
    }
  return TRUE;
}

typedef void (*DrawBox) (CairoPainter *self, const AdjSceneBox *box);

static void
paint_ground (CairoPainter *self, guint index)
{
  const AdjSceneBox *box = adj_scene_get_box (self->scene, index);

  if (box->kind == ADJ_BOX_HEADER && box->side == ADJ_SIDE_NONE)
    draw_band (self, box);
  else if (box->kind == ADJ_BOX_GROUP && box->fold == ADJ_FOLD_OPEN)
    draw_group (self, box);
}

static void
paint_box (CairoPainter *self, guint index)
{
  static const DrawBox draw[ADJ_N_BOX_KINDS] = {
    [ADJ_BOX_GROUP] = draw_group_title, [ADJ_BOX_NODE] = draw_node,
    [ADJ_BOX_PILL] = draw_pill,         [ADJ_BOX_CHIP] = draw_chip,
    [ADJ_BOX_BRIDGE] = draw_bridge,     [ADJ_BOX_HEADER] = draw_header,
  };
  const AdjSceneBox *box = adj_scene_get_box (self->scene, index);

  if (box->kind == ADJ_BOX_GROUP && box->fold == ADJ_FOLD_CLOSED)
    draw_group (self, box);
  draw[box->kind](self, box);
}

static gboolean
collect (guint index, gpointer data)
{
  GArray *found = data;

  g_array_append_val (found, index);
  return TRUE;
}

static gboolean
paint_each (CairoPainter *self, const GArray *boxes, void (*each) (CairoPainter *self, guint index))
{
  for (guint i = 0; i < boxes->len; i++)
    {
      each (self, g_array_index (boxes, guint, i));
      if (!go_on (self, 1))
        return FALSE;
    }
  return TRUE;
}

/* Glyphs are placed by the metrics, not rounded to whole pixels. */
static PangoLayout *
make_layout (cairo_t *cr)
{
  PangoLayout *layout = pango_cairo_create_layout (cr);
  PangoContext *context = pango_layout_get_context (layout);
  cairo_font_options_t *options = cairo_font_options_create ();

  cairo_font_options_set_hint_metrics (options, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_hint_style (options, CAIRO_HINT_STYLE_NONE);
  pango_cairo_context_set_font_options (context, options);
  pango_context_set_round_glyph_positions (context, FALSE);
  cairo_font_options_destroy (options);
  return layout;
}

static guint
roles_in_scene (const AdjScene *scene)
{
  guint roles = 0;

  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    roles |= 1u << adj_scene_get_box (scene, i)->role;
  return roles;
}

/* The roles that the picture has, with their signs. */
static void
draw_legend (CairoPainter *self, const AdjRect *rect)
{
  Style name = { ADJ_FONT_REGULAR, 11, ALIGN_LEFT, &self->palette->dim_text };
  guint roles = roles_in_scene (self->scene);
  float x = rect->x + 24, y = rect->y + rect->height + PAINT_LEGEND_HEIGHT / 2 - 4;

  cairo_painter_set_color (self, &self->palette->background);
  cairo_rectangle (self->cr, rect->x, rect->y + rect->height, rect->width, PAINT_LEGEND_HEIGHT);
  cairo_fill (self->cr);
  for (guint role = 1; role < ADJ_N_ROLES; role++)
    {
      float width = sign_width (role);
      const char *word = adj_scene_get_role_name (self->scene, role);

      if (!(roles & 1u << role))
        continue;
      if (width > 0)
        draw_sign (self, role, x + width, y);
      else
        {
          const AdjSceneBox mark = { .role = role, .rect = { x, y - 5, 16, 10 } };

          width = mark.rect.width;
          stroke_frame (self, &mark, 5);
        }
      draw_text (self, &name, word, x + width + 6, y);
      x += width + 6 + adj_font_measure (name.font, name.size, word) + 22;
    }
}

gboolean
paint_scene (const AdjScene *scene,
             cairo_t *cr,
             const AdjRect *rect,
             const AdjPaintOptions *options,
             float scale)
{
  const AdjPalette *palette = adj_palette_get (options->scheme);
  CairoPainter self = { .scene = scene,
                        .cr = cr,
                        .palette = palette,
                        .rect = rect,
                        .layout = make_layout (cr),
                        .min_size = scale > 0 ? MIN_TEXT_PX / scale : 0,
                        .options = options };
  g_autoptr (GArray) boxes = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (GArray) edges = g_array_new (FALSE, FALSE, sizeof (guint));
  gboolean done;

  cairo_painter_set_color (&self, &palette->background);
  cairo_paint (cr);
  adj_scene_foreach_box (scene, rect, collect, boxes);
  adj_scene_foreach_edge (scene, rect, collect, edges);
  self.total = 2 * boxes->len + edges->len;
  done = paint_each (&self, boxes, paint_ground) && draw_all_edges (&self, edges) &&
         paint_each (&self, boxes, paint_box);
  g_object_unref (self.layout);
  return done;
}

void
paint_legend (const AdjScene *scene, cairo_t *cr, const AdjRect *part, AdjScheme scheme)
{
  CairoPainter self = {
    .scene = scene, .cr = cr, .palette = adj_palette_get (scheme), .layout = make_layout (cr)
  };

  draw_legend (&self, part);
  g_object_unref (self.layout);
}

void
adj_scene_paint (const AdjScene *scene, cairo_t *cr, const AdjPaintOptions *options)
{
  AdjRect bounds = adj_scene_get_bounds (scene);

  paint_scene (scene, cr, options->part != NULL ? options->part : &bounds, options, 0);
}
