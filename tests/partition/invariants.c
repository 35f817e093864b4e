/* SPDX-License-Identifier: MIT */
#include "invariants.h"

#include <math.h>
#include <string.h>

typedef struct
{
  const AdjPartition *p;
  const AdjPartitionOptions *options;
  const AdjValue *joint_outputs, *forward_outputs, *backward_outputs;
  guint n_tensors, n_states, n_sizes;
} Check;

static const AdjValue *
outputs_of (const AdjGraph *graph)
{
  return &adj_graph_get_node (graph, adj_graph_get_output (graph).index)->args.items[0];
}

static const char *
joint_name (const Check *self, guint index)
{
  return adj_graph_get_node (self->p->joint, index)->name;
}

static const char *
input_name (const AdjGraph *graph, guint index)
{
  return adj_graph_get_node (graph, adj_graph_get_input (graph, index).index)->name;
}

static const char *
output_name (const AdjGraph *graph, const AdjValue *outputs, guint index)
{
  g_assert_cmpint (outputs->items[index].kind, ==, ADJ_VALUE_NODE);
  return adj_graph_get_node (graph, outputs->items[index].node.index)->name;
}

static gboolean
is_tangent (const char *name)
{
  return g_str_has_prefix (name, "tangents");
}

/* The node that stands for joint node @index. */
static guint
representative (const Check *self, guint index)
{
  const AdjNodeDecision *decision = &self->p->nodes[index];

  return decision->rule == ADJ_RULE_MERGED ? decision->because.index : index;
}

static gboolean
calls (const AdjGraph *graph, const char *name)
{
  AdjNodeId id = adj_graph_find_node (graph, name);

  return adj_node_id_is_valid (id) &&
         adj_graph_get_node (graph, id.index)->opcode == ADJ_OPCODE_CALL_FUNCTION;
}

/* I1: forward takes all primals, in order. */
static void
i1 (const Check *self)
{
  guint n = 0;

  for (guint i = 0; i < adj_graph_get_n_inputs (self->p->joint); i++)
    {
      const char *name = input_name (self->p->joint, i);

      if (!is_tangent (name))
        g_assert_cmpstr (input_name (self->p->forward, n++), ==, name);
    }
  g_assert_cmpuint (adj_graph_get_n_inputs (self->p->forward), ==, n);
}

/* I2: forward returns its outputs, then tensors, states, sizes. */
static void
i2 (const Check *self)
{
  g_assert_cmpuint (self->forward_outputs->n, ==, self->p->num_fwd_outputs + self->p->n_saved);
  for (guint i = 0; i < self->p->num_fwd_outputs; i++)
    if (self->joint_outputs->items[i].kind == ADJ_VALUE_NODE)
      g_assert_cmpstr (
          output_name (self->p->forward, self->forward_outputs, i), ==,
          joint_name (self, representative (self, self->joint_outputs->items[i].node.index)));
  for (guint i = 1; i < self->p->n_saved; i++)
    g_assert_cmpint (self->p->saved[i - 1].kind, <=, self->p->saved[i].kind);
}

/* I3, I4: backward takes sizes, tensors, states, tangents: the same values in the same order. */
static void
i3_i4 (const Check *self)
{
  const AdjPartition *p = self->p;
  guint n = 0;

  for (guint i = 0; i < self->n_sizes; i++)
    g_assert_cmpstr (input_name (p->backward, n++), ==,
                     joint_name (self, p->saved[self->n_tensors + self->n_states + i].node.index));
  for (guint i = 0; i < self->n_tensors; i++)
    g_assert_cmpstr (input_name (p->backward, n++), ==, joint_name (self, p->saved[i].node.index));
  for (guint i = 0; i < self->n_states; i++)
    g_assert_true (g_str_has_prefix (input_name (p->backward, n++), "rng_state_output_"));
  for (guint i = 0; i < adj_graph_get_n_inputs (p->joint); i++)
    if (is_tangent (input_name (p->joint, i)))
      g_assert_cmpstr (input_name (p->backward, n++), ==, input_name (p->joint, i));
  g_assert_cmpuint (adj_graph_get_n_inputs (p->backward), ==, n);
}

