/* SPDX-License-Identifier: MIT */
/* The table of invariants (partition/SPEC.md §6), which debug builds check after every partition; a
 * failure is a bug of the partitioner. */

#include <string.h>

#include "ir/adj-graph.h"
#include "partition/invariants-private.h"
#include "partition/partitioners-private.h"

static const Invariant invariants[] = {
  { "I1", "forward takes every input but tangents, in order", examine_i1 },
  { "I2", "forward returns its outputs, saved tensors, states, sizes", examine_i2 },
  { "I3", "backward takes sizes, saved tensors, states, tangents", examine_i3 },
  { "I4", "what forward returns to save is what backward takes, in the same order", examine_i4 },
  { "I5", "backward returns the gradients of the joint graph", examine_i5 },
  { "I6", "each tensor is saved once, in joint order, objects last", examine_i6 },
  { "I7", "backward reads every saved tensor", examine_i7 },
  { "I8", "no list of values is saved", examine_i8 },
  { "I9", "backward knows every symbol in what it takes, before sizes made of them", examine_i9 },
  { "I10", "nothing in forward depends on a tangent", examine_i10 },
  { "I11", "backward reads inputs of its own or what it computed before", examine_i11 },
  { "I12", "no call is dead", examine_i12 },
  { "I13", "what depends on tangents is in backward alone", examine_i13 },
  { "I14", "what an output needs is computed, where its decision says", examine_i14 },
  { "I15", "what both compute is not saved", examine_i15 },
  { "I16", "at a whole budget nothing that is banned is computed again", examine_i16 },
  { "I17", "what must be computed again is not saved", examine_i17 },
  { "I18", "what must be saved is not computed again", examine_i18 },
  { "I19", "what must be computed again, and is needed, is in both", examine_i19 },
  { "I20", "as many states are kept as are used", examine_i20 },
  { "I31", "a budget of 0 saves inputs alone", examine_i31 },
};

guint
invariants_get_n (void)
{
  return G_N_ELEMENTS (invariants);
}

const Invariant *
invariants_get (guint index)
{
  return &invariants[index];
}

static const AdjValue *
outputs_of (const AdjGraph *graph)
{
  return &adj_graph_get_node (graph, adj_graph_get_output (graph).index)->args.items[0];
}

Examined *
examined_new (const AdjPartition *partition, const AdjPartitionOptions *options)
{
  Examined *self = g_new0 (Examined, 1);

  self->partition = partition;
  self->options = options;
  self->joint_outputs = outputs_of (partition->joint);
  self->forward_outputs = outputs_of (partition->forward);
  self->backward_outputs = outputs_of (partition->backward);
  for (guint i = 0; i < partition->n_saved; i++)
    {
      self->n_tensors += partition->saved[i].kind == ADJ_SAVED_TENSOR;
      self->n_states += partition->saved[i].kind == ADJ_SAVED_RNG_STATE;
      self->n_sizes += partition->saved[i].kind == ADJ_SAVED_SIZE;
    }
  return self;
}

void
examined_free (Examined *self)
{
  g_free (self);
}

guint
examined_representative (const Examined *self, guint index)
{
  const AdjNodeDecision *decision = &self->partition->nodes[index];

  return decision->rule == ADJ_RULE_MERGED ? decision->because.index : index;
}

const char *
examined_joint_name (const Examined *self, guint index)
{
  return adj_graph_get_node (self->partition->joint, index)->name;
}

const AdjNode *
examined_find_call (const AdjGraph *graph, const char *name)
{
  AdjNodeId id = adj_graph_find_node (graph, name);
  const AdjNode *node = adj_node_id_is_valid (id) ? adj_graph_get_node (graph, id.index) : NULL;

  return node != NULL && node->opcode != ADJ_OPCODE_PLACEHOLDER ? node : NULL;
}

gboolean
examined_is_gradient (const Examined *self, guint index)
{
  for (guint i = self->partition->num_fwd_outputs; i < self->joint_outputs->n; i++)
    if (self->joint_outputs->items[i].kind == ADJ_VALUE_NODE &&
        examined_representative (self, self->joint_outputs->items[i].node.index) == index)
      return TRUE;
  return FALSE;
}

gboolean
partition_verify (const AdjPartition *partition, const AdjPartitionOptions *options, GError **error)
{
  g_autoptr (Examined) examined = examined_new (partition, options);

  for (guint i = 0; i < G_N_ELEMENTS (invariants); i++)
    {
      guint n_cases = 0;
      const char *where = invariants[i].examine (examined, &n_cases);

      if (where == NULL)
        continue;
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY,
                   "%s made a partition that breaks %s (%s) at '%s'", partition->partitioner,
                   invariants[i].id, invariants[i].claim, where);
      return FALSE;
    }
  return TRUE;
}
