/* SPDX-License-Identifier: MIT */
/* Operators with side effects. */

#include "call/adj-context-internal.h"
#include "call/adj-context.h"
#include "ops/create-private.h"
#include "ops/table-private.h"

static gboolean
nothing_meta (AdjOpCall *call)
{
  return TRUE;
}

static gboolean
nothing_kernel (AdjOpCall *call)
{
  return TRUE;
}

static gboolean
token_meta (AdjOpCall *call)
{
  const gint64 none = 0;
  AdjShape shape;

  adj_shape_init_ints (&shape, 1, &none);
  return op_add_new (call, ADJ_DTYPE_F32, &shape);
}

/* Symbolic sizes are compared by their hints, if they have any. */
static gboolean
metadata_meta (AdjOpCall *call)
{
  const AdjTensorMeta *meta = adj_op_call_meta (call, 0);
  AdjDType dtype = adj_op_call_dtype (call, 3, meta->dtype);
  AdjSize sizes[ADJ_MAX_RANK];
  guint rank = meta->shape.rank;

  if (dtype != meta->dtype)
    return adj_op_call_fail (call, "the tensor is of dtype %s, not of %s",
                             adj_dtype_info (meta->dtype)->torch_name,
                             adj_dtype_info (dtype)->torch_name);
  if (call->args[1].kind != ADJ_VALUE_NONE)
    rank = adj_op_call_sizes (call, 1, sizes);
  if (rank != meta->shape.rank)
    return adj_op_call_fail (call, "the tensor has %u dimensions, not %u", meta->shape.rank, rank);
  for (guint i = 0; call->args[1].kind != ADJ_VALUE_NONE && i < rank; i++)
    if (adj_size_is_int (sizes[i]) && adj_size_is_int (meta->shape.size[i]) &&
        sizes[i].word != meta->shape.size[i].word)
      return adj_op_call_fail (call, "the tensor has another size in dimension %u", i);
  return TRUE;
}

static gboolean
print_kernel (AdjOpCall *call)
{
  g_autofree char *line = g_strconcat (adj_op_call_string (call, 0, ""), "\n", NULL);

  adj_context_print (call->cx, line);
  return TRUE;
}

static gboolean
check_errors_kernel (AdjOpCall *call)
{
  AdjTensor *info = adj_op_call_tensor (call, 0);
  g_autoptr (AdjTensorData) data = info != NULL ? adj_tensor_snapshot (info) : NULL;
  gint64 n = data != NULL ? adj_shape_numel (&adj_tensor_get_meta (info)->shape, NULL).word : 0;

  for (gint64 i = 0; i < n; i++)
    if (adj_tensor_data_get_double (data, i) != 0)
      return adj_op_call_fail (
          call, "%s: matrix %" G_GINT64_FORMAT " has no such factors: info is %g",
          adj_op_call_string (call, 1, ""), i, adj_tensor_data_get_double (data, i));
  return data != NULL;
}

static gboolean
assert_kernel (AdjOpCall *call)
{
  AdjTensor *self = adj_op_call_tensor (call, 0);
  g_autoptr (AdjTensorData) data = self != NULL ? adj_tensor_snapshot (self) : NULL;
  const char *message =
      call->schema->n_arguments > 1 ? adj_op_call_string (call, 1, "") : "the tensor is 0";

  if (data == NULL)
    return FALSE;
  if (adj_shape_numel (&adj_tensor_get_meta (self)->shape, NULL).word != 1)
    return adj_op_call_fail (call, "needs one element");
  return adj_tensor_data_get_double (data, 0) != 0 || adj_op_call_fail (call, "%s", message);
}

static gboolean
assert_token_meta (AdjOpCall *call)
{
  const AdjTensorMeta *token = adj_op_call_meta (call, 2);
  AdjShape shape = token->shape;

  shape.offset = ADJ_SIZE (0);
  adj_shape_set_format (&shape, op_symbols (call), ADJ_MEMORY_FORMAT_PRESERVE, &token->shape);
  adj_op_call_add (call, token->dtype, &shape);
  return TRUE;
}

static gboolean
assert_token_kernel (AdjOpCall *call)
{
  AdjKView token, out;

  if (!assert_kernel (call) || !op_input (call, 2, &token) || !op_output (call, 0, &out))
    return FALSE;
  adj_q_copy (op_queue (call), &out, &token);
  return TRUE;
}

static const AdjOp ops[] = {
#define OP(id, ...) { __VA_ARGS__ },
#include "ops/effect.inc"
#undef OP
};

const OpFamily adj_family_effect = { ops, G_N_ELEMENTS (ops) };
