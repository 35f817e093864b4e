/* SPDX-License-Identifier: MIT */
/* The joint graph for partitioners: for each node its side, bytes, owner of its memory, inputs and
 * users. */

#include <string.h>

#include "analysis/adj-aliases.h"
#include "analysis/adj-node-bytes.h"
#include "call/adj-object-call-internal.h"
#include "call/adj-op.h"
#include "ir/adj-graph.h"
#include "ir/adj-input-role.h"
#include "partition/joint-private.h"

/* The number of elements assumed for a tensor whose size is unknown. */
#define UNKNOWN_ELEMENTS 4096

static NodeKind
kind_of (const AdjGraph *graph, guint index)
{
  static const NodeKind by_role[] = {
    [ADJ_INPUT_NONE] = NODE_CALL,
    [ADJ_INPUT_PRIMAL] = NODE_PRIMAL,
    [ADJ_INPUT_TANGENT] = NODE_TANGENT,
    [ADJ_INPUT_FORWARD_RNG] = NODE_FORWARD_RNG,
    [ADJ_INPUT_BACKWARD_RNG] = NODE_BACKWARD_RNG,
  };
  AdjOpcode opcode = adj_graph_get_node (graph, index)->opcode;

  if (opcode == ADJ_OPCODE_OUTPUT)
    return NODE_OUTPUT;
  if (opcode == ADJ_OPCODE_GET_ATTR)
    return NODE_ATTRIBUTE;
  return by_role[adj_graph_get_input_role (graph, index)];
}

static ValueKind
value_kind_of (const AdjValue *val)
{
  if (val->kind == ADJ_VALUE_META)
    return VALUE_TENSOR;
  if (adj_value_is_container (val))
    return VALUE_MANY;
  if (val->kind == ADJ_VALUE_SIZE || val->kind == ADJ_VALUE_INT || val->kind == ADJ_VALUE_BOOL)
    return VALUE_SIZE;
  return val->kind == ADJ_VALUE_FLOAT ? VALUE_FLOAT : VALUE_NONE;
}

/* A scalar counts as one byte. */
static guint64
count_bytes (const AdjNodeBytes *node)
{
  guint64 bytes = node->elements * UNKNOWN_ELEMENTS + node->n_numbers;

  return g_uint64_checked_add (&bytes, bytes, node->bytes) ? bytes : G_MAXUINT64;
}

static gboolean
draws (const AdjNode *node, guint traits)
{
  if ((traits & OP_SEEDED) == 0)
    return node->op != NULL && (node->op->flags & ADJ_OP_RANDOM) != 0;
  return node->op == NULL || (node->op->flags & ADJ_OP_RANDOM) != 0;
}

/* Takes the owner of each node's memory from the aliases. A value that is no tensor has memory only
 * as an alias of one. */
static void
find_owners (Joint *self)
{
  const AdjAlias *aliases = adj_graph_get_aliases (self->graph);

  for (guint i = 0; i < self->n; i++)
    {
      self->owner[i] = aliases[i].must;
      self->has_memory[i] =
          aliases[i].must != i || adj_graph_get_node (self->graph, i)->val.kind == ADJ_VALUE_META;
    }
}

/* Whether placeholder @i is the token that the first effect of its direction takes. */
static gboolean
is_token (const Joint *self, guint i)
{
  const AdjNode *node = adj_graph_get_node (self->graph, i);

  for (guint k = 0; k < node->n_users; k++)
    {
      const AdjNode *user = adj_graph_get_node (self->graph, node->users[k].index);

      if (user->opcode == ADJ_OPCODE_CALL_FUNCTION &&
          g_str_equal (user->target, ADJ_TARGET_WITH_EFFECTS) && user->args.n > 0 &&
          user->args.items[0].kind == ADJ_VALUE_NODE && user->args.items[0].node.index == i)
        return TRUE;
    }
  return FALSE;
}

