/* SPDX-License-Identifier: MIT */
/* Windows of signal processing: sums of cosines, and a triangle. */

#include <math.h>
#include <string.h>

#include "ops/create-private.h"
#include "ops/table-private.h"

static gboolean
window_meta (AdjOpCall *call)
{
  AdjDType dtype = op_option_dtype (call, adj_context_get_default_dtype (call->cx));
  AdjSize length = adj_op_call_size (call, 0, ADJ_SIZE (0));
  AdjShape shape;

  if (!adj_dtype_is_floating (dtype))
    return adj_op_call_fail (call, "expects floating point dtypes, got %s",
                             adj_dtype_info (dtype)->torch_name);
  if (adj_size_test (op_symbols (call), ADJ_SIZE_LT, length, ADJ_SIZE (0)))
    return adj_op_call_fail (call, "requires non-negative window_length");
  adj_shape_init (&shape, op_symbols (call), 1, &length);
  return op_add_new (call, dtype, &shape);
}

/* Writes weight (k / n) for each k of the window; a window of size 1 is 1. */
static gboolean
write_window (AdjOpCall *call, double (*weight) (const AdjOpCall *call, double share))
{
  gboolean periodic = call->schema->n_arguments < 6 || adj_op_call_bool (call, 1);
  g_autofree double *numbers = NULL;
  AdjKView out, dense;
  gint64 n;

  if (!op_output (call, 0, &out) || !op_check_temporary (call, out.size[0]))
    return FALSE;
  n = out.size[0];
  numbers = g_new (double, MAX (n, 1));
  numbers[0] = 1;
  for (gint64 k = 0; n > 1 && k < n; k++)
    numbers[k] = weight (call, (double) k / (double) (periodic ? n : n - 1));
  dense = out;
  dense.type = ADJ_K_F64;
  dense.stride[0] = 1;
  dense.data = numbers;
  adj_q_copy (op_queue (call), &out, &dense);
  return TRUE;
}

static double
sum_of_cosines (const AdjOpCall *call, double share)
{
  static const struct
  {
    const char *name;
    double weights[3];
  } windows[] = {
    { "hann_window", { 0.5, -0.5, 0 } },
    { "hamming_window", { 0.54, -0.46, 0 } },
    { "blackman_window", { 0.42, -0.5, 0.08 } },
  };
  double sum = 0;

  for (guint i = 0; i < G_N_ELEMENTS (windows); i++)
    for (guint k = 0; k < 3 && strcmp (call->schema->name, windows[i].name) == 0; k++)
      sum += windows[i].weights[k] * cos (2 * G_PI * k * share);
  return sum;
}

static double
triangle (const AdjOpCall *call, double share)
{
  return 1 - fabs (2 * share - 1);
}

static gboolean
cosines_kernel (AdjOpCall *call)
{
  return write_window (call, sum_of_cosines);
}

static gboolean
triangle_kernel (AdjOpCall *call)
{
  return write_window (call, triangle);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/window.inc"
};

const OpFamily adj_family_window = { ops, G_N_ELEMENTS (ops) };
