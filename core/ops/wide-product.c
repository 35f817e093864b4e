/* SPDX-License-Identifier: MIT */
/* Matrix products in a wider dtype, rounded once; and products of groups of matrices given by
 * offsets. */

#include "ops/product-private.h"
#include "ops/table-private.h"

/* Converts both factors to the dtype of the result. */
static void
multiply (const AdjOpCall *call, AdjKGemm *gemm)
{
  AdjKQueue *queue = op_queue (call);
  AdjKView a = gemm->a, b = gemm->b;
  g_autofree gpointer left = op_temporary (queue, &a, gemm->c.type, &gemm->a);
  g_autofree gpointer right = op_temporary (queue, &b, gemm->c.type, &gemm->b);

  adj_q_copy (queue, &gemm->a, &a);
  adj_q_copy (queue, &gemm->b, &b);
  adj_q_gemm (queue, gemm);
}

/* -- wider numbers -- */

/* Gives the product of arguments @first and @first + 1 the dtype of out_dtype. */
static gboolean
widen (AdjOpCall *call, guint first)
{
  AdjDType factors = adj_op_call_meta (call, first)->dtype;
  AdjDType dtype = adj_op_call_dtype (call, first + 2, factors);
  gboolean narrow = factors == ADJ_DTYPE_F16 || factors == ADJ_DTYPE_BF16;

  call->results[0].meta.dtype = dtype;
  return dtype == factors || (narrow && dtype == ADJ_DTYPE_F32) ||
         adj_op_call_fail (call, "out_dtype must be that of both matrices, or float32 of 16 bits");
}

static gboolean
mm_wide_meta (AdjOpCall *call)
{
  return op_product_meta (call, 0, 2) && widen (call, 0);
}

static gboolean
bmm_wide_meta (AdjOpCall *call)
{
  return op_product_meta (call, 0, 3) && widen (call, 0);
}

static gboolean
addmm_wide_meta (AdjOpCall *call)
{
  return op_add_product_meta (call, 2) && widen (call, 1);
}

static gboolean
baddbmm_wide_meta (AdjOpCall *call)
{
  return op_add_product_meta (call, 3) && widen (call, 1);
}

/* With an argument beta the first one is a summand. */
static guint
first_factor (const AdjOpCall *call)
{
  return call->schema->n_arguments > 3 ? 1 : 0;
}

static gboolean
wide_product_kernel (AdjOpCall *call)
{
  guint first = first_factor (call);
  AdjKGemm gemm = { .alpha = 1 };
  g_autofree gpointer memory = NULL;
  AdjKView self, wide;
  double number;

  if (!op_output (call, 0, &gemm.c))
    return FALSE;
  if (first > 0)
    {
      if (!op_input_as (call, 0, &call->results[0].meta.shape, &self, &number))
        return FALSE;
      gemm.beta = adj_op_call_double (call, 4, 1);
      gemm.alpha = adj_op_call_double (call, 5, 1);
      memory = op_temporary (op_queue (call), &self, gemm.c.type, &wide);
      adj_q_copy (op_queue (call), &wide, &self);
      gemm.d = &wide;
    }
  if (!op_input (call, first, &gemm.a) || !op_input (call, first + 1, &gemm.b))
    return FALSE;
  multiply (call, &gemm);
  return TRUE;
}

static double
wide_reduction (const AdjOpCall *call)
{
  return op_product_reduction (call, first_factor (call));
}

static double
wide_flops (const AdjOpCall *call)
{
  return op_product_flops (call, first_factor (call));
}

/* -- groups -- */

/* The dimension that offs divides: rows of A, columns of B, or the summed one; none for two
 * batches. */
typedef enum
{
  GROUPS_OF_SUMMANDS, /* [M, K] [K, N] to [G, M, N] */
  GROUPS_OF_ROWS,     /* [M, K] [G, K, N] to [M, N] */
  GROUPS_OF_COLUMNS,  /* [G, M, K] [K, N] to [M, N] */
  GROUPS_NONE,        /* [G, M, K] [G, K, N] to [G, M, N] */
} Groups;

static Groups
find_groups (const AdjOpCall *call)
{
  return (Groups) ((adj_op_call_meta (call, 0)->shape.rank == 3 ? 2 : 0) +
                   (adj_op_call_meta (call, 1)->shape.rank == 3 ? 1 : 0));
}

static gboolean
check_grouped (const AdjOpCall *call)
{
  const AdjTensorMeta *a = adj_op_call_meta (call, 0), *b = adj_op_call_meta (call, 1);
  AdjDType dtype = a->dtype;

  if (a->shape.rank < 2 || a->shape.rank > 3 || b->shape.rank < 2 || b->shape.rank > 3)
    return adj_op_call_fail (call, "needs matrices or batches of them");
  if (!adj_size_test (op_symbols (call), ADJ_SIZE_EQ, a->shape.size[a->shape.rank - 1],
                      b->shape.size[b->shape.rank - 2]))
    return adj_op_call_fail (call, "the matrices do not multiply");
  if (dtype != b->dtype || adj_op_call_dtype (call, 4, dtype) != dtype ||
      !adj_dtype_is_floating (dtype))
    return adj_op_call_fail (call, "needs floating point, the same in both");
  if (call->args[3].kind != ADJ_VALUE_NONE)
    return adj_op_call_fail (call, "takes no bias");
  return TRUE;
}

