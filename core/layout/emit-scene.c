/* SPDX-License-Identifier: MIT */

/* From places to boxes and lines. */

#include <math.h>

#include "base/adj-format-bytes.h"
#include "ir/adj-graph.h"
#include "ir/adj-input-role.h"
#include "layout/mirror-private.h"
#include "scene/adj-font.h"
#include "scene/adj-scene-builder.h"

#define MARGIN 24.0f
#define HEADER_HEIGHT 24.0f
#define PILL_HEIGHT 20.0f
#define LINE_WIDTH 1.4f
#define INVISIBLE 0.6f
#define MIN_BRIDGE_WIDTH 1.6f
#define MAX_BRIDGE_WIDTH 5.0f

typedef struct
{
  const Mirror *mirror;
  AdjSceneBuilder *builder;
  guint32 *frame_boxes[2]; /* of each frame and side */
  guint32 *item_boxes;
  guint32 *chip_boxes;
  GArray *points;   /* of AdjPoint, of the line being made */
  guint n_shared;   /* how many of @points are shared */
  GHashTable *same; /* key of a frame → number of frames that look like it */
} Emitter;

static float
width_of_bytes (gint64 bytes)
{
  float width = bytes > 0 ? 0.5f + 0.28f * log2f ((float) bytes / 64) : MIN_BRIDGE_WIDTH;

  return CLAMP (width, MIN_BRIDGE_WIDTH, MAX_BRIDGE_WIDTH);
}

static gint64
saved_in_rows (const Mirror *mirror, guint32 first, guint32 last, guint *n_nodes, guint side)
{
  gint64 bytes = 0;

  for (guint32 row = first; row <= last; row++)
    {
      const Block *block = &mirror->blocks[2 * row + side];

      for (guint32 i = 0; i < block->n_items; i++)
        {
          const AdjDisplayItem *item = adj_display_item (mirror->display, block->first_item + i);

          *n_nodes += item->n_nodes;
          bytes = item->kept > G_MAXINT64 - bytes ? G_MAXINT64 : bytes + item->kept;
        }
    }
  return bytes;
}

/* A key of the appearance of a frame's inside. */
static char *
key_of_frame (const Mirror *mirror, const Frame *frame, guint side)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);

  for (guint32 row = frame->first_row; row <= frame->last_row; row++)
    g_checksum_update (sum, (const guint8 *) mirror->blocks[2 * row + side].key, -1);
  return g_strdup_printf ("%u %s", side, g_checksum_get_string (sum));
}

static void
count_frames (Emitter *self)
{
  const Mirror *mirror = self->mirror;

  for (guint32 f = 0; f < mirror->frames->len; f++)
    for (guint side = 0; side < 2; side++)
      {
        const Frame *frame = &g_array_index (mirror->frames, Frame, f);
        char *key = key_of_frame (mirror, frame, side);
        guint n = GPOINTER_TO_UINT (g_hash_table_lookup (self->same, key)), n_nodes = 0;

        saved_in_rows (mirror, frame->first_row, frame->last_row, &n_nodes, side);
        g_hash_table_insert (self->same, key, GUINT_TO_POINTER (n + (n_nodes > 0)));
      }
}

static guint
same_as_frame (const Emitter *self, const Frame *frame, guint side)
{
  g_autofree char *key = key_of_frame (self->mirror, frame, side);

  return GPOINTER_TO_UINT (g_hash_table_lookup (self->same, key));
}

static guint
depth_of_frame (const Mirror *mirror, const Frame *frame)
{
  guint depth = 0;

  for (guint32 f = frame->parent; f != ADJ_NO_BOX;
       f = g_array_index (mirror->frames, Frame, f).parent)
    depth++;
  return depth;
}

