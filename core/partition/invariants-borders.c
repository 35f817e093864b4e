/* SPDX-License-Identifier: MIT */
/* I1 to I9: inputs and outputs of the two graphs. */

#include <string.h>

#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "ir/adj-input-role.h"
#include "partition/invariants-private.h"

static const char *
input_name (const AdjGraph *graph, guint index)
{
  return adj_graph_get_node (graph, adj_graph_get_input (graph, index).index)->name;
}

/* The name of the node that @outputs holds at @index; "output" if there is none. */
static const char *
name_at (const AdjGraph *graph, const AdjValue *outputs, guint index)
{
  if (index >= outputs->n || outputs->items[index].kind != ADJ_VALUE_NODE)
    return "output";
  return adj_graph_get_node (graph, outputs->items[index].node.index)->name;
}

static AdjInputRole
input_role (const AdjGraph *graph, guint index)
{
  return adj_graph_get_input_role (graph, adj_graph_get_input (graph, index).index);
}

/* "mul", or its copy "mul_saved". */
static gboolean
is_of (const char *name, const char *stem, const char *suffix)
{
  gsize length = strlen (stem);

  return strncmp (name, stem, length) == 0 &&
         (name[length] == '\0' || g_str_has_prefix (name + length, suffix));
}

static const char *
saved_name (const Examined *self, guint index)
{
  return examined_joint_name (self, self->partition->saved[index].node.index);
}

const char *
examine_i1 (const Examined *self, guint *n_cases)
{
  const AdjPartition *p = self->partition;
  guint n = 0, n_inputs = adj_graph_get_n_inputs (p->forward);

  for (guint i = 0; i < adj_graph_get_n_inputs (p->joint); i++)
    {
      AdjInputRole role = input_role (p->joint, i);
      const char *name = input_name (p->joint, i);

      if (role == ADJ_INPUT_TANGENT || role == ADJ_INPUT_BACKWARD_RNG)
        continue;
      if (n >= n_inputs || !g_str_equal (input_name (p->forward, n), name))
        return name;
      n++;
    }
  *n_cases += n;
  return n < n_inputs ? input_name (p->forward, n) : NULL;
}

/* Whether an output of a graph is the given one of the joint graph. */
static gboolean
is_same_output (const Examined *self, const AdjGraph *graph, const AdjValue *got, guint joint_index)
{
  const AdjValue *want = &self->joint_outputs->items[joint_index];

  if (want->kind != ADJ_VALUE_NODE || got->kind != ADJ_VALUE_NODE)
    return want->kind == got->kind;
  return g_str_equal (adj_graph_get_node (graph, got->node.index)->name,
                      examined_joint_name (self, examined_representative (self, want->node.index)));
}

const char *
examine_i2 (const Examined *self, guint *n_cases)
{
  const AdjPartition *p = self->partition;
  const AdjValue *outputs = self->forward_outputs;

  if (outputs->n != p->num_fwd_outputs + p->n_saved)
    return "output";
  for (guint i = 0; i < p->num_fwd_outputs; i++)
    if (!is_same_output (self, p->forward, &outputs->items[i], i))
      return name_at (p->forward, outputs, i);
  for (guint i = 0; i < p->n_saved; i++)
    {
      const char *name = name_at (p->forward, outputs, p->num_fwd_outputs + i);
      const char *suffix = p->saved[i].kind == ADJ_SAVED_RNG_STATE ? "_rng_state" : "_saved";

      if (!is_of (name, saved_name (self, i), suffix) ||
          (i > 0 && p->saved[i - 1].kind > p->saved[i].kind))
        return name;
    }
  *n_cases += outputs->n;
  return NULL;
}

const char *
examine_i3 (const Examined *self, guint *n_cases)
{
  static const AdjInputRole of_backward[] = { ADJ_INPUT_TANGENT, ADJ_INPUT_BACKWARD_RNG };
  const AdjPartition *p = self->partition;
  guint n = 0, n_inputs = adj_graph_get_n_inputs (p->backward);

  if (n_inputs < p->n_saved)
    return "output";
  for (guint i = 0; i < self->n_sizes; i++, n++)
    if (!g_str_equal (input_name (p->backward, n),
                      saved_name (self, self->n_tensors + self->n_states + i)))
      return input_name (p->backward, n);
  for (guint i = 0; i < self->n_tensors; i++, n++)
    if (!g_str_equal (input_name (p->backward, n), saved_name (self, i)))
      return input_name (p->backward, n);
  for (guint i = 0; i < self->n_states; i++, n++)
    if (!g_str_has_prefix (input_name (p->backward, n), "rng_state_output_"))
      return input_name (p->backward, n);
  for (guint k = 0; k < G_N_ELEMENTS (of_backward); k++)
    for (guint i = 0; i < adj_graph_get_n_inputs (p->joint); i++)
      {
        const char *name = input_name (p->joint, i);

        if (input_role (p->joint, i) != of_backward[k])
          continue;
        if (n >= n_inputs || !g_str_equal (input_name (p->backward, n), name))
          return name;
        n++;
      }
  *n_cases += n;
  return n < n_inputs ? input_name (p->backward, n) : NULL;
}

const char *
examine_i4 (const Examined *self, guint *n_cases)
{
  const AdjPartition *p = self->partition;
  guint from = p->num_fwd_outputs;

  if (self->forward_outputs->n != from + p->n_saved ||
      adj_graph_get_n_inputs (p->backward) < p->n_saved)
    return "output";
  for (guint i = 0; i < p->n_saved; i++)
    {
      const char *out = name_at (p->forward, self->forward_outputs, from + i);
      guint rank = i < self->n_tensors + self->n_states ? self->n_sizes + i
                                                        : i - self->n_tensors - self->n_states;

      if (p->saved[i].kind != ADJ_SAVED_RNG_STATE &&
          !is_of (out, input_name (p->backward, rank), "_saved"))
        return out;
    }
  *n_cases += p->n_saved;
  return NULL;
}

