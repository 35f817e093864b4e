/* SPDX-License-Identifier: MIT */
/* The tensors that a save writes: equal bytes are stored once, aliases keep their common
 * storage. */

#include <string.h>

#include "formats/adj-safetensors.h"
#include "formats/json-private.h"
#include "formats/objects-private.h"
#include "formats/pairs-private.h"
#include "formats/tensor-store-private.h"
#include "tensor/adj-late-bytes-internal.h"

/* A view of less than this part of its stretch of storage is stored densely, when it is alone. */
#define SPARSE_PART 4
/* Storage of up to this many bytes, or SPARSE_PART times the used stretch, is stored whole: a graph
 * may access the rest of it. */
#define KEPT_WHOLE (1 << 20)

/* Bytes that one or more tensors of one dtype look at. */
typedef struct
{
  GBytes *bytes;
  AdjDType dtype;
  const char *file;   /* (unowned) */
  char *key;          /* (owned) */
  gint64 begin, end;  /* the used stretch, in elements */
  gboolean as_is;     /* stored with the shape of its only kind of tensor */
  AdjTensorData *one; /* (owned): the first tensor */
} Stretch;

struct _TensorStore
{
  GPtrArray *stretches;
  GHashTable *by_place; /* Stretch → itself, by bytes and dtype */
  GHashTable *keys;     /* "file\nkey" */
  GHashTable *states;   /* AdjOpaque → AdjValue */
};

static guint
hash_stretch (gconstpointer key)
{
  const Stretch *stretch = key;

  return g_direct_hash (stretch->bytes) * 31 + stretch->dtype;
}

static gboolean
equal_stretches (gconstpointer a, gconstpointer b)
{
  const Stretch *first = a, *second = b;

  return first->bytes == second->bytes && first->dtype == second->dtype;
}

static void
free_stretch (gpointer data)
{
  Stretch *stretch = data;

  adj_tensor_data_unref (stretch->one);
  g_free (stretch->key);
  g_free (stretch);
}

TensorStore *
tensor_store_new (void)
{
  TensorStore *store = g_new0 (TensorStore, 1);

  store->stretches = g_ptr_array_new_with_free_func (free_stretch);
  store->by_place = g_hash_table_new (hash_stretch, equal_stretches);
  store->keys = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  store->states = object_states_new ();
  return store;
}

void
tensor_store_free (TensorStore *store)
{
  g_hash_table_unref (store->by_place);
  g_hash_table_unref (store->keys);
  g_hash_table_unref (store->states);
  g_ptr_array_unref (store->stretches);
  g_free (store);
}

static char *
make_key (TensorStore *store, const char *file, const char *name)
{
  g_autofree char *place = g_strdup_printf ("%s\n%s", file, name);
  char *key = g_strdup (name);

  for (guint i = 2; !g_hash_table_add (store->keys, g_strdup (place)); i++)
    {
      g_free (key);
      g_free (place);
      key = g_strdup_printf ("%s (%u)", name, i);
      place = g_strdup_printf ("%s\n%s", file, key);
    }
  return key;
}

static void
get_stretch (const AdjShape *shape, gint64 *begin, gint64 *end)
{
  *begin = shape->offset.word;
  *end = *begin + adj_shape_span (shape, NULL).word;
}

static Stretch *
find (TensorStore *store, AdjTensorData *tensor)
{
  Stretch wanted = { .bytes = adj_tensor_data_get_bytes (tensor),
                     .dtype = adj_tensor_data_get_meta (tensor)->dtype };

  return g_hash_table_lookup (store->by_place, &wanted);
}

static gboolean
same_look (const AdjShape *a, const AdjShape *b)
{
  if (a->rank != b->rank || a->offset.word != b->offset.word)
    return FALSE;
  for (guint i = 0; i < a->rank; i++)
    if (a->size[i].word != b->size[i].word || a->stride[i].word != b->stride[i].word)
      return FALSE;
  return TRUE;
}