static void
emit_frame (Emitter *self, guint32 f, guint side)
{
  const Mirror *mirror = self->mirror;
  const Frame *frame = &g_array_index (mirror->frames, Frame, f);
  const AdjRowsModule *module = adj_rows_module (mirror->rows, frame->module);
  float inset = FRAME_PADDING * (float) depth_of_frame (mirror, frame);
  const Column *column = &mirror->columns[side];
  g_autofree char *title = NULL, *fitted = NULL, *count = NULL;
  AdjSceneBox box = ADJ_SCENE_BOX_INIT;

  box.kind = ADJ_BOX_GROUP;
  box.side = side ? ADJ_SIDE_BACKWARD : ADJ_SIDE_FORWARD;
  box.fold = ADJ_FOLD_OPEN;
  box.path = module->path;
  box.group = frame->parent == ADJ_NO_BOX ? ADJ_NO_BOX : self->frame_boxes[side][frame->parent];
  box.rect = (AdjRect){ column->left + inset, frame->top, column->right - column->left - 2 * inset,
                        frame->bottom - frame->top };
  box.bytes = saved_in_rows (mirror, frame->first_row, frame->last_row, &box.n_nodes, side);
  box.n_same = same_as_frame (self, frame, side);
  if (box.n_nodes == 0)
    {
      self->frame_boxes[side][f] = box.group;
      return;
    }
  if (frame->only && module->n_nodes[side] > 0)
    box.n_nodes = module->n_nodes[side];
  title = adj_rows_describe_module (module, side);
  count = adj_rows_describe_count (module, box.n_nodes);
  fitted = adj_font_ellipsize (ADJ_FONT_BOLD, ADJ_TITLE_SIZE, title,
                               box.rect.width - 60 -
                                   adj_font_measure (ADJ_FONT_REGULAR, ADJ_SUBTITLE_SIZE, count));
  box.title = fitted;
  box.subtitle = count;
  self->frame_boxes[side][f] = adj_scene_builder_add_box (self->builder, &box);
}

static void
emit_header (Emitter *self, const char *title, AdjSide side, float left, float right)
{
  AdjSceneBox box = ADJ_SCENE_BOX_INIT;

  box.kind = ADJ_BOX_HEADER;
  box.side = side;
  box.title = title;
  box.rect = (AdjRect){ left, self->mirror->header_y, right - left, HEADER_HEIGHT };
  adj_scene_builder_add_box (self->builder, &box);
}

/* "23.5 KiB, 8 KiB offloaded + 1 KiB of inputs".  (transfer full) */
static char *
name_saved (const AdjDisplayList *display)
{
  g_autofree char *saved = adj_format_bytes ((guint64) display->saved_bytes);
  g_autofree char *offloaded = adj_format_bytes ((guint64) display->offloaded_bytes);
  g_autofree char *inputs = adj_format_bytes ((guint64) display->input_bytes);
  GString *text = g_string_new (saved);

  if (display->offloaded_bytes > 0)
    g_string_append_printf (text, ", %s offloaded", offloaded);
  if (display->input_bytes > 0)
    g_string_append_printf (text, " + %s of inputs", inputs);
  return g_string_free (text, FALSE);
}

/* A whole step ends with the optimiser. */
static gboolean
has_update (const AdjGraph *graph)
{
  guint n = adj_graph_get_n_nodes (graph);

  return n > 1 && adj_graph_is_update (graph, n - 2);
}

static void
emit_headers (Emitter *self)
{
  const Mirror *m = self->mirror;
  const char *forward = m->roles->only_backward                   ? "RECOMPUTED ↓"
                        : m->roles->one_column                    ? m->roles->title
                        : m->roles->is_joint && !m->shows_side[1] ? "FORWARD AND BACKWARD ↓"
                                                                  : "FORWARD ↓";
  AdjSceneBox band = ADJ_SCENE_BOX_INIT;
  g_autofree char *bytes = name_saved (m->display);

  if (m->shows_side[0] && m->shows_side[1])
    {
      band.kind = ADJ_BOX_HEADER;
      band.title = m->roles->only_backward ? "COMPUTED FOR BACKWARD"
                   : m->roles->undecided   ? "READ BY BACKWARD"
                                           : "SAVED FOR BACKWARD";
      band.subtitle = bytes;
      band.bytes = m->display->saved_bytes;
      band.rect = (AdjRect){ m->band_left, m->header_y, m->band_right - m->band_left,
                             m->bottom - m->header_y };
      adj_scene_builder_add_box (self->builder, &band);
    }
  if (m->shows_side[0])
    emit_header (self, forward, ADJ_SIDE_FORWARD, m->columns[0].left, m->columns[0].right);
  if (m->shows_side[1])
    emit_header (self, has_update (m->roles->graph) ? "BACKWARD, THEN UPDATE ↑" : "BACKWARD ↑",
                 ADJ_SIDE_BACKWARD, m->columns[1].left, m->columns[1].right);
}

