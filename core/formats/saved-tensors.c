/* SPDX-License-Identifier: MIT */
/* Tensors in pickles: calls of the functions of PyTorch that rebuild them, over storages. */

#include "formats/saved-values-private.h"
#include "formats/torch-save-private.h"
#include "formats/torch-stream-private.h"
#include "tensor/adj-tensor-data.h"

/* ('storage', torch.FloatStorage, '0', 'cpu', 24), in streams also a view of it, or None: (transfer
 * none) (nullable) */
static AdjLateBytes *
read_beside (SavedValues *values, const PickleItem *item, AdjTensorMeta *meta, GError **error)
{
  const PickleItem *id = item->kind == PICKLE_PERSISTENT ? item->items[0] : NULL;
  guint64 n_bytes;

  if (values->find_storage == NULL || id == NULL || id->kind != PICKLE_TUPLE || id->n < 5 ||
      id->n > 6 || id->items[2]->kind != PICKLE_TEXT || id->items[3]->kind != PICKLE_TEXT ||
      id->items[4]->kind != PICKLE_INT || (id->n == 6 && id->items[5]->kind != PICKLE_NONE))
    {
      saved_values_fail (values, error, "a tensor without a storage");
      return NULL;
    }
  meta->dtype = storage_class_get_dtype (id->items[1]);
  if (meta->dtype == ADJ_DTYPE_NONE)
    {
      saved_values_fail (values, error, "a storage of a type that is not known");
      return NULL;
    }
  if (!adj_device_parse (id->items[3]->text, -1, &meta->device))
    meta->device = ADJ_CPU;
  n_bytes = adj_dtype_info (meta->dtype)->n_bytes;
  if (id->items[4]->integer < 0 || (guint64) id->items[4]->integer > G_MAXINT64 / n_bytes)
    {
      saved_values_fail (values, error, "a storage of a size that cannot be");
      return NULL;
    }
  return values->find_storage (values->data, id->items[2]->text,
                               n_bytes * (guint64) id->items[4]->integer, error);
}

/* (transfer none) (nullable): beside the pickle or, of a plain one, in it. */
static AdjLateBytes *
read_storage (SavedValues *values, const PickleItem *item, AdjTensorMeta *meta, GError **error)
{
  const SavedElements *elements;

  if (!pickle_calls (item, "torch.storage._load_from_bytes"))
    return read_beside (values, item, meta, error);
  elements = torch_stream_read_storage (values, pickle_argument (item, 0), error);
  if (elements == NULL)
    return NULL;
  meta->dtype = elements->dtype;
  meta->device = ADJ_CPU;
  return saved_values_get_storage (values, item, elements->bytes);
}

static gboolean
read_sizes (const PickleItem *item, AdjSize *out, guint *n)
{
  if (item != NULL && pickle_calls (item, "torch.Size"))
    item = pickle_argument (item, 0);
  if (item == NULL || (item->kind != PICKLE_TUPLE && item->kind != PICKLE_LIST) ||
      item->n > ADJ_MAX_RANK)
    return FALSE;
  for (guint i = 0; i < item->n; i++)
    {
      if (item->items[i]->kind != PICKLE_INT || item->items[i]->integer < 0)
        return FALSE;
      out[i] = ADJ_SIZE (item->items[i]->integer);
    }
  *n = item->n;
  return TRUE;
}

/* Whether @metadata says "conj" or "neg". */
static gboolean
is_lazy (const PickleItem *metadata)
{
  for (guint i = 1; metadata != NULL && metadata->kind == PICKLE_DICT && i < metadata->n; i += 2)
    if (metadata->items[i]->kind == PICKLE_BOOL && metadata->items[i]->integer != 0)
      return TRUE;
  return FALSE;
}

/* _rebuild_tensor_v2 (storage, offset, size, stride, requires_grad, hooks, metadata), and v3, in
 * which the dtype follows the hooks. */
gboolean
saved_tensor_read (SavedValues *values, const PickleItem *item, AdjValue *out, GError **error)
{
  const PickleItem *storage = pickle_argument (item, 0), *offset = pickle_argument (item, 1);
  const PickleItem *grad = pickle_argument (item, 4), *dtype = pickle_argument (item, 6);
  AdjTensorMeta meta = { .storage = -1, .has_strides = TRUE };
  guint n_strides = 0;
  g_autoptr (GError) reason = NULL;
  AdjLateBytes *bytes;
  AdjTensorData *data;

  if (storage == NULL || offset == NULL || offset->kind != PICKLE_INT || offset->integer < 0 ||
      !read_sizes (pickle_argument (item, 2), meta.shape.size, &meta.shape.rank) ||
      !read_sizes (pickle_argument (item, 3), meta.shape.stride, &n_strides) ||
      n_strides != meta.shape.rank)
    return saved_values_fail (values, error, "a tensor whose sizes are none");
  if (is_lazy (dtype) || is_lazy (pickle_argument (item, 7)))
    return saved_values_fail (
        values, error,
        "a tensor that PyTorch conjugates or negates when it is read: save its "
        "resolve_conj () or resolve_neg ()");
  bytes = read_storage (values, storage, &meta, error);
  if (bytes == NULL)
    return FALSE;
  if (dtype != NULL && dtype->kind == PICKLE_GLOBAL)
    meta.dtype = adj_dtype_from_torch_name (dtype->text);
  if (meta.dtype == ADJ_DTYPE_NONE)
    return saved_values_fail (values, error, "a tensor of a dtype that is not known");
  meta.shape.offset = ADJ_SIZE (offset->integer);
  meta.requires_grad = grad != NULL && grad->kind == PICKLE_BOOL && grad->integer != 0;
  data = adj_tensor_data_new_late (&meta, bytes, &reason);
  if (data == NULL)
    return saved_values_fail (values, error, reason->message);
  *out = ADJ_DATA (data);
  return TRUE;
}

/* A parameter is its tensor, which may require a gradient. */
gboolean
saved_parameter_read (SavedValues *values, const PickleItem *item, AdjValue *out, GError **error)
{
  const PickleItem *tensor = pickle_argument (item, 0), *grad = pickle_argument (item, 1);
  AdjTensorMeta meta;
  AdjTensorData *data;

  if (tensor == NULL)
    return saved_values_fail (values, error, "a parameter without a tensor");
  if (!saved_values_read (values, tensor, out, error))
    return FALSE;
  if (out->kind != ADJ_VALUE_DATA)
    return TRUE;
  meta = *adj_tensor_data_get_meta (out->data);
  meta.requires_grad = grad != NULL && grad->kind == PICKLE_BOOL && grad->integer != 0;
  data = adj_tensor_data_new_view (&meta, out->data, error);
  adj_value_clear (out);
  if (data == NULL)
    return FALSE;
  *out = ADJ_DATA (data);
  return TRUE;
}
