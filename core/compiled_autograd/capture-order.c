/* SPDX-License-Identifier: MIT */
/* Orders (compiled_autograd/SPEC.md §5): a graph replayed depth first calls hooks and accumulates
 * later than the engine; PyTorch moves these nodes up, in 2024 one kind, in 2.6 all.  A graph
 * replayed in the engine's order needs no moves. */

#include "call/adj-op.h"
#include "compiled_autograd/compiled-private.h"
#include "compiled_autograd/order-private.h"
#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-table.h"

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
  return calls (node, ADJ_TARGET_CALL_HOOK) && node->kwargs.n == 2 &&
         node->kwargs.items[1].kind == ADJ_VALUE_STRING &&
         g_str_equal (node->kwargs.items[1].text, object_kind_get_name (kind));
}

/* G_MAXUINT: @value is no node. */
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

/* The gradient of an accumulation; G_MAXUINT: it is no node. */
static guint
grad_of (const AdjNode *node)
{
  return arg_of (node, calls (node, ADJ_TARGET_ACCUMULATE) ? 1 : 2);
}

/* Whether @node accumulates into a leaf. */
static gboolean
is_accumulation (const AdjNode *node)
{
  return calls (node, ADJ_TARGET_ACCUMULATE) || calls (node, ADJ_TARGET_CALL_ACCUMULATE);
}

/* Whether it is a placeholder or an item of one. */
static gboolean
is_header (const Order *order, guint index)
{
  const AdjNode *node = get_node (order, index);

  return node->opcode == ADJ_OPCODE_PLACEHOLDER ||
         (calls (node, GETITEM) && arg_of (node, 0) != G_MAXUINT &&
          get_node (order, arg_of (node, 0))->opcode == ADJ_OPCODE_PLACEHOLDER);
}

/* (transfer full): calls of a kind of hook in their current order; N_OBJECT_KINDS: accumulations.
 */
static GArray *
find_calls (const Order *order, ObjectKind kind)
{
  GArray *found = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = order->first; i != G_MAXUINT; i = order->places[i].next)
    {
      const AdjNode *node = get_node (order, i);

      if (kind == N_OBJECT_KINDS ? is_accumulation (node) : is_hook (node, kind))
        g_array_append_val (found, i);
    }
  return found;
}

/* -- the moves -- */

static void
move_accumulations_2024 (Order *order)
{
  g_autoptr (GArray) nodes = find_calls (order, N_OBJECT_KINDS);

  for (guint i = 0; i < nodes->len; i++)
    {
      guint index = g_array_index (nodes, guint, i);
      const AdjNode *node = get_node (order, index);
      guint arg = order_get_later (order, arg_of (node, 0), grad_of (node));

      if (get_node (order, arg)->opcode != ADJ_OPCODE_PLACEHOLDER)
        order_move (order, index, arg);
    }
}

/* Moves unpacking right before its first reader. */
static void
move_unpacking (Order *order)
{
  g_autoptr (GArray) nodes = find_calls (order, OBJECT_UNPACK);

  for (guint i = 0; i < nodes->len; i++)
    {
      guint index = g_array_index (nodes, guint, i);
      const AdjNode *node = get_node (order, index);
      guint first = G_MAXUINT;

      for (guint k = 0; k < node->n_users; k++)
        {
          guint user = node->users[k].index;

          first =
              first == G_MAXUINT || order_get_later (order, first, user) == first ? user : first;
        }
      if (first != G_MAXUINT)
        order_move_before (order, index, first);
    }
}

