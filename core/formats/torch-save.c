/* SPDX-License-Identifier: MIT */
/* Archives of torch.save: a pickle that names tensors, and their storages beside it. */

#include <string.h>

#include "formats/pickle-private.h"
#include "formats/scripted-object-private.h"
#include "formats/torch-save-private.h"
#include "ir/adj-builder.h"
#include "ir/adj-text.h"
#include "ir/adj-value-internal.h"
#include "tensor/adj-tensor-data.h"

#define PICKLE "data.pkl"
#define MAX_PICKLE_BYTES (G_GUINT64_CONSTANT (1) << 30)
/* An item that stands in several places counts in each, and so does its text. */
#define MAX_VALUES 10000000u
#define MAX_TEXT_BYTES (G_GUINT64_CONSTANT (1) << 28)
#define ALIGNMENT 16

typedef struct
{
  const char *name; /* (unowned) */
  ZipArchive *archive;
  char *root; /* (owned): of the names of its entries, "archive/" */
  AdjDiags *diags;
  GHashTable *storages; /* key → AdjLateBytes */
  GHashTable *objects;  /* PickleItem → AdjOpaque */
  GPtrArray *open;      /* PickleItem: what is being read, each inside the one before it */
  guint n_values;
  guint64 n_text_bytes;
} Loader;

static void
clear_loader (Loader *loader)
{
  g_clear_pointer (&loader->archive, zip_free);
  g_free (loader->root);
  g_hash_table_unref (loader->storages);
  g_hash_table_unref (loader->objects);
  g_ptr_array_unref (loader->open);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Loader, clear_loader)

static gboolean
fail (const Loader *loader, GError **error, const char *what)
{
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%s: %s%s: %s", loader->name, loader->root,
               PICKLE, what);
  return FALSE;
}

/* Before the parts of @item are read; %FALSE with @error: @item cannot stand where it does. */
static gboolean
enter (Loader *loader, const PickleItem *item, GError **error)
{
  if (g_ptr_array_find (loader->open, item, NULL))
    return fail (loader, error, "a value contains itself");
  if (loader->open->len == ADJ_MAX_DEPTH)
    return fail (loader, error, "values are nested too deeply");
  g_ptr_array_add (loader->open, (gpointer) item);
  return TRUE;
}

static void
leave (Loader *loader)
{
  g_ptr_array_set_size (loader->open, (gint) loader->open->len - 1);
}

/* (transfer full): @bytes, or a copy of them at an address that every element may have. */
static GBytes *
align (GBytes *bytes)
{
  gsize length;
  gconstpointer data = g_bytes_get_data (bytes, &length);

  return (gsize) data % ALIGNMENT == 0 ? g_bytes_ref (bytes) : g_bytes_new (data, length);
}

AdjLateBytes *
torch_save_get_bytes (ZipArchive *archive, guint index, AdjDiags *diags, GError **error)
{
  g_autoptr (AdjFilePart) part = zip_get_part (archive, index);
  g_autofree char *name =
      g_strdup_printf ("%s: %s", zip_get_path (archive), zip_get_name (archive, index));
  g_autoptr (LateEntry) entry = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GBytes) aligned = NULL;

  if (part != NULL && adj_file_part_peek (part) == NULL)
    {
      entry = late_entry_new (part, name, NULL);
      return late_entry_get_bytes (entry, 0, adj_file_part_get_size (part), FALSE);
    }
  bytes = zip_read (archive, index, G_MAXINT64, diags, error);
  aligned = bytes != NULL ? align (bytes) : NULL;
  return aligned != NULL ? adj_late_bytes_new_known (aligned) : NULL;
}

/* -- tensors -- */