static void
emit_chips (Emitter *self, guint32 i, guint right)
{
  const Mirror *mirror = self->mirror;
  const AdjDisplayItem *item = adj_display_item (mirror->display, i);
  AdjRect card = mirror_item_rect (mirror, i);
  guint n = item->n_chips[right];
  float height = (float) n * ADJ_CHIP_HEIGHT + (float) (n - 1) * ADJ_CHIP_DISTANCE;

  for (guint k = 0; k < n; k++)
    {
      guint32 c = item->first_chip[right] + k;
      const AdjDisplayChip *chip = adj_display_chip (mirror->display, c);
      AdjSceneBox box = ADJ_SCENE_BOX_INIT;

      box.kind = ADJ_BOX_CHIP;
      box.role = chip->role;
      box.side = item->side;
      box.node = chip->node;
      box.title = chip->title;
      box.n_nodes = chip->n_nodes;
      box.anchor = self->item_boxes[i];
      box.group = adj_scene_builder_get_box (self->builder, self->item_boxes[i])->group;
      box.rect.width = chip->width;
      box.rect.height = ADJ_CHIP_HEIGHT;
      box.rect.x = right ? card.x + card.width + ADJ_CHIP_GAP : card.x - ADJ_CHIP_GAP - chip->width;
      box.rect.y =
          card.y + (card.height - height) / 2 + (float) k * (ADJ_CHIP_HEIGHT + ADJ_CHIP_DISTANCE);
      self->chip_boxes[c] = adj_scene_builder_add_box (self->builder, &box);
    }
}

static void
emit_item (Emitter *self, guint32 i)
{
  const Mirror *mirror = self->mirror;
  const AdjDisplayItem *item = adj_display_item (mirror->display, i);
  guint32 frame = mirror->frame_of[item->row];
  AdjSceneBox box = ADJ_SCENE_BOX_INIT;

  box.kind = item->kind;
  box.role = item->role;
  box.side = item->side;
  box.object = item->object;
  box.fold = item->kind == ADJ_BOX_GROUP ? ADJ_FOLD_CLOSED : ADJ_FOLD_NONE;
  box.rect = mirror_item_rect (mirror, i);
  box.group =
      frame == ADJ_NO_BOX ? ADJ_NO_BOX : self->frame_boxes[item->side == ADJ_SIDE_BACKWARD][frame];
  box.node = item->node;
  box.title = item->title;
  box.subtitle = item->subtitle;
  box.n_nodes = item->n_nodes;
  box.bytes = item->bytes < 0 ? -1 : item->kept;
  box.n_same = 1;
  if (item->kind == ADJ_BOX_GROUP)
    box.path = adj_rows_module (mirror->rows, item->module)->path;
  self->item_boxes[i] = adj_scene_builder_add_box (self->builder, &box);
}

