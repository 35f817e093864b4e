/* SPDX-License-Identifier: MIT */
/* The display list before it is laid out: a card with its texts and width for every node that is
 * shown. */

#include "layout/adj-display-list.h"

#include <math.h>
#include <string.h>

#include "ir/adj-graph.h"
#include "ir/adj-target.h"
#include "layout/display-list-private.h"
#include "layout/node-roles-private.h"
#include "objects/adj-object-text.h"
#include "scene/adj-font.h"

#define MIN_WIDTH 120.0f
#define MAX_WIDTH 240.0f
#define STEP_WIDTH 20.0f /* widths are few, so that equal blocks stay equal */
#define PADDING 14.0f
#define SIGN_ROOM 26.0f
#define CLOSED_WIDTH 260.0f
#define MAX_CLOSED_WIDTH 640.0f
#define COUNT_ROOM 140.0f /* for the number of nodes, beside the title */
#define CLOSED_HEIGHT 44.0f
#define PILL_HEIGHT 28.0f

const char *
display_list_keep (AdjDisplayList *self, char *text)
{
  const char *kept = adj_arena_intern (self->texts, text);

  g_free (text);
  return kept;
}

/* "f32[2, 16, 64]" */
static void
append_meta (const AdjDisplayList *self, const AdjTensorMeta *meta, GString *out)
{
  AdjSymbols *symbols = adj_graph_get_symbols (self->roles->graph);

  if (meta->dtype < ADJ_N_DTYPES)
    g_string_append (out, adj_dtype_info (meta->dtype)->code);
  g_string_append_c (out, '[');
  for (guint i = 0; i < meta->shape.rank; i++)
    {
      if (i)
        g_string_append (out, ", ");
      adj_size_print (symbols, meta->shape.size[i], out);
    }
  g_string_append_c (out, ']');
}

/* The first tensor of an annotation, and how many there are. */
typedef struct
{
  const AdjTensorMeta *first;
  guint n;
} Metas;

static gboolean
count_meta (const AdjValue *leaf, gpointer data)
{
  Metas *metas = data;

  if (leaf->kind == ADJ_VALUE_META && metas->n++ == 0)
    metas->first = leaf->meta;
  return TRUE;
}

static const char *
describe (AdjDisplayList *self, const AdjNode *node)
{
  Metas metas = { NULL, 0 };
  GString *out = g_string_new (NULL);

  adj_value_foreach (&node->val, count_meta, &metas);
  if (metas.n > 1)
    g_string_append_printf (out, "%u × ", metas.n);
  if (metas.first)
    append_meta (self, metas.first, out);
  return display_list_keep (self, g_string_free (out, FALSE));
}

/* The last two parts of the path of a parameter. */
static const char *
short_name (const char *path)
{
  const char *dot = strrchr (path, '.');

  while (dot && dot > path && dot[-1] != '.')
    dot--;
  return dot ? dot : path;
}

const char *
display_list_name_input (const AdjDisplayList *self, guint32 index)
{
  const AdjNode *node = adj_display_list_node (self, index);

  return node->meta.parameter ? short_name (node->meta.parameter) : node->name;
}

/* The class of an object without its namespace. */
const char *
display_list_name_class (AdjDisplayList *self, guint32 index)
{
  const AdjNode *node = adj_display_list_node (self, index);
  const char *type =
      node->val.kind == ADJ_VALUE_OPAQUE_OBJECT ? adj_opaque_get_type (node->val.object) : NULL;
  const char *colons = type ? strstr (type, "::") : NULL;

  return colons ? colons + 2 : type ? type : node->name;
}

/* "grad of fc1.weight" for nodes that make a gradient which leaves the graph. */
static const char *
describe_gradient (AdjDisplayList *self, guint32 index)
{
  const AdjNodeRoles *roles = self->roles;
  const char *first = NULL;
  guint n = 0;

  for (guint k = 0; k < roles->results->len; k++)
    {
      const AdjResultRole *r = &g_array_index (roles->results, AdjResultRole, k);

      if (r->node == G_MAXUINT32 || r->primal < 0 || roles->entries[r->node].host != index)
        continue;
      if (n++ == 0)
        first = display_list_name_input (self, (guint32) r->primal);
    }
  if (n == 0)
    return NULL;
  return display_list_keep (self, n == 1 ? g_strdup_printf ("grad of %s", first)
                                         : g_strdup_printf ("grad of %s + %u", first, n - 1));
}