static void
read_nodes (Joint *self, const AdjPartitionOptions *options)
{
  const AdjNodeBytes *bytes = adj_graph_get_bytes (self->graph);

  for (guint i = 0; i < self->n; i++)
    {
      const AdjNode *node = adj_graph_get_node (self->graph, i);

      self->kind[i] = kind_of (self->graph, i);
      self->value[i] = value_kind_of (&node->val);
      self->traits[i] = op_traits_of (node);
      if (options->recompute_splits && (self->traits[i] & OP_RECOMPUTE_NEWER) != 0)
        self->traits[i] |= OP_RECOMPUTE;
      if (adj_object_node_is_pure (self->graph, node))
        self->traits[i] &= ~(guint) OP_EFFECT;
      self->draws[i] = draws (node, self->traits[i]);
      self->bytes[i] = self->kind[i] == NODE_ATTRIBUTE ? 0 : count_bytes (&bytes[i]);
      self->recompute[i] = node->meta.recompute;
      self->tag_rule[i] = node->meta.recompute != ADJ_RECOMPUTE_NONE ? ADJ_RULE_TAG : ADJ_RULE_NONE;
      self->has_tags |= joint_must_recompute (self, i);
      self->tag_because[i] = NOBODY;
      self->region[i] = node->meta.ac_graph_id;
      self->rep[i] = i;
      self->because[i] = NOBODY;
    }
  for (guint i = 0; i < self->n; i++)
    self->n_tokens += self->kind[i] == NODE_PRIMAL && is_token (self, i);
  find_owners (self);
}

/* Number of backward outputs: a gradient for each primal, and a token for each token input of the
 * backward; the forward's token is a forward output. */
static guint
count_outputs_of_backward (const Joint *self)
{
  guint n = 0;

  for (guint i = 0; i < self->n; i++)
    n += self->kind[i] == NODE_PRIMAL || (self->kind[i] == NODE_TANGENT && is_token (self, i));
  return n - self->n_tokens;
}

static gboolean
read_outputs (Joint *self, const AdjPartitionOptions *options, GError **error)
{
  const AdjNode *node = adj_graph_get_node (self->graph, self->output);
  const AdjValue *value = &node->args.items[0];
  guint n_backward = count_outputs_of_backward (self);

  if (value->kind != ADJ_VALUE_LIST && value->kind != ADJ_VALUE_TUPLE)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE,
                   "a joint graph returns the outputs of forward, then those of backward; this one "
                   "returns one value");
      joint_blame (self, self->output, error);
      return FALSE;
    }
  self->outputs = value->items;
  self->n_outputs = value->n;
  for (guint i = 0; i < value->n; i++)
    if (adj_value_is_container (&value->items[i]))
      {
        g_set_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE,
                     "output %u of the joint graph is a container; flat outputs are needed", i);
        joint_blame (self, self->output, error);
        return FALSE;
      }
  if (options->num_fwd_outputs < 0 && value->n >= n_backward)
    self->n_forward_outputs = value->n - n_backward;
  else
    self->n_forward_outputs = (guint) options->num_fwd_outputs;
  if (options->num_fwd_outputs < 0 ? value->n < n_backward : self->n_forward_outputs > value->n)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE,
                   "the graph returns %u values: not the %u outputs of forward that are asked for",
                   value->n, options->num_fwd_outputs < 0 ? n_backward : self->n_forward_outputs);
      joint_blame (self, self->output, error);
      return FALSE;
    }
  return TRUE;
}

static gboolean
must_stay (const Joint *self, guint i)
{
  if (joint_moves_generator (self, i))
    return TRUE;
  return self->kind[i] != NODE_CALL
             ? self->kind[i] != NODE_ATTRIBUTE
             : (self->traits[i] & OP_EFFECT) != 0 ||
                   adj_graph_get_node (self->graph, i)->opcode != ADJ_OPCODE_CALL_FUNCTION;
}

/* Removes nodes that nothing needs. */
static void
drop_dead (Joint *self)
{
  memset (self->gone, TRUE, self->n);
  for (guint i = self->n; i-- > 0;)
    {
      const AdjNode *node = adj_graph_get_node (self->graph, i);

      if (must_stay (self, i))
        self->gone[i] = FALSE;
      for (guint k = 0; !self->gone[i] && k < node->n_inputs; k++)
        self->gone[node->inputs[k].index] = FALSE;
    }
}

/* Collects the representatives of the inputs of @i, each once. @seen[n]: the last node that read n,
 * plus 1. */
static guint
gather_inputs (const Joint *self, guint i, guint32 *seen, guint32 *out)
{
  const AdjNode *node = adj_graph_get_node (self->graph, i);
  guint n = 0;

  for (guint k = 0; k < node->n_inputs; k++)
    {
      guint32 input = self->rep[node->inputs[k].index];

      if (seen[input] == i + 1)
        continue;
      seen[input] = i + 1;
      out[n++] = input;
    }
  return n;
}

