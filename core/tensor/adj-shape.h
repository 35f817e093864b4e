/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-dtype.h"
#include "tensor/adj-symbols.h"

G_BEGIN_DECLS

/* Largest rank of a tensor that we compute with; text of a higher rank is kept as text. */
#define ADJ_MAX_RANK 16

/* Sizes, strides and offset, all in elements.  A plain value: copied, never owned. */
typedef struct
{
  guint rank;
  AdjSize size[ADJ_MAX_RANK];
  AdjSize stride[ADJ_MAX_RANK];
  AdjSize offset;
} AdjShape;

/* Metadata of a tensor without its bytes.  @storage numbers storages within one graph, recording or
 * context: equal numbers alias. */
typedef struct
{
  AdjDType dtype;
  AdjDevice device; /* ADJ_DEVICE_NONE: the text did not say */
  AdjLayout layout;
  gboolean has_strides; /* %FALSE: the text gave none; @shape has contiguous strides */
  gboolean requires_grad;
  gboolean conjugate; /* in PyTorch a lazy conjugate of another tensor's elements */
  gint32 storage;     /* -1: unknown */
  AdjShape shape;
} AdjTensorMeta;

/* In all of these @symbols may be %NULL when every size is an integer. */

/* Sets contiguous strides and offset 0 (stride[i] = product of max(size, 1) to the right); @sizes
 * may be those of @shape. */
ADJ_PUBLIC void
adj_shape_init (AdjShape *shape, AdjSymbols *symbols, guint rank, const AdjSize *sizes);
ADJ_PUBLIC void adj_shape_init_ints (AdjShape *shape, guint rank, const gint64 *sizes);
/* Dense strides for @format; PRESERVE keeps the order of dimensions of @like by the pointwise rule.
 */
ADJ_PUBLIC gboolean adj_shape_set_format (AdjShape *shape,
                                          AdjSymbols *symbols,
                                          AdjMemoryFormat format,
                                          const AdjShape *like);

/* The product of the sizes. */
ADJ_PUBLIC AdjSize adj_shape_numel (const AdjShape *shape, AdjSymbols *symbols);
/* Elements of storage from the first to the last one touched, plus one; 0 when empty. */
ADJ_PUBLIC AdjSize adj_shape_span (const AdjShape *shape, AdjSymbols *symbols);
ADJ_PUBLIC gboolean adj_shape_same_sizes (const AdjShape *a,
                                          const AdjShape *b,
                                          AdjSymbols *symbols);
ADJ_PUBLIC gboolean adj_shape_is_contiguous (const AdjShape *shape, AdjSymbols *symbols);
/* Dense, with the channels of a rank of 4 or 5 innermost. */
ADJ_PUBLIC gboolean adj_shape_is_channels_last (const AdjShape *shape, AdjSymbols *symbols);
ADJ_PUBLIC gboolean adj_shape_is_dense (const AdjShape *shape,
                                        AdjSymbols *symbols); /* non-overlapping and dense */
/* CHANNELS_LAST or CHANNELS_LAST_3D if the strides are in that order, else CONTIGUOUS. */
ADJ_PUBLIC AdjMemoryFormat adj_shape_suggest_format (const AdjShape *shape, AdjSymbols *symbols);

/* Wraps a negative dimension; -1 when it is out of range (a 0-d tensor counts as 1-d). */
ADJ_PUBLIC gint adj_shape_wrap_dim (const AdjShape *shape, gint64 dim);

/* Sizes of the broadcast of @n operands (tensor/SPEC.md §1), strides by the pointwise rule
 * (tensor/SPEC.md §3.2).  Fails with ADJ_ERROR_SHAPE naming both shapes. */
ADJ_PUBLIC gboolean adj_shape_pointwise (
    AdjShape *out, AdjSymbols *symbols, const AdjShape *const *operands, guint n, GError **error);
/* The strides of @shape expanded to @to: 0 where broadcast. A new dimension of size 1 gets the span
 * of all it contains, as in the graphs that PyTorch traces (its eager tensors have 0 if a dimension
 * behind it is expanded). */
ADJ_PUBLIC gboolean adj_shape_expand (const AdjShape *shape,
                                      AdjSymbols *symbols,
                                      const AdjShape *to,
                                      AdjShape *out);
/* By tensor/SPEC.md §3.4; %FALSE with ADJ_ERROR_SHAPE when no strides can express it, with
 * ADJ_ERROR_LIMIT beyond ADJ_MAX_RANK.  One size may be -1. */
ADJ_PUBLIC gboolean adj_shape_view (const AdjShape *shape,
                                    AdjSymbols *symbols,
                                    const AdjSize *sizes,
                                    guint rank,
                                    AdjShape *out,
                                    GError **error);

/* "[2, 3]" of sizes or of strides, as in annotations. */
ADJ_PUBLIC void
adj_shape_print_list (const AdjSymbols *symbols, const AdjSize *sizes, guint rank, GString *out);
/* "f32[2, 3][3, 1]cpu", parts that are unknown left out; reading fails with ADJ_ERROR_PARSE. */
ADJ_PUBLIC void
adj_tensor_meta_print (const AdjTensorMeta *meta, const AdjSymbols *symbols, GString *out);
ADJ_PUBLIC gboolean adj_tensor_meta_parse (
    const char *text, gssize length, AdjSymbols *symbols, AdjTensorMeta *out, GError **error);
ADJ_PUBLIC gboolean adj_tensor_meta_equal (const AdjTensorMeta *a, const AdjTensorMeta *b);
/* Bytes of the elements (not of the storage); symbolic sizes by their hints, 0 when unbacked. */
ADJ_PUBLIC guint64 adj_tensor_meta_bytes (const AdjTensorMeta *meta, AdjSymbols *symbols);

G_END_DECLS
