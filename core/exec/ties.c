/* SPDX-License-Identifier: MIT */
/* Operators whose integer results are indices (argmax, topk, sort): two indices are equal where
 * the elements there tie. */

#include <math.h>
#include <string.h>

#include "analysis/adj-node-call.h"
#include "call/adj-op.h"
#include "call/adj-schema-internal.h"
#include "exec/ties-private.h"
#include "ir/adj-graph.h"
#include "ir/adj-value-internal.h"
#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"

/* (nullable): the argument @name of @node, or its default. */
static const AdjValue *
find_argument (const AdjNode *node, const char *name)
{
  const AdjSchema *schema = adj_op_get_schema (adj_node_find_op (node, ADJ_OP_INDICES));
  const AdjValue *keyword = adj_value_find_member (&node->kwargs, name);
  gint arg = adj_schema_find_argument (schema, name);

  if (keyword != NULL || arg < 0)
    return keyword;
  return (guint) arg < node->args.n ? &node->args.items[arg]
                                    : &schema->arguments[arg].default_value;
}

/* (nullable): the tensor that the indices refer to. */
static const AdjTensorData *
find_input (const Operation *operation)
{
  const AdjValue *self = operation->node->args.n > 0 ? &operation->node->args.items[0] : NULL;
  guint holder = self != NULL && self->kind == ADJ_VALUE_NODE
                     ? alias_versions_get_holder (operation->versions, self->node.index)
                     : ALIAS_VERSIONS_UNKNOWN;

  if (holder == ALIAS_VERSIONS_UNKNOWN || operation->values[holder].kind != ADJ_VALUE_DATA)
    return NULL;
  return operation->values[holder].data;
}

/* The input as lines along the dimension, with elements @step apart. */
typedef struct
{
  gint64 n_lines, length, step;
} Lines;

static gboolean
find_lines (const Operation *operation, const AdjTensorData *input, Lines *lines)
{
  const AdjShape *shape = &adj_tensor_data_get_meta (input)->shape;
  const AdjValue *dim = find_argument (operation->node, "dim");
  gint64 d;

  *lines = (Lines){ 1, adj_tensor_data_get_numel (input), 1 };
  if (dim == NULL || dim->kind != ADJ_VALUE_INT || shape->rank == 0)
    return lines->length > 0;
  d = dim->integer < 0 ? dim->integer + shape->rank : dim->integer;
  if (d < 0 || d >= shape->rank || lines->length == 0)
    return FALSE;
  for (guint i = (guint) d + 1; i < shape->rank; i++)
    lines->step *= shape->size[i].word;
  lines->n_lines = lines->length / shape->size[d].word;
  lines->length = shape->size[d].word;
  return TRUE;
}

/* Whether index i is that of an extreme among the first i + 1 elements. */
static gboolean
is_running (const AdjNode *node)
{
  const AdjOp *op = adj_node_find_op (node, ADJ_OP_INDICES);

  return op == adj_op (ADJ_OP_cummax) || op == adj_op (ADJ_OP_cummin);
}

/* Compares the indices of one line: @n of each, @lines->step apart. No index comes twice but in a
 * @running line, where none is ahead. */
static gboolean
line_names_equals (const double *numbers,
                   const Lines *lines,
                   const double *indices,
                   const double *exact,
                   gint64 n,
                   guint8 *seen,
                   gboolean running)
{
  memset (seen, 0, lines->length);
  for (gint64 i = 0; i < n; i++)
    {
      double a = indices[i * lines->step], b = exact[i * lines->step], x, y;

      if (!(a >= 0 && a < (double) lines->length && b >= 0 && b < (double) lines->length) ||
          (running ? a > (double) i : seen[(gint64) a]++))
        return FALSE;
      x = numbers[(gint64) a * lines->step];
      y = numbers[(gint64) b * lines->step];
      if (x != y && !(isnan (x) && isnan (y)))
        return FALSE;
    }
  return TRUE;
}

static gboolean
all_name_equals (const AdjTensorData *input, const Lines *lines, const Side *side)
{
  gint64 n, n_indices, n_exact, n_each;
  g_autofree double *numbers = deviation_read (input, &n);
  g_autofree double *indices = deviation_read (side->value, &n_indices);
  g_autofree double *exact = deviation_read (side->exact, &n_exact);
  g_autofree guint8 *seen = g_malloc (lines->length);
  const gboolean running = is_running (side->operation->node);

  if (n_indices != n_exact || n_indices % lines->n_lines != 0)
    return FALSE;
  n_each = n_indices / lines->n_lines;
  for (gint64 i = 0; i < lines->n_lines; i++)
    {
      gint64 outer = i / lines->step, inner = i % lines->step;
      gint64 first = outer * n_each * lines->step + inner;

      if (!line_names_equals (numbers + outer * lines->length * lines->step + inner, lines,
                              indices + first, exact + first, n_each, seen, running))
        return FALSE;
    }
  return TRUE;
}

gboolean
ties_name_equals (const Side *side)
{
  const AdjNode *node = side->operation != NULL ? side->operation->node : NULL;
  const AdjTensorData *input;
  Lines lines;

  if (node == NULL || adj_node_find_op (node, ADJ_OP_INDICES) == NULL ||
      adj_tensor_data_get_meta (side->value)->dtype != ADJ_DTYPE_I64)
    return FALSE;
  input = find_input (side->operation);
  return input != NULL && find_lines (side->operation, input, &lines) &&
         all_name_equals (input, &lines, side);
}
