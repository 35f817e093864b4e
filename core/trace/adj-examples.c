/* SPDX-License-Identifier: MIT */
/* Example inputs for a trace: fake or real tensors, sizes static or made symbols. */

#include "trace/adj-examples.h"

#include "call/adj-object-call-internal.h"
#include "tensor/adj-late-bytes-internal.h"
#include "tensor/adj-shape-internal.h"

struct _AdjExamples
{
  AdjContext *cx;
  AdjSymbols *from; /* (nullable) */
  gboolean real;
  AdjSizePolicy policy;
  AdjSize (*map) (gint64 size, gconstpointer data); /* (nullable) */
  gconstpointer map_data;
  GHashTable *storages; /* storage, bytes or storage number of an example → AdjStorage here */
  GHashTable *tensors;  /* AdjTensor → AdjTensor: the same object each time */
};

AdjExamples *
adj_examples_new (AdjContext *cx, AdjSymbols *symbols, gboolean real)
{
  AdjExamples *examples = g_new0 (AdjExamples, 1);

  examples->cx = cx;
  examples->from = symbols;
  examples->real = real;
  examples->storages = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) adj_storage_unref);
  examples->tensors = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) adj_tensor_unref);
  return examples;
}

void
adj_examples_free (AdjExamples *examples)
{
  g_hash_table_unref (examples->storages);
  g_hash_table_unref (examples->tensors);
  g_free (examples);
}

void
adj_examples_set_policy (AdjExamples *examples, AdjSizePolicy policy)
{
  examples->policy = policy;
}

void
adj_examples_set_map (AdjExamples *examples,
                      AdjSize (*map) (gint64 size, gconstpointer data),
                      gconstpointer data)
{
  examples->map = map;
  examples->map_data = data;
}

/* -- symbolic shapes -- */

static AdjSize
add_size (AdjExamples *examples, AdjSize size)
{
  if (!adj_size_is_int (size))
    return size;
  if (examples->map != NULL)
    return examples->map (size.word, examples->map_data);
  return adj_symbols_add_size (adj_context_get_symbols (examples->cx), examples->policy, size.word,
                               NULL);
}

static AdjSize
add_stride (AdjSize stride, gpointer data)
{
  return add_size (data, stride);
}

/* Makes sizes symbols; a stride equal to the size times the stride of another dimension becomes
 * that product, other strides become symbols too. */
static void
make_symbolic (AdjExamples *examples, AdjShape *shape)
{
  const AdjShape was = *shape;

  for (guint i = 0; i < was.rank; i++)
    shape->size[i] = add_size (examples, was.size[i]);
  adj_shape_restride (shape, &was, adj_context_get_symbols (examples->cx), add_stride, examples);
  shape->offset = add_size (examples, was.offset);
}

static AdjSize
import_size (AdjExamples *examples, AdjSize size)
{
  if (examples->from == NULL || adj_size_is_int (size))
    return size;
  return adj_symbols_import (adj_context_get_symbols (examples->cx), examples->from, size);
}

static AdjTensorMeta
import_meta (AdjExamples *examples, const AdjTensorMeta *meta)
{
  AdjTensorMeta copy = *meta;

  copy.shape.offset = import_size (examples, meta->shape.offset);
  for (guint i = 0; i < meta->shape.rank; i++)
    {
      copy.shape.size[i] = import_size (examples, meta->shape.size[i]);
      copy.shape.stride[i] = import_size (examples, meta->shape.stride[i]);
    }
  if (examples->policy != ADJ_SIZES_STATIC || examples->map != NULL)
    make_symbolic (examples, &copy.shape);
  if (meta->device.type == ADJ_N_DEVICE_TYPES)
    copy.device = ADJ_CPU;
  return copy;
}

/* @key: (nullable): tensors with equal keys share storage. */
static AdjTensor *
make_fake (AdjExamples *examples, const AdjTensorMeta *meta, gpointer key)
{
  AdjTensorMeta copy = import_meta (examples, meta);
  AdjStorage *known = key != NULL ? g_hash_table_lookup (examples->storages, key) : NULL;
  AdjTensor *tensor;

  if (known != NULL)
    return adj_tensor_new (&copy, known);
  tensor = adj_tensor_new_empty (&copy, adj_context_get_symbols (examples->cx), TRUE);
  if (key != NULL)
    g_hash_table_insert (examples->storages, key,
                         adj_storage_ref (adj_tensor_get_storage (tensor)));
  return tensor;
}

