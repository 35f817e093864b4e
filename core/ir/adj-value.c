/* SPDX-License-Identifier: MIT */
/* AdjValue: copies, comparison and destruction of the union that arguments and results are. */

#include "ir/adj-value.h"

#include <string.h>

#include "ir/adj-graph.h"
#include "ir/adj-opaque-internal.h"
#include "ir/adj-value-internal.h"
#include "ir/adj-value-private.h"
#include "tensor/adj-late-bytes-internal.h"

static const char *const kind_names[ADJ_N_VALUE_KINDS] = {
  [ADJ_VALUE_NONE] = "None",
  [ADJ_VALUE_BOOL] = "bool",
  [ADJ_VALUE_INT] = "int",
  [ADJ_VALUE_FLOAT] = "float",
  [ADJ_VALUE_COMPLEX] = "complex",
  [ADJ_VALUE_SIZE] = "SymInt",
  [ADJ_VALUE_STRING] = "str",
  [ADJ_VALUE_BYTES] = "bytes",
  [ADJ_VALUE_ELLIPSIS] = "Ellipsis",
  [ADJ_VALUE_DTYPE] = "dtype",
  [ADJ_VALUE_DEVICE] = "device",
  [ADJ_VALUE_LAYOUT] = "layout",
  [ADJ_VALUE_MEMORY_FORMAT] = "memory format",
  [ADJ_VALUE_TENSOR] = "Tensor",
  [ADJ_VALUE_DATA] = "constant Tensor",
  [ADJ_VALUE_META] = "tensor description",
  [ADJ_VALUE_LIST] = "a list",
  [ADJ_VALUE_TUPLE] = "a tuple",
  [ADJ_VALUE_DICT] = "a dict",
  [ADJ_VALUE_SLICE] = "a slice",
  [ADJ_VALUE_RANGE] = "a range",
  [ADJ_VALUE_OP] = "an operator",
  [ADJ_VALUE_OPAQUE_OBJECT] = "an opaque object",
  [ADJ_VALUE_TOKEN] = "an effect token",
  [ADJ_VALUE_GRAPH] = "a graph",
  [ADJ_VALUE_NODE] = "a node",
  [ADJ_VALUE_RAW] = "unread text",
};

G_STATIC_ASSERT (ADJ_N_VALUE_KINDS <= 32); /* adj_value_is_container() has a bit for each */

const char *
adj_value_kind_name (AdjValueKind kind)
{
  return kind < ADJ_N_VALUE_KINDS ? kind_names[kind] : "?";
}

static gboolean
has_text (const AdjValue *value)
{
  return value->kind == ADJ_VALUE_STRING || value->kind == ADJ_VALUE_BYTES ||
         value->kind == ADJ_VALUE_RAW || value->kind == ADJ_VALUE_OP;
}

AdjValue
adj_value_from_size (AdjSize size)
{
  if (adj_size_is_int (size))
    return ADJ_INT (size.word);

  return (AdjValue){ .kind = ADJ_VALUE_SIZE, .size = size };
}

gboolean
adj_value_get_size (const AdjValue *value, AdjSize *out)
{
  /* The lowest integers are no sizes: they would read as symbols. */
  if (value->kind == ADJ_VALUE_INT && adj_size_is_int (ADJ_SIZE (value->integer)))
    *out = ADJ_SIZE (value->integer);
  else if (value->kind == ADJ_VALUE_SIZE)
    *out = value->size;
  else
    return FALSE;

  return TRUE;
}

AdjValue
adj_value_new_string (const char *text)
{
  return (AdjValue){ .kind = ADJ_VALUE_STRING, .n = strlen (text), .text = g_strdup (text) };
}

AdjValue
adj_value_new_items (AdjValueKind kind, const AdjValue *items, guint n)
{
  AdjValue value = { .kind = kind, .n = n };

  g_return_val_if_fail (adj_value_is_container (&value), ADJ_NONE);

  value.items = g_memdup2 (items, sizeof (AdjValue) * n);

  return value;
}

GArray *
adj_value_array_new (void)
{
  GArray *items = g_array_new (FALSE, TRUE, sizeof (AdjValue));

  g_array_set_clear_func (items, (GDestroyNotify) adj_value_clear);

  return items;
}

AdjValue
adj_value_array_end (GArray *items, AdjValueKind kind)
{
  AdjValue value = adj_value_new_items (kind, (gpointer) items->data, items->len);

  if (items->len > 0)
    memset (items->data, 0, sizeof (AdjValue) * items->len);

  return value;
}