/* I5: backward returns the gradients, and nothing where there is none. */
static void
i5 (const Check *self)
{
  guint from = self->p->num_fwd_outputs;

  g_assert_cmpuint (self->backward_outputs->n, ==, self->joint_outputs->n - from);
  for (guint i = 0; i < self->backward_outputs->n; i++)
    {
      const AdjValue *want = &self->joint_outputs->items[from + i];

      g_assert_cmpint (self->backward_outputs->items[i].kind, ==, want->kind);
      if (want->kind == ADJ_VALUE_NODE)
        g_assert_cmpstr (output_name (self->p->backward, self->backward_outputs, i), ==,
                         joint_name (self, representative (self, want->node.index)));
    }
}

/* I6-I8: saved tensors in joint order (but for default), once each, each read, none of several. */
static void
i6_i8 (const Check *self)
{
  for (guint i = 0; i < self->n_tensors; i++)
    {
      guint node = self->p->saved[i].node.index;
      AdjNodeId there = adj_graph_find_node (self->p->backward, joint_name (self, node));

      if (i > 0 && !g_str_equal (self->p->partitioner, "default"))
        g_assert_cmpuint (self->p->saved[i - 1].node.index, <, node);
      for (guint k = 0; k < i; k++)
        g_assert_cmpuint (self->p->saved[k].node.index, !=, node);
      g_assert_cmpuint (adj_graph_get_node (self->p->backward, there.index)->n_users, >, 0);
      g_assert_false (adj_value_is_container (&adj_graph_get_node (self->p->joint, node)->val));
    }
}

/* Random calls move the generator, read or not; those that are repeated come in a pair. */
static gboolean
draws (const AdjGraph *graph, const AdjNode *node)
{
  if (g_str_equal (node->target, "operator.getitem"))
    node = adj_graph_get_node (graph, node->inputs[0].index);
  return (node->op != NULL && (node->op->flags & ADJ_OP_RANDOM) != 0) ||
         strstr (node->target, "rng_state") != NULL;
}

/* I10: forward knows no tangent.  I11, I12: sealing has checked order and arguments of both; and
 * no call is dead. */
static void
i10_i12 (const Check *self)
{
  const AdjGraph *graphs[] = { self->p->forward, self->p->backward };

  for (guint i = 0; i < adj_graph_get_n_inputs (self->p->forward); i++)
    g_assert_false (is_tangent (input_name (self->p->forward, i)));
  for (guint g = 0; g < G_N_ELEMENTS (graphs); g++)
    for (guint i = 0; i < adj_graph_get_n_nodes (graphs[g]); i++)
      if (adj_graph_get_node (graphs[g], i)->opcode == ADJ_OPCODE_CALL_FUNCTION &&
          !draws (graphs[g], adj_graph_get_node (graphs[g], i)))
        g_assert_cmpuint (adj_graph_get_node (graphs[g], i)->n_users, >, 0);
}

/* I13-I15: what each graph computes is what the decisions say. */
static void
i13_i15 (const Check *self)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (self->p->joint); i++)
    {
      const AdjNode *node = adj_graph_get_node (self->p->joint, i);
      const AdjNodeDecision *decision = &self->p->nodes[i];
      gboolean forward = calls (self->p->forward, node->name);
      gboolean backward = calls (self->p->backward, node->name);

      if (node->opcode != ADJ_OPCODE_CALL_FUNCTION)
        continue;
      if (decision->class == ADJ_NODE_CLASS_BACKWARD && decision->rule != ADJ_RULE_CHEAPER &&
          decision->fate == ADJ_FATE_BACKWARD)
        g_assert_false (forward);
      switch (decision->fate)
        {
        case ADJ_FATE_GONE:
          g_assert_false (forward || backward);
          break;
        case ADJ_FATE_FORWARD:
        case ADJ_FATE_SAVED:
          g_assert_true (forward && !backward);
          break;
        case ADJ_FATE_RECOMPUTED:
          g_assert_true (forward && backward);
          break;
        case ADJ_FATE_BACKWARD:
          g_assert_true (!forward && backward);
          break;
        case ADJ_N_FATES:
        default:
          g_assert_not_reached ();
        }
    }
}

