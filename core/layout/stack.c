/* SPDX-License-Identifier: MIT */

/* Columns, frames and rows: where each block stands. */

#include "layout/mirror-private.h"

#define BOTTOM_PADDING 12.0f
#define MAX_SHIFT 48.0f /* greatest shift of a block from the middle, for straight lines */

/* The modules open around a row, outermost first. */
static GArray *
modules_around (const Mirror *self, guint32 row)
{
  const AdjRow *r = adj_rows_row (self->rows, row);
  GArray *chain = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint32 at = r->closed ? adj_rows_module (self->rows, r->module)->parent : r->module;

  for (; at != 0 && at != ADJ_NO_MODULE; at = adj_rows_module (self->rows, at)->parent)
    g_array_prepend_val (chain, at);
  return chain;
}

/* Marks frames that are the only one of their module, which may run twice. */
static void
find_only_frames (Mirror *self)
{
  g_autofree guint *n_frames = g_new0 (guint, self->rows->modules->len);

  for (guint f = 0; f < self->frames->len; f++)
    n_frames[g_array_index (self->frames, Frame, f).module]++;
  for (guint f = 0; f < self->frames->len; f++)
    {
      Frame *frame = &g_array_index (self->frames, Frame, f);

      frame->only = n_frames[frame->module] == 1;
    }
}

/* Opens and closes frames from row to row. */
static void
make_frames (Mirror *self)
{
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (guint32)); /* frames */

  for (guint32 row = 0; row < self->n_rows; row++)
    {
      g_autoptr (GArray) chain = modules_around (self, row);
      guint common = 0;

      while (common < open->len && common < chain->len &&
             g_array_index (self->frames, Frame, g_array_index (open, guint32, common)).module ==
                 g_array_index (chain, guint32, common))
        common++;
      g_array_set_size (open, common);
      for (guint d = common; d < chain->len; d++)
        {
          Frame frame = { .module = g_array_index (chain, guint32, d),
                          .parent = d ? g_array_index (open, guint32, d - 1) : ADJ_NO_BOX,
                          .first_row = row };
          guint32 index = self->frames->len;

          g_array_append_val (self->frames, frame);
          g_array_append_val (open, index);
        }
      for (guint d = 0; d < open->len; d++)
        g_array_index (self->frames, Frame, g_array_index (open, guint32, d)).last_row = row;
      self->frame_of[row] = open->len ? g_array_index (open, guint32, open->len - 1) : ADJ_NO_BOX;
    }
}

static guint
depth_of_row (const Mirror *self, guint32 row)
{
  guint depth = 0;

  for (guint32 f = self->frame_of[row]; f != ADJ_NO_BOX;
       f = g_array_index (self->frames, Frame, f).parent)
    depth++;
  return depth;
}

/* The line from the row before (in the direction of the flow) that a block can continue straight: x
 * of its end there, and x of its entry from the left of the block. */
static gboolean
find_straight (const Mirror *self, const Block *block, float *from, float *to)
{
  const AdjBlockGraph *graph = block->spec->graph;

  for (guint32 e = graph->n_entries; e-- > 0;)
    {
      guint32 source = g_array_index (block->entries, guint32, e);
      const Block *before = mirror_block_of_item (self, source);
      guint32 next = block->side == ADJ_SIDE_FORWARD ? block->row - 1 : block->row + 1;

      for (guint32 x = 0; x < before->exits->len && before->row == next; x++)
        if (g_array_index (before->exits, guint32, x) == source - before->first_item)
          {
            *from = before->x + before->template->exits[x];
            *to = block->template->entries[e];
            return TRUE;
          }
    }
  return FALSE;
}

/* In the middle of its column, or a little beside it where that makes a line straight. */
static void
place_block (Mirror *self, Block *block, float width)
{
  float room = (width - block->template->width) / 2 -
               FRAME_PADDING * (float) depth_of_row (self, block->row);
  float from, to, shift = 0;

  block->x = (width - block->template->width) / 2;
  if (find_straight (self, block, &from, &to))
    shift = from - (block->x + to);
  if (block->n_items > 1)
    room = MIN (room, MAX_SHIFT);
  block->x += room > 0 && shift >= -room && shift <= room ? shift : 0;
}

