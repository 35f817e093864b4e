/* SPDX-License-Identifier: MIT */
/* The tensors for which the backward gets a gradient (aot/SPEC.md §2.5), and descriptions of the
 * returns. */

#include "aot/collect-private.h"

#include "aot/composite-private.h"
#include "aot/metadata-private.h"
#include "tensor/adj-shape-internal.h"

/* The tensor whose metadata the tangent gets. (nullable): %NULL with the context in error. */
static AdjTensor *
coerce_tangent (AotCollection *collection, AdjTensor *tensor)
{
  const AdjCompositeClass *klass = adj_composite_get_class (tensor);

  return klass != NULL && klass->coerce_tangent != NULL
             ? klass->coerce_tangent (collection->cx, tensor)
             : tensor;
}

/* Whether @shape has integer sizes and strides, and no overlap. */
static gboolean
is_fixed (const AdjShape *shape, AdjSymbols *symbols)
{
  for (guint i = 0; i < shape->rank; i++)
    if (!adj_size_is_int (shape->size[i]) || !adj_size_is_int (shape->stride[i]))
      return FALSE;
  return !adj_shape_may_overlap (shape, symbols);
}

AdjTensorMeta
aot_tangent_of (const AdjAotOptions *options, const AdjTensorMeta *result, AdjSymbols *symbols)
{
  AdjTensorMeta meta = *result;
  AdjMemoryFormat format = adj_shape_suggest_format (&meta.shape, symbols);

  /* A tangent keeps the strides of a result in a memory format, also those of dimensions of size 1;
   * for other results it is a copy in the suggested format, which is no conjugate. */
  if (!(options->like_outputs && is_fixed (&meta.shape, symbols)) &&
      !(format == ADJ_MEMORY_FORMAT_CONTIGUOUS ? adj_shape_is_contiguous (&meta.shape, symbols)
                                               : adj_shape_is_channels_last (&meta.shape, symbols)))
    {
      adj_shape_set_format (&meta.shape, symbols, format, &meta.shape);
      meta.conjugate = FALSE;
    }
  meta.shape.offset = ADJ_SIZE (0);
  meta.requires_grad = FALSE;
  meta.storage = -1;
  return meta;
}

static void
add_tangent (AotCollection *collection, AdjTensor *tensor)
{
  AdjAotMetadata *metadata = collection->metadata;
  AdjTensor *coerced = coerce_tangent (collection, tensor);
  AdjSymbols *symbols = adj_context_get_symbols (collection->cx);

  metadata->tangents[metadata->n_tangents++] =
      aot_tangent_of (collection->program->options, adj_tensor_get_meta (tensor), symbols);
  g_ptr_array_add (collection->program->tangents,
                   aot_composite_describe_tangent (coerced != NULL ? coerced : tensor, symbols));
}

void
aot_collection_add_tangents (AotCollection *collection)
{
  AdjAotMetadata *metadata = collection->metadata;
  guint k = 0;

  metadata->n_bases = collection->bases->len;
  adj_aot_metadata_derive (metadata);
  metadata->tangents = g_new0 (AdjTensorMeta, metadata->n_forward_returns + 1);
  g_clear_pointer (&collection->program->tangents, g_ptr_array_unref);
  collection->program->tangents =
      g_ptr_array_new_with_free_func ((GDestroyNotify) aot_composite_unref);
  for (guint i = 0; i < metadata->n_mutated_runtime; i++, k++)
    if (adj_aot_metadata_has_tangent (metadata, k))
      add_tangent (collection, collection->inputs[metadata->mutated_runtime[i]].tensor);
  for (guint i = 0; i < metadata->n_outputs; i++, k++)
    if (adj_aot_metadata_has_tangent (metadata, k))
      add_tangent (collection, aot_collection_output (collection, i));
  for (guint i = 0; i < collection->bases->len; i++)
    add_tangent (collection, g_ptr_array_index (collection->bases, i));
}

void
aot_collection_describe_returns (AotCollection *collection)
{
  const AdjAotMetadata *metadata = collection->metadata;
  g_autofree AdjValue *values = g_new0 (AdjValue, metadata->n_forward_returns + 1);
  guint n = 0;

  for (guint i = 0; i < metadata->n_mutated_runtime; i++)
    values[n++] = collection->inputs[metadata->mutated_runtime[i]];
  for (guint i = 0; i < metadata->n_outputs; i++)
    values[n++] = collection->outputs.items[i];
  for (guint i = 0; i < collection->bases->len; i++)
    values[n++] = ADJ_TENSOR (collection->bases->pdata[i]);
  g_clear_pointer (&collection->program->returns, g_ptr_array_unref);
  collection->program->returns = aot_composite_describe_all (values, n);
}
