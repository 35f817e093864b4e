/* SPDX-License-Identifier: MIT */
/* Complex tensors as pairs of real numbers and back, for dtypes that safetensors does not have. */

#include "formats/pairs-private.h"

#include "tensor/adj-late-bytes-internal.h"

AdjDType
pairs_dtype (AdjDType dtype)
{
  return dtype == ADJ_DTYPE_C32    ? ADJ_DTYPE_F16
         : dtype == ADJ_DTYPE_C128 ? ADJ_DTYPE_F64
                                   : ADJ_DTYPE_NONE;
}

/* Dense, of @rank sizes of @like and then @last, which is left out when it is 0. */
static AdjTensorMeta
reshape (const AdjTensorMeta *like, AdjDType dtype, guint rank, gint64 last)
{
  AdjTensorMeta meta = *like;
  gint64 sizes[ADJ_MAX_RANK];

  for (guint i = 0; i < rank; i++)
    sizes[i] = like->shape.size[i].word;
  if (last > 0)
    sizes[rank++] = last;
  adj_shape_init_ints (&meta.shape, rank, sizes);
  meta.dtype = dtype;
  return meta;
}

AdjTensorData *
pairs_of (AdjTensorData *tensor, GError **error)
{
  g_autoptr (AdjTensorData) dense = adj_tensor_data_contiguous (tensor);
  const AdjTensorMeta *from = adj_tensor_data_get_meta (dense);
  AdjTensorMeta meta;

  if (from->shape.rank >= ADJ_MAX_RANK)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT,
                   "a complex tensor of %u dimensions has no pairs", from->shape.rank);
      return NULL;
    }
  meta = reshape (from, pairs_dtype (from->dtype), from->shape.rank, 2);
  meta.shape.offset = ADJ_SIZE (2 * from->shape.offset.word);
  return adj_tensor_data_new (&meta, adj_tensor_data_get_bytes (dense), error);
}

AdjTensorData *
pairs_to_complex (AdjTensorData *pairs, AdjDType dtype)
{
  const AdjTensorMeta *from = adj_tensor_data_get_meta (pairs);
  guint rank = from->shape.rank;
  AdjTensorMeta meta;

  if (from->dtype != pairs_dtype (dtype) || rank == 0 || from->shape.size[rank - 1].word != 2)
    return NULL;
  meta = reshape (from, dtype, rank - 1, 0);
  return adj_tensor_data_new_view (&meta, pairs, NULL);
}