static gboolean
is_gradient (const Check *self, guint index)
{
  for (guint i = self->p->num_fwd_outputs; i < self->joint_outputs->n; i++)
    if (self->joint_outputs->items[i].kind == ADJ_VALUE_NODE &&
        representative (self, self->joint_outputs->items[i].node.index) == index)
      return TRUE;
  return FALSE;
}

static gboolean
is_view (const AdjNode *node)
{
  return node->op != NULL && adj_schema_is_view (adj_op_get_schema (node->op));
}

/* I16: at a budget of 1 what is banned is not recomputed, but for views of what is.  I17:
 * must_recompute is never saved. I18: MUST_SAVE is never recomputed, but for views and results of
 * several. */
static void
i16_i18 (const Check *self)
{
  gboolean whole = isnan (self->options->budget) || self->options->budget == 1;

  for (guint i = 0; i < adj_graph_get_n_nodes (self->p->joint); i++)
    {
      const AdjNodeDecision *decision = &self->p->nodes[i];
      const AdjNode *node = adj_graph_get_node (self->p->joint, i);

      if (g_str_equal (self->p->partitioner, "min-cut") && whole &&
          decision->ban != ADJ_RULE_NONE && !is_view (node))
        g_assert_cmpint (decision->fate, !=, ADJ_FATE_RECOMPUTED);
      if (decision->recompute >= ADJ_RECOMPUTE_MUST_RECOMPUTE)
        g_assert_cmpint (decision->fate, !=, ADJ_FATE_SAVED);
      if (whole && decision->recompute == ADJ_RECOMPUTE_MUST_SAVE &&
          decision->class == ADJ_NODE_CLASS_FORWARD && decision->ban == ADJ_RULE_MUST_SAVE &&
          node->val.kind == ADJ_VALUE_META && !is_gradient (self, i) && !is_view (node))
        g_assert_cmpint (decision->fate, !=, ADJ_FATE_RECOMPUTED);
    }
}

static guint
count_calls (const AdjGraph *graph, const char *target)
{
  guint n = 0;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    n += g_str_equal (adj_graph_get_node (graph, i)->target, target);
  return n;
}

/* I20: as many states are saved as taken. */
static void
i20 (const Check *self)
{
  g_assert_cmpuint (count_calls (self->p->forward, "torch.ops.higher_order.run_and_save_rng_state"),
                    ==, self->n_states);
  g_assert_cmpuint (count_calls (self->p->backward, "torch.ops.higher_order.run_with_rng_state"),
                    ==, self->n_states);
}

static gboolean
must_save_any (const Check *self)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (self->p->joint); i++)
    if (self->p->nodes[i].recompute == ADJ_RECOMPUTE_MUST_SAVE)
      return TRUE;
  return FALSE;
}

/* I31: a budget of 0 saves inputs alone; ours keeps what must be saved, too. */
static void
i31 (const Check *self)
{
  if (self->options->budget != 0 || !g_str_equal (self->p->partitioner, "min-cut") ||
      (!self->options->compat && must_save_any (self)))
    return;
  for (guint i = 0; i < self->n_tensors; i++)
    g_assert_cmpint (self->p->nodes[self->p->saved[i].node.index].class, ==, ADJ_NODE_CLASS_INPUT);
}

void
invariants_check (const AdjPartition *partition, const AdjPartitionOptions *options)
{
  Check self = { .p = partition, .options = options };

  self.joint_outputs = outputs_of (partition->joint);
  self.forward_outputs = outputs_of (partition->forward);
  self.backward_outputs = outputs_of (partition->backward);
  for (guint i = 0; i < partition->n_saved; i++)
    {
      self.n_tensors += partition->saved[i].kind == ADJ_SAVED_TENSOR;
      self.n_states += partition->saved[i].kind == ADJ_SAVED_RNG_STATE;
      self.n_sizes += partition->saved[i].kind == ADJ_SAVED_SIZE;
    }
  i1 (&self);
  i2 (&self);
  i3_i4 (&self);
  i5 (&self);
  i6_i8 (&self);
  i10_i12 (&self);
  i13_i15 (&self);
  i16_i18 (&self);
  i20 (&self);
  i31 (&self);
}
