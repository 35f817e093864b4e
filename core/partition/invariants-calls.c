/* SPDX-License-Identifier: MIT */
/* I10 to I20 and I31: calls of the two graphs, and decisions. */

#include <string.h>

#include "analysis/adj-aliases.h"
#include "call/adj-op.h"
#include "ir/adj-graph.h"
#include "ir/adj-input-role.h"
#include "partition/invariants-private.h"
#include "partition/op-traits-private.h"
#include "partition/pair-private.h"
#include "partition/partitioners-private.h"

static gboolean
is_call (const AdjNode *node)
{
  return node->opcode != ADJ_OPCODE_PLACEHOLDER && node->opcode != ADJ_OPCODE_OUTPUT;
}

/* The decision on the joint node of that name; %NULL: it has no joint node. */
static const AdjNodeDecision *
decision_of (const Examined *self, const char *name, guint *index)
{
  AdjNodeId id = adj_graph_find_node (self->partition->joint, name);

  *index = id.index;
  return adj_node_id_is_valid (id) ? &self->partition->nodes[id.index] : NULL;
}

const char *
examine_i10 (const Examined *self, guint *n_cases)
{
  const AdjGraph *forward = self->partition->forward;

  for (guint i = 0; i < adj_graph_get_n_nodes (forward); i++)
    {
      const AdjNode *node = adj_graph_get_node (forward, i);
      guint index;

      if (node->opcode != ADJ_OPCODE_OUTPUT && decision_of (self, node->name, &index) != NULL &&
          adj_graph_depends_on_tangent (self->partition->joint, index))
        return node->name;
    }
  *n_cases += adj_graph_get_n_calls (forward);
  return NULL;
}

/* I11. Sealing has checked that arguments are earlier nodes; here: an input that backward reads was
 * saved. */
const char *
examine_i11 (const Examined *self, guint *n_cases)
{
  const AdjPartition *p = self->partition;
  guint n_inputs = adj_graph_get_n_inputs (p->backward);

  for (guint i = 0; i < n_inputs; i++)
    {
      const AdjNode *node =
          adj_graph_get_node (p->backward, adj_graph_get_input (p->backward, i).index);
      guint index;
      const AdjNodeDecision *decision = decision_of (self, node->name, &index);

      if (decision != NULL && decision->kind != ADJ_DECISION_SAVED &&
          !adj_graph_depends_on_tangent (self->partition->joint, index) &&
          adj_graph_get_input_role (self->partition->joint, index) != ADJ_INPUT_BACKWARD_RNG)
        return node->name;
    }
  *n_cases += n_inputs;
  return NULL;
}

/* Whether it may run unread: random calls move the generator, and repeated ones come with calls
 * that get and set its state. */
static gboolean
happens (const AdjGraph *graph, const AdjNode *node)
{
  if ((op_traits_of (node) & OP_EFFECT) != 0)
    return TRUE;
  if (g_str_equal (node->target, "operator.getitem") && node->n_inputs > 0)
    node = adj_graph_get_node (graph, node->inputs[0].index);
  return pair_draws (node) || strstr (node->target, "rng_state") != NULL;
}

const char *
examine_i12 (const Examined *self, guint *n_cases)
{
  const AdjGraph *graphs[] = { self->partition->forward, self->partition->backward };

  for (guint g = 0; g < G_N_ELEMENTS (graphs); g++)
    for (guint i = 0; i < adj_graph_get_n_nodes (graphs[g]); i++)
      {
        const AdjNode *node = adj_graph_get_node (graphs[g], i);

        if (!is_call (node))
          continue;
        *n_cases += 1;
        if (node->n_users == 0 && !happens (graphs[g], node))
          return node->name;
      }
  return NULL;
}

