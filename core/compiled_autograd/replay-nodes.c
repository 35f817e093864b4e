/* SPDX-License-Identifier: MIT */
/* Replay at the level of nodes (compiled_autograd/SPEC.md §4.6): each node is one call with the
 * values that PyTorch's node saves, and validate_outputs converts its results. */

#include "base/adj-arena.h"
#include "compiled_autograd/replay-private.h"
#include "tensor/adj-dtype-internal.h"
#include "tensor/adj-shape-internal.h"

#define OPS "torch._dynamo.compiled_autograd.ops."
#define UNWRAP "torch._dynamo.external_utils.unwrap_maybe_dynamic_int"
#define PROLOGUE "torch._dynamo.compiled_autograd.copy_slices_prologue"
#define EPILOGUE "torch._dynamo.compiled_autograd.copy_slices_epilogue"

const char *
replay_node_get_name (const Replay *self)
{
  const CollectedCall *call = self->call;
  AdjTensor *leaf;

  if (self->index == 0)
    return "torch::autograd::GraphRoot";
  if (grad_node_is_accumulator (call->node, &leaf))
    return "torch::autograd::AccumulateGrad";
  if (call->is_written_view)
    return "torch::autograd::CopySlices";
  return call->form != NULL ? call->form->node_op->name : call->node->name;
}

/* -- sizes -- */

void
replay_nodes_add_sizes (Replay *self, const GArray *sizes)
{
  g_autoptr (GArray) items = g_array_new (FALSE, FALSE, sizeof (AdjNodeId));
  guint next = 0;

  for (guint i = 0; i < sizes->len; i++)
    {
      const AdjNodeId item =
          replay_add_item (self, self->lists[1], i, &g_array_index (sizes, AdjValue, i));

      g_array_append_val (items, item);
    }
  for (guint i = 0; i < self->rules->len; i++)
    {
      AdjNodeId id = ADJ_NO_NODE;

      if (g_array_index (self->rules, SizeRule, i).passed)
        {
          const AdjNodeId item = g_array_index (items, AdjNodeId, next);
          const AdjValue *size = &g_array_index (sizes, AdjValue, next++);

          id = replay_add_call (self, UNWRAP, &ADJ_NODE (item), 1, size);
          if (size->kind == ADJ_VALUE_SIZE)
            adj_tracer_move_size (self->tracer, size->size, item, id);
        }
      g_array_append_val (self->sizes, id);
    }
}

AdjValue
replay_get_size (const Replay *self, guint index)
{
  const AdjNodeId id = g_array_index (self->sizes, AdjNodeId, index);

  return adj_node_id_is_valid (id) ? ADJ_NODE (id)
                                   : ADJ_INT (g_array_index (self->rules, SizeRule, index).hint);
}

/* -- what a node keeps, as arguments -- */

typedef struct
{
  AdjValue *items;
  guint n, size;
} Level;

/* Values are written in sequence, a container before its items. */
typedef struct
{
  GradVisitor parent;
  Replay *replay;
  const AdjGradNode *node;
  AdjArena *arena;
  guint size;     /* index of the next size visited */
  GArray *values; /* AdjValue: of the outermost level */
  GArray *levels; /* Level: containers that are still incomplete */
} Writer;

static void
write_value (Writer *self, AdjValue value)
{
  Level *level;

  if (self->levels->len == 0)
    {
      g_array_append_val (self->values, value);
      return;
    }
  level = &g_array_index (self->levels, Level, self->levels->len - 1);
  level->items[level->n++] = value;
  if (level->n == level->size)
    g_array_set_size (self->levels, self->levels->len - 1);
}

static void
write_container (Writer *self, AdjValueKind kind, guint n)
{
  const Level level = { adj_arena_new0 (self->arena, AdjValue, MAX (n, 1)), 0, n };

  write_value (self, (AdjValue){ .kind = kind, .n = n, .items = level.items });
  if (n > 0)
    g_array_append_val (self->levels, level);
}

static void
write_slot (Writer *self)
{
  AdjTensor *fake = stand_ins_next (&self->replay->stand_ins);

  write_value (self, fake != NULL ? ADJ_TENSOR (fake) : ADJ_NONE);
}

static void
write_saved (GradVisitor *visitor, const char *name, AdjGradNode *node, Saved *saved)
{
  write_slot ((Writer *) visitor);
}

static void
write_leaf (GradVisitor *visitor, const char *name, AdjValue *leaf, gboolean is_tensor)
{
  Writer *self = (Writer *) visitor;

  if (leaf->kind == ADJ_VALUE_TENSOR || (is_tensor && leaf->kind == ADJ_VALUE_NONE) ||
      (is_tensor && number_is_lifted (self->node, leaf)))
    write_slot (self);
  else if (adj_value_is_container (leaf))
    write_container (self, leaf->kind, leaf->n);
  else
    write_value (self, *leaf);
}