/* (transfer none) (nullable): the bytes of storage @key, which are @n_bytes. */
static AdjLateBytes *
find_storage (Loader *loader, const char *key, guint64 n_bytes, GError **error)
{
  AdjLateBytes *known = g_hash_table_lookup (loader->storages, key);
  g_autofree char *entry = g_strconcat (loader->root, "data/", key, NULL);
  guint index;

  if (known == NULL)
    {
      if (!zip_find (loader->archive, entry, &index))
        {
          g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%s: there is no entry %s", loader->name,
                       entry);
          return NULL;
        }
      known = torch_save_get_bytes (loader->archive, index, loader->diags, error);
      if (known == NULL)
        return NULL;
      g_hash_table_insert (loader->storages, g_strdup (key), known);
    }
  if (adj_late_bytes_get_size (known) == n_bytes)
    return known;
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE,
               "%s: %s has %" G_GSIZE_FORMAT " bytes, the pickle says %" G_GUINT64_FORMAT,
               loader->name, entry, adj_late_bytes_get_size (known), n_bytes);
  return NULL;
}

/* ('storage', torch.FloatStorage, '0', 'cpu', 24): (transfer none) (nullable) */
static AdjLateBytes *
read_storage (Loader *loader, const PickleItem *item, AdjTensorMeta *meta, GError **error)
{
  const PickleItem *id = item->kind == PICKLE_PERSISTENT ? item->items[0] : NULL;
  guint64 n_bytes;

  if (id == NULL || id->kind != PICKLE_TUPLE || id->n != 5 || id->items[2]->kind != PICKLE_TEXT ||
      id->items[3]->kind != PICKLE_TEXT || id->items[4]->kind != PICKLE_INT)
    {
      fail (loader, error, "a tensor without a storage");
      return NULL;
    }
  meta->dtype = storage_class_get_dtype (id->items[1]);
  if (meta->dtype == ADJ_DTYPE_NONE)
    {
      fail (loader, error, "a storage of a type that is not known");
      return NULL;
    }
  if (!adj_device_parse (id->items[3]->text, -1, &meta->device))
    meta->device = ADJ_CPU;
  n_bytes = adj_dtype_info (meta->dtype)->n_bytes;
  if (id->items[4]->integer < 0 || (guint64) id->items[4]->integer > G_MAXINT64 / n_bytes)
    {
      fail (loader, error, "a storage of a size that cannot be");
      return NULL;
    }
  return find_storage (loader, id->items[2]->text, n_bytes * (guint64) id->items[4]->integer,
                       error);
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
static gboolean
read_tensor (Loader *loader, const PickleItem *item, AdjValue *out, GError **error)
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
    return fail (loader, error, "a tensor whose sizes are none");
  if (is_lazy (dtype) || is_lazy (pickle_argument (item, 7)))
    return fail (loader, error,
                 "a tensor that PyTorch conjugates or negates when it is read: save its "
                 "resolve_conj () or resolve_neg ()");
  bytes = read_storage (loader, storage, &meta, error);
  if (bytes == NULL)
    return FALSE;
  if (dtype != NULL && dtype->kind == PICKLE_GLOBAL)
    meta.dtype = adj_dtype_from_torch_name (dtype->text);
  if (meta.dtype == ADJ_DTYPE_NONE)
    return fail (loader, error, "a tensor of a dtype that is not known");
  meta.shape.offset = ADJ_SIZE (offset->integer);
  meta.requires_grad = grad != NULL && grad->kind == PICKLE_BOOL && grad->integer != 0;
  data = adj_tensor_data_new_late (&meta, bytes, &reason);
  if (data == NULL)
    return fail (loader, error, reason->message);
  *out = ADJ_DATA (data);
  return TRUE;
}

static gboolean read_value (Loader *loader, const PickleItem *item, AdjValue *out, GError **error);