/* Moves hooks on a tensor right behind the gradient. */
static void
move_tensor_hooks (Order *order)
{
  g_autoptr (GArray) nodes = find_calls (order, OBJECT_TENSOR_PRE_HOOK);

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

/* Moves pre hooks up too, so that accumulations can move behind what they wait for. */
static void
move_pre_hooks_up (Order *order)
{
  g_autoptr (GArray) nodes = find_calls (order, OBJECT_PRE_HOOK);

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
            last = last == G_MAXUINT ? grad : order_get_later (order, last, grad);
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

/* Moves accumulations right behind the gradient. */
static void
move_accumulations (Order *order)
{
  g_autoptr (GArray) nodes = find_calls (order, N_OBJECT_KINDS);

  for (guint i = 0; i < nodes->len; i++)
    {
      guint index = g_array_index (nodes, guint, i);
      const AdjNode *node = get_node (order, index);
      guint grad = grad_of (node), item = G_MAXUINT, arg;

      if (grad == G_MAXUINT)
        continue;
      if (calls (get_node (order, grad), GETITEM))
        {
          item = grad;
          grad = arg_of (get_node (order, grad), 0);
        }
      arg = order_get_later (order, arg_of (node, 0), grad);
      if (arg == order->places[index].previous || is_header (order, arg))
        continue;
      order_move (order, index, arg);
      if (item != G_MAXUINT)
        order_move (order, item, arg);
    }
}

/* Moves pre hooks right before their node. */
static void
move_pre_hooks_down (Order *order)
{
  g_autoptr (GArray) nodes = find_calls (order, OBJECT_PRE_HOOK);

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

/* A user of node @index as in find_calls(): the first or, with @last, the last one; G_MAXUINT:
 * none. */
static guint
find_user (const Order *order, guint index, ObjectKind kind, gboolean last)
{
  const AdjNode *node = get_node (order, index);
  guint found = G_MAXUINT;

  for (guint i = 0; i < node->n_users && (last || found == G_MAXUINT); i++)
    {
      const AdjNode *user = get_node (order, node->users[i].index);

      if (kind == N_OBJECT_KINDS ? is_accumulation (user) : is_hook (user, kind))
        found = node->users[i].index;
    }
  return found;
}

/* Moves hooks on a leaf behind the accumulation into it. */
static void
move_leaf_hooks (Order *order)
{
  g_autoptr (GArray) nodes = find_calls (order, OBJECT_LEAF_HOOK);

  for (guint i = nodes->len; i-- > 0;)
    {
      guint index = g_array_index (nodes, guint, i);
      const AdjNode *node = get_node (order, index);
      guint accumulation = find_user (order, arg_of (node, 1), N_OBJECT_KINDS, FALSE);

      if (accumulation == G_MAXUINT)
        continue;
      order_move (order, arg_of (node, 0), accumulation);
      order_move (order, index, arg_of (node, 0));
    }
}

/* The last of the nodes @grads and of their other readers. */
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
      last = last == G_MAXUINT ? grad : order_get_later (order, last, grad);
      for (guint i = 0; i < node->n_users; i++)
        if (!calls (get_node (order, node->users[i].index), ADJ_TARGET_CALL_HOOK))
          last = order_get_later (order, last, node->users[i].index);
    }
  return last;
}

/* Moves post hooks behind their accumulation. */
static void
move_post_hooks (Order *order)
{
  g_autoptr (GArray) nodes = find_calls (order, OBJECT_POST_HOOK);

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
      if (is_accumulation (get_node (order, last)))
        hook = find_user (order, arg_of (get_node (order, last), 0), OBJECT_LEAF_HOOK, TRUE);
      if (hook != G_MAXUINT)
        last = hook;
      else if (last == order->places[index].previous || is_header (order, last))
        continue;
      order_move (order, arg_of (node, 0), last);
      order_move (order, index, arg_of (node, 0));
    }
}

/* -- what nobody needs -- */

/* Whether PyTorch 2.6 keeps an unread call: only these, and no operator. */
static gboolean
is_kept_by_2_6 (const Order *order, guint index)
{
  static const char *const effects[] = { ADJ_TARGET_CALL_HOOK, ADJ_TARGET_ACCUMULATE,
                                         ADJ_TARGET_CALL_ACCUMULATE, ADJ_TARGET_CALL_BACKWARD,
                                         ADJ_TARGET_FINAL_CALLBACKS };
  const AdjNode *node = get_node (order, index);

  for (guint i = 0; i < G_N_ELEMENTS (effects); i++)
    if (calls (node, effects[i]))
      return TRUE;
  return node->opcode != ADJ_OPCODE_CALL_FUNCTION || is_header (order, index);
}