static void
emit_pills (Emitter *self)
{
  const Mirror *m = self->mirror;

  for (guint b = 0; b < m->bridges->len; b++)
    {
      const Bridge *bridge = &g_array_index (m->bridges, Bridge, b);
      const AdjDisplayItem *item = adj_display_item (m->display, bridge->item);
      AdjSceneBox box = ADJ_SCENE_BOX_INIT;

      if (bridge->first_shown == ADJ_NO_BOX)
        continue;
      box.kind = ADJ_BOX_BRIDGE;
      box.role = bridge->role;
      box.node = item->node;
      box.title = bridge->title;
      box.bytes = bridge->bytes;
      box.n_nodes = bridge->n_values;
      box.anchor = self->item_boxes[bridge->item];
      box.rect = (AdjRect){ (m->band_left + m->band_right - bridge->pill_width) / 2,
                            bridge->pill_y - PILL_HEIGHT / 2, bridge->pill_width, PILL_HEIGHT };
      adj_scene_builder_add_box (self->builder, &box);
    }
}

/* Adds a point, joining pieces of the same direction.  Differences below INVISIBLE are removed: the
 * routing takes such lines for straight. */
static void
add_point (Emitter *self, float x, float y)
{
  AdjPoint *p = (AdjPoint *) (gpointer) self->points->data;
  guint n = self->points->len;
  AdjPoint point = { x, y };

  if (n && fabsf (p[n - 1].x - x) < INVISIBLE)
    point.x = p[n - 1].x;
  if (n && fabsf (p[n - 1].y - y) < INVISIBLE)
    point.y = p[n - 1].y;
  if (n && point.x == p[n - 1].x && point.y == p[n - 1].y)
    return;
  if (n > 1 && n - 1 != self->n_shared &&
      ((point.x == p[n - 1].x && p[n - 1].x == p[n - 2].x) ||
       (point.y == p[n - 1].y && p[n - 1].y == p[n - 2].y)))
    p[n - 1] = point;
  else
    g_array_append_val (self->points, point);
}

static void
add_path (Emitter *self, const Block *block, const AdjTemplatePath *path, gboolean reverse)
{
  const Column *column = &self->mirror->columns[block->side == ADJ_SIDE_BACKWARD];

  for (guint k = 0; k < path->n; k++)
    {
      guint32 at = path->first + (reverse ? path->n - 1 - k : k);
      const AdjPoint *p = &g_array_index (block->template->points, AdjPoint, at);

      add_point (self, column->left + block->x + p->x, block->y + p->y);
    }
}

static void
add_link_inside (Emitter *self, guint32 l)
{
  const Mirror *m = self->mirror;
  const AdjDisplayLink *link = adj_display_link (m->display, l);
  const Block *from = mirror_block_of_item (m, link->from);
  const Block *to = mirror_block_of_item (m, link->to);
  const AdjTemplatePath *hop = &m->hop_of[l];
  gboolean against = m->paths[l].against;

  add_path (self, from, &from->template->links[m->paths[l].out], against);
  if (from == to)
    return;
  for (guint k = 0; k < hop->n; k++)
    {
      const AdjPoint *p = &g_array_index (m->hops, AdjPoint, hop->first + k);

      add_point (self, p->x, p->y);
      if (k > 0 && k == m->hop_shared[l])
        self->n_shared = self->points->len - 1;
    }
  add_path (self, to, &to->template->links[m->paths[l].in], against);
}

static void
add_link_across (Emitter *self, guint32 l, const Bridge *bridge)
{
  const Mirror *m = self->mirror;
  const AdjDisplayLink *link = adj_display_link (m->display, l);
  const Block *from = mirror_block_of_item (m, link->from);
  const Block *to = mirror_block_of_item (m, link->to);
  float y = mirror_target_y (m, l, bridge->pill_y);
  const AdjTemplatePath *end = &to->template->pins[m->paths[l].in];
  AdjRect card = mirror_item_rect (m, link->to);

  add_path (self, from, &from->template->pins[m->paths[l].out], TRUE);
  if (from->side == ADJ_SIDE_FORWARD)
    {
      add_point (self, bridge->left_x, bridge->source_y);
      add_point (self, bridge->left_x, bridge->pill_y);
      add_point (self, bridge->right_x, bridge->pill_y);
      add_point (self, bridge->right_x, y);
    }
  else
    {
      add_point (self, bridge->right_x, bridge->source_y);
      add_point (self, bridge->right_x, bridge->pill_y);
      add_point (self, bridge->left_x, bridge->pill_y);
      add_point (self, bridge->left_x, y);
    }
  if (end->n == 2)
    add_point (self, from->side == ADJ_SIDE_FORWARD ? card.x : card.x + card.width, y);
  else
    add_path (self, to, end, FALSE);
}

