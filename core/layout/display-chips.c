/* SPDX-License-Identifier: MIT */
/* Chips: inputs and constants stuck to the cards that read them, gradients to what takes them. */

#include <math.h>
#include <string.h>

#include "ir/adj-graph.h"
#include "layout/display-list-private.h"
#include "scene/adj-font.h"

#define CHIP_PADDING 14.0f
#define MAX_CHIP_WIDTH 110.0f
#define AOT_INPUT "primals_"

/* "W fc1" for fc1.weight, "b fc1" for fc1.bias. */
static const char *
name_parameter (AdjDisplayList *self, const char *name)
{
  const char *dot = strrchr (name, '.');

  if (dot && (!strcmp (dot, ".weight") || !strcmp (dot, ".bias")))
    return display_list_keep (
        self, g_strdup_printf ("%s %.*s", dot[1] == 'w' ? "W" : "b", (int) (dot - name), name));
  return display_list_keep (self, g_strdup_printf ("W %s", name));
}

/* "p12" of "primals_12": so many of a joint graph have such a name that it tells but the number. */
static const char *
name_input (AdjDisplayList *self, const char *name)
{
  return g_str_has_prefix (name, AOT_INPUT)
             ? display_list_keep (self, g_strdup_printf ("p%s", name + strlen (AOT_INPUT)))
             : name;
}

/* On a chip: "W c_fc" for c_fc.weight, "b c_fc" for c_fc.bias, else "W name". */
static const char *
name_on_chip (AdjDisplayList *self, guint32 index)
{
  const AdjNode *node = adj_display_list_node (self, index);
  const char *name = display_list_name_input (self, index);
  const AdjCaptured *captured = self->roles->captured;
  char *title = captured ? adj_captured_name_node (captured, index) : NULL;

  if (self->roles->entries[index].object)
    return display_list_name_class (self, index);
  if (self->roles->entries[index].token)
    return "token";
  if (title)
    name = display_list_keep (self, title);
  if (!node->meta.parameter &&
      (!title || self->roles->entries[index].role != ADJ_ROLE_PARAMETER || strchr (name, '[')))
    return name_input (self, name);
  return name_parameter (self, name);
}

/* What a chip says. */
typedef enum
{
  SAYS_FAR,   /* the name of a card that is far away */
  SAYS_INPUT, /* the name of an input */
  SAYS_COUNT, /* how many cards far away name this one */
} Says;

/* A chip wanted on an item. */
typedef struct
{
  guint32 item;
  guint right;
  Says says;
  gboolean below; /* what is far away */
  guint n;        /* of SAYS_COUNT: how many */
  AdjDisplayChip chip;
} Wanted;

static gint
by_item (gconstpointer a, gconstpointer b)
{
  const Wanted *x = a, *y = b;

  if (x->item != y->item)
    return x->item < y->item ? -1 : 1;
  if (x->right != y->right)
    return x->right < y->right ? -1 : 1;
  if (x->says != y->says)
    return x->says < y->says ? -1 : 1;
  if (x->below != y->below)
    return x->below ? 1 : -1;
  return x->chip.node.index < y->chip.node.index ? -1 : x->chip.node.index > y->chip.node.index;
}

static void
want_chip (const AdjDisplayList *self, GArray *wanted, guint32 item, guint32 node, guint right)
{
  Wanted w = {
    .item = item, .right = right, .says = SAYS_INPUT, .chip = { .node = { node }, .n_nodes = 1 }
  };

  w.chip.role = self->roles->entries[node].role;
  g_array_append_val (wanted, w);
}

