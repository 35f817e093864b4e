/* SPDX-License-Identifier: MIT */
/* Builds the graphs of a plan (partition/SPEC.md §4.7).  Sizes are last among forward's outputs and
 * first among backward's inputs. */

#include <string.h>

#include "call/adj-generator.h"
#include "call/adj-op.h"
#include "ir/adj-builder-internal.h"
#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "ir/adj-own-ops-internal.h"
#include "ops/adj-op-table.h"
#include "partition/plan-private.h"

#define SAVE_STATE "torch.ops.higher_order.run_and_save_rng_state"
#define USE_STATE "torch.ops.higher_order.run_with_rng_state"

typedef struct
{
  const Plan *plan;
  AdjBuilder *builder;
  AdjNodeId *map;       /* per node of the joint graph */
  AdjNodeId *saved_map; /* forward: the node returned for a saved value; backward: its state */
  guint8 *is_random;    /* per node: runs with a saved state */
} Emission;

static gboolean
map_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  const Emission *self = data;

  if (leaf->kind == ADJ_VALUE_NODE)
    *out = ADJ_NODE (self->map[self->plan->joint->rep[leaf->node.index]]);
  else
    *out = adj_value_copy (leaf);
  return TRUE;
}

/* A name that no node of the joint graph has: "mul_saved". */
static char *
fresh_name (const Joint *joint, const char *stem, const char *suffix)
{
  char *name = g_strdup_printf ("%s%s", stem, suffix);

  for (guint i = 1; adj_node_id_is_valid (adj_graph_find_node (joint->graph, name)); i++)
    {
      g_free (name);
      name = g_strdup_printf ("%s%s_%u", stem, suffix, i);
    }
  return name;
}

static AdjNodeSpec
spec_of (const Joint *joint, guint i)
{
  const AdjNode *node = adj_graph_get_node (joint->graph, i);

  return (AdjNodeSpec){
    .name = node->name,
    .opcode = node->opcode,
    .meta_is_shared = TRUE,
    .target = node->target,
    .val = node->val,
    .meta = &node->meta,
    .span = node->span,
    .origin = { i },
  };
}

/* The same of a node that has the tag of an effect's result.  @meta: (out): what the tag is in */
static AdjNodeSpec
spec_of_tagged (const Joint *joint, guint i, AdjNodeMeta *meta)
{
  AdjNodeSpec spec = spec_of (joint, i);

  if (joint->tag_rule[i] != ADJ_RULE_EFFECT)
    return spec;
  *meta = *spec.meta;
  meta->recompute = ADJ_RECOMPUTE_MUST_SAVE;
  spec.meta = meta;
  spec.meta_is_shared = FALSE;
  return spec;
}

/* Of a node that stands for @i beside others: it was never tagged.  @meta: (out) */
static AdjNodeSpec
spec_of_new (const Joint *joint, guint i, AdjNodeMeta *meta)
{
  AdjNodeSpec spec = spec_of (joint, i);

  *meta = *spec.meta;
  meta->recompute = ADJ_RECOMPUTE_NONE;
  meta->ac_graph_id = -1;
  spec.meta = meta;
  spec.meta_is_shared = FALSE;
  return spec;
}

static void
add_attribute (Emission *self, const AdjNode *node)
{
  const AdjGraph *graph = self->plan->joint->graph;
  const AdjValue *value = adj_graph_find_attr (graph, node->target);
  AdjGraph *subgraph = adj_graph_find_subgraph (graph, node->target);

  if (value != NULL)
    adj_builder_add_attr (self->builder, node->target, value);
  else if (subgraph != NULL)
    adj_builder_add_subgraph (self->builder, node->target, subgraph);
}