static gboolean
is_sparse (AdjTensorData *tensor, gint64 length)
{
  return length / SPARSE_PART > MAX (adj_tensor_data_get_numel (tensor), 1);
}

static gboolean
keeps_whole (AdjTensorData *tensor, gint64 length, gint64 *n_elements)
{
  gint64 size = (gint64) g_bytes_get_size (adj_tensor_data_get_bytes (tensor));
  gint64 width = adj_dtype_info (adj_tensor_data_get_meta (tensor)->dtype)->n_bytes;

  *n_elements = size / width;
  return size <= KEPT_WHOLE || size / SPARSE_PART <= length * width;
}

void
tensor_store_add (TensorStore *store, const char *file, const char *name, AdjTensorData *tensor)
{
  const AdjTensorMeta *meta = adj_tensor_data_get_meta (tensor);
  Stretch *stretch = find (store, tensor);
  gint64 begin, end, n_elements;
  gboolean is_dense, is_whole;

  get_stretch (&meta->shape, &begin, &end);
  is_dense = adj_shape_is_contiguous (&meta->shape, NULL) || is_sparse (tensor, end - begin);
  is_whole = keeps_whole (tensor, end - begin, &n_elements);
  if (is_whole)
    {
      is_dense = is_dense && n_elements == adj_tensor_data_get_numel (tensor);
      begin = 0;
      end = n_elements;
    }
  if (stretch != NULL)
    {
      if (!same_look (&adj_tensor_data_get_meta (stretch->one)->shape, &meta->shape))
        stretch->as_is = FALSE;
      stretch->begin = MIN (stretch->begin, begin);
      stretch->end = MAX (stretch->end, end);
      return;
    }
  stretch = g_new0 (Stretch, 1);
  *stretch = (Stretch){ .bytes = adj_tensor_data_get_bytes (tensor),
                        .dtype = meta->dtype,
                        .file = file,
                        .key = make_key (store, file, name),
                        .begin = begin,
                        .end = end,
                        .one = adj_tensor_data_ref (tensor) };
  stretch->as_is = adj_tensor_data_get_numel (tensor) == 0 || is_dense;
  if (pairs_dtype (meta->dtype) != ADJ_DTYPE_NONE)
    stretch->as_is = FALSE;
  g_ptr_array_add (store->stretches, stretch);
  g_hash_table_add (store->by_place, stretch);
}

const AdjValue *
tensor_store_get_state (TensorStore *store, AdjOpaque *object, guint *id, GError **error)
{
  const SavedObject *saved = object_get_state (store->states, object, error);

  if (saved == NULL)
    return NULL;
  if (id != NULL)
    *id = saved->id;
  return &saved->state;
}

typedef struct
{
  TensorStore *store;
  const char *file, *name;
  guint n;
} Walk;

static gboolean
add_leaf (const AdjValue *leaf, gpointer data)
{
  Walk *walk = data;
  g_autofree char *name = NULL;

  if (leaf->kind == ADJ_VALUE_OPAQUE_OBJECT)
    {
      const AdjValue *state = tensor_store_get_state (walk->store, leaf->object, NULL, NULL);

      if (state != NULL)
        adj_value_foreach (state, add_leaf, walk);
    }
  if (leaf->kind != ADJ_VALUE_DATA)
    return TRUE;
  name = walk->n == 0 ? g_strdup (walk->name) : g_strdup_printf ("%s.%u", walk->name, walk->n);
  walk->n++;
  tensor_store_add (walk->store, walk->file, name, leaf->data);
  return TRUE;
}

void
tensor_store_add_value (TensorStore *store,
                        const char *file,
                        const char *name,
                        const AdjValue *value)
{
  Walk walk = { store, file, name, 0 };

  adj_value_foreach (value, add_leaf, &walk);
}

