/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-shape.h"

G_BEGIN_DECLS

/* An immutable tensor: metadata and bytes.  Constants, recorded inputs, results and the values
 * shown in the window are of this type; threads share them freely.  Sizes are integers, the device
 * is the CPU or the one the bytes were copied from.  Several may share one GBytes: then they alias.
 */
typedef struct _AdjTensorData AdjTensorData;

/**
 * adj_tensor_data_new:
 * @meta: sizes must be integers
 * @bytes: (transfer none): the storage; @meta's offset counts from its start
 *
 * Returns: (transfer full) (nullable): %NULL with ADJ_ERROR_SHAPE when @meta reaches outside
 *   @bytes or the dtype has no whole bytes
 */
ADJ_PUBLIC AdjTensorData *
adj_tensor_data_new (const AdjTensorMeta *meta, GBytes *bytes, GError **error);

/**
 * adj_tensor_data_new_from_array:
 * @sizes: (array length=rank): at most ADJ_MAX_RANK of them
 * @elements: that many of @dtype, in row-major order; copied
 *
 * Returns: (transfer full) (nullable): contiguous, on the CPU; %NULL with ADJ_ERROR_SHAPE when a
 *   size is negative, there are too many, or @dtype has no whole bytes
 */
ADJ_PUBLIC AdjTensorData *adj_tensor_data_new_from_array (
    AdjDType dtype, const gint64 *sizes, guint rank, gconstpointer elements, GError **error);
ADJ_PUBLIC AdjTensorData *adj_tensor_data_ref (AdjTensorData *data); /* (transfer full) */
ADJ_PUBLIC void adj_tensor_data_unref (AdjTensorData *data);         /* @data: (nullable) */

ADJ_PUBLIC const AdjTensorMeta *adj_tensor_data_get_meta (const AdjTensorData *data); /* as made */
ADJ_PUBLIC GBytes *adj_tensor_data_get_bytes (const AdjTensorData *data); /* (transfer none) */
ADJ_PUBLIC gint64 adj_tensor_data_get_numel (const AdjTensorData *data);  /* its elements */

/* Element @index in row-major order, as a double (bool: 0 or 1).  16-bit floats are widened. */
ADJ_PUBLIC double adj_tensor_data_get_double (const AdjTensorData *data, gint64 index);
/* All elements in row-major order; @out has room for numel of them. */
ADJ_PUBLIC void adj_tensor_data_read_doubles (const AdjTensorData *data, double *out);
/* The same with both parts of complex elements, one after the other: room for twice as many. */
ADJ_PUBLIC void adj_tensor_data_read_parts (const AdjTensorData *data, double *out);
/* (transfer full): row-major, dense, same dtype: @data itself when it already is. */
ADJ_PUBLIC AdjTensorData *adj_tensor_data_contiguous (AdjTensorData *data);
/* (transfer full): @data copied to the strides of @shape, which has its sizes; @data itself when it
 * has those strides already, or when @shape is not dense. */
ADJ_PUBLIC AdjTensorData *adj_tensor_data_lay_out (AdjTensorData *data, const AdjShape *shape);
/* (transfer full): element-wise cast, dense. */
ADJ_PUBLIC AdjTensorData *adj_tensor_data_cast (AdjTensorData *data, AdjDType dtype);
/* (transfer full): the same with the strides of @data: its whole storage is cast. */
ADJ_PUBLIC AdjTensorData *adj_tensor_data_cast_storage (AdjTensorData *data, AdjDType dtype);

/* (transfer full): "tensor([[1., 2.], …], dtype=…)" as torch prints it.  Of more than @max_items
 * elements only three (or fewer, to keep below it; at least one) are shown at either end of each
 * dimension. */
ADJ_PUBLIC char *adj_tensor_data_print (const AdjTensorData *data, guint max_items);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjTensorData, adj_tensor_data_unref)

G_END_DECLS
