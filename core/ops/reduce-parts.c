/* SPDX-License-Identifier: MIT */
/* Products of complex numbers along dimensions. */

#include "ops/parts-private.h"
#include "ops/reduce-private.h"

/* @n elements of dimension @dim, from @start on. */
static OpParts
cut (const OpParts *x, gint dim, gint64 start, gint64 n)
{
  AdjKView *views[2];
  OpParts part = *x;

  views[0] = &part.re;
  views[1] = &part.im;
  for (guint i = 0; i < 2; i++)
    {
      views[i]->data = (char *) views[i]->data + (gssize) (start * views[i]->stride[dim]) *
                                                     (gssize) adj_k_type_get_size (views[i]->type);
      views[i]->size[dim] = n;
    }
  return part;
}

/* Multiplies halves of dimension @dim, which is not empty, until one element is left. */
static void
halve (const AdjOpCall *call, OpParts *x, const OpParts *scratch, gint dim)
{
  gint64 n = x->re.size[dim];

  while (n > 1)
    {
      gint64 half = n / 2;
      OpParts a = cut (x, dim, 0, half), b = cut (x, dim, n - half, half);
      OpParts product = cut (scratch, dim, 0, half);

      for (gint d = 0; d < dim; d++)
        product.re.size[d] = product.im.size[d] = a.re.size[d];
      op_multiply_parts (call, &product, &a, &b);
      op_copy_parts (call, &a, &product);
      n -= half;
    }
  *x = cut (x, dim, 0, 1);
}

gboolean
op_prod_parts (AdjOpCall *call)
{
  guint32 dims = op_reduced_dims (call);
  g_auto (OpPartsMemory) memory = { NULL };
  g_auto (OpPartsMemory) scratch_memory = { NULL };
  OpParts in, out, x, scratch;
  gboolean empty = FALSE;

  if (!op_input_parts (call, 0, &in) || !op_output_parts (call, 0, &out))
    return FALSE;
  op_put_dims_back (&in.re, dims, &out.re);
  op_put_dims_back (&in.re, dims, &out.im);
  for (gint d = 0; d < in.re.rank; d++)
    empty |= ((dims >> d) & 1) != 0 && in.re.size[d] == 0;
  if (empty)
    {
      adj_q_fill_f64 (op_queue (call), &out.re, 1);
      adj_q_fill_f64 (op_queue (call), &out.im, 0);
      return TRUE;
    }
  memory = op_temporary_parts (call, &in.re, out.re.type, &x);
  scratch_memory = op_temporary_parts (call, &in.re, out.re.type, &scratch);
  op_copy_parts (call, &x, &in);
  for (gint d = 0; d < in.re.rank; d++)
    if (((dims >> d) & 1) != 0)
      halve (call, &x, &scratch, d);
  op_copy_parts (call, &out, &x);
  return TRUE;
}

gboolean
op_cumprod_parts (AdjOpCall *call)
{
  gint dim = (gint) op_dim (call, 1, adj_op_call_meta (call, 0)->shape.rank);
  OpParts in, out;

  if (!op_input_parts (call, 0, &in) || !op_output_parts (call, 0, &out))
    return FALSE;
  if (in.re.rank == 0)
    {
      op_copy_parts (call, &out, &in);
      return TRUE;
    }
  for (gint64 k = 0; k < in.re.size[dim]; k++)
    {
      OpParts to = cut (&out, dim, k, 1), from = cut (&in, dim, k, 1), before;

      if (k == 0)
        {
          op_copy_parts (call, &to, &from);
          continue;
        }
      before = cut (&out, dim, k - 1, 1);
      op_multiply_parts (call, &to, &before, &from);
    }
  return TRUE;
}
