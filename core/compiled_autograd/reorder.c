/* SPDX-License-Identifier: MIT */
/* Orders (compiled-autograd §2.12): a graph replayed last found first calls hooks and accumulates
 * later than the engine does; PyTorch moves these nodes up again, in 2024 one kind, in 2.6 all.  A
 * graph replayed as the engine runs needs none of it. */

#include "call/adj-op.h"
#include "compiled_autograd/compiled-private.h"
#include "ir/adj-builder.h"

typedef struct
{
  guint previous, next; /* G_MAXUINT: none */
  double key;           /* grows with the order */
} Place;

/* The nodes of a graph as a list in which they can be moved. */
typedef struct
{
  const AdjGraph *graph;
  Place *places; /* by node */
  guint first;
} Order;

static void
order_number (Order *order)
{
  double key = 0;

  for (guint i = order->first; i != G_MAXUINT; i = order->places[i].next)
    order->places[i].key = key += 1;
}

static void
order_init (Order *order, const AdjGraph *graph)
{
  guint n = adj_graph_get_n_nodes (graph);

  order->graph = graph;
  order->places = g_new0 (Place, n + 1);
  for (guint i = 0; i < n; i++)
    order->places[i] = (Place){ i > 0 ? i - 1 : G_MAXUINT, i + 1 < n ? i + 1 : G_MAXUINT, 0 };
  order_number (order);
}

/* Puts @node right behind @after. */
static void
order_move (Order *order, guint node, guint after)
{
  Place *places = order->places;
  Place *place = &places[node];

  if (node == after || place->previous == after)
    return;
  if (place->previous != G_MAXUINT)
    places[place->previous].next = place->next;
  else
    order->first = place->next;
  if (place->next != G_MAXUINT)
    places[place->next].previous = place->previous;
  place->previous = after;
  place->next = places[after].next;
  places[after].next = node;
  if (place->next == G_MAXUINT)
    {
      place->key = places[after].key + 1;
      return;
    }
  places[place->next].previous = node;
  place->key = (places[after].key + places[place->next].key) / 2;
  if (place->key <= places[after].key || place->key >= places[place->next].key)
    order_number (order);
}

static void
order_move_before (Order *order, guint node, guint before)
{
  if (order->places[before].previous != node)
    order_move (order, node, order->places[before].previous);
}

static guint
later (const Order *order, guint a, guint b)
{
  return order->places[a].key >= order->places[b].key ? a : b;
}

/* -- what a node is -- */

static const AdjNode *
get_node (const Order *order, guint index)
{
  return adj_graph_get_node (order->graph, index);
}

static gboolean
calls (const AdjNode *node, const char *target)
{
  return node->opcode == ADJ_OPCODE_CALL_FUNCTION && g_str_equal (node->target, target);
}

static gboolean
is_hook (const AdjNode *node, ObjectKind kind)
{
  return calls (node, CALL_HOOK) && node->kwargs.n == 2 &&
         node->kwargs.items[1].kind == ADJ_VALUE_STRING &&
         g_str_equal (node->kwargs.items[1].text, object_kind_get_name (kind));
}

/* G_MAXUINT: it is no node. */
static guint
node_of (const AdjValue *value)
{
  return value->kind == ADJ_VALUE_NODE ? value->node.index : G_MAXUINT;
}

static guint
arg_of (const AdjNode *node, guint arg)
{
  return arg < node->args.n ? node_of (&node->args.items[arg]) : G_MAXUINT;
}

/* A placeholder, or one of its items. */
static gboolean
is_header (const Order *order, guint index)
{
  const AdjNode *node = get_node (order, index);

  return node->opcode == ADJ_OPCODE_PLACEHOLDER ||
         (calls (node, GETITEM) && arg_of (node, 0) != G_MAXUINT &&
          get_node (order, arg_of (node, 0))->opcode == ADJ_OPCODE_PLACEHOLDER);
}

/* (transfer full): calls of a kind of hook, or of accumulation, as they stand now. */
static GArray *
find_calls (const Order *order, const char *target, ObjectKind kind)
{
  GArray *found = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = order->first; i != G_MAXUINT; i = order->places[i].next)
    {
      const AdjNode *node = get_node (order, i);

      if (target != NULL ? calls (node, target) : is_hook (node, kind))
        g_array_append_val (found, i);
    }
  return found;
}

/* -- the moves -- */

static void
move_accumulations_2024 (Order *order)
{
  g_autoptr (GArray) nodes = find_calls (order, ACCUMULATE, 0);

  for (guint i = 0; i < nodes->len; i++)
    {
      guint index = g_array_index (nodes, guint, i);
      const AdjNode *node = get_node (order, index);
      guint arg = later (order, arg_of (node, 0), arg_of (node, 1));

      if (get_node (order, arg)->opcode != ADJ_OPCODE_PLACEHOLDER)
        order_move (order, index, arg);
    }
}