/* Counts or releases the reference that a leaf holds, if it holds one. */
static void
ref_leaf (const AdjValue *leaf)
{
  if (leaf->kind == ADJ_VALUE_TENSOR)
    adj_tensor_ref (leaf->tensor);
  else if (leaf->kind == ADJ_VALUE_DATA)
    adj_tensor_data_ref (leaf->data);
  else if (leaf->kind == ADJ_VALUE_GRAPH)
    adj_graph_ref (leaf->graph);
  else if (leaf->kind == ADJ_VALUE_OPAQUE_OBJECT)
    adj_opaque_ref (leaf->object);
}

gboolean
adj_value_is_reference (const AdjValue *leaf)
{
  return leaf->kind == ADJ_VALUE_TENSOR || leaf->kind == ADJ_VALUE_DATA ||
         leaf->kind == ADJ_VALUE_GRAPH || leaf->kind == ADJ_VALUE_OPAQUE_OBJECT;
}

AdjValue
adj_value_copy (const AdjValue *value)
{
  AdjValue copy = *value;

  if (adj_value_is_container (value))
    {
      copy.items = g_new (AdjValue, value->n);
      for (guint i = 0; i < value->n; i++)
        copy.items[i] = adj_value_copy (&value->items[i]);
    }
  else if (has_text (value))
    {
      char *text = g_malloc ((gsize) value->n + 1);

      memcpy (text, value->text, value->n);
      text[value->n] = '\0';
      copy.text = text;
    }
  else if (value->kind == ADJ_VALUE_META)
    copy.meta = g_memdup2 (value->meta, sizeof (AdjTensorMeta));
  else
    ref_leaf (value);

  return copy;
}

void
adj_value_clear (AdjValue *value)
{
  if (adj_value_is_container (value))
    {
      for (guint i = 0; i < value->n; i++)
        adj_value_clear (&value->items[i]);
      g_free (value->items);
    }
  else if (has_text (value))
    g_free ((char *) value->text);
  else if (value->kind == ADJ_VALUE_META)
    g_free ((AdjTensorMeta *) value->meta);
  else if (value->kind == ADJ_VALUE_TENSOR)
    adj_tensor_unref (value->tensor);
  else if (value->kind == ADJ_VALUE_DATA)
    adj_tensor_data_unref (value->data);
  else if (value->kind == ADJ_VALUE_GRAPH)
    adj_graph_unref (value->graph);
  else if (value->kind == ADJ_VALUE_OPAQUE_OBJECT)
    adj_opaque_unref (value->object);

  *value = ADJ_NONE;
}

/* -- Descriptions of tensors, one copy each ---- */

static guint
meta_hash (gconstpointer key)
{
  const AdjTensorMeta *meta = key;
  guint64 hash = 1469598103934665603u;

  hash = (hash ^ meta->dtype) * 1099511628211u;
  hash = (hash ^ (guint32) meta->storage) * 1099511628211u;
  for (guint i = 0; i < meta->shape.rank; i++)
    {
      hash = (hash ^ (guint64) meta->shape.size[i].word) * 1099511628211u;
      hash = (hash ^ (guint64) meta->shape.stride[i].word) * 1099511628211u;
    }

  return (guint) (hash ^ (hash >> 32));
}

static gboolean
meta_equal (gconstpointer a, gconstpointer b)
{
  const AdjTensorMeta *x = a, *y = b;
  gsize n_bytes = sizeof (AdjSize) * x->shape.rank;

  return x->dtype == y->dtype && adj_device_equal (x->device, y->device) &&
         x->layout == y->layout && x->has_strides == y->has_strides &&
         x->requires_grad == y->requires_grad && x->storage == y->storage &&
         x->shape.rank == y->shape.rank && adj_size_same (x->shape.offset, y->shape.offset) &&
         memcmp (x->shape.size, y->shape.size, n_bytes) == 0 &&
         memcmp (x->shape.stride, y->shape.stride, n_bytes) == 0;
}

GHashTable *
adj_meta_table_new (void)
{
  return g_hash_table_new (meta_hash, meta_equal);
}

static const AdjTensorMeta *
copy_meta (const AdjTensorMeta *meta, AdjArena *arena, GHashTable *metas)
{
  AdjTensorMeta *copy = metas != NULL ? g_hash_table_lookup (metas, meta) : NULL;

  if (copy != NULL)
    return copy;

  copy = adj_arena_memdup (arena, meta, sizeof *meta);
  if (metas)
    g_hash_table_add (metas, copy);

  return copy;
}