static AdjNodeId
add_call (Emission *self, guint i)
{
  const AdjNode *node = adj_graph_get_node (self->plan->joint->graph, i);
  AdjNodeMeta meta;
  AdjNodeSpec spec = spec_of_tagged (self->plan->joint, i, &meta);
  g_auto (AdjValue) args = ADJ_NONE;
  g_auto (AdjValue) kwargs = ADJ_NONE;

  adj_value_map (&node->args, map_leaf, self, &args);
  adj_value_map (&node->kwargs, map_leaf, self, &kwargs);
  if (node->opcode == ADJ_OPCODE_GET_ATTR)
    add_attribute (self, node);
  spec.op = node->op;
  spec.args = args;
  spec.kwargs = kwargs;
  return adj_builder_add (self->builder, &spec);
}

static AdjNodeId
add_placeholder (Emission *self, guint i)
{
  AdjNodeMeta meta;
  AdjNodeSpec spec = spec_of_tagged (self->plan->joint, i, &meta);

  spec.opcode = ADJ_OPCODE_PLACEHOLDER;
  spec.target = spec.name;
  return adj_builder_add (self->builder, &spec);
}

/* -- random operators -- */

static AdjTensorMeta
state_meta (void)
{
  const gint64 n = ADJ_GENERATOR_STATE_BYTES;
  AdjTensorMeta meta = {
    .dtype = ADJ_DTYPE_U8, .device = ADJ_CPU, .has_strides = TRUE, .storage = -1
  };

  adj_shape_init_ints (&meta.shape, 1, &n);
  return meta;
}

/* Adds a call of @target with the state (nullable), the operator of node @i and its arguments. */
static AdjNodeId
add_wrapped (Emission *self,
             guint i,
             const char *target,
             const char *name,
             const AdjNodeId *state,
             const AdjValue *val)
{
  const AdjNode *node = adj_graph_get_node (self->plan->joint->graph, i);
  AdjNodeMeta meta;
  AdjNodeSpec spec = spec_of_new (self->plan->joint, i, &meta);
  g_auto (AdjValue) args = ADJ_NONE;
  g_auto (AdjValue) kwargs = ADJ_NONE;
  g_autofree AdjValue *items = g_new0 (AdjValue, node->args.n + 2);
  guint n = 0;

  adj_value_map (&node->args, map_leaf, self, &args);
  adj_value_map (&node->kwargs, map_leaf, self, &kwargs);
  if (state != NULL)
    items[n++] = ADJ_NODE (*state);
  items[n++] = (AdjValue){ .kind = ADJ_VALUE_OP, .n = strlen (node->target), .text = node->target };
  for (guint k = 0; k < args.n; k++)
    items[n++] = args.items[k];
  spec.name = name;
  spec.target = target;
  spec.args = (AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = n, .items = items };
  spec.kwargs = kwargs;
  spec.val = *val;
  return adj_builder_add (self->builder, &spec);
}

static AdjNodeId
add_getitem (
    Emission *self, guint i, const char *name, AdjNodeId from, gint64 index, const AdjValue *val)
{
  AdjNodeMeta meta;
  AdjNodeSpec spec = spec_of_new (self->plan->joint, i, &meta);
  AdjValue items[] = { ADJ_NODE (from), ADJ_INT (index) };

  spec.name = name;
  spec.target = "operator.getitem";
  spec.args = (AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 2, .items = items };
  spec.val = *val;
  return adj_builder_add (self->builder, &spec);
}

/* p = run_and_save_rng_state(op, …); state = p[0]; r = p[1] */
static void
run_saving_state (Emission *self, guint i)
{
  const AdjNode *node = adj_graph_get_node (self->plan->joint->graph, i);
  g_autofree char *pair_name = fresh_name (self->plan->joint, node->name, "_run");
  g_autofree char *state_name = fresh_name (self->plan->joint, node->name, "_rng_state");
  AdjTensorMeta meta = state_meta ();
  AdjValue state = { .kind = ADJ_VALUE_META, .meta = &meta };
  AdjValue items[] = { state, node->val };
  AdjValue val = { .kind = ADJ_VALUE_TUPLE, .n = 2, .items = items };
  AdjNodeId pair = add_wrapped (self, i, SAVE_STATE, pair_name, NULL, &val);

  self->saved_map[i] = add_getitem (self, i, state_name, pair, 0, &state);
  self->map[i] = add_getitem (self, i, node->name, pair, 1, &node->val);
}

