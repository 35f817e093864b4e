/* SPDX-License-Identifier: MIT */
/* Inserts dimensions of size 1 into each operand by its list, multiplies all, and sums dimensions
 * of the product. */

#include "ops/spatial-private.h"
#include "ops/table-private.h"

typedef struct
{
  guint rank;
  gboolean is_new[3][ADJ_MAX_RANK], is_summed[ADJ_MAX_RANK];
  AdjSize size[ADJ_MAX_RANK]; /* of the product */
} Product;

/* The dimensions named by argument @arg, as flags; returns their number, or -1. */
static gint
read_dims (const AdjOpCall *call, guint arg, guint rank, gboolean *out)
{
  AdjSize dims[ADJ_MAX_RANK];
  guint n = adj_op_call_sizes (call, arg, dims);

  for (guint i = 0; i < n; i++)
    {
      if (!adj_size_is_int (dims[i]) || dims[i].word < 0 || dims[i].word >= rank ||
          out[dims[i].word])
        return -1;
      out[dims[i].word] = TRUE;
    }
  return (gint) n;
}

static gboolean
read_product (const AdjOpCall *call, Product *out)
{
  AdjSize dims[ADJ_MAX_RANK];
  AdjSymbols *symbols = op_symbols (call);

  *out = (Product){ 0 };
  if (adj_context_has_error (call->cx))
    return FALSE;
  out->rank = adj_op_call_meta (call, 0)->shape.rank + adj_op_call_sizes (call, 3, dims);
  if (out->rank > ADJ_MAX_RANK || read_dims (call, 6, out->rank, out->is_summed) < 0)
    return adj_op_call_fail (call, "sums over dimensions that the product has not");
  for (guint d = 0; d < out->rank; d++)
    out->size[d] = ADJ_SIZE (1);
  for (guint i = 0; i < 3; i++)
    {
      const AdjShape *shape = &adj_op_call_meta (call, i)->shape;
      gint n = read_dims (call, 3 + i, out->rank, out->is_new[i]);
      guint from = 0;

      if (n < 0 || shape->rank + (guint) n != out->rank)
        return adj_op_call_fail (call, "operand %u has not %u dimensions", i + 1, out->rank);
      for (guint d = 0; d < out->rank; d++)
        {
          AdjSize size = out->is_new[i][d] ? ADJ_SIZE (1) : shape->size[from++];

          if (adj_size_is (symbols, size, 1))
            continue;
          if (!adj_size_is (symbols, out->size[d], 1) &&
              !adj_size_test (symbols, ADJ_SIZE_EQ, out->size[d], size))
            return adj_op_call_fail (call, "dimension %u of the operands differs in size", d);
          out->size[d] = size;
        }
    }
  return TRUE;
}

static gboolean
trilinear_meta (AdjOpCall *call)
{
  const AdjDType dtype = adj_op_call_meta (call, 0)->dtype;
  AdjSize sizes[ADJ_MAX_RANK];
  Product product;
  guint n = 0;

  if (!read_product (call, &product))
    return FALSE;
  if (!adj_dtype_is_floating (dtype) || adj_op_call_meta (call, 1)->dtype != dtype ||
      adj_op_call_meta (call, 2)->dtype != dtype)
    return adj_op_call_fail (call, "needs floating point of one dtype");
  for (guint d = 0; d < product.rank; d++)
    if (!product.is_summed[d])
      sizes[n++] = product.size[d];
  op_add_contiguous (call, dtype, n, sizes);
  return TRUE;
}

/* Operand @i, dense, expanded to the product. */
static gboolean
read_operand (
    const AdjOpCall *call, const Product *product, guint i, AdjKView *out, double **memory)
{
  AdjKView view, dense;
  guint from = 0;

  if (!op_input (call, i, &view) || !op_check_temporary (call, adj_k_view_count (&view)))
    return FALSE;
  *memory = op_temporary (op_queue (call), &view, ADJ_K_F64, &dense);
  adj_q_copy (op_queue (call), &dense, &view);
  *out = dense;
  out->rank = (gint) product->rank;
  for (guint d = 0; d < product->rank; d++)
    {
      gboolean spread = product->is_new[i][d] || dense.size[from] == 1;

      out->size[d] = product->size[d].word;
      out->stride[d] = spread ? 0 : dense.stride[from];
      from += !product->is_new[i][d];
    }
  return TRUE;
}

static gboolean
trilinear_kernel (AdjOpCall *call)
{
  double *memory[3] = { NULL };
  g_autofree double *sums = NULL;
  AdjKView operands[3], out, dense;
  Product product;
  gint64 strides[ADJ_MAX_RANK] = { 0 };
  gboolean done = TRUE;
  guint at = 0;

  if (!read_product (call, &product) || !op_output (call, 0, &out))
    return FALSE;
  sums = op_temporary (op_queue (call), &out, ADJ_K_F64, &dense);
  for (guint d = 0; d < product.rank; d++)
    strides[d] = product.is_summed[d] ? 0 : dense.stride[at++];
  for (guint i = 0; i < 3; i++)
    done = done && read_operand (call, &product, i, &operands[i], &memory[i]);
  for (gint64 i = 0, n = done ? adj_k_view_count (&operands[0]) : 0; i < n; i++)
    {
      gint64 rest = i, offset[4] = { 0 };

      for (guint d = product.rank; d-- > 0;)
        {
          gint64 index = rest % product.size[d].word;

          rest /= product.size[d].word;
          for (guint k = 0; k < 3; k++)
            offset[k] += index * operands[k].stride[d];
          offset[3] += index * strides[d];
        }
      sums[offset[3]] += memory[0][offset[0]] * memory[1][offset[1]] * memory[2][offset[2]];
    }
  adj_q_copy (op_queue (call), &out, &dense);
  for (guint i = 0; i < 3; i++)
    g_free (memory[i]);
  return done;
}

/* -- costs -- */

static double
trilinear_reduction (const AdjOpCall *call)
{
  Product product;
  double n = 1;

  if (!read_product (call, &product))
    return 1;
  for (guint d = 0; d < product.rank; d++)
    {
      gint64 size = 1;

      if (product.is_summed[d])
        adj_size_get_hint (op_symbols (call), product.size[d], &size);
      n *= (double) size;
    }
  return n;
}

static double
trilinear_flops (const AdjOpCall *call)
{
  return 3 * trilinear_reduction (call) * op_count (call, &call->results[0].meta.shape);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/trilinear.inc"
};

const OpFamily adj_family_trilinear = { ops, G_N_ELEMENTS (ops) };
