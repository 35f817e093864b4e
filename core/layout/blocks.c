/* SPDX-License-Identifier: MIT */
/* Makes a block of every part of a row: its cards, links and pins. */

#include <string.h>

#include "layout/mirror-private.h"

/* A node of a block before the numbers of its kinds are known. */
typedef enum
{
  PORT_CARD,
  PORT_ENTRY,
  PORT_EXIT,
} PortKind;

#define PORT(kind, index) ((guint32) (kind) << 30 | (index))
#define PORT_KIND(port) ((PortKind) ((port) >> 30))
#define PORT_INDEX(port) ((port) & ((1u << 30) - 1))

#define AGAINST_FLOW (1u << 31) /* flag of an exit: a value enters there */

#define PIN_DISTANCE 9.0f
#define MAX_PIN_OFFSET 13.0f
#define MAX_LOOSE 7
#define SIDE_BY_SIDE 5
#define ABREAST 2 /* for the forward half of a backward graph */

static guint32
find_or_append (GArray *array, guint32 value)
{
  for (guint i = array->len; i-- > 0;)
    if (g_array_index (array, guint32, i) == value)
      return i;
  g_array_append_val (array, value);
  return array->len - 1;
}

static guint32
append_link (Block *block, guint32 from, guint32 to)
{
  guint32 link[2] = { from, to };

  g_array_append_vals (block->links, link, 1);
  return block->links->len - 1;
}

/* The index of the line from a card to the border where its value leaves, one for all readers. With
 * AGAINST_FLOW, to where a value that the card reads enters. */
static guint32
exit_path (Block *block, guint32 card)
{
  guint n = block->exits->len;
  guint32 exit = find_or_append (block->exits, card);

  if (exit == n)
    return append_link (block, PORT (PORT_CARD, card & ~AGAINST_FLOW), PORT (PORT_EXIT, exit));
  for (guint k = block->links->len; k-- > 0;)
    if (((guint32 *) (gpointer) block->links->data)[2 * k + 1] == PORT (PORT_EXIT, exit))
      return k;
  g_assert_not_reached ();
}

/* The index of the line from the border where values enter to the card that makes one. */
static guint32
entry_path (Block *block, guint32 item)
{
  guint n = block->entries->len;
  guint32 entry = find_or_append (block->entries, item);

  if (entry == n)
    return append_link (block, PORT (PORT_ENTRY, entry),
                        PORT (PORT_CARD, item - block->first_item));
  for (guint k = block->links->len; k-- > 0;)
    if (((guint32 *) (gpointer) block->links->data)[2 * k] == PORT (PORT_ENTRY, entry))
      return k;
  g_assert_not_reached ();
}

/* Whether the link runs against the flow: recomputation runs down where gradients run up. */
static gboolean
is_against_flow (const Block *from, const Block *to)
{
  return from->side == to->side &&
         (from->side == ADJ_SIDE_FORWARD ? to->row < from->row : to->row > from->row);
}

static guint32
append_pin (Block *block, guint32 card)
{
  AdjTemplatePin pin = { card, 0 };

  g_array_append_val (block->pins, pin);
  return block->pins->len - 1;
}

/* The pin where the value of a card leaves for the other side; one for all readers. */
static guint32
out_pin (Block *block, guint32 card)
{
  if (block->pins->len &&
      g_array_index (block->pins, AdjTemplatePin, block->pins->len - 1).card == card)
    return block->pins->len - 1;
  return append_pin (block, card);
}

static void
sort_link (Mirror *self, guint32 l)
{
  const AdjDisplayLink *link = adj_display_link (self->display, l);
  Block *from = mirror_block_of_item (self, link->from);
  Block *to = mirror_block_of_item (self, link->to);
  guint32 a = link->from - from->first_item, b = link->to - to->first_item;
  LinkPaths *paths = &self->paths[l];

  if (from == to)
    *paths = (LinkPaths){ append_link (from, PORT (PORT_CARD, a), PORT (PORT_CARD, b)), ADJ_NO_PATH,
                          FALSE };
  else if (is_against_flow (from, to))
    *paths = (LinkPaths){ entry_path (from, link->from), exit_path (to, b | AGAINST_FLOW), TRUE };
  else if (from->side == to->side)
    {
      guint32 entry = find_or_append (to->entries, link->from);

      paths->out = exit_path (from, a);
      paths->in = append_link (to, PORT (PORT_ENTRY, entry), PORT (PORT_CARD, b));
    }
  else
    *paths = (LinkPaths){ out_pin (from, a), append_pin (to, b), FALSE };
}

/* Several lines that end at one card end a little apart, in the order of their makers. */
static void
spread_pins (Block *block)
{
  for (guint32 card = 0; card < block->n_items; card++)
    {
      guint n = 0, at = 0;
      float distance;

      for (guint p = 0; p < block->pins->len; p++)
        n += g_array_index (block->pins, AdjTemplatePin, p).card == card;
      if (n < 2)
        continue;
      distance = MIN (PIN_DISTANCE, 2 * MAX_PIN_OFFSET / (float) (n - 1));
      for (guint p = 0; p < block->pins->len; p++)
        {
          AdjTemplatePin *pin = &g_array_index (block->pins, AdjTemplatePin, p);

          if (pin->card == card)
            pin->offset = ((float) at++ - (float) (n - 1) / 2) * distance;
        }
    }
}

static guint32
number_port (const Block *block, guint32 port)
{
  guint32 base[] = { 0, block->n_items, block->n_items + block->entries->len };

  return base[PORT_KIND (port)] + PORT_INDEX (port);
}