static void
run_with_state (Emission *self, guint i)
{
  const AdjNode *node = adj_graph_get_node (self->plan->joint->graph, i);

  self->map[i] = add_wrapped (self, i, USE_STATE, node->name, &self->saved_map[i], &node->val);
}

/* -- values that something writes to after they are saved -- */

static void
copy_written (Emission *self, guint i)
{
  const AdjNode *node = adj_graph_get_node (self->plan->joint->graph, i);
  AdjNodeSpec spec = spec_of (self->plan->joint, i);
  g_autofree char *name = fresh_name (self->plan->joint, node->name, "_saved");
  AdjValue arg = ADJ_NODE (self->map[i]);
  AdjTensorMeta meta;

  if (node->val.kind == ADJ_VALUE_META)
    {
      meta = *node->val.meta;
      meta.storage = -1;
      spec.val.meta = &meta;
    }
  spec.name = name;
  spec.opcode = ADJ_OPCODE_CALL_FUNCTION;
  spec.target = "torch.ops.aten.clone.default";
  spec.args = (AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 1, .items = &arg };
  self->saved_map[i] = adj_builder_add (self->builder, &spec);
}

/* -- the two graphs -- */

static void
append_node (GArray *values, AdjNodeId id)
{
  AdjValue value = ADJ_NODE (id);

  g_array_append_val (values, value);
}

static void
append_outputs (Emission *self, guint from, guint to, GArray *values)
{
  const Joint *joint = self->plan->joint;

  for (guint i = from; i < to; i++)
    {
      AdjValue value = joint->outputs[i];

      if (value.kind == ADJ_VALUE_NODE)
        value = ADJ_NODE (self->map[joint->rep[value.node.index]]);
      g_array_append_val (values, value);
    }
}

static void
add_output (Emission *self, GArray *values)
{
  AdjNodeSpec spec = spec_of (self->plan->joint, self->plan->joint->output);
  AdjValue tuple = { .kind = ADJ_VALUE_TUPLE,
                     .n = values->len,
                     .items = (AdjValue *) (gpointer) values->data };

  spec.args = (AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 1, .items = &tuple };
  spec.val = ADJ_NONE;
  adj_builder_add (self->builder, &spec);
}

static void
emit_forward (Emission *self)
{
  const Plan *plan = self->plan;
  const Joint *joint = plan->joint;
  g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (AdjValue));

  for (guint i = 0; i < joint->n; i++)
    if (joint_is_input (joint, i))
      self->map[i] = add_placeholder (self, i);
  for (guint i = 0; i < joint->n; i++)
    {
      if (self->plan->is_written[i] && joint_is_placeholder (joint, i))
        copy_written (self, i);
      if (!plan->in_forward[i])
        continue;
      if (self->is_random[i])
        run_saving_state (self, i);
      else
        self->map[i] = add_call (self, i);
      if (self->plan->is_written[i])
        copy_written (self, i);
    }
  append_outputs (self, 0, joint->n_forward_outputs, values);
  for (guint i = 0; i < plan->tensors->len; i++)
    {
      guint node = plan_item (plan->tensors, i);

      append_node (values, plan->is_written[node] ? self->saved_map[node] : self->map[node]);
    }
  for (guint i = 0; i < plan->states->len; i++)
    append_node (values, self->saved_map[plan_item (plan->states, i)]);
  for (guint i = 0; i < plan->sizes->len; i++)
    append_node (values, self->map[plan_item (plan->sizes, i)]);
  add_output (self, values);
}