/* Sizes, backward nodes, and helper calls between them. */
static gboolean
is_pure_call (const char *target)
{
  static const char *const prefixes[] = { "operator.", "torch.ops.aten.sym_", "torch.add",
                                          "torch._dynamo.compiled_autograd.",
                                          "torch._dynamo.external_utils.unwrap_maybe_dynamic_int" };

  for (guint i = 0; i < G_N_ELEMENTS (prefixes); i++)
    if (g_str_has_prefix (target, prefixes[i]))
      return TRUE;
  return FALSE;
}

/* A call with unknown meaning counts as one with effects. */
static gboolean
has_effect (const Order *order, guint index)
{
  const AdjNode *node = get_node (order, index);

  if (is_kept_by_2_6 (order, index))
    return TRUE;
  if (node->op == NULL)
    return !is_pure_call (node->target);
  return !adj_op_is_pure (node->op);
}

typedef gboolean (*KeepFunc) (const Order *order, guint index);

typedef struct
{
  const char *name, *summary;
  void (*run) (Order *order);
} Move;

#define MOVES_SINCE_2_6                                                                            \
  { "tensor-hooks", "Hooks on tensors run as soon as the gradient is there", move_tensor_hooks },  \
      { "pre-hooks-up", "Hooks before nodes make way for accumulations", move_pre_hooks_up },      \
      { "accumulations", "Leaves get their gradients as soon as they are there",                   \
        move_accumulations },                                                                      \
      { "pre-hooks-down", "Hooks before nodes run right before them", move_pre_hooks_down },       \
      { "leaf-hooks", "Hooks on leaves run behind the accumulation", move_leaf_hooks },            \
  {                                                                                                \
    "post-hooks", "Hooks after accumulations run behind these", move_post_hooks                    \
  }

static const struct
{
  KeepFunc is_kept; /* (nullable): %NULL: everything is kept */
  Move moves[8];
} orders[ADJ_N_CAPTURE_ORDERS] = {
  [ADJ_CAPTURE_ORDER_EAGER] = { has_effect, { { NULL } } },
  [ADJ_CAPTURE_ORDER_2024] = { NULL,
                               { { "accumulations",
                                   "Leaves get their gradients as soon as they are there",
                                   move_accumulations_2024 } } },
  [ADJ_CAPTURE_ORDER_2_6] = { is_kept_by_2_6, { MOVES_SINCE_2_6 } },
  [ADJ_CAPTURE_ORDER_2_15] = { has_effect,
                               { { "unpacking", "What was packed is unpacked when it is read",
                                   move_unpacking },
                                 MOVES_SINCE_2_6 } },
};

/* (transfer full): by node: whether it is kept. */
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
is_all_live (const AdjGraph *graph, const gboolean *live)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    if (!live[i])
      return FALSE;
  return TRUE;
}

/* -- the graphs on the way -- */

/* (transfer full) (nullable): @from, in which node i of the order's graph has index @at[i], in the
 * new order and without nodes that are not @live (nullable); @at is updated for the new graph. */
static AdjGraph *
emit (const Order *order, AdjGraph *from, const gboolean *live, guint *at, GError **error)
{
  g_autoptr (AdjBuilder) builder = adj_builder_new_like (from);
  g_autofree AdjNodeId *map = g_new0 (AdjNodeId, adj_graph_get_n_nodes (from) + 1);

  for (guint i = order->first; i != G_MAXUINT; i = order->places[i].next)
    if (live == NULL || live[i])
      at[i] = adj_builder_copy (builder, from, at[i], map).index;
    else
      at[i] = ADJ_NO_NODE.index;
  return adj_builder_seal (builder, error);
}

typedef struct
{
  Order order;
  AdjRecording *recording; /* (nullable) */
  AdjGraph *graph;         /* (owned): the graph of the last stage */
  guint *at;               /* (owned): by node of the first graph: its index in @graph */
  gint stage;
} Stages;