static void
emit_link (Emitter *self, guint32 l, const Bridge *bridge)
{
  const Mirror *m = self->mirror;
  const AdjDisplayLink *link = adj_display_link (m->display, l);
  const AdjDisplayItem *from = adj_display_item (m->display, link->from);
  const AdjDisplayItem *to = adj_display_item (m->display, link->to);
  AdjSceneEdge edge = { .from = self->item_boxes[link->from],
                        .to = self->item_boxes[link->to],
                        .value = link->n_values <= 1 && !link->control ? link->value : ADJ_NO_NODE,
                        .bytes = link->bytes,
                        .width = LINE_WIDTH };

  g_array_set_size (self->points, 0);
  self->n_shared = 0;
  if (from->side != to->side)
    {
      gboolean saved = bridge->role == ADJ_ROLE_SAVED && link->n_values > 0;

      edge.kind = saved ? ADJ_EDGE_BRIDGE : ADJ_EDGE_RECOMPUTE;
      edge.width = width_of_bytes (bridge->bytes);
      add_link_across (self, l, bridge);
    }
  else
    {
      edge.kind = link->control                                           ? ADJ_EDGE_CONTROL
                  : link->effect                                          ? ADJ_EDGE_EFFECT
                  : from->side == ADJ_SIDE_BACKWARD || m->roles->captured ? ADJ_EDGE_GRADIENT
                  : from->row != to->row                                  ? ADJ_EDGE_BLOCK
                                                                          : ADJ_EDGE_DATA;
      add_link_inside (self, l);
    }
  edge.n_shared = self->n_shared;
  edge.points = (const AdjPoint *) (gconstpointer) self->points->data;
  edge.n_points = self->points->len;
  adj_scene_builder_add_edge (self->builder, &edge);
}

static gint
by_first_link (gconstpointer a, gconstpointer b)
{
  const Bridge *x = a, *y = b;

  return x->first_link < y->first_link ? -1 : x->first_link > y->first_link;
}

static void
emit_links (Emitter *self)
{
  const Mirror *m = self->mirror;
  guint at = 0;

  g_array_sort (m->bridges, by_first_link);
  for (guint32 l = 0; l < m->display->links->len; l++)
    {
      while (at < m->bridges->len && g_array_index (m->bridges, Bridge, at).end_link <= l)
        at++;
      if (!adj_display_link (m->display, l)->absent)
        emit_link (self, l, at < m->bridges->len ? &g_array_index (m->bridges, Bridge, at) : NULL);
    }
}

/* The item of the first input on @side that is a tangent, or is none. */
static guint32
find_pill (const Mirror *mirror, AdjSide side, gboolean tangent)
{
  for (guint32 i = 0; i < mirror->display->items->len; i++)
    {
      const AdjDisplayItem *item = adj_display_item (mirror->display, i);

      if (item->kind == ADJ_BOX_PILL && item->side == side && !item->absent &&
          (adj_graph_get_input_role (mirror->roles->graph, item->node.index) ==
           ADJ_INPUT_TANGENT) == tangent &&
          (tangent || item->role == ADJ_ROLE_OUTPUT))
        return i;
    }
  return ADJ_NO_BOX;
}