char *
display_text_without_numbers (const char *text)
{
  GString *out = g_string_new (NULL);

  for (const char *p = text; *p; p++)
    if (!g_ascii_isdigit (*p))
      g_string_append_c (out, *p);
    else if (p == text || !g_ascii_isdigit (p[-1]))
      g_string_append (out, "00");
  return g_string_free (out, FALSE);
}

/* The width that every node of this operator and shape has. */
static float
width_for (const char *title, const char *subtitle)
{
  g_autofree char *stem = display_text_without_numbers (title);
  gsize length = strlen (title);
  const char *more = length && g_ascii_isdigit (title[length - 1]) ? "" : "_00";
  float first = adj_font_measure (ADJ_FONT_BOLD, ADJ_TITLE_SIZE, stem) +
                adj_font_measure (ADJ_FONT_BOLD, ADJ_TITLE_SIZE, more) + SIGN_ROOM;
  float second = adj_font_measure (ADJ_FONT_REGULAR, ADJ_SUBTITLE_SIZE, subtitle);
  float width = 2 * PADDING + MAX (first, second);

  return CLAMP (ceilf (width / STEP_WIDTH) * STEP_WIDTH, MIN_WIDTH, MAX_WIDTH);
}

const char *
display_list_fit (AdjDisplayList *self, AdjFont font, float size, const char *text, float width)
{
  return display_list_keep (self, adj_font_ellipsize (font, size, text, width));
}

/* The subtitle of a node of a captured backward: what did not fit into the title, its name, its
 * only call, its shape. */
static const char *
describe_captured (AdjDisplayList *self,
                   guint32 index,
                   gboolean named,
                   const char *rest,
                   const char *shape,
                   guint32 row)
{
  const AdjCapturedNode *node = adj_captured_get_node (self->roles->captured, index);
  gboolean alone = node->call != ADJ_CAPTURED_NONE && adj_rows_row (self->rows, row)->module == 0 &&
                   node->kind != ADJ_CAPTURED_INPUT;
  g_autofree char *call = alone ? g_strdup_printf ("NodeCall %u", node->call) : NULL;
  const char *const parts[] = { rest, named ? adj_display_list_node (self, index)->name : NULL,
                                call, *shape ? shape : NULL };
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (parts[i])
      g_string_append_printf (out, "%s%s", out->len ? " · " : "", parts[i]);
  return display_list_keep (self, g_string_free (out, FALSE));
}

/* What @node calls, where its name does not tell: a frontend names values as the program does
 * ("x_1"). (transfer full) (nullable) */
static char *
find_unnamed_call (const AdjNode *node)
{
  gboolean ordered = node_roles_orders_effects (node) && node->args.n > 1 &&
                     node->args.items[1].kind == ADJ_VALUE_OP;
  g_autofree char *stem = NULL;

  if (node->opcode != ADJ_OPCODE_CALL_FUNCTION && node->opcode != ADJ_OPCODE_CALL_METHOD)
    return NULL;
  stem = adj_target_get_stem (ordered ? node->args.items[1].text : node->target);
  return g_str_has_prefix (node->name, stem) ? NULL : g_steal_pointer (&stem);
}

/* The name of a node that is no object; before the shape in @subtitle what it calls, where the name
 * does not tell. */
static const char *
title_of_value (AdjDisplayList *self, guint32 index, const char **subtitle)
{
  const AdjNode *node = adj_display_list_node (self, index);
  g_autofree char *call = find_unnamed_call (node);

  if (call != NULL)
    *subtitle =
        display_list_keep (self, **subtitle != '\0' ? g_strdup_printf ("%s · %s", call, *subtitle)
                                                    : g_steal_pointer (&call));
  return self->roles->entries[index].token && node->opcode == ADJ_OPCODE_PLACEHOLDER
             ? display_list_keep (self, g_strdup_printf ("token %s", node->name))
             : node->name;
}

/* Its name; of an object its class and of a call of a method the class and the method, and the
 * name is @subtitle. */
static const char *
title_of_call (AdjDisplayList *self, guint32 index, const char **subtitle)
{
  const AdjNode *node = adj_display_list_node (self, index);
  char *call = adj_object_call_print (self->roles->graph, index);

  if (call == NULL && !self->roles->entries[index].object)
    return title_of_value (self, index, subtitle);
  *subtitle = node->name;
  return call ? display_list_keep (self, call) : display_list_name_class (self, index);
}