/* How many groups there are. */
static gboolean
count_groups (const AdjOpCall *call, Groups groups, AdjSize *n)
{
  const AdjTensorMeta *batch = adj_op_call_meta (call, groups == GROUPS_OF_ROWS ? 1 : 0);
  const AdjTensorMeta *offs;

  *n = batch->shape.size[0];
  if ((call->args[2].kind == ADJ_VALUE_TENSOR) != (groups != GROUPS_NONE))
    return adj_op_call_fail (call, "needs offs exactly where not both are batches");
  if (groups == GROUPS_NONE)
    return adj_size_test (op_symbols (call), ADJ_SIZE_EQ, *n,
                          adj_op_call_meta (call, 1)->shape.size[0]) ||
           adj_op_call_fail (call, "the batches have not the same size");
  offs = adj_op_call_meta (call, 2);
  if (offs->shape.rank != 1 || offs->dtype != ADJ_DTYPE_I32)
    return adj_op_call_fail (call, "offs must be a vector of int32");
  if (groups == GROUPS_OF_SUMMANDS)
    *n = offs->shape.size[0];
  return adj_size_test (op_symbols (call), ADJ_SIZE_EQ, *n, offs->shape.size[0]) ||
         adj_op_call_fail (call, "offs and the batch have not the same size");
}

static gboolean
grouped_meta (AdjOpCall *call)
{
  const AdjTensorMeta *a = adj_op_call_meta (call, 0), *b = adj_op_call_meta (call, 1);
  AdjSize sizes[3];
  Groups groups;
  guint rank;

  if (adj_context_has_error (call->cx) || !check_grouped (call))
    return FALSE;
  groups = find_groups (call);
  if (!count_groups (call, groups, &sizes[0]))
    return FALSE;
  rank = groups == GROUPS_NONE || groups == GROUPS_OF_SUMMANDS ? 3 : 2;
  sizes[rank - 2] = a->shape.size[a->shape.rank - 2];
  sizes[rank - 1] = b->shape.size[b->shape.rank - 1];
  op_add_contiguous (call, a->dtype, rank, sizes);
  return TRUE;
}

/* @n entries of dimension @dim from @start on. */
static void
narrow (AdjKView *view, gint dim, gint64 start, gint64 n)
{
  view->data = (char *) view->data +
               (gssize) (start * view->stride[dim]) * (gssize) adj_k_type_get_size (view->type);
  view->size[dim] = n;
}

/* Entry @i of the first dimension of three. */
static void
take (AdjKView *view, gint64 i)
{
  narrow (view, 0, i, 1);
  view->rank = 2;
  for (gint d = 0; d < 2; d++)
    {
      view->size[d] = view->size[d + 1];
      view->stride[d] = view->stride[d + 1];
    }
}

/* Takes group @i, entries @start to before @end. */
static void
take_group (AdjKGemm *gemm, Groups groups, gint64 i, gint64 start, gint64 end)
{
  gint64 n = end - start;

  if (gemm->a.rank == 3)
    take (&gemm->a, i);
  if (gemm->b.rank == 3)
    take (&gemm->b, i);
  if (gemm->c.rank == 3)
    take (&gemm->c, i);
  if (groups == GROUPS_OF_ROWS)
    {
      narrow (&gemm->a, 0, start, n);
      narrow (&gemm->c, 0, start, n);
    }
  else if (groups == GROUPS_OF_COLUMNS)
    {
      narrow (&gemm->b, 1, start, n);
      narrow (&gemm->c, 1, start, n);
    }
  else if (groups == GROUPS_OF_SUMMANDS)
    {
      narrow (&gemm->a, 1, start, n);
      narrow (&gemm->b, 0, start, n);
    }
}

/* The size of the divided dimension. */
static gint64
divided_size (const AdjKGemm *gemm, Groups groups)
{
  return groups == GROUPS_OF_ROWS      ? gemm->a.size[0]
         : groups == GROUPS_OF_COLUMNS ? gemm->b.size[1]
                                       : gemm->b.size[0];
}

/* Elements outside of all groups are 0. */
static gboolean
grouped_kernel (AdjOpCall *call)
{
  Groups groups = find_groups (call);
  AdjKGemm whole = { .alpha = 1 };
  g_autofree double *ends = NULL;
  gint64 n, size, start = 0;

  if (!op_input (call, 0, &whole.a) || !op_input (call, 1, &whole.b) ||
      !op_output (call, 0, &whole.c))
    return FALSE;
  if (groups == GROUPS_NONE)
    {
      adj_q_gemm (op_queue (call), &whole);
      return TRUE;
    }
  ends = op_read_numbers (call, 2);
  if (ends == NULL)
    return FALSE;
  op_clear (call, 0);
  n = adj_op_call_meta (call, 2)->shape.size[0].word;
  size = divided_size (&whole, groups);
  for (gint64 i = 0; i < n; i++)
    {
      AdjKGemm gemm = whole;
      gint64 end = (gint64) ends[i];

      if (end < start || end > size)
        return adj_op_call_fail (
            call, "offs go from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT,
            start, end, size);
      take_group (&gemm, groups, i, start, end);
      if (adj_k_view_count (&gemm.c) > 0)
        adj_q_gemm (op_queue (call), &gemm);
      start = end;
    }
  return TRUE;
}

/* An upper bound: groups of summands have fewer. */
static double
grouped_reduction (const AdjOpCall *call)
{
  return op_product_reduction (call, 0);
}

/* Every row of A is multiplied with every column of B once; for groups of summands each product
 * belongs to one group. */
static double
grouped_flops (const AdjOpCall *call)
{
  Groups groups = find_groups (call);
  const AdjShape *out = &call->results[0].meta.shape;
  gint64 n_groups = 1;

  if (groups == GROUPS_OF_SUMMANDS)
    adj_size_get_hint (op_symbols (call), out->size[0], &n_groups);
  return 2 * op_count (call, out) / (double) MAX (n_groups, 1) * grouped_reduction (call);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/wide-product.inc"
};

const OpFamily adj_family_wide_product = { ops, G_N_ELEMENTS (ops) };