/* The line from the results to the tangents, where forward turns into backward. */
static void
emit_turn (Emitter *self)
{
  const Mirror *m = self->mirror;
  guint32 output = find_pill (m, ADJ_SIDE_FORWARD, FALSE);
  guint32 tangent = find_pill (m, ADJ_SIDE_BACKWARD, TRUE);
  AdjRect a, b;
  AdjSceneEdge edge = { .kind = ADJ_EDGE_TURN, .value = ADJ_NO_NODE, .bytes = -1 };

  if (output == ADJ_NO_BOX || tangent == ADJ_NO_BOX)
    return;
  a = mirror_item_rect (m, output);
  b = mirror_item_rect (m, tangent);
  edge.from = self->item_boxes[output];
  edge.to = self->item_boxes[tangent];
  edge.width = LINE_WIDTH;
  g_array_set_size (self->points, 0);
  add_point (self, a.x + a.width, a.y + a.height / 2);
  add_point (self, m->band_right, a.y + a.height / 2);
  add_point (self, m->band_right, b.y + b.height / 2);
  add_point (self, b.x, b.y + b.height / 2);
  edge.points = (const AdjPoint *) (gconstpointer) self->points->data;
  edge.n_points = self->points->len;
  adj_scene_builder_add_edge (self->builder, &edge);
}

static void
place_nodes (Emitter *self)
{
  const AdjDisplayList *display = self->mirror->display;
  const AdjNodeRoles *roles = self->mirror->roles;

  for (guint32 i = 0; i < roles->n; i++)
    {
      guint32 box = display->chip_of[i] != ADJ_NO_BOX   ? self->chip_boxes[display->chip_of[i]]
                    : display->item_of[i] != ADJ_NO_BOX ? self->item_boxes[display->item_of[i]]
                                                        : ADJ_NO_BOX;
      guint32 counterpart = roles->entries[i].counterpart, original = roles->entries[i].original;

      adj_scene_builder_place_node (self->builder, (AdjNodeId){ i }, box);
      adj_scene_builder_set_role (self->builder, (AdjNodeId){ i },
                                  roles->entries[roles->entries[i].host].role);
      if (counterpart != G_MAXUINT32 && roles->entries[counterpart].counterpart == i)
        adj_scene_builder_set_counterparts (self->builder, (AdjNodeId){ i },
                                            (AdjNodeId){ counterpart });
      if (original != G_MAXUINT32)
        adj_scene_builder_set_copy (self->builder, (AdjNodeId){ original }, (AdjNodeId){ i });
    }
}

AdjScene *
mirror_emit (const Mirror *mirror)
{
  const AdjDisplayList *display = mirror->display;
  g_autoptr (AdjSceneBuilder) builder = adj_scene_builder_new (mirror->roles->n);
  Emitter self = { .mirror = mirror, .builder = builder };
  AdjScene *scene;

  for (guint side = 0; side < 2; side++)
    self.frame_boxes[side] = g_new (guint32, MAX (mirror->frames->len, 1));
  self.item_boxes = g_new (guint32, MAX (display->items->len, 1));
  self.chip_boxes = g_new (guint32, MAX (display->chips->len, 1));
  self.points = g_array_new (FALSE, FALSE, sizeof (AdjPoint));

  self.same = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  adj_scene_builder_set_undecided (builder, mirror->roles->undecided);
  count_frames (&self);
  emit_headers (&self);
  for (guint32 f = 0; f < mirror->frames->len; f++)
    for (guint side = 0; side < 2; side++)
      emit_frame (&self, f, side);
  for (guint32 i = 0; i < display->items->len; i++)
    {
      if (adj_display_item (display, i)->absent)
        continue;
      emit_item (&self, i);
      for (guint right = 0; right < 2; right++)
        if (adj_display_item (display, i)->n_chips[right])
          emit_chips (&self, i, right);
    }
  emit_pills (&self);
  emit_links (&self);
  emit_turn (&self);
  place_nodes (&self);
  scene = adj_scene_builder_seal (builder, MARGIN, display->saved_bytes);

  for (guint side = 0; side < 2; side++)
    g_free (self.frame_boxes[side]);
  g_free (self.item_boxes);
  g_free (self.chip_boxes);
  g_array_unref (self.points);
  g_hash_table_unref (self.same);
  return scene;
}