static void
add_state_placeholders (Emission *self)
{
  const Plan *plan = self->plan;

  for (guint i = 0; i < plan->states->len; i++)
    {
      guint node = plan_item (plan->states, i);
      g_autofree char *stem = g_strdup_printf ("rng_state_output_%u", i);
      g_autofree char *name = fresh_name (plan->joint, stem, "");
      AdjNodeMeta meta;
      AdjNodeSpec spec = spec_of_new (plan->joint, node, &meta);
      AdjTensorMeta state = state_meta ();

      spec.name = spec.target = name;
      spec.opcode = ADJ_OPCODE_PLACEHOLDER;
      spec.val = (AdjValue){ .kind = ADJ_VALUE_META, .meta = &state };
      self->saved_map[node] = adj_builder_add (self->builder, &spec);
    }
}

static void
emit_backward (Emission *self)
{
  const Plan *plan = self->plan;
  const Joint *joint = plan->joint;
  g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (AdjValue));

  for (guint i = 0; i < plan->sizes->len; i++)
    self->map[plan_item (plan->sizes, i)] = add_placeholder (self, plan_item (plan->sizes, i));
  for (guint i = 0; i < plan->tensors->len; i++)
    self->map[plan_item (plan->tensors, i)] = add_placeholder (self, plan_item (plan->tensors, i));
  add_state_placeholders (self);
  for (guint kind = NODE_TANGENT; kind <= NODE_BACKWARD_RNG; kind++)
    for (guint i = 0; i < joint->n; i++)
      if (joint->kind[i] == kind && kind != NODE_FORWARD_RNG)
        self->map[i] = add_placeholder (self, i);
  for (guint i = 0; i < plan->order->len; i++)
    {
      guint node = plan_item (plan->order, i);

      if (self->is_random[node])
        run_with_state (self, node);
      else
        self->map[node] = add_call (self, node);
    }
  append_outputs (self, joint->n_forward_outputs, joint->n_outputs, values);
  add_output (self, values);
}

static AdjGraph *
emit (const Plan *plan, void (*fill) (Emission *self), GError **error)
{
  const Joint *joint = plan->joint;
  g_autoptr (AdjBuilder) builder = adj_builder_new ("GraphModule", joint->symbols, adj_op_find);
  Emission self = { .plan = plan, .builder = builder };
  AdjGraph *graph;

  self.map = g_new (AdjNodeId, joint->n);
  memset (self.map, 0xff, sizeof (AdjNodeId) * joint->n);
  self.saved_map = g_memdup2 (self.map, sizeof (AdjNodeId) * joint->n);
  self.is_random = g_new0 (guint8, joint->n);
  for (guint i = 0; i < plan->states->len; i++)
    self.is_random[plan_item (plan->states, i)] = TRUE;
  adj_builder_note_ops_of (builder, joint->graph);
  adj_builder_share (builder, joint->graph);
  adj_builder_reserve (builder, joint->n);
  fill (&self);
  graph = adj_builder_seal (builder, error);
  g_free (self.map);
  g_free (self.saved_map);
  g_free (self.is_random);
  return graph;
}

AdjPartition *
plan_emit (Plan *plan, GError **error)
{
  g_autoptr (AdjGraph) forward = emit (plan, emit_forward, error);
  g_autoptr (AdjGraph) backward = forward != NULL ? emit (plan, emit_backward, error) : NULL;
  AdjPartition *partition;

  if (backward == NULL)
    return NULL;
  partition = g_new0 (AdjPartition, 1);
  g_atomic_ref_count_init (&partition->refs);
  partition->partitioner = plan->partitioner;
  partition->joint = adj_graph_ref (plan->joint->graph);
  partition->forward = g_steal_pointer (&forward);
  partition->backward = g_steal_pointer (&backward);
  partition->num_fwd_outputs = plan->joint->n_forward_outputs;
  plan_record (plan, partition);
  return partition;
}