static void
connect (Joint *self)
{
  gsize n_edges = 0;
  g_autofree guint32 *fill = g_new0 (guint32, self->n + 1);
  g_autofree guint32 *seen = g_new0 (guint32, self->n);

  for (guint i = 0; i < self->n; i++)
    n_edges += adj_graph_get_node (self->graph, i)->n_inputs;
  self->inputs.begin = adj_arena_new0 (self->arena, guint32, self->n + 1);
  self->users.begin = adj_arena_new0 (self->arena, guint32, self->n + 1);
  self->inputs.items = adj_arena_new0 (self->arena, guint32, n_edges + 1);
  self->users.items = adj_arena_new0 (self->arena, guint32, n_edges + 1);
  for (guint i = 0; i < self->n; i++)
    {
      guint32 begin = self->inputs.begin[i];
      guint n = self->gone[i] ? 0 : gather_inputs (self, i, seen, self->inputs.items + begin);

      self->inputs.begin[i + 1] = begin + n;
      for (guint k = 0; k < n; k++)
        self->users.begin[self->inputs.items[begin + k] + 1]++;
    }
  for (guint i = 0; i < self->n; i++)
    self->users.begin[i + 1] += self->users.begin[i];
  for (guint i = 0; i < self->n; i++)
    for (guint32 k = self->inputs.begin[i]; k < self->inputs.begin[i + 1]; k++)
      {
        guint32 input = self->inputs.items[k];

        self->users.items[self->users.begin[input] + fill[input]++] = i;
      }
}

static void
allocate (Joint *self)
{
#define PER_NODE(field, type) self->field = adj_arena_new0 (self->arena, type, self->n)
  PER_NODE (kind, guint8);
  PER_NODE (value, guint8);
  PER_NODE (traits, guint16);
  PER_NODE (draws, guint8);
  PER_NODE (gone, guint8);
  PER_NODE (rep, guint32);
  PER_NODE (bytes, guint64);
  PER_NODE (has_memory, guint8);
  PER_NODE (owner, guint32);
  PER_NODE (recompute, guint8);
  PER_NODE (tag_rule, guint8);
  PER_NODE (tag_because, guint32);
  PER_NODE (region, gint64);
  PER_NODE (in_backward, guint8);
  PER_NODE (in_forward, guint8);
  PER_NODE (because, guint32);
  PER_NODE (order, gint32);
  PER_NODE (distance, guint32);
#undef PER_NODE
}

Joint *
joint_new (AdjGraph *graph, const AdjPartitionOptions *options, GError **error)
{
  g_autoptr (Joint) self = g_new0 (Joint, 1);

  self->arena = adj_arena_new ();
  self->keeps_draws = !options->compat;
  self->graph = graph;
  self->symbols = adj_graph_get_symbols (graph);
  self->n = adj_graph_get_n_nodes (graph);
  self->output = adj_graph_get_output (graph).index;
  allocate (self);
  read_nodes (self, options);
  if (!read_outputs (self, options, error))
    return NULL;
  drop_dead (self);
  if (!options->no_cse)
    joint_merge_equal (self, options);
  if (!joint_apply_demands (self, options, error))
    return NULL;
  connect (self);
  joint_save_effects (self, options->save_effects);
  joint_clean_tags (self);
  joint_classify (self);
  return g_steal_pointer (&self);
}

void
joint_free (Joint *joint)
{
  if (joint == NULL)
    return;
  adj_arena_free (joint->arena);
  g_free (joint);
}

char *
joint_print_region (const Joint *joint, guint i)
{
  return joint->region[i] < 0
             ? g_strdup ("")
             : g_strdup_printf (" (region %" G_GINT64_FORMAT ")", joint->region[i]);
}

gboolean
joint_stays_backward (const Joint *joint, guint i)
{
  const AdjNode *node = adj_graph_get_node (joint->graph, i);
  const char *tag = node->meta.partitioner_tag;

  if (tag == NULL)
    return FALSE;
  return g_str_equal (tag, ADJ_MUST_BE_IN_BACKWARD) ||
         (adj_phase_from_tag (tag) == ADJ_PHASE_BACKWARD &&
          strstr (node->target, "with_effects") != NULL);
}

gboolean
joint_fusible (const Joint *joint, guint a, guint b)
{
  const guint fusible = OP_RECOMPUTE | OP_RANDOM;

  if ((joint->traits[b] & OP_CAT) != 0)
    return TRUE;
  return (joint->traits[a] & fusible) != 0 && (joint->traits[b] & fusible) != 0;
}

guint
joint_output (const Joint *joint, guint index)
{
  const AdjValue *value = &joint->outputs[index];

  return value->kind == ADJ_VALUE_NODE ? joint->rep[value->node.index] : NOBODY;
}