/* Adds chips for gradients at the accumulations that take them. */
static void
want_gradients (const AdjDisplayList *self, GArray *wanted, guint8 *shown)
{
  const AdjCaptured *captured = self->roles->captured;

  for (guint32 i = 0; i < self->roles->n; i++)
    {
      const AdjCapturedNode *node = adj_captured_get_node (captured, i);
      guint32 item = self->item_of[i];

      if (node->kind != ADJ_CAPTURED_ACCUMULATE || item == ADJ_NO_BOX ||
          adj_display_item (self, item)->kind == ADJ_BOX_GROUP)
        continue;
      for (guint k = 0; k < adj_captured_get_n_inputs (captured); k++)
        {
          const AdjCapturedInput *input = adj_captured_get_input (captured, k);

          if (input->from != ADJ_FROM_GRAD || input->of != node->leaf || shown[input->node.index])
            continue;
          want_chip (self, wanted, item, input->node.index, TRUE);
          shown[input->node.index] = TRUE;
        }
    }
}

gboolean
display_list_sticks (const AdjDisplayList *self, guint32 host, guint32 item)
{
  const AdjDisplayItem *reader = adj_display_item (self, item);
  AdjNodeRoleKind kind = self->roles->entries[host].kind;
  guint32 row = self->rows->row_of[host];

  if (kind == ADJ_NODE_ROLE_PILL)
    return reader->kind == ADJ_BOX_NODE && reader->row > self->rows->begin &&
           (row == ADJ_NO_ROW || row < self->rows->begin);
  return kind == ADJ_NODE_ROLE_CHIP && reader->kind != ADJ_BOX_GROUP;
}

/* Inputs and constants are stuck to every item that reads them. */
static void
want_inputs (const AdjDisplayList *self, GArray *wanted, guint8 *shown)
{
  const AdjNodeRoles *roles = self->roles;

  for (guint32 i = 0; i < roles->n; i++)
    {
      const AdjNode *node = adj_display_list_node (self, i);
      guint32 item = self->item_of[i];

      if (item == ADJ_NO_BOX || roles->entries[roles->entries[i].host].kind == ADJ_NODE_ROLE_CHIP)
        continue;
      for (guint k = 0; k < node->n_inputs; k++)
        {
          guint32 host = roles->entries[node->inputs[k].index].host;

          if (host == roles->entries[i].host || !display_list_sticks (self, host, item))
            continue;
          want_chip (self, wanted, item, host,
                     adj_display_item (self, item)->side == ADJ_SIDE_BACKWARD);
          shown[host] = TRUE;
        }
    }
}

/* At @item, of which there are @n, the name of @other; there, how many of these there are. */
static void
want_names (const AdjDisplayList *self, GArray *wanted, guint32 item, guint32 other, guint n)
{
  const AdjDisplayItem *one = adj_display_item (self, item), *far = adj_display_item (self, other);
  guint right = one->side == ADJ_SIDE_BACKWARD;
  Wanted name = { .item = item,
                  .right = right,
                  .says = SAYS_FAR,
                  .below = far->row > one->row,
                  .chip = { .node = far->node, .n_nodes = 1 } };
  Wanted count = { .item = other,
                   .right = right,
                   .says = SAYS_COUNT,
                   .below = !name.below,
                   .n = n,
                   .chip = { .node = far->node, .n_nodes = 1 } };

  g_array_append_val (wanted, name);
  g_array_append_val (wanted, count);
}

static void
want_far_ends (const AdjDisplayList *self, GArray *wanted)
{
  for (guint32 i = 0; i < self->roles->n; i++)
    {
      const AdjNode *node = adj_display_list_node (self, i);
      guint32 reader = self->item_of[i];

      for (guint k = 0; reader != ADJ_NO_BOX && k < node->n_inputs; k++)
        {
          guint32 maker = self->item_of[node->inputs[k].index];

          if (maker == ADJ_NO_BOX || !display_list_names_far (self, maker, reader))
            continue;
          if (self->n_far_readers[maker] >= self->n_far_makers[reader])
            want_names (self, wanted, reader, maker, self->n_far_readers[maker]);
          else
            want_names (self, wanted, maker, reader, self->n_far_makers[reader]);
        }
    }
}