/* Appends links that are not drawn: where more than @most unordered cards would be in one rank,
 * only @abreast are. */
static void
keep_ranks_short (Block *block, gboolean sources, guint most, guint abreast)
{
  g_autofree guint8 *ordered = g_new0 (guint8, MAX (block->n_items, 1));
  g_autoptr (GArray) loose = g_array_new (FALSE, FALSE, sizeof (guint32));
  const guint32 *ports = (const guint32 *) (gconstpointer) block->links->data;

  for (guint k = 0; k < block->links->len; k++)
    {
      guint32 port = ports[2 * k + (sources ? 1 : 0)];

      if (PORT_KIND (port) == PORT_CARD)
        ordered[PORT_INDEX (port)] = TRUE;
    }
  for (guint32 card = 0; card < block->n_items; card++)
    if (!ordered[card])
      g_array_append_val (loose, card);
  for (guint i = abreast; i < loose->len && loose->len > most; i++)
    append_link (block, PORT (PORT_CARD, g_array_index (loose, guint32, i - abreast)),
                 PORT (PORT_CARD, g_array_index (loose, guint32, i)));
}

/* Whether it is the forward half of a backward graph: its few links are mostly not shown, and it is
 * rarely as high as its readers. */
static gboolean
is_computed_for (const Mirror *self, const Block *block)
{
  return self->roles->only_backward && block->side == ADJ_SIDE_FORWARD;
}

static void
write_spec (const Mirror *self, Block *block)
{
  guint32 n_lines = block->links->len;
  gboolean narrow = is_computed_for (self, block);
  guint most = narrow ? ABREAST : MAX_LOOSE, abreast = narrow ? ABREAST : SIDE_BY_SIDE;
  AdjBlockGraph *graph;

  keep_ranks_short (block, FALSE, most, abreast);
  if (block->links->len == n_lines)
    keep_ranks_short (block, TRUE, most, abreast);

  block->spec = adj_template_spec_new (block->n_items, block->entries->len, block->exits->len,
                                       block->links->len, block->pins->len);
  block->spec->n_lines = n_lines;
  graph = block->spec->graph;
  block->spec->upwards = block->side == ADJ_SIDE_BACKWARD;
  for (guint32 i = 0; i < block->n_items; i++)
    {
      const AdjDisplayItem *item = adj_display_item (self->display, block->first_item + i);
      AdjTemplateCard *card = &block->spec->cards[i];

      card->width = item->width;
      card->height = item->height;
      card->left = item->chips_width[0] > 0 ? item->chips_width[0] + ADJ_CHIP_GAP : 0;
      card->right = item->chips_width[1] > 0 ? item->chips_width[1] + ADJ_CHIP_GAP : 0;
      /* Symmetric, so that chains of cards are straight. */
      graph->widths[i] = card->width + 2 * MAX (card->left, card->right);
    }
  for (guint k = 0; k < block->links->len; k++)
    for (guint end = 0; end < 2; end++)
      graph->links[k][end] =
          number_port (block, ((guint32 *) (gpointer) block->links->data)[2 * k + end]);
  if (block->pins->len)
    memcpy (block->spec->pins, block->pins->data, sizeof (AdjTemplatePin) * block->pins->len);
  block->key = adj_template_spec_get_key (block->spec);
}

void
mirror_make_blocks (Mirror *self)
{
  const AdjDisplayList *display = self->display;

  self->blocks = g_new0 (Block, MAX (2 * self->n_rows, 1));
  self->paths = g_new0 (LinkPaths, MAX (display->links->len, 1));
  for (guint32 b = 0; b < 2 * self->n_rows; b++)
    {
      Block *block = &self->blocks[b];

      block->row = b / 2;
      block->side = b % 2 ? ADJ_SIDE_BACKWARD : ADJ_SIDE_FORWARD;
      block->links = g_array_new (FALSE, FALSE, 2 * sizeof (guint32));
      block->entries = g_array_new (FALSE, FALSE, sizeof (guint32));
      block->exits = g_array_new (FALSE, FALSE, sizeof (guint32));
      block->pins = g_array_new (FALSE, FALSE, sizeof (AdjTemplatePin));
    }
  for (guint32 i = 0; i < display->items->len; i++)
    {
      Block *block = mirror_block_of_item (self, i);

      if (block->n_items++ == 0)
        block->first_item = i;
      self->shows_side[block->side == ADJ_SIDE_BACKWARD] |= !adj_display_item (display, i)->absent;
    }
  for (guint32 l = 0; l < display->links->len; l++)
    sort_link (self, l);
  for (guint32 b = 0; b < 2 * self->n_rows; b++)
    {
      spread_pins (&self->blocks[b]);
      write_spec (self, &self->blocks[b]);
      self->has_side[b % 2] |= self->blocks[b].n_items > 0;
    }
}

void
mirror_clear_blocks (Mirror *self)
{
  for (guint32 b = 0; b < 2 * self->n_rows; b++)
    {
      Block *block = &self->blocks[b];

      g_array_unref (block->links);
      g_array_unref (block->entries);
      g_array_unref (block->exits);
      g_array_unref (block->pins);
      adj_template_spec_free (block->spec);
      g_free (block->key);
    }
  g_free (self->blocks);
  g_free (self->paths);
}

AdjRect
mirror_item_rect (const Mirror *self, guint32 item)
{
  const Block *block = mirror_block_of_item (self, item);
  AdjRect rect = block->template->cards[item - block->first_item];

  rect.x += self->columns[block->side == ADJ_SIDE_BACKWARD].left + block->x;
  rect.y += block->y;
  return rect;
}