/* A gradient that depends on no tangent may be in either graph. */
const char *
examine_i13 (const Examined *self, guint *n_cases)
{
  const AdjPartition *p = self->partition;

  for (guint i = 0; i < adj_graph_get_n_nodes (p->joint); i++)
    {
      const AdjNode *node = adj_graph_get_node (p->joint, i);

      if (!is_call (node) || p->nodes[i].node_class != ADJ_NODE_CLASS_BACKWARD)
        continue;
      *n_cases += 1;
      if (examined_find_call (p->forward, node->name) != NULL && !examined_is_gradient (self, i))
        return node->name;
    }
  return NULL;
}

/* By node of the joint graph: whether an output depends on it. */
static guint8 *
find_needed (const Examined *self)
{
  const AdjGraph *joint = self->partition->joint;
  guint8 *needed = g_new0 (guint8, adj_graph_get_n_nodes (joint));

  for (guint i = 0; i < self->joint_outputs->n; i++)
    if (self->joint_outputs->items[i].kind == ADJ_VALUE_NODE)
      needed[examined_representative (self, self->joint_outputs->items[i].node.index)] = TRUE;
  for (guint i = adj_graph_get_n_nodes (joint); i-- > 0;)
    for (guint k = 0; needed[i] && k < adj_graph_get_node (joint, i)->n_inputs; k++)
      needed[examined_representative (self, adj_graph_get_node (joint, i)->inputs[k].index)] = TRUE;
  return needed;
}

const char *
examine_i14 (const Examined *self, guint *n_cases)
{
  static const struct
  {
    gboolean forward, backward;
  } places[ADJ_N_DECISION_KINDS] = {
    [ADJ_DECISION_GONE] = { FALSE, FALSE },    [ADJ_DECISION_FORWARD] = { TRUE, FALSE },
    [ADJ_DECISION_SAVED] = { TRUE, FALSE },    [ADJ_DECISION_RECOMPUTED] = { TRUE, TRUE },
    [ADJ_DECISION_BACKWARD] = { FALSE, TRUE },
  };
  const AdjPartition *p = self->partition;
  g_autofree guint8 *needed = find_needed (self);

  for (guint i = 0; i < adj_graph_get_n_nodes (p->joint); i++)
    {
      const AdjNode *node = adj_graph_get_node (p->joint, i);
      AdjDecisionKind kind = p->nodes[i].kind;

      if (!is_call (node))
        continue;
      *n_cases += 1;
      if ((needed[i] && kind == ADJ_DECISION_GONE) ||
          (examined_find_call (p->forward, node->name) != NULL) != places[kind].forward ||
          (examined_find_call (p->backward, node->name) != NULL) != places[kind].backward)
        return node->name;
    }
  return NULL;
}

const char *
examine_i15 (const Examined *self, guint *n_cases)
{
  const AdjPartition *p = self->partition;

  for (guint i = 0; i < p->n_saved; i++)
    {
      const char *name = examined_joint_name (self, p->saved[i].node.index);

      if (p->saved[i].kind != ADJ_SAVED_RNG_STATE && examined_find_call (p->backward, name) != NULL)
        return name;
    }
  *n_cases += p->n_saved;
  return NULL;
}

/* -- what was decided -- */

/* I16, of min-cut at budget 1: a banned node is not recomputed, unless it is a view. */
const char *
examine_i16 (const Examined *self, guint *n_cases)
{
  const AdjPartition *p = self->partition;
  const AdjAlias *aliases = adj_graph_get_aliases (p->joint);

  if (!g_str_equal (p->partitioner, "min-cut") ||
      budget_wanted (self->partition->joint, self->options) != 1)
    return NULL;
  for (guint i = 0; i < adj_graph_get_n_nodes (p->joint); i++)
    {
      if (p->nodes[i].ban == ADJ_RULE_NONE || aliases[i].kind == ADJ_ALIAS_VIEW)
        continue;
      *n_cases += 1;
      if (p->nodes[i].kind == ADJ_DECISION_RECOMPUTED)
        return examined_joint_name (self, i);
    }
  return NULL;
}

