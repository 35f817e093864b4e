/* SPDX-License-Identifier: MIT */
/* Operators that change the storage of a tensor or its size. */

#include <string.h>

#include "call/adj-op-internal.h"
#include "ops/kernel-private.h"
#include "ops/table-private.h"
#include "tensor/adj-tensor-internal.h"

static gboolean
set_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  const AdjTensorMeta *source = adj_op_call_meta (call, 1);

  if (self->dtype != source->dtype || !adj_device_equal (self->device, source->device))
    return adj_op_call_fail (call, "source is %s, self is %s",
                             adj_dtype_info (source->dtype)->torch_name,
                             adj_dtype_info (self->dtype)->torch_name);
  return adj_op_call_add_view (call, 0, &source->shape) != NULL;
}

static gboolean
set_kernel (AdjOpCall *call)
{
  AdjTensor *self = adj_op_call_tensor (call, 0);
  AdjTensor *source = adj_op_call_tensor (call, 1);

  adj_tensor_set (self, adj_tensor_get_meta (source), adj_tensor_get_storage (source));
  return TRUE;
}

/* For resize_ and its functional form. */
static gboolean
find_resized (AdjOpCall *call, AdjSize offset, AdjShape *out)
{
  AdjMemoryFormat format = ADJ_MEMORY_FORMAT_CONTIGUOUS;
  AdjSize sizes[ADJ_MAX_RANK];
  guint rank = adj_op_call_sizes (call, 1, sizes);

  for (guint i = 0; i < rank; i++)
    if (adj_size_is_int (sizes[i]) && sizes[i].word < 0)
      return adj_op_call_fail (call, "a size of %" G_GINT64_FORMAT, sizes[i].word);
  if (call->args[2].kind == ADJ_VALUE_MEMORY_FORMAT)
    format = call->args[2].format;
  adj_shape_init (out, op_symbols (call), rank, sizes);
  out->offset = offset;
  return adj_shape_set_format (out, op_symbols (call), format,
                               &adj_op_call_meta (call, 0)->shape) ||
         adj_op_call_fail (call, "the memory format does not fit these sizes");
}

static gboolean
resize_meta (AdjOpCall *call)
{
  AdjShape shape;

  return find_resized (call, adj_op_call_meta (call, 0)->shape.offset, &shape) &&
         adj_op_call_add_view (call, 0, &shape) != NULL;
}

static gboolean
resize_copy_meta (AdjOpCall *call)
{
  AdjShape shape;

  if (!find_resized (call, ADJ_SIZE (0), &shape))
    return FALSE;
  adj_op_call_add (call, adj_op_call_meta (call, 0)->dtype, &shape);
  return TRUE;
}

/* The elements of self in memory order come first. */
static gboolean
resize_copy_kernel (AdjOpCall *call)
{
  gint64 n, n_self;
  AdjKView self, out;

  if (!op_input (call, 0, &self) || !op_output (call, 0, &out))
    return FALSE;
  if (!adj_shape_is_dense (&adj_op_call_meta (call, 0)->shape, op_symbols (call)))
    return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED, "of a tensor with gaps or overlaps");
  n = adj_k_view_count (&out);
  n_self = adj_k_view_count (&self);
  memset (out.data, 0, (gsize) n * adj_k_type_get_size (out.type));
  memcpy (out.data, self.data, (gsize) MIN (n, n_self) * adj_k_type_get_size (out.type));
  return TRUE;
}

static gboolean
resize_kernel (AdjOpCall *call)
{
  AdjTensor *self = adj_op_call_tensor (call, 0);
  AdjStorage *storage = adj_tensor_get_storage (self);
  AdjTensorMeta meta = *adj_tensor_get_meta (self);
  gsize n_bytes;

  meta.shape = call->results[0].meta.shape;
  if (!adj_storage_is_fake (storage))
    {
      n_bytes = adj_op_extent (&meta);
      if (!adj_op_call_check_memory (call, &meta, n_bytes))
        return FALSE;
      if (n_bytes > adj_storage_get_n_bytes (storage))
        adj_storage_resize (storage, n_bytes);
    }
  adj_tensor_set (self, &meta, NULL);
  return TRUE;
}

static gboolean
resize_storage_meta (AdjOpCall *call)
{
  gint64 n;

  if (!adj_size_get_hint (op_symbols (call), adj_op_call_size (call, 1, ADJ_SIZE (0)), &n) || n < 0)
    return adj_op_call_fail (call, "the number of bytes is not known, or negative");
  return TRUE;
}

static gboolean
resize_storage_kernel (AdjOpCall *call)
{
  AdjTensor *tensor = adj_op_call_tensor (call, 0);
  gsize n = (gsize) adj_op_call_size (call, 1, ADJ_SIZE (0)).word;

  if (tensor == NULL)
    return adj_op_call_fail (call, "there is no tensor");
  if (!adj_op_call_check_memory (call, adj_op_call_meta (call, 0), n))
    return FALSE;
  adj_storage_resize (adj_tensor_get_storage (tensor), n);
  return TRUE;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/storage.inc"
};

const OpFamily adj_family_storage = { ops, G_N_ELEMENTS (ops) };