static const char *
text_on_chip (AdjDisplayList *self, const Wanted *w)
{
  const char *name = adj_display_list_node (self, w->chip.node.index)->name;
  const char *arrow = w->below ? "↓" : "↑";

  if (w->says == SAYS_INPUT)
    return name_on_chip (self, w->chip.node.index);
  return display_list_keep (self, w->says == SAYS_FAR ? g_strdup_printf ("%s %s", name, arrow)
                                                      : g_strdup_printf ("%u %s", w->n, arrow));
}

static void
append_chip (AdjDisplayList *self, const Wanted *w, guint n_more)
{
  AdjDisplayItem *item = adj_display_item (self, w->item);
  AdjDisplayChip chip = w->chip;
  const char *text = text_on_chip (self, w);
  g_autofree char *stem = NULL;

  if (n_more)
    text = display_list_keep (self, g_strdup_printf ("+ %u more", n_more + 1));
  chip.n_nodes = n_more + 1;
  stem = display_text_without_numbers (text);
  chip.width = adj_font_measure (ADJ_FONT_BOLD, ADJ_CHIP_TEXT_SIZE, stem) + CHIP_PADDING;
  chip.width = CLAMP (ceilf (chip.width / 10) * 10, 30, MAX_CHIP_WIDTH);
  chip.title = display_list_fit (self, ADJ_FONT_BOLD, ADJ_CHIP_TEXT_SIZE, text,
                                 chip.width - CHIP_PADDING / 2);
  if (!item->n_chips[w->right])
    item->first_chip[w->right] = self->chips->len;
  item->n_chips[w->right]++;
  item->chips_width[w->right] = MAX (item->chips_width[w->right], chip.width);
  g_array_append_val (self->chips, chip);
}

static void
note_chip (AdjDisplayList *self, const Wanted *w, guint32 chip)
{
  guint32 node = w->chip.node.index;

  if (self->chip_of[node] == ADJ_NO_BOX && self->item_of[node] == ADJ_NO_BOX)
    self->chip_of[node] = chip;
}

/* The chips of one side of one item: wanted[from … to]. */
static void
append_chips (AdjDisplayList *self, const GArray *wanted, guint from, guint to)
{
  guint n = to - from;

  for (guint k = 0; k < n; k++)
    {
      const Wanted *w = &g_array_index (wanted, Wanted, from + k);
      gboolean last = k + 1 == ADJ_MAX_CHIPS && n > ADJ_MAX_CHIPS;

      if (k < ADJ_MAX_CHIPS)
        append_chip (self, w, last ? n - ADJ_MAX_CHIPS : 0);
      note_chip (self, w, self->chips->len - 1);
    }
}

static void
drop_repeats (GArray *wanted)
{
  guint n = 0;

  for (guint k = 0; k < wanted->len; k++)
    {
      const Wanted *w = &g_array_index (wanted, Wanted, k);
      const Wanted *before = n ? &g_array_index (wanted, Wanted, n - 1) : NULL;

      if (!before || before->item != w->item || before->right != w->right ||
          before->says != w->says || before->below != w->below ||
          before->chip.node.index != w->chip.node.index)
        g_array_index (wanted, Wanted, n++) = *w;
    }
  g_array_set_size (wanted, n);
}

void
display_list_make_chips (AdjDisplayList *self)
{
  const AdjNodeRoles *roles = self->roles;
  g_autoptr (GArray) wanted = g_array_new (FALSE, FALSE, sizeof (Wanted));
  g_autofree guint8 *shown = g_new0 (guint8, MAX (roles->n, 1));

  want_inputs (self, wanted, shown);
  want_far_ends (self, wanted);
  if (roles->captured)
    want_gradients (self, wanted, shown);
  g_array_sort (wanted, by_item);
  drop_repeats (wanted);
  for (guint from = 0, to; from < wanted->len; from = to)
    {
      const Wanted *w = &g_array_index (wanted, Wanted, from);

      for (to = from + 1; to < wanted->len; to++)
        {
          const Wanted *next = &g_array_index (wanted, Wanted, to);

          if (next->item != w->item || next->right != w->right)
            break;
        }
      append_chips (self, wanted, from, to);
    }
}