AdjValue
adj_value_copy_consed (const AdjValue *value, AdjArena *arena, GHashTable *metas)
{
  AdjValue copy = *value;

  if (adj_value_is_container (value))
    {
      copy.items = value->n ? adj_arena_new0 (arena, AdjValue, value->n) : NULL;
      for (guint i = 0; i < value->n; i++)
        copy.items[i] = adj_value_copy_consed (&value->items[i], arena, metas);
    }
  else if (has_text (value))
    copy.text = adj_arena_strndup (arena, value->text, value->n);
  else if (value->kind == ADJ_VALUE_META)
    copy.meta = copy_meta (value->meta, arena, metas);

  return copy;
}

AdjValue
adj_value_copy_to_arena (const AdjValue *value, AdjArena *arena)
{
  return adj_value_copy_consed (value, arena, NULL);
}

/* -- Comparing and walking ---- */

static gboolean
leaf_equal (const AdjValue *a, const AdjValue *b)
{
  static const gsize payload_sizes[ADJ_N_VALUE_KINDS] = {
    [ADJ_VALUE_BOOL] = sizeof (gboolean),      [ADJ_VALUE_INT] = sizeof (gint64),
    [ADJ_VALUE_FLOAT] = sizeof (double),       [ADJ_VALUE_SIZE] = sizeof (AdjSize),
    [ADJ_VALUE_DTYPE] = sizeof (AdjDType),     [ADJ_VALUE_DEVICE] = sizeof (AdjDevice),
    [ADJ_VALUE_LAYOUT] = sizeof (AdjLayout),   [ADJ_VALUE_MEMORY_FORMAT] = sizeof (AdjMemoryFormat),
    [ADJ_VALUE_TENSOR] = sizeof (AdjTensor *), [ADJ_VALUE_DATA] = sizeof (AdjTensorData *),
    [ADJ_VALUE_GRAPH] = sizeof (AdjGraph *),   [ADJ_VALUE_NODE] = sizeof (AdjNodeId),
  };

  if (has_text (a))
    return a->n == b->n && memcmp (a->text, b->text, a->n) == 0;
  if (a->kind == ADJ_VALUE_META)
    return adj_tensor_meta_equal (a->meta, b->meta);
  if (a->kind == ADJ_VALUE_OPAQUE_OBJECT)
    return adj_opaque_is_same (a->object, b->object);
  if (a->kind == ADJ_VALUE_FLOAT && a->number != a->number)
    return b->number != b->number;

  return memcmp (&a->integer, &b->integer, payload_sizes[a->kind]) == 0;
}

gboolean
adj_value_equal (const AdjValue *a, const AdjValue *b)
{
  if (a->kind != b->kind)
    return FALSE;
  if (!adj_value_is_container (a))
    return leaf_equal (a, b);
  if (a->n != b->n)
    return FALSE;

  for (guint i = 0; i < a->n; i++)
    if (!adj_value_equal (&a->items[i], &b->items[i]))
      return FALSE;

  return TRUE;
}

gboolean
adj_value_foreach (const AdjValue *value, AdjValueFunc each, gpointer data)
{
  if (!adj_value_is_container (value))
    return each (value, data);

  for (guint i = 0; i < value->n; i++)
    if (!adj_value_foreach (&value->items[i], each, data))
      return FALSE;

  return TRUE;
}

typedef struct
{
  GError **error;
} Fetching;

static gboolean
fetch_leaf (const AdjValue *leaf, gpointer data)
{
  return leaf->kind != ADJ_VALUE_DATA ||
         adj_tensor_data_fetch (leaf->data, ((Fetching *) data)->error);
}

const AdjValue *
adj_value_find_member (const AdjValue *dict, const char *name)
{
  for (guint i = 0; dict != NULL && dict->kind == ADJ_VALUE_DICT && i + 1 < dict->n; i += 2)
    if (dict->items[i].kind == ADJ_VALUE_STRING && g_str_equal (dict->items[i].text, name))
      return &dict->items[i + 1];
  return NULL;
}

gboolean
adj_value_fetch (const AdjValue *value, GError **error)
{
  Fetching fetching = { error };

  return adj_value_foreach (value, fetch_leaf, &fetching);
}

gboolean
adj_values_fetch (const AdjValue *values, guint n, GError **error)
{
  for (guint i = 0; i < n; i++)
    if (!adj_value_fetch (&values[i], error))
      return FALSE;
  return TRUE;
}

gboolean
adj_value_map (const AdjValue *value, AdjValueMapFunc map, gpointer data, AdjValue *out)
{
  AdjValue result = *value;

  if (!adj_value_is_container (value))
    return map (value, out, data);

  result.items = g_new0 (AdjValue, value->n);
  for (guint i = 0; i < value->n; i++)
    if (!adj_value_map (&value->items[i], map, data, &result.items[i]))
      {
        result.n = i;
        adj_value_clear (&result);
        return FALSE;
      }
  *out = result;

  return TRUE;
}