static void
write_size (GradVisitor *visitor, const char *name, AdjValue *size)
{
  Writer *self = (Writer *) visitor;

  write_value (self, replay_get_size (self->replay, self->size++));
}

static void
writer_init (Writer *self, Replay *replay, const CollectedCall *call)
{
  *self = (Writer){ .parent = { .cx = replay->collection->cx,
                                .saved = write_saved,
                                .leaf = write_leaf,
                                .size = write_size },
                    .replay = replay,
                    .node = call_get_written (call).inner,
                    .arena = adj_arena_new (),
                    .size = call->first_size,
                    .values = g_array_new (FALSE, FALSE, sizeof (AdjValue)),
                    .levels = g_array_new (FALSE, FALSE, sizeof (Level)) };
  replay->stand_ins.slot = call->first_slot;
}

static void
writer_clear (Writer *self)
{
  adj_arena_free (self->arena);
  g_array_unref (self->values);
  g_array_unref (self->levels);
}

/* -- the form of gradients -- */

/* Index of the sizes collected for the gradient at edge @index; if two edges lead to one gradient,
 * those of the last. */
static guint
find_edge_size (const CollectedCall *call, guint index)
{
  const AdjGradNode *node = call->node;
  const GradEdge *edge = &node->edges[index];
  guint size = call->first_edge_size, found = size;

  for (guint i = 0; i < node->n_edges; i++)
    {
      const GradEdge *other = &node->edges[i];

      if (other->node == NULL)
        continue;
      if (other->node == edge->node && other->input == edge->input)
        found = size;
      size += other->node->inputs[other->input].shape.rank;
    }
  return found;
}

/* ((requires_grad, memory format, device, dtype, layout, pinned), sizes, subclass, dtype) */
static AdjValue
write_form (Replay *self, const CollectedCall *call, guint edge, AdjArena *arena)
{
  const GradEdge *to = &call->node->edges[edge];
  const AdjTensorMeta *meta;
  AdjValue *form, *options, *sizes;
  guint first;

  if (edge >= call->node->n_edges || to->node == NULL)
    return ADJ_NONE;
  first = find_edge_size (call, edge);
  meta = &to->node->inputs[to->input];
  form = adj_arena_new0 (arena, AdjValue, 4);
  options = adj_arena_new0 (arena, AdjValue, 6);
  sizes = adj_arena_new0 (arena, AdjValue, meta->shape.rank + 1);
  options[2] = (AdjValue){ .kind = ADJ_VALUE_DEVICE, .device = meta->device };
  options[3] = ADJ_INT (adj_dtype_get_scalar_type (meta->dtype));
  options[4] = ADJ_INT (0);
  for (guint i = 0; i < meta->shape.rank; i++)
    sizes[i] = replay_get_size (self, first + i);
  form[0] = (AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 6, .items = options };
  form[1] = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = meta->shape.rank, .items = sizes };
  form[2] = ADJ_BOOL (FALSE);
  form[3] = options[3];
  return (AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 4, .items = form };
}

/* A gradient at edge @index, with the sizes of the capture. */
static AdjTensor *
new_at_edge (Replay *self, const CollectedCall *call, guint index)
{
  const GradEdge *edge = &call->node->edges[index];
  AdjTensorMeta meta = edge->node->inputs[edge->input];
  const AdjShape shape = meta.shape;
  const guint first = find_edge_size (call, index);
  gboolean symbolic = FALSE;

  for (guint i = 0; i < shape.rank; i++)
    {
      meta.shape.size[i] = g_array_index (self->rules, SizeRule, first + i).size;
      symbolic |= !adj_size_is_int (meta.shape.size[i]);
    }
  if (symbolic)
    adj_shape_restride (&meta.shape, &shape, adj_context_get_symbols (self->cx), NULL, NULL);
  return replay_new_like (self, &meta);
}

/* Adds validate_outputs ([@items], [forms]): @edges of each; @out by edge. */
static void
add_validation (Replay *self,
                const CollectedCall *call,
                AdjValue *items,
                const guint *edges,
                guint n,
                AdjTensor **out)
{
  AdjArena *arena = adj_arena_new ();
  AdjValue *forms = adj_arena_new0 (arena, AdjValue, n + 1);
  AdjNodeId validated;

  for (guint i = 0; i < n; i++)
    forms[i] = write_form (self, call, edges[i], arena);
  validated =
      replay_add_call (self, OPS "validate_outputs",
                       (const AdjValue[]){ { .kind = ADJ_VALUE_LIST, .n = n, .items = items },
                                           { .kind = ADJ_VALUE_LIST, .n = n, .items = forms } },
                       2, &ADJ_NONE);
  adj_arena_free (arena);
  for (guint i = 0; i < n; i++)
    {
      AdjTensor *grad = edges[i] < call->node->n_edges && forms != NULL &&
                                call->node->edges[edges[i]].node != NULL &&
                                items[i].kind != ADJ_VALUE_NONE
                            ? new_at_edge (self, call, edges[i])
                            : NULL;

      replay_add_item (self, validated, i, grad != NULL ? &ADJ_TENSOR (grad) : &ADJ_NONE);
      if (grad == NULL)
        continue;
      if (out[edges[i]] != NULL)
        adj_tensor_unref (out[edges[i]]);
      out[edges[i]] = adj_tensor_ref (grad);
    }
}