const char *
examine_i5 (const Examined *self, guint *n_cases)
{
  const AdjPartition *p = self->partition;
  guint from = p->num_fwd_outputs;

  if (self->backward_outputs->n != self->joint_outputs->n - from)
    return "output";
  for (guint i = 0; i < self->backward_outputs->n; i++)
    if (!is_same_output (self, p->backward, &self->backward_outputs->items[i], from + i))
      return name_at (p->backward, self->backward_outputs, i);
  *n_cases += self->backward_outputs->n;
  return NULL;
}

/* Whether saved value @i may come before the next one. */
static gboolean
is_before_next (const AdjPartition *p, guint i, gboolean in_order)
{
  const guint one = p->saved[i].node.index, next = p->saved[i + 1].node.index;
  const gboolean is_object =
      adj_graph_get_node (p->joint, one)->val.kind == ADJ_VALUE_OPAQUE_OBJECT;
  const gboolean is_next_object =
      adj_graph_get_node (p->joint, next)->val.kind == ADJ_VALUE_OPAQUE_OBJECT;

  return is_object == is_next_object ? !in_order || one < next : is_next_object;
}

const char *
examine_i6 (const Examined *self, guint *n_cases)
{
  const AdjPartition *p = self->partition;
  g_autofree guint8 *seen = g_new0 (guint8, adj_graph_get_n_nodes (p->joint));
  gboolean in_order = !g_str_equal (p->partitioner, "default");

  for (guint i = 0; i < self->n_tensors; i++)
    {
      guint node = p->saved[i].node.index;

      if (seen[node] || (i > 0 && !is_before_next (p, i - 1, in_order)))
        return saved_name (self, i);
      seen[node] = TRUE;
    }
  *n_cases += self->n_tensors;
  return NULL;
}

const char *
examine_i7 (const Examined *self, guint *n_cases)
{
  for (guint i = 0; i < self->n_tensors; i++)
    {
      AdjNodeId there = adj_graph_find_node (self->partition->backward, saved_name (self, i));

      if (!adj_node_id_is_valid (there) ||
          adj_graph_get_node (self->partition->backward, there.index)->n_users == 0)
        return saved_name (self, i);
    }
  *n_cases += self->n_tensors;
  return NULL;
}

const char *
examine_i8 (const Examined *self, guint *n_cases)
{
  for (guint i = 0; i < self->n_tensors; i++)
    if (adj_value_is_container (
            &adj_graph_get_node (self->partition->joint, self->partition->saved[i].node.index)
                 ->val))
      return saved_name (self, i);
  *n_cases += self->n_tensors;
  return NULL;
}

/* -- I9 -- */

typedef struct
{
  const AdjSymbols *symbols;
  GHashTable *bindable; /* words of symbols that are inputs of forward */
  GHashTable *bound;    /* words of symbols that are inputs of backward */
} Symbols;

/* Whether all symbols of @size that could be inputs of backward are. */
static gboolean
is_known (const Symbols *self, AdjSize size, guint depth)
{
  gpointer key = GSIZE_TO_POINTER ((gsize) size.word);
  AdjSizeOp op;
  AdjSize a, b;

  if (adj_size_is_int (size) || depth == 0)
    return TRUE;
  if (adj_symbols_get_operands (self->symbols, size, &op, &a, &b))
    return is_known (self, a, depth - 1) && is_known (self, b, depth - 1);
  return !g_hash_table_contains (self->bindable, key) || g_hash_table_contains (self->bound, key);
}

static gboolean
is_shape_known (const Symbols *self, const AdjValue *val)
{
  const AdjShape *shape = val->kind == ADJ_VALUE_META ? &val->meta->shape : NULL;

  for (guint i = 0; shape != NULL && i < shape->rank; i++)
    if (!is_known (self, shape->size[i], ADJ_MAX_DEPTH))
      return FALSE;
  return val->kind != ADJ_VALUE_SIZE || is_known (self, val->size, ADJ_MAX_DEPTH);
}

static gboolean
is_symbol (const AdjSymbols *symbols, const AdjValue *val)
{
  AdjSizeOp op;
  AdjSize a, b;

  return val->kind == ADJ_VALUE_SIZE && !adj_size_is_int (val->size) &&
         !adj_symbols_get_operands (symbols, val->size, &op, &a, &b);
}

static void
add_symbol (GHashTable *words, const AdjSymbols *symbols, const AdjNode *node)
{
  if (is_symbol (symbols, &node->val))
    g_hash_table_add (words, GSIZE_TO_POINTER ((gsize) node->val.size.word));
}

const char *
examine_i9 (const Examined *self, guint *n_cases)
{
  const AdjPartition *p = self->partition;
  const AdjSymbols *symbols = adj_graph_get_symbols (p->joint);
  g_autoptr (GHashTable) bindable = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) bound = g_hash_table_new (NULL, NULL);
  const Symbols known = { symbols, bindable, bound };

  for (guint i = 0; i < adj_graph_get_n_inputs (p->forward); i++)
    add_symbol (bindable, symbols,
                adj_graph_get_node (p->forward, adj_graph_get_input (p->forward, i).index));
  if (g_hash_table_size (bindable) == 0)
    return NULL;
  for (guint i = 0; i < adj_graph_get_n_inputs (p->backward); i++)
    {
      const AdjNode *node =
          adj_graph_get_node (p->backward, adj_graph_get_input (p->backward, i).index);

      add_symbol (bound, symbols, node);
      *n_cases += 1;
      if (!is_shape_known (&known, &node->val))
        return node->name;
    }
  return NULL;
}