/* Aligns the first item of a column with its first reader. */
static void
place_start (Mirror *self, guint side, float width)
{
  Block *block = &self->blocks[2 * (side ? self->n_rows - 1 : 0) + side];

  if (block->n_items != 1 || block->exits->len != 1)
    return;
  for (guint32 b = side; b < 2 * self->n_rows; b += 2)
    {
      const Block *reader = &self->blocks[b];

      for (guint32 e = 0; e < reader->entries->len && reader != block; e++)
        if (g_array_index (reader->entries, guint32, e) == block->first_item)
          {
            float x = reader->x + reader->template->entries[e] - block->template->exits[0];

            block->x = CLAMP (x, 0, width - block->template->width);
            return;
          }
    }
}

static void
place_columns (Mirror *self)
{
  for (guint side = 0; side < 2; side++)
    {
      float width = 0;

      for (guint32 row = 0; row < self->n_rows; row++)
        {
          const Block *block = &self->blocks[2 * row + side];
          float needed =
              block->template->width + 2 * FRAME_PADDING * (float) depth_of_row (self, row);

          if (block->n_items)
            width = MAX (width, needed);
        }
      self->columns[side] = (Column){ 0, width };
      for (guint32 k = 0; k < self->n_rows; k++)
        {
          guint32 row = side ? self->n_rows - 1 - k : k;

          if (self->blocks[2 * row + side].n_items)
            place_block (self, &self->blocks[2 * row + side], width);
        }
      if (self->n_rows)
        place_start (self, side, width);
    }
}

/* How many frames end, or begin, with a row. */
static guint
count_edges (const Mirror *self, guint32 row, gboolean last)
{
  guint n = 0;

  for (guint32 f = self->frame_of[row]; f != ADJ_NO_BOX;)
    {
      const Frame *frame = &g_array_index (self->frames, Frame, f);

      n += (last ? frame->last_row : frame->first_row) == row;
      f = frame->parent;
    }
  return n;
}

static void
close_frames (Mirror *self, guint32 row, float y)
{
  for (guint32 f = self->frame_of[row]; f != ADJ_NO_BOX;)
    {
      Frame *frame = &g_array_index (self->frames, Frame, f);

      if (frame->last_row != row)
        return;
      y += BOTTOM_PADDING;
      frame->bottom = y;
      f = frame->parent;
    }
}

static void
open_frames (Mirror *self, guint32 row, float y)
{
  for (guint32 f = self->frame_of[row]; f != ADJ_NO_BOX;)
    {
      Frame *frame = &g_array_index (self->frames, Frame, f);

      if (frame->first_row != row)
        return;
      y -= ADJ_GROUP_TITLE_HEIGHT;
      frame->top = y;
      f = frame->parent;
    }
}

static void
place_rows (Mirror *self)
{
  float y = MIRROR_HEADERS_HEIGHT;

  self->header_y = 0;
  for (guint32 row = 0; row < self->n_rows; row++)
    {
      Block *forward = mirror_block (self, row, ADJ_SIDE_FORWARD);
      Block *backward = mirror_block (self, row, ADJ_SIDE_BACKWARD);
      float height = MAX (forward->template->height, backward->template->height);

      self->zones[row] = (Zone){ y, row ? mirror_zone_need (self, row) : 0 };
      if (row == 0 && mirror_zone_has_tracks (self, 0))
        self->zones[0].height = mirror_zone_need (self, 0);
      y += self->zones[row].height;
      y += ADJ_GROUP_TITLE_HEIGHT * (float) count_edges (self, row, FALSE);
      open_frames (self, row, y);
      forward->y = y + (height - forward->template->height) / 2;
      backward->y = y + (height - backward->template->height) / 2;
      y += height;
      close_frames (self, row, y);
      y += BOTTOM_PADDING * (float) count_edges (self, row, TRUE);
    }
  self->zones[self->n_rows] = (Zone){ y, mirror_zone_need (self, self->n_rows) };
  self->bottom = y;
  if (mirror_zone_has_tracks (self, self->n_rows))
    self->bottom += self->zones[self->n_rows].height;
}

void
mirror_stack (Mirror *self)
{
  self->frames = g_array_new (FALSE, FALSE, sizeof (Frame));
  self->frame_of = g_new (guint32, MAX (self->n_rows, 1));
  self->zones = g_new0 (Zone, self->n_rows + 1);
  make_frames (self);
  find_only_frames (self);
  place_columns (self);
  mirror_plan_routes (self);
  place_rows (self);
  mirror_plan_gutter (self);
  mirror_draw_routes (self);
}

void
mirror_clear_stack (Mirror *self)
{
  g_array_unref (self->frames);
  g_free (self->frame_of);
  g_free (self->zones);
}