void
replay_node_validate (Replay *self, const CollectedCall *call, AdjTensor **out)
{
  const AdjGradNode *node = call->node;
  g_autofree AdjValue *items = g_new0 (AdjValue, node->n_edges + 1);
  g_autofree guint *edges = g_new0 (guint, node->n_edges + 1);

  for (guint i = 0; i < node->n_edges; i++)
    {
      edges[i] = i;
      items[i] = out[i] != NULL ? ADJ_TENSOR (out[i]) : ADJ_NONE;
    }
  add_validation (self, call, items, edges, node->n_edges, out);
}

/* -- one node -- */

/* Results of a node with a form: by result its edge; and a flag for each input. */
typedef struct
{
  guint n_results, n_flags;
  guint *edges;
  AdjValue *flags;
} Results;

static gboolean
is_reached (const Replay *self, const AdjGradNode *node, guint edge)
{
  return edge < node->n_edges && node->edges[edge].node != NULL &&
         task_reaches (self->collection->task, node->edges[edge].node);
}

static void
find_results (const Replay *self, const CollectedCall *call, Results *out)
{
  const AdjGradNode *of = call_get_written (call).inner;

  out->n_flags = call->form->n_inputs;
  out->flags = g_new0 (AdjValue, out->n_flags + 1);
  out->edges = g_new0 (guint, MAX (of->n_edges, call->node->n_edges) + out->n_flags + 1);
  for (guint i = 0; i < out->n_flags; i++)
    {
      guint first, n = grad_node_get_form_edges (of, i, &first);

      out->flags[i] = ADJ_BOOL (FALSE);
      if (n == 0)
        out->edges[out->n_results++] = G_MAXUINT;
      for (guint k = 0; k < n; k++)
        {
          out->edges[out->n_results++] = first + k;
          if (is_reached (self, call->node, first + k))
            out->flags[i] = ADJ_BOOL (TRUE);
        }
    }
}

/* Adds the call, and its results as items to @items. */
static void
add_node_call (Replay *self,
               const CollectedCall *call,
               const Results *results,
               AdjValue *grads,
               guint n_grads,
               const GArray *attributes,
               guint first_attribute,
               AdjValue *items)
{
  const guint n = attributes->len - first_attribute;
  g_autofree AdjValue *args = g_new0 (AdjValue, n + 2);
  AdjNodeId node;

  args[0] = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = n_grads, .items = grads };
  args[1] = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = results->n_flags, .items = results->flags };
  for (guint i = 0; i < n; i++)
    args[2 + i] = g_array_index (attributes, AdjValue, first_attribute + i);
  node = replay_add_call (self, call->form->target, args, n + 2, &ADJ_NONE);
  for (guint i = 0; i < results->n_results; i++)
    items[i] = ADJ_NODE (replay_add_item (self, node, i, &ADJ_NONE));
}

/* Writes sizes, strides and offset of base and view, 6 arguments; returns the number of sizes in
 * them. */
static guint
write_geometry (const Replay *self, const CollectedCall *call, AdjArena *arena, AdjValue *args)
{
  const WrittenView written = call_get_written (call);
  const guint ranks[2] = { written.base->rank, written.view->rank };
  guint size = call->first_size;

  for (guint i = 0; i < 2; i++)
    {
      for (guint k = 0; k < 2; k++)
        {
          AdjValue *items = adj_arena_new0 (arena, AdjValue, ranks[i] + 1);

          for (guint j = 0; j < ranks[i]; j++)
            items[j] = replay_get_size (self, size++);
          args[3 * i + k] = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = ranks[i], .items = items };
        }
      args[3 * i + 2] = replay_get_size (self, size++);
    }
  return size - call->first_size;
}

/* A write into a view: the written part of the gradient passes through the node of the write, and
 * its result is written into a copy of the gradient of the base. */