static void
print_list (const AdjSize *sizes, guint n, GString *out)
{
  g_string_append_c (out, '[');
  for (guint i = 0; i < n; i++)
    g_string_append_printf (out, "%s%" G_GINT64_FORMAT, i > 0 ? ", " : "", sizes[i].word);
  g_string_append_c (out, ']');
}

void
tensor_store_print_place (TensorStore *store, AdjTensorData *tensor, GString *out)
{
  const AdjShape *shape = &adj_tensor_data_get_meta (tensor)->shape;
  const Stretch *stretch = find (store, tensor);

  g_return_if_fail (stretch != NULL);

  g_string_append_c (out, '[');
  json_print_string (stretch->file, out);
  g_string_append (out, ", ");
  json_print_string (stretch->key, out);
  if (!stretch->as_is)
    {
      g_string_append (out, ", {");
      if (pairs_dtype (stretch->dtype) != ADJ_DTYPE_NONE)
        g_string_append_printf (out, "\"dtype\": \"%s\", ", adj_dtype_info (stretch->dtype)->code);
      g_string_append_printf (
          out, "\"offset\": %" G_GINT64_FORMAT ", \"size\": ", shape->offset.word - stretch->begin);
      print_list (shape->size, shape->rank, out);
      g_string_append (out, ", \"stride\": ");
      print_list (shape->stride, shape->rank, out);
      g_string_append_c (out, '}');
    }
  g_string_append_c (out, ']');
}

/* (transfer full): the tensor to store: the first tensor itself, or the stretch as a vector. */
static AdjTensorData *
make_stored (const Stretch *stretch, GError **error)
{
  AdjTensorMeta meta = *adj_tensor_data_get_meta (stretch->one);
  gint64 length = stretch->end - stretch->begin;

  if (!adj_tensor_data_fetch (stretch->one, error))
    return NULL;
  if (stretch->as_is)
    return adj_tensor_data_ref (stretch->one);
  adj_shape_init_ints (&meta.shape, 1, &length);
  meta.shape.offset = ADJ_SIZE (stretch->begin);
  if (pairs_dtype (meta.dtype) != ADJ_DTYPE_NONE)
    {
      gint64 pairs[2] = { length, 2 };

      meta.dtype = pairs_dtype (meta.dtype);
      adj_shape_init_ints (&meta.shape, 2, pairs);
      meta.shape.offset = ADJ_SIZE (2 * stretch->begin);
    }
  return adj_tensor_data_new (&meta, stretch->bytes, error);
}

static gboolean
write_file (TensorStore *store, const char *file, GHashTable *files, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autoptr (GPtrArray) tensors =
      g_ptr_array_new_with_free_func ((GDestroyNotify) adj_tensor_data_unref);
  GBytes *bytes;

  for (guint i = 0; i < store->stretches->len; i++)
    {
      const Stretch *stretch = store->stretches->pdata[i];
      AdjTensorData *stored;

      if (strcmp (stretch->file, file) != 0)
        continue;
      stored = make_stored (stretch, error);
      if (stored == NULL)
        return FALSE;
      g_ptr_array_add (names, stretch->key);
      g_ptr_array_add (tensors, stored);
    }
  bytes = adj_safetensors_write ((const char *const *) names->pdata,
                                 (AdjTensorData *const *) tensors->pdata, names->len, error);
  if (bytes == NULL)
    return FALSE;
  g_hash_table_insert (files, (gpointer) file, bytes);
  return TRUE;
}

GHashTable *
tensor_store_write (TensorStore *store, GError **error)
{
  g_autoptr (GHashTable) files =
      g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) g_bytes_unref);

  for (guint i = 0; i < store->stretches->len; i++)
    {
      const Stretch *stretch = store->stretches->pdata[i];

      if (!g_hash_table_contains (files, stretch->file) &&
          !write_file (store, stretch->file, files, error))
        return NULL;
    }
  return g_steal_pointer (&files);
}