static AdjTensor *
make_real (AdjExamples *examples, AdjTensorData *data)
{
  const AdjTensorMeta *meta = adj_tensor_data_get_meta (data);
  gpointer key = adj_tensor_data_get_storage (data);
  AdjStorage *storage = g_hash_table_lookup (examples->storages, key);
  AdjTensor *tensor;

  if (storage != NULL)
    return adj_tensor_new (meta, storage);
  tensor = adj_tensor_new_from_data (data);
  g_hash_table_insert (examples->storages, key, adj_storage_ref (adj_tensor_get_storage (tensor)));
  return tensor;
}

static AdjTensor *
fake_tensor (AdjExamples *examples, AdjTensor *tensor)
{
  AdjTensor *known = g_hash_table_lookup (examples->tensors, tensor);

  if (known == NULL)
    {
      known = make_fake (examples, adj_tensor_get_meta (tensor), adj_tensor_get_storage (tensor));
      g_hash_table_insert (examples->tensors, tensor, known);
    }
  return adj_tensor_ref (known);
}

static gboolean
refuse (AdjExamples *examples, const char *why)
{
  adj_context_fail (examples->cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "an example input %s", why);
  return FALSE;
}

/* Makes a callable fake object from one of which only class and state are known. */
static gboolean
import_object (AdjExamples *examples, const AdjValue *leaf, AdjValue *out)
{
  AdjObject *object = adj_object_from_opaque (leaf->object), *fake;
  g_auto (AdjValue) state = ADJ_NONE;

  *out = adj_value_copy (leaf);
  if (object == NULL || adj_object_is_live (object) || !adj_object_flatten (object, &state, NULL))
    return TRUE;
  adj_value_clear (out);
  if (examples->real)
    return refuse (examples, "is an object whose state has no elements");
  fake = adj_object_new_fake (examples->cx, adj_object_get_name (object),
                              adj_object_get_class (object), &state);
  if (fake == NULL)
    return FALSE;
  *out = ADJ_OBJECT (fake);
  return TRUE;
}

static gboolean
import_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  AdjExamples *examples = data;

  if (leaf->kind == ADJ_VALUE_META && examples->real)
    return refuse (examples, "has no bytes to compute with");
  if (leaf->kind == ADJ_VALUE_META && leaf->meta->dtype >= ADJ_N_DTYPES)
    return refuse (examples, "has a dtype that Adjoint does not know");

  if (leaf->kind == ADJ_VALUE_META)
    *out = ADJ_TENSOR (make_fake (
        examples, leaf->meta,
        leaf->meta->storage >= 0 ? GSIZE_TO_POINTER ((gsize) leaf->meta->storage + 1) : NULL));
  else if (leaf->kind == ADJ_VALUE_DATA && examples->real)
    *out = ADJ_TENSOR (make_real (examples, leaf->data));
  else if (leaf->kind == ADJ_VALUE_DATA)
    *out = ADJ_TENSOR (make_fake (examples, adj_tensor_data_get_meta (leaf->data),
                                  adj_tensor_data_get_storage (leaf->data)));
  else if (leaf->kind == ADJ_VALUE_TENSOR && !examples->real)
    *out = ADJ_TENSOR (fake_tensor (examples, leaf->tensor));
  else if (leaf->kind == ADJ_VALUE_OPAQUE_OBJECT)
    return import_object (examples, leaf, out);
  else if (leaf->kind == ADJ_VALUE_SIZE)
    *out = adj_value_from_size (import_size (examples, leaf->size));
  else
    *out = adj_value_copy (leaf);
  return TRUE;
}

gboolean
adj_examples_import (AdjExamples *examples, const AdjValue *value, AdjValue *out)
{
  return adj_value_map (value, import_leaf, examples, out);
}
