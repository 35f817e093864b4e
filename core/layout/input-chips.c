/* SPDX-License-Identifier: MIT */
/* Which inputs are chips at their readers, and which are pills above everything. */

#include "analysis/adj-blocks.h"
#include "ir/adj-graph.h"
#include "ir/adj-input-role.h"
#include "layout/node-roles-private.h"

/* With more inputs than this, those that no file calls parameters are chips too. */
#define MANY_INPUTS 8

static gboolean
knows_parameters (const AdjGraph *graph)
{
  for (guint i = 0; i < adj_graph_get_n_inputs (graph); i++)
    if (adj_graph_get_node (graph, adj_graph_get_input (graph, i).index)->meta.parameter)
      return TRUE;
  return FALSE;
}

/* What decides which inputs are chips. */
typedef struct
{
  gboolean known;       /* a file says which are parameters */
  guint8 *has_gradient; /* of each node */
  guint n_without;      /* inputs that get no gradient */
} Inputs;

static Inputs
count_inputs (const AdjNodeRoles *self)
{
  Inputs inputs = { knows_parameters (self->graph), g_new0 (guint8, MAX (self->n, 1)), 0 };

  for (guint i = 0; i < self->results->len; i++)
    {
      gint32 primal = g_array_index (self->results, AdjResultRole, i).primal;

      if (primal >= 0)
        inputs.has_gradient[primal] = TRUE;
    }
  for (guint i = 0; i < adj_graph_get_n_inputs (self->graph); i++)
    inputs.n_without += !inputs.has_gradient[adj_graph_get_input (self->graph, i).index];
  return inputs;
}

/* Whether only one repeated block reads the input: a mask or a table of a layer. */
static gboolean
belongs_to_block (const AdjNodeRoles *self, guint index)
{
  const AdjNode *node = adj_graph_get_node (self->graph, index);
  const guint32 *of_node = adj_graph_get_blocks (self->graph)->of_node;

  for (guint k = 0; k < node->n_users; k++)
    if (of_node[node->users[k].index] != of_node[node->users[0].index])
      return FALSE;
  return node->n_users > 0 && of_node[node->users[0].index] != ADJ_NO_BLOCK;
}

/* Whether the input is a chip: a parameter; where no file says which these are, an input with a
 * gradient; in a backward graph a saved value; with too many inputs, any (in a joint graph only
 * those of blocks). */
static gboolean
input_is_chip (const AdjNodeRoles *self, guint index, const Inputs *inputs)
{
  const AdjNode *node = adj_graph_get_node (self->graph, index);

  if (adj_graph_get_input_role (self->graph, index) == ADJ_INPUT_TANGENT)
    return FALSE;
  if (node->meta.parameter || self->only_backward)
    return TRUE;
  if (inputs->known)
    return FALSE;
  if (!self->is_joint)
    return adj_graph_get_n_inputs (self->graph) > MANY_INPUTS;
  return inputs->has_gradient[index] ||
         (inputs->n_without > MANY_INPUTS && belongs_to_block (self, index));
}

guint8 *
node_roles_find_chips (const AdjNodeRoles *self)
{
  guint8 *chips = g_new0 (guint8, MAX (self->n, 1));
  Inputs inputs = count_inputs (self);

  for (guint i = 0; i < adj_graph_get_n_inputs (self->graph); i++)
    {
      guint32 input = adj_graph_get_input (self->graph, i).index;

      chips[input] = input_is_chip (self, input, &inputs);
    }
  g_free (inputs.has_gradient);
  return chips;
}
