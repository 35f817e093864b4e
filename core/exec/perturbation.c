/* SPDX-License-Identifier: MIT */
/* The rounding perturbation: moves the result of every node of a float64 run by less than a
 * rounding of its dtype, to show what rounding alone does to the run. */

#include <math.h>

#include "analysis/adj-node-call.h"
#include "call/adj-op.h"
#include "exec/perturbation-private.h"
#include "exec/verdict-private.h"
#include "ir/adj-graph.h"
#include "ir/adj-own-ops-internal.h"
#include "ops/adj-op-table.h"
#include "tensor/adj-late-bytes-internal.h"

typedef struct
{
  const AdjGraph *graph;
  const AdjOp *op; /* (nullable): the operator that it names */
} Called;

static gboolean
is_no_operator (const AdjValue *leaf, gpointer data)
{
  Called *called = data;

  if (leaf->kind == ADJ_VALUE_OP)
    called->op = adj_graph_find_op (called->graph, leaf->text);
  return leaf->kind != ADJ_VALUE_OP;
}

/* Whether a Python function may write: by its packet; else by an operator among its arguments,
 * which it calls; unknown functions may. */
static gboolean
name_may_write (const AdjGraph *graph, const AdjNode *node)
{
  Called called = { graph, NULL };

  if (adj_node_find_packet (node) != NULL)
    return adj_node_may_write (node);
  return adj_value_foreach (&node->args, is_no_operator, &called) || called.op == NULL ||
         adj_schema_mutates (adj_op_get_schema (called.op));
}

gboolean
perturbation_applies (const AdjGraph *graph)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);
      gboolean calls =
          node->opcode == ADJ_OPCODE_CALL_FUNCTION || node->opcode == ADJ_OPCODE_CALL_METHOD;

      if (!calls || g_str_equal (node->target, "operator.getitem"))
        continue;
      if (node->op == NULL && name_may_write (graph, node))
        return FALSE;
      if (node->op != NULL && adj_schema_mutates (adj_op_get_schema (node->op)) &&
          node->n_users > 0)
        return FALSE;
    }
  return TRUE;
}

double
perturbation_draw (guint64 element)
{
  guint64 word = element * 0x9e3779b97f4a7c15u;

  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
  return (double) (gint64) (word ^ (word >> 31)) * 0x1p-63;
}

AdjTensorData *
perturbation_move_tensor (const AdjTensorData *data, double step, double least, guint64 seed)
{
  gsize size;
  g_autoptr (GBytes) bytes = adj_tensor_data_read_bytes (data, NULL);
  double *moved = g_memdup2 (g_bytes_get_data (bytes, &size), g_bytes_get_size (bytes));
  g_autoptr (GBytes) store = NULL;

  for (gsize i = 0; i < size / sizeof (double); i++)
    {
      double part = step * perturbation_draw (seed + i);

      moved[i] = fabs (moved[i]) < least ? moved[i] + least * part : moved[i] * (1 + part);
    }
  store = g_bytes_new_take (moved, size);
  return adj_tensor_data_new (adj_tensor_data_get_meta (data), store, NULL);
}

/* How many times further than the average of its tensor an element may be moved. */
#define FAR 8

/* (transfer full): @moved, where elements whose @truth is near enough to zero get the other sign.
 */
static AdjTensorData *
cross_zero (AdjTensorData *moved, const AdjTensorData *truth)
{
  gsize size, size_of_truth, n;
  g_autoptr (GBytes) moved_bytes = adj_tensor_data_read_bytes (moved, NULL);
  g_autoptr (GBytes) truth_bytes = adj_tensor_data_read_bytes (truth, NULL);
  const double *from = g_bytes_get_data (moved_bytes, &size);
  const double *exact = g_bytes_get_data (truth_bytes, &size_of_truth);
  g_autoptr (GBytes) store = NULL;
  double *to, sum = 0, reach;

  if (size != size_of_truth ||
      adj_dtype_get_real (adj_tensor_data_get_meta (truth)->dtype) != ADJ_DTYPE_F64)
    return adj_tensor_data_ref (moved);
  n = size / sizeof (double);
  for (gsize i = 0; i < n; i++)
    if (isfinite (from[i]) && isfinite (exact[i]))
      sum += (from[i] - exact[i]) * (from[i] - exact[i]);
  reach = FAR * sqrt (sum / (double) MAX (n, 1));
  to = g_memdup2 (from, size);
  for (gsize i = 0; i < n; i++)
    if (fabs (exact[i]) < reach && to[i] * exact[i] > 0)
      to[i] = -to[i];
  store = g_bytes_new_take (to, size);
  return adj_tensor_data_new (adj_tensor_data_get_meta (moved), store, NULL);
}

typedef struct
{
  GPtrArray *like;  /* of AdjTensorData, %NULL where there is no tensor */
  GPtrArray *truth; /* of AdjTensorData, %NULL where there is no tensor */
  guint next;
  guint64 seed;
} Moving;

static gboolean
move_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  Moving *moving = data;
  AdjTensorData *like = moving->next < moving->like->len ? moving->like->pdata[moving->next] : NULL;
  AdjTensorData *truth = nth_tensor (moving->truth, moving->next);
  g_autoptr (AdjTensorData) moved = NULL;

  moving->next++;
  if (leaf->kind == ADJ_VALUE_DATA && like != NULL &&
      adj_dtype_get_real (adj_tensor_data_get_meta (leaf->data)->dtype) == ADJ_DTYPE_F64)
    moved = perturbation_move_tensor (
        leaf->data, adj_dtype_unit_roundoff (adj_tensor_data_get_meta (like)->dtype), 0,
        moving->seed + ((guint64) moving->next << 40));
  if (moved == NULL)
    *out = adj_value_copy (leaf);
  else
    *out = ADJ_DATA (truth != NULL ? cross_zero (moved, truth) : g_steal_pointer (&moved));
  return TRUE;
}

gboolean
perturbation_move (
    AdjNodeId id, const AdjValue *value, const AdjValue *like, const AdjValue *truth, AdjValue *out)
{
  g_autoptr (GPtrArray) tensors = list_tensors (like);
  g_autoptr (GPtrArray) truths = list_tensors (truth);
  Moving moving = { .like = tensors, .truth = truths, .seed = (guint64) id.index << 48 };

  adj_value_map (value, move_leaf, &moving, out);
  return TRUE;
}

double
perturbation_distance (const AdjTensorData *a, const AdjTensorData *b)
{
  g_autofree double *x = NULL, *y = NULL;
  gint64 n, n_b;
  double sum = 0;

  if (a == NULL || b == NULL)
    return NAN;
  x = deviation_read (a, &n);
  y = deviation_read (b, &n_b);
  if (n != n_b)
    return NAN;
  for (gint64 i = 0; i < n; i++)
    if (isfinite (x[i]) && isfinite (y[i]))
      sum += (x[i] - y[i]) * (x[i] - y[i]);
  return sqrt (sum);
}