/* A parameter is its tensor, which may require a gradient. */
static gboolean
read_parameter (Loader *loader, const PickleItem *item, AdjValue *out, GError **error)
{
  const PickleItem *tensor = pickle_argument (item, 0), *grad = pickle_argument (item, 1);
  AdjTensorMeta meta;
  AdjTensorData *data;

  if (tensor == NULL)
    return fail (loader, error, "a parameter without a tensor");
  if (!read_value (loader, tensor, out, error))
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

static gboolean read_call (Loader *loader, const PickleItem *item, AdjValue *out, GError **error);

/* _rebuild_from_type_v2 (function, class, arguments, state): what the function makes; class and
 * state are of the object of Python, such as a buffer. */
static gboolean
read_of_class (Loader *loader, const PickleItem *item, AdjValue *out, GError **error)
{
  PickleItem *parts[] = { pickle_argument (item, 0), pickle_argument (item, 2) };
  PickleItem call = { .kind = PICKLE_CALL, .n = G_N_ELEMENTS (parts), .items = parts };

  if (parts[0] == NULL || parts[1] == NULL)
    return fail (loader, error, "a tensor of a class, made of nothing");
  return read_call (loader, &call, out, error);
}

/* -- other calls -- */

static gboolean
read_list (Loader *loader, const PickleItem *item, AdjValue *out, GError **error)
{
  const PickleItem *items = pickle_argument (item, 0);

  if (items == NULL)
    return fail (loader, error, "a list of nothing");
  return read_value (loader, items, out, error);
}

static gboolean
read_device (Loader *loader, const PickleItem *item, AdjValue *out, GError **error)
{
  const PickleItem *type = pickle_argument (item, 0), *index = pickle_argument (item, 1);
  AdjDevice device;

  if (type == NULL || type->kind != PICKLE_TEXT || !adj_device_parse (type->text, -1, &device))
    return fail (loader, error, "a device that is not known");
  if (index != NULL && index->kind == PICKLE_INT && index->integer >= 0 && index->integer < 128)
    device.index = (gint8) index->integer;
  *out = (AdjValue){ .kind = ADJ_VALUE_DEVICE, .device = device };
  return TRUE;
}

static const struct
{
  const char *name;
  gboolean (*read) (Loader *loader, const PickleItem *item, AdjValue *out, GError **error);
} calls[] = {
  { "torch._utils._rebuild_tensor", read_tensor },
  { "torch._utils._rebuild_tensor_v2", read_tensor },
  { "torch._utils._rebuild_tensor_v3", read_tensor },
  { "torch._utils._rebuild_parameter", read_parameter },
  { "torch._utils._rebuild_parameter_with_state", read_parameter },
  { "torch._tensor._rebuild_from_type_v2", read_of_class },
  { "torch.Size", read_list },
  { "torch.jit._pickle.build_tensorlist", read_list },
  { "torch.jit._pickle.build_intlist", read_list },
  { "torch.jit._pickle.build_doublelist", read_list },
  { "torch.jit._pickle.build_boollist", read_list },
  { "torch.jit._pickle.restore_type_tag", read_list },
  { "torch.device", read_device },
};

static void
set_text (AdjValueKind kind, const char *text, guint n, AdjValue *out)
{
  *out = (AdjValue){ .kind = kind, .n = n, .text = g_memdup2 (text, n + 1) };
}

/* -- objects of TorchScript's classes -- */

/* (transfer full): an object of which only the class is known, because of @reason. */
static AdjOpaque *
warn_of_state (const Loader *loader, const char *name, const GError *reason)
{
  if (loader->diags != NULL)
    adj_diags_add (loader->diags, ADJ_SEVERITY_WARNING, (AdjSpan){ 0 },
                   "%s; of an object of '%s' only the class is known", reason->message, name);
  return scripted_object_new_unknown (name, reason->message);
}

/* (transfer full) (nullable): an object of the class @name. */
static AdjOpaque *
tell_scripted (Loader *loader, const char *name, const PickleItem *pickled, GError **error)
{
  const guint n_open = loader->open->len;
  g_autoptr (GError) reason = NULL;
  g_auto (AdjValue) value = ADJ_NONE;

  if (pickled == NULL)
    return scripted_object_new (name, NULL);
  if (read_value (loader, pickled, &value, &reason) && adj_value_fetch (&value, &reason))
    return scripted_object_new (name, &value);
  g_ptr_array_set_size (loader->open, (gint) n_open);
  if (g_error_matches (reason, ADJ_ERROR, ADJ_ERROR_PARSE))
    return warn_of_state (loader, name, reason);
  g_propagate_error (error, g_steal_pointer (&reason));
  return NULL;
}

static gboolean
read_scripted (Loader *loader,
               const PickleItem *item,
               const char *name,
               const PickleItem *pickled,
               AdjValue *out,
               GError **error)
{
  AdjOpaque *object = g_hash_table_lookup (loader->objects, item);

  if (object == NULL)
    {
      if (!enter (loader, item, error))
        return FALSE;
      object = tell_scripted (loader, name, pickled, error);
      leave (loader);
      if (object == NULL)
        return FALSE;
      g_hash_table_insert (loader->objects, (gpointer) item, object);
    }
  *out = ADJ_OPAQUE (adj_opaque_ref (object));
  return TRUE;
}

/* What would be called, by name. */
static gboolean
read_call (Loader *loader, const PickleItem *item, AdjValue *out, GError **error)
{
  const PickleItem *callee = item->items[0], *pickled;
  const char *scripted = scripted_object_find (item, &pickled);
  g_autofree char *text = NULL;
  gboolean done;

  if (scripted != NULL)
    return read_scripted (loader, item, scripted, pickled, out, error);
  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    if (pickle_calls (item, calls[i].name))
      {
        if (!enter (loader, item, error))
          return FALSE;
        done = calls[i].read (loader, item, out, error);
        leave (loader);
        return done;
      }
  text = g_strdup_printf ("%s(...)", callee->kind == PICKLE_GLOBAL ? callee->text : "?");
  set_text (ADJ_VALUE_RAW, text, (guint) strlen (text), out);
  return TRUE;
}

/* -- values -- */

static gboolean
read_items (
    Loader *loader, const PickleItem *item, AdjValueKind kind, AdjValue *out, GError **error)
{
  g_autoptr (GArray) items = adj_value_array_new ();

  if (!enter (loader, item, error))
    return FALSE;
  for (guint i = 0; i < item->n; i++)
    {
      AdjValue value;

      if (!read_value (loader, item->items[i], &value, error))
        return FALSE;
      g_array_append_val (items, value);
    }
  leave (loader);
  *out = adj_value_array_end (items, kind);
  return TRUE;
}

static gboolean
read_global (const PickleItem *item, AdjValue *out)
{
  AdjDType dtype = g_str_has_prefix (item->text, "torch.") ? adj_dtype_from_torch_name (item->text)
                                                           : ADJ_DTYPE_NONE;

  if (dtype != ADJ_DTYPE_NONE)
    *out = ADJ_DTYPE (dtype);
  else
    set_text (ADJ_VALUE_RAW, item->text, item->n, out);
  return TRUE;
}

/* %FALSE with ADJ_ERROR_LIMIT: there are too many values, or too much text. */
static gboolean
count_item (Loader *loader, const PickleItem *item, GError **error)
{
  if (loader->n_values++ >= MAX_VALUES)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT, "%s: more than %u values", loader->name,
                   MAX_VALUES);
      return FALSE;
    }
  if (item->kind == PICKLE_TEXT || item->kind == PICKLE_BYTES || item->kind == PICKLE_GLOBAL)
    loader->n_text_bytes += item->n;
  if (loader->n_text_bytes > MAX_TEXT_BYTES)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT,
                   "%s: more than %" G_GUINT64_FORMAT " bytes of text", loader->name,
                   MAX_TEXT_BYTES);
      return FALSE;
    }
  return TRUE;
}