static void
note_moves (const Stages *self, const guint *before, GArray *notes)
{
  const Order *order = &self->order;

  for (guint i = 0; i < order->moved->len; i++)
    {
      guint index = g_array_index (order->moved, guint, i);
      guint behind = order->places[index].previous;
      AdjPassNote note = { { before[index] }, { self->at[index] }, NULL };

      note.reason = behind == G_MAXUINT
                        ? g_strdup ("to the beginning")
                        : g_strdup_printf ("right behind '%s'", get_node (order, behind)->name);
      g_array_append_val (notes, note);
    }
}

static void
note_losses (const Stages *self, const guint *before, GArray *notes)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (self->order.graph); i++)
    if (self->at[i] == ADJ_NO_NODE.index)
      {
        AdjPassNote note = { { before[i] }, ADJ_NO_NODE, NULL };

        note.reason =
            g_strdup (has_effect (&self->order, i)
                          ? "nobody reads what it gives, and PyTorch 2.6 does not see that "
                            "it writes"
                          : "no output and no effect depends on it");
        g_array_append_val (notes, note);
      }
}

/* Adds the result of one step as a stage. */
static gboolean
end_stage (
    Stages *self, const char *name, const char *summary, const gboolean *live, GError **error)
{
  guint n = adj_graph_get_n_nodes (self->order.graph);
  g_autofree guint *before = g_memdup2 (self->at, (n + 1) * sizeof *before);
  g_autoptr (GArray) notes = g_array_new (FALSE, FALSE, sizeof (AdjPassNote));
  AdjGraph *graph = emit (&self->order, self->graph, live, self->at, error);

  if (graph == NULL)
    return FALSE;
  adj_graph_unref (self->graph);
  self->graph = graph;
  if (self->recording == NULL)
    return TRUE;
  note_moves (self, before, notes);
  note_losses (self, before, notes);
  self->stage =
      (gint) adj_recording_add (self->recording, &(AdjStage){ .name = (char *) name,
                                                              .summary = (char *) summary,
                                                              .graph = graph,
                                                              .from = self->stage,
                                                              .n_notes = notes->len,
                                                              .notes = (gpointer) notes->data,
                                                              .ns = -1 });
  for (guint i = 0; i < notes->len; i++)
    g_free (g_array_index (notes, AdjPassNote, i).reason);
  return TRUE;
}

static gboolean
run_moves (Stages *self, AdjCaptureOrder which, GError **error)
{
  for (const Move *move = orders[which].moves; move->run != NULL; move++)
    {
      g_array_set_size (self->order.moved, 0);
      move->run (&self->order);
      if (self->recording != NULL && !end_stage (self, move->name, move->summary, NULL, error))
        return FALSE;
    }
  g_array_set_size (self->order.moved, 0);
  return TRUE;
}

AdjGraph *
reorder (AdjGraph *graph,
         AdjCaptureOrder which,
         AdjRecording *recording,
         const char *reason,
         GError **error)
{
  guint n = adj_graph_get_n_nodes (graph);
  Stages self = { .recording = recording, .graph = adj_graph_ref (graph), .stage = -1 };
  g_autofree gboolean *live = NULL;
  gboolean done, unchanged;

  order_init (&self.order, graph);
  self.at = g_new (guint, n + 1);
  for (guint i = 0; i < n; i++)
    self.at[i] = i;
  if (recording != NULL)
    self.stage = (gint) adj_recording_add (recording, &(AdjStage){ .name = (char *) "replayed",
                                                                   .summary = (char *) reason,
                                                                   .graph = graph,
                                                                   .from = -1,
                                                                   .ns = -1 });
  done = run_moves (&self, which, error);
  live = mark_live (&self.order, orders[which].is_kept);
  unchanged = recording == NULL && orders[which].moves->run == NULL && is_all_live (graph, live);
  if (!unchanged && (recording == NULL || orders[which].is_kept != NULL))
    done = done && end_stage (&self, "dce", "Drop nodes that nobody needs", live, error);
  order_clear (&self.order);
  g_free (self.at);
  if (!done)
    g_clear_pointer (&self.graph, adj_graph_unref);
  return self.graph;
}