static gboolean
must_recompute (const AdjNodeDecision *decision)
{
  return decision->recompute == ADJ_RECOMPUTE_MUST_RECOMPUTE ||
         decision->recompute == ADJ_RECOMPUTE_PREFER_RECOMPUTE;
}

const char *
examine_i17 (const Examined *self, guint *n_cases)
{
  const AdjPartition *p = self->partition;

  for (guint i = 0; i < adj_graph_get_n_nodes (p->joint); i++)
    {
      if (!must_recompute (&p->nodes[i]))
        continue;
      *n_cases += 1;
      if (p->nodes[i].kind == ADJ_DECISION_SAVED)
        return examined_joint_name (self, i);
    }
  return NULL;
}

/* PyTorch ignores the tag on views and on results of several. */
const char *
examine_i18 (const Examined *self, guint *n_cases)
{
  const AdjPartition *p = self->partition;
  const AdjAlias *aliases = adj_graph_get_aliases (p->joint);

  if (budget_wanted (self->partition->joint, self->options) != 1)
    return NULL;
  for (guint i = 0; i < adj_graph_get_n_nodes (p->joint); i++)
    {
      const AdjNodeDecision *decision = &p->nodes[i];
      const AdjNode *node = adj_graph_get_node (p->joint, i);

      if (decision->recompute != ADJ_RECOMPUTE_MUST_SAVE ||
          decision->node_class != ADJ_NODE_CLASS_FORWARD || decision->ban != ADJ_RULE_MUST_SAVE ||
          node->val.kind != ADJ_VALUE_META || aliases[i].kind == ADJ_ALIAS_VIEW ||
          examined_is_gradient (self, i))
        continue;
      *n_cases += 1;
      if (decision->kind == ADJ_DECISION_RECOMPUTED)
        return node->name;
    }
  return NULL;
}

const char *
examine_i19 (const Examined *self, guint *n_cases)
{
  const AdjPartition *p = self->partition;

  for (guint i = 0; i < adj_graph_get_n_nodes (p->joint); i++)
    {
      const AdjNode *node = adj_graph_get_node (p->joint, i);

      if (!is_call (node) || !must_recompute (&p->nodes[i]) ||
          p->nodes[i].node_class != ADJ_NODE_CLASS_FORWARD ||
          examined_find_call (p->backward, node->name) == NULL)
        continue;
      *n_cases += 1;
      if (examined_find_call (p->forward, node->name) == NULL)
        return node->name;
    }
  return NULL;
}

static guint
count_calls (const AdjGraph *graph, const char *target)
{
  guint n = 0;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    n += g_str_equal (adj_graph_get_node (graph, i)->target, target);
  return n;
}

const char *
examine_i20 (const Examined *self, guint *n_cases)
{
  const AdjPartition *p = self->partition;

  *n_cases += self->n_states;
  if (count_calls (p->forward, "torch.ops.higher_order.run_and_save_rng_state") != self->n_states)
    return "run_and_save_rng_state";
  if (count_calls (p->backward, "torch.ops.higher_order.run_with_rng_state") != self->n_states)
    return "run_with_rng_state";
  return NULL;
}

static gboolean
must_save_any (const Examined *self)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (self->partition->joint); i++)
    if (self->partition->nodes[i].recompute == ADJ_RECOMPUTE_MUST_SAVE)
      return TRUE;
  return FALSE;
}

/* Without compat, MUST_SAVE values are saved in every case. */
const char *
examine_i31 (const Examined *self, guint *n_cases)
{
  const AdjPartition *p = self->partition;

  if (budget_wanted (p->joint, self->options) != 0 || !g_str_equal (p->partitioner, "min-cut") ||
      (!self->options->compat && must_save_any (self)))
    return NULL;
  for (guint i = 0; i < self->n_tensors; i++)
    if (p->nodes[p->saved[i].node.index].node_class != ADJ_NODE_CLASS_INPUT)
      return examined_joint_name (self, p->saved[i].node.index);
  *n_cases += self->n_tensors;
  return NULL;
}