/* The title of a node, and @subtitle: its name, or more where a captured backward tells it. */
static const char *
title_of_node (AdjDisplayList *self, guint32 index, guint32 row, const char **subtitle)
{
  const AdjNode *node = adj_display_list_node (self, index);
  const AdjCaptured *captured = self->roles->captured;
  g_autofree char *title = captured ? adj_captured_name_node (captured, index) : NULL;
  char *dot = title ? strstr (title, " · ") : NULL;
  gboolean fits = !title || adj_font_measure (ADJ_FONT_BOLD, ADJ_TITLE_SIZE, title) <
                                MAX_WIDTH - 2 * PADDING - SIGN_ROOM;

  if (!captured)
    return title_of_call (self, index, subtitle);
  if (dot && !fits)
    *dot = '\0';
  *subtitle = describe_captured (self, index, title != NULL,
                                 dot && !fits ? dot + strlen (" · ") : NULL, *subtitle, row);
  return title ? display_list_keep (self, g_steal_pointer (&title)) : node->name;
}

static guint32
append_node_item (AdjDisplayList *self, guint32 index, guint32 row, AdjSide side)
{
  const AdjNodeRole *entry = &self->roles->entries[index];
  const AdjNode *node = adj_display_list_node (self, index);
  gboolean pill = entry->kind != ADJ_NODE_ROLE_CARD && !entry->object;
  AdjDisplayItem item = {
    .kind = pill ? ADJ_BOX_PILL : ADJ_BOX_NODE,
    .role = entry->role,
    .side = side,
    .object = entry->object,
    .node = { index },
    .row = row,
    .module = ADJ_NO_MODULE,
    .n_nodes = 1,
    .bytes = -1,
    .height = pill ? PILL_HEIGHT : ADJ_NODE_HEIGHT,
  };
  gboolean sign = *adj_role_sign (item.role) != '\0';
  const char *title;

  if (entry->role == ADJ_ROLE_GRADIENT)
    item.subtitle = describe_gradient (self, index);
  if (!item.subtitle)
    item.subtitle = describe (self, node);
  title = title_of_node (self, index, row, &item.subtitle);
  item.width = width_for (title, item.subtitle);
  item.title = display_list_fit (self, ADJ_FONT_BOLD, ADJ_TITLE_SIZE, title,
                                 item.width - 1.5f * PADDING - (sign ? SIGN_ROOM : 0));
  item.subtitle = display_list_fit (self, ADJ_FONT_REGULAR, ADJ_SUBTITLE_SIZE, item.subtitle,
                                    item.width - 1.5f * PADDING);
  g_array_append_val (self->items, item);
  return self->items->len - 1;
}

static guint32
append_closed_item (AdjDisplayList *self, guint32 row, guint32 module, AdjSide side)
{
  const AdjRowsModule *m = adj_rows_module (self->rows, module);
  AdjDisplayItem item = {
    .kind = ADJ_BOX_GROUP,
    .side = side,
    .node = ADJ_NO_NODE,
    .row = row,
    .module = module,
    .bytes = -1,
    .height = CLOSED_HEIGHT,
  };
  g_autofree char *stem = NULL;
  float needed;

  item.title = display_list_keep (self, adj_rows_describe_module (m, side == ADJ_SIDE_BACKWARD));
  /* Names of autograd and of stacks are long, and what is at their end tells them apart. */
  stem = display_text_without_numbers (item.title);
  needed = adj_font_measure (ADJ_FONT_BOLD, ADJ_TITLE_SIZE, stem) + COUNT_ROOM;
  item.width = CLAMP (ceilf (needed / STEP_WIDTH) * STEP_WIDTH, CLOSED_WIDTH, MAX_CLOSED_WIDTH);
  item.title =
      display_list_fit (self, ADJ_FONT_BOLD, ADJ_TITLE_SIZE, item.title, item.width - COUNT_ROOM);
  item.subtitle = "";
  g_array_append_val (self->items, item);
  return self->items->len - 1;
}

static gint
by_index (gconstpointer a, gconstpointer b)
{
  guint32 i = *(const guint32 *) a, j = *(const guint32 *) b;

  return i < j ? -1 : i > j;
}

static void
append_row_items (AdjDisplayList *self, guint32 r, guint s)
{
  const AdjRow *row = adj_rows_row (self->rows, r);
  AdjSide side = s ? ADJ_SIDE_BACKWARD : ADJ_SIDE_FORWARD;
  GArray *nodes = row->nodes[s];
  guint32 closed = ADJ_NO_BOX;

  g_array_sort (nodes, by_index);
  if (row->closed && nodes->len)
    closed = append_closed_item (self, r, row->module, side);
  for (guint k = 0; k < nodes->len; k++)
    {
      guint32 node = g_array_index (nodes, guint32, k);

      self->item_of[node] = row->closed ? closed : append_node_item (self, node, r, side);
    }
}