static void
add_written_view (Replay *self,
                  const CollectedCall *call,
                  const Results *results,
                  AdjTensor *const *grads,
                  const Writer *writer,
                  AdjValue *items)
{
  const WrittenView written = call_get_written (call);
  const AdjGradNode *inner = written.inner;
  g_autofree AdjValue *parts = g_new0 (AdjValue, inner->n_inputs + 1);
  g_autofree AdjValue *given = g_new0 (AdjValue, results->n_results + 1);
  g_autofree AdjValue *flags = g_new0 (AdjValue, results->n_results + 1);
  AdjValue grad = grads[0] != NULL ? ADJ_TENSOR (grads[0]) : ADJ_NONE;
  AdjValue args[7] = { { .kind = ADJ_VALUE_LIST, .n = 1, .items = &grad } };
  const guint n_sizes = write_geometry (self, call, writer->arena, args + 1);
  AdjNodeId prologue, epilogue, three[3];

  prologue = replay_add_call (self, PROLOGUE, args, 7, &ADJ_NONE);
  for (guint i = 0; i < 3; i++)
    three[i] = replay_add_item (self, prologue, i, &ADJ_NONE);
  parts[written.input] = ADJ_NODE (three[2]);
  add_node_call (self, call, results, parts, inner->n_inputs, writer->values, n_sizes, given);
  for (guint i = 0; i < results->n_results; i++)
    flags[i] = ADJ_BOOL (is_reached (self, call->node, results->edges[i]));
  epilogue = replay_add_call (
      self, EPILOGUE,
      (const AdjValue[]){ { .kind = ADJ_VALUE_LIST, .n = results->n_results, .items = flags },
                          ADJ_NODE (three[0]),
                          { .kind = ADJ_VALUE_LIST, .n = results->n_results, .items = given },
                          ADJ_NODE (three[1]) },
      4, &ADJ_NONE);
  for (guint i = 0; i < results->n_results; i++)
    items[i] = ADJ_NODE (replay_add_item (self, epilogue, i, &ADJ_NONE));
}

gboolean
replay_node (Replay *self, const CollectedCall *call, AdjTensor *const *grads, AdjTensor **out)
{
  const AdjGradNode *node = call->node;
  g_autofree AdjValue *given = g_new0 (AdjValue, node->n_inputs + 1);
  g_autofree AdjValue *items = NULL;
  Results results = { 0 };
  guint n_given = 0;
  Writer writer;

  writer_init (&writer, self, call);
  call_visit (call, &writer.parent);
  find_results (self, call, &results);
  items = g_new0 (AdjValue, results.n_results + 1);
  for (guint i = 0; i < node->n_inputs; i++)
    if (node->inputs[i].dtype != ADJ_DTYPE_NONE)
      given[n_given++] = grads[i] != NULL ? ADJ_TENSOR (grads[i]) : ADJ_NONE;
  if (call->is_written_view)
    add_written_view (self, call, &results, grads, &writer, items);
  else
    add_node_call (self, call, &results, given, n_given, writer.values, 0, items);
  add_validation (self, call, items, results.edges, results.n_results, out);
  writer_clear (&writer);
  g_free (results.edges);
  g_free (results.flags);
  return !adj_context_has_error (self->cx);
}

/* -- leaves, and what hooks have packed -- */

/* call_accumulate_grad (leaf, its gradient before, gradient, whether hooks follow) */
void
replay_node_leaf (Replay *self, const CollectedCall *call, AdjTensor *leaf, AdjTensor *grad)
{
  guint before = g_array_index (self->collection->slots, guint, call->first_slot + 1);
  AdjValue args[4] = { ADJ_TENSOR (leaf), ADJ_NONE, ADJ_TENSOR (grad) };

  if (before > 0)
    args[1] = ADJ_TENSOR (self->stand_ins.fakes[before - 1]);
  args[3] = ADJ_BOOL (call->hooks->post != NULL && call->hooks->post->len > 0);
  replay_add_call (self, ADJ_TARGET_CALL_ACCUMULATE, args, 4, &ADJ_NONE);
}

/* PyTorch records two items for each gradient, the first to check that it is defined. */
void
replay_node_whole (
    Replay *self, const AdjValue *args, guint n_args, const AdjValue *outs, guint n_outs)
{
  const AdjNodeId call = replay_add_call (self, ADJ_TARGET_CALL_BACKWARD, args, n_args, &ADJ_NONE);

  for (guint i = 0; i < n_outs; i++)
    if (outs[i].kind != ADJ_VALUE_NONE)
      replay_add_item (self, call, i, &ADJ_NONE);
  for (guint i = 0; i < n_outs; i++)
    replay_add_item (self, call, i, &outs[i]);
}

/* call_hook (hooks[object], packed_data[packed], hook_type='unpack_hook') */
void
replay_node_unpack (Replay *self, guint object, guint packed, AdjValue *out)
{
  const AdjNodeId hook = replay_add_item (self, self->lists[3], object, &ADJ_NONE);
  const AdjNodeId data = replay_add_item (self, self->lists[4], packed, &ADJ_NONE);

  replay_add_call_of_hook (self, hook, object, OBJECT_UNPACK, &ADJ_NODE (data), 1, out);
}