/* A hook on a tensor runs as soon as its gradient is there. */
static void
move_tensor_hooks (Order *order)
{
  g_autoptr (GArray) nodes = find_calls (order, NULL, OBJECT_TENSOR_PRE_HOOK);

  for (guint i = 0; i < nodes->len; i++)
    {
      guint index = g_array_index (nodes, guint, i);
      const AdjNode *node = get_node (order, index);
      guint hook = arg_of (node, 0), grad = arg_of (node, 1);

      if (grad == G_MAXUINT || grad == order->places[index].previous || is_header (order, grad))
        continue;
      order_move (order, hook, grad);
      order_move (order, index, hook);
    }
}

/* Hooks before a node too, so that accumulations find what they wait for. */
static void
move_pre_hooks_up (Order *order)
{
  g_autoptr (GArray) nodes = find_calls (order, NULL, OBJECT_PRE_HOOK);

  for (guint i = 0; i < nodes->len; i++)
    {
      guint index = g_array_index (nodes, guint, i);
      const AdjNode *node = get_node (order, index);
      const AdjValue *grads = &node->args.items[1];
      guint hook = arg_of (node, 0), last = G_MAXUINT;

      for (guint k = 0; k < grads->n; k++)
        {
          guint grad = node_of (&grads->items[k]);

          if (grad != G_MAXUINT && calls (get_node (order, grad), GETITEM))
            grad = arg_of (get_node (order, grad), 0);
          if (grad != G_MAXUINT)
            last = last == G_MAXUINT ? grad : later (order, last, grad);
        }
      if (last == G_MAXUINT || last == order->places[index].previous || is_header (order, last))
        continue;
      order_move (order, hook, last);
      order_move (order, index, hook);
      for (guint k = 0; k < grads->n; k++)
        if (node_of (&grads->items[k]) != G_MAXUINT &&
            calls (get_node (order, node_of (&grads->items[k])), GETITEM))
          order_move (order, node_of (&grads->items[k]), hook);
    }
}

/* A leaf gets its gradient as soon as it is there. */
static void
move_accumulations (Order *order)
{
  g_autoptr (GArray) nodes = find_calls (order, ACCUMULATE, 0);

  for (guint i = 0; i < nodes->len; i++)
    {
      guint index = g_array_index (nodes, guint, i);
      const AdjNode *node = get_node (order, index);
      guint grad = arg_of (node, 1), item = G_MAXUINT, arg;

      if (calls (get_node (order, grad), GETITEM))
        {
          item = grad;
          grad = arg_of (get_node (order, grad), 0);
        }
      arg = later (order, arg_of (node, 0), grad);
      if (arg == order->places[index].previous || is_header (order, arg))
        continue;
      order_move (order, index, arg);
      if (item != G_MAXUINT)
        order_move (order, item, arg);
    }
}

/* Hooks before a node stand right before it. */
static void
move_pre_hooks_down (Order *order)
{
  g_autoptr (GArray) nodes = find_calls (order, NULL, OBJECT_PRE_HOOK);

  for (guint i = nodes->len; i-- > 0;)
    {
      guint index = g_array_index (nodes, guint, i);
      const AdjNode *node = get_node (order, index);
      const AdjNode *first = node->n_users > 0 ? get_node (order, node->users[0].index) : NULL;
      guint user = first != NULL && first->n_users > 0 ? first->users[0].index : G_MAXUINT;

      if (user == G_MAXUINT || user == order->places[index].next)
        continue;
      order_move_before (order, arg_of (node, 0), user);
      order_move_before (order, index, user);
      for (guint k = 0; k < node->n_users; k++)
        order_move_before (order, node->users[k].index, user);
    }
}

/* G_MAXUINT: none.  @last: the last one instead of the first. */
static guint
find_user (const Order *order, guint index, const char *target, ObjectKind kind, gboolean last)
{
  const AdjNode *node = get_node (order, index);
  guint found = G_MAXUINT;

  for (guint i = 0; i < node->n_users && (last || found == G_MAXUINT); i++)
    {
      const AdjNode *user = get_node (order, node->users[i].index);

      if (target != NULL ? calls (user, target) : is_hook (user, kind))
        found = node->users[i].index;
    }
  return found;
}

/* Hooks on a leaf stand behind the accumulation into it. */
static void
move_leaf_hooks (Order *order)
{
  g_autoptr (GArray) nodes = find_calls (order, NULL, OBJECT_LEAF_HOOK);

  for (guint i = nodes->len; i-- > 0;)
    {
      guint index = g_array_index (nodes, guint, i);
      const AdjNode *node = get_node (order, index);
      guint accumulation = find_user (order, arg_of (node, 1), ACCUMULATE, 0, FALSE);

      if (accumulation == G_MAXUINT)
        continue;
      order_move (order, arg_of (node, 0), accumulation);
      order_move (order, index, arg_of (node, 0));
    }
}