/* Gives folded nodes the item of their host; chips come later. */
static void
place_folded (AdjDisplayList *self)
{
  const AdjNodeRoles *roles = self->roles;

  for (guint32 i = 0; i < roles->n; i++)
    {
      guint32 host = roles->entries[i].host;

      if (host != i)
        self->item_of[i] = self->item_of[host];
      if (self->item_of[i] != ADJ_NO_BOX)
        {
          AdjDisplayItem *item = adj_display_item (self, self->item_of[i]);

          if (host != i || item->kind == ADJ_BOX_GROUP)
            item->n_nodes++;
        }
    }
}

static void
count_in_closed (AdjDisplayList *self)
{
  for (guint i = 0; i < self->items->len; i++)
    {
      AdjDisplayItem *item = adj_display_item (self, i);

      const AdjRowsModule *module;

      if (item->kind != ADJ_BOX_GROUP)
        continue;
      module = adj_rows_module (self->rows, item->module);
      if (module->n_nodes[item->side == ADJ_SIDE_BACKWARD] > 0)
        item->n_nodes = module->n_nodes[item->side == ADJ_SIDE_BACKWARD];
      item->subtitle = display_list_keep (self, adj_rows_describe_count (module, item->n_nodes));
    }
}

/* The item of the first node that reads @host or what is folded into it, of which @index is. */
static guint32
item_of_reader (const AdjDisplayList *self, guint32 index, guint32 host)
{
  const AdjNode *node = adj_display_list_node (self, index);
  guint32 item = ADJ_NO_BOX;

  for (guint k = 0; k < node->n_users && item == ADJ_NO_BOX; k++)
    {
      guint32 user = node->users[k].index;

      item = self->roles->entries[user].host == host && user != host
                 ? item_of_reader (self, user, host)
                 : self->item_of[user];
    }
  return item;
}

/* Places inputs inside a closed module and unread ones: in the item of their first reader, else in
 * the first item. */
static void
place_rest (AdjDisplayList *self)
{
  const AdjNodeRoles *roles = self->roles;

  for (guint32 i = 0; i < roles->n; i++)
    {
      guint32 host = roles->entries[i].host;

      if (self->item_of[i] != ADJ_NO_BOX || roles->entries[host].kind == ADJ_NODE_ROLE_HIDDEN)
        continue;
      if (self->chip_of[host] != ADJ_NO_BOX)
        {
          self->chip_of[i] = self->chip_of[host];
          if (i != host)
            adj_display_chip (self, self->chip_of[i])->n_nodes++;
          continue;
        }
      if (self->item_of[host] == ADJ_NO_BOX)
        self->item_of[host] = item_of_reader (self, host, host);
      if (self->item_of[host] == ADJ_NO_BOX && self->items->len)
        self->item_of[host] = 0;
      self->item_of[i] = self->item_of[host];
      if (self->item_of[i] != ADJ_NO_BOX)
        adj_display_item (self, self->item_of[i])->n_nodes++;
    }
}

AdjDisplayList *
adj_display_list_new (const AdjNodeRoles *roles, const AdjRows *rows)
{
  AdjDisplayList *self = g_new0 (AdjDisplayList, 1);

  self->roles = roles;
  self->rows = rows;
  self->texts = adj_arena_new ();
  self->items = g_array_new (FALSE, TRUE, sizeof (AdjDisplayItem));
  self->chips = g_array_new (FALSE, TRUE, sizeof (AdjDisplayChip));
  self->links = g_array_new (FALSE, TRUE, sizeof (AdjDisplayLink));
  self->item_of = g_new (guint32, MAX (roles->n, 1));
  self->chip_of = g_new (guint32, MAX (roles->n, 1));
  memset (self->item_of, 0xff, sizeof (guint32) * roles->n);
  memset (self->chip_of, 0xff, sizeof (guint32) * roles->n);

  for (guint32 r = 0; r < rows->rows->len; r++)
    for (guint s = 0; s < 2; s++)
      append_row_items (self, r, s);
  place_folded (self);
  display_list_find_far_reads (self);
  display_list_make_chips (self);
  place_rest (self);
  count_in_closed (self);
  adj_display_list_make_links (self);
  adj_display_list_sum_saved (self);
  return self;
}

void
adj_display_list_free (AdjDisplayList *display)
{
  g_array_unref (display->items);
  g_array_unref (display->chips);
  g_array_unref (display->links);
  adj_arena_free (display->texts);
  g_free (display->item_of);
  g_free (display->chip_of);
  g_free (display->n_above);
  g_free (display->n_far_readers);
  g_free (display->n_far_makers);
  g_free (display);
}