static gboolean
read_value (Loader *loader, const PickleItem *item, AdjValue *out, GError **error)
{
  static const AdjValueKind containers[] = {
    [PICKLE_TUPLE] = ADJ_VALUE_TUPLE,
    [PICKLE_LIST] = ADJ_VALUE_LIST,
    [PICKLE_DICT] = ADJ_VALUE_DICT,
    [PICKLE_SET] = ADJ_VALUE_LIST,
  };

  *out = ADJ_NONE;
  if (!count_item (loader, item, error))
    return FALSE;
  switch (item->kind)
    {
    case PICKLE_NONE:
      return TRUE;
    case PICKLE_BOOL:
      *out = ADJ_BOOL (item->integer != 0);
      return TRUE;
    case PICKLE_INT:
      *out = ADJ_INT (item->integer);
      return TRUE;
    case PICKLE_FLOAT:
      *out = ADJ_FLOAT (item->number);
      return TRUE;
    case PICKLE_TEXT:
      set_text (ADJ_VALUE_STRING, item->text, item->n, out);
      return TRUE;
    case PICKLE_BYTES:
      set_text (ADJ_VALUE_BYTES, item->text, item->n, out);
      return TRUE;
    case PICKLE_GLOBAL:
      return read_global (item, out);
    case PICKLE_CALL:
      return read_call (loader, item, out, error);
    case PICKLE_PERSISTENT:
      return fail (loader, error, "a storage outside of a tensor");
    case PICKLE_TUPLE:
    case PICKLE_LIST:
    case PICKLE_DICT:
    case PICKLE_SET:
      return read_items (loader, item, containers[item->kind], out, error);
    default:
      g_assert_not_reached ();
    }
}