/* The last of the inputs of @node, which are gradients, and of who else reads them. */
static guint
find_last_reader (const Order *order, const AdjValue *grads)
{
  guint last = G_MAXUINT;

  for (guint k = 0; k < grads->n; k++)
    {
      guint grad = node_of (&grads->items[k]);
      const AdjNode *node = grad != G_MAXUINT ? get_node (order, grad) : NULL;

      if (node == NULL)
        continue;
      last = last == G_MAXUINT ? grad : later (order, last, grad);
      for (guint i = 0; i < node->n_users; i++)
        if (!calls (get_node (order, node->users[i].index), CALL_HOOK))
          last = later (order, last, node->users[i].index);
    }
  return last;
}

/* Hooks after an accumulation stand behind it. */
static void
move_post_hooks (Order *order)
{
  g_autoptr (GArray) nodes = find_calls (order, NULL, OBJECT_POST_HOOK);

  for (guint i = nodes->len; i-- > 0;)
    {
      guint index = g_array_index (nodes, guint, i);
      const AdjNode *node = get_node (order, index);
      guint last, hook = G_MAXUINT;

      if (node->args.items[1].n > 0)
        continue;
      last = find_last_reader (order, &node->args.items[2]);
      if (last == G_MAXUINT)
        continue;
      if (calls (get_node (order, last), ACCUMULATE))
        hook = find_user (order, arg_of (get_node (order, last), 0), NULL, OBJECT_LEAF_HOOK, TRUE);
      if (hook != G_MAXUINT)
        last = hook;
      else if (last == order->places[index].previous || is_header (order, last))
        continue;
      order_move (order, arg_of (node, 0), last);
      order_move (order, index, arg_of (node, 0));
    }
}

/* -- what nobody needs -- */

/* What PyTorch 2.6 keeps: of what is called for its effect alone, hooks and their like, no operator
 * (trap 13). */
static gboolean
is_kept_by_2_6 (const Order *order, guint index)
{
  const AdjNode *node = get_node (order, index);

  return node->opcode != ADJ_OPCODE_CALL_FUNCTION || is_header (order, index) ||
         (node->op == NULL && !g_str_has_prefix (node->target, "operator."));
}

static gboolean
has_effect (const Order *order, guint index)
{
  const AdjNode *node = get_node (order, index);

  return is_kept_by_2_6 (order, index) || (node->op != NULL && !adj_op_is_pure (node->op));
}

typedef gboolean (*KeepFunc) (const Order *order, guint index);
typedef void (*MoveFunc) (Order *order);

static const struct
{
  KeepFunc is_kept; /* (nullable): everything is */
  MoveFunc moves[7];
} orders[ADJ_N_CAPTURE_ORDERS] = {
  [ADJ_CAPTURE_ORDER_EAGER] = { has_effect, { NULL } },
  [ADJ_CAPTURE_ORDER_2024] = { NULL, { move_accumulations_2024 } },
  [ADJ_CAPTURE_ORDER_2_6] = { is_kept_by_2_6,
                              { move_tensor_hooks, move_pre_hooks_up, move_accumulations,
                                move_pre_hooks_down, move_leaf_hooks, move_post_hooks } },
};

/* (transfer full): by node. */
static gboolean *
mark_live (const Order *order, KeepFunc keeps)
{
  guint n = adj_graph_get_n_nodes (order->graph);
  gboolean *live = g_new0 (gboolean, n + 1);

  for (guint i = n; i-- > 0;)
    {
      const AdjNode *node = get_node (order, i);

      live[i] = live[i] || keeps == NULL || keeps (order, i);
      for (guint k = 0; live[i] && k < node->n_inputs; k++)
        live[node->inputs[k].index] = TRUE;
    }
  return live;
}

static gboolean
is_all_live (const Order *order, const gboolean *live)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (order->graph); i++)
    if (!live[i])
      return FALSE;
  return TRUE;
}

AdjGraph *
reorder (AdjGraph *graph, AdjCaptureOrder which, GError **error)
{
  g_autoptr (AdjBuilder) builder = adj_builder_new_like (graph);
  g_autofree AdjNodeId *map = g_new0 (AdjNodeId, adj_graph_get_n_nodes (graph) + 1);
  g_autofree gboolean *live = NULL;
  Order order = { 0 };
  AdjGraph *result;

  order_init (&order, graph);
  for (guint i = 0; i < G_N_ELEMENTS (orders[which].moves) && orders[which].moves[i] != NULL; i++)
    orders[which].moves[i](&order);
  live = mark_live (&order, orders[which].is_kept);
  if (orders[which].moves[0] == NULL && is_all_live (&order, live))
    {
      g_free (order.places);
      return adj_graph_ref (graph);
    }
  for (guint i = order.first; i != G_MAXUINT; i = order.places[i].next)
    if (live[i])
      adj_builder_copy (builder, graph, i, map);
  result = adj_builder_seal (builder, error);
  g_free (order.places);
  return result;
}