/* -- the archive -- */

/* Where the entry lies that says what is there: "archive/data.pkl" → "archive/"; %NULL: nowhere. */
static char *
find_root (const ZipArchive *archive)
{
  for (guint i = 0; i < zip_get_n (archive); i++)
    {
      const char *name = zip_get_name (archive, i);
      const char *slash = strrchr (name, '/');

      if (strcmp (slash != NULL ? slash + 1 : name, PICKLE) == 0)
        return g_strndup (name, strlen (name) - strlen (PICKLE));
    }
  return NULL;
}

gboolean
torch_save_is (const ZipArchive *archive)
{
  g_autofree char *root = find_root (archive);

  return root != NULL;
}

/* PyTorch on a machine of the other byte order says so. */
static gboolean
check_byte_order (Loader *loader, GError **error)
{
  g_autofree char *entry = g_strconcat (loader->root, "byteorder", NULL);
  g_autoptr (GBytes) bytes = NULL;
  guint index;

  if (!zip_find (loader->archive, entry, &index))
    return TRUE;
  bytes = zip_read (loader->archive, index, 64, loader->diags, error);
  if (bytes == NULL)
    return FALSE;
  if (g_bytes_get_size (bytes) >= 3 && memcmp (g_bytes_get_data (bytes, NULL), "big", 3) == 0)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                   "%s: was written on a big-endian machine, which is not read", loader->name);
      return FALSE;
    }
  return TRUE;
}

static gboolean
read_pickle (Loader *loader, AdjValue *out, GError **error)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  g_autofree char *entry = g_strconcat (loader->root, PICKLE, NULL);
  g_autofree char *name = g_strdup_printf ("%s: %s", loader->name, entry);
  g_autoptr (GBytes) bytes = NULL;
  const PickleItem *item;
  gsize length;
  const guint8 *data;
  guint index;

  g_return_val_if_fail (zip_find (loader->archive, entry, &index), FALSE);
  bytes = zip_read (loader->archive, index, MAX_PICKLE_BYTES, loader->diags, error);
  if (bytes == NULL)
    return FALSE;
  data = g_bytes_get_data (bytes, &length);
  item = pickle_read (arena, data, length, name, error);
  return item != NULL && read_value (loader, item, out, error);
}

gboolean
torch_save_read (
    AdjFilePart *part, const char *name, AdjDiags *diags, AdjValue *out, GError **error)
{
  g_auto (Loader) loader = { .name = name, .diags = diags };

  loader.storages = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                           (GDestroyNotify) adj_late_bytes_unref);
  loader.open = g_ptr_array_new ();
  loader.objects = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) adj_opaque_unref);
  loader.archive = zip_open (part, name, error);
  if (loader.archive == NULL)
    return FALSE;
  loader.root = find_root (loader.archive);
  if (loader.root == NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%s: an archive without " PICKLE, name);
      return FALSE;
    }
  return check_byte_order (&loader, error) && read_pickle (&loader, out, error);
}
