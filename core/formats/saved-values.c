/* SPDX-License-Identifier: MIT */
/* What a pickle of PyTorch describes, as values: containers, numbers, tensors, and by its name what
 * only Python could make. */

#include <string.h>

#include "formats/numpy-array-private.h"
#include "formats/saved-values-private.h"
#include "formats/scripted-object-private.h"
#include "ir/adj-builder.h"
#include "ir/adj-text.h"
#include "ir/adj-value-internal.h"

/* An item that stands in several places counts in each, and so does its text. */
#define MAX_VALUES 10000000u
#define MAX_TEXT_BYTES (G_GUINT64_CONSTANT (1) << 28)

static void
free_elements (gpointer data)
{
  SavedElements *elements = data;

  g_bytes_unref (elements->bytes);
  g_free (elements);
}

void
saved_values_init (SavedValues *values, const char *name, AdjDiags *diags)
{
  *values = (SavedValues){ .name = name, .diags = diags };
  values->objects = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) adj_opaque_unref);
  values->bytes = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_bytes_unref);
  values->streams = g_hash_table_new_full (NULL, NULL, NULL, free_elements);
  values->storages =
      g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) adj_late_bytes_unref);
  values->open = g_ptr_array_new ();
}

void
saved_values_clear (SavedValues *values)
{
  g_clear_pointer (&values->objects, g_hash_table_unref);
  g_clear_pointer (&values->bytes, g_hash_table_unref);
  g_clear_pointer (&values->streams, g_hash_table_unref);
  g_clear_pointer (&values->storages, g_hash_table_unref);
  g_clear_pointer (&values->open, g_ptr_array_unref);
}

gboolean
saved_values_fail (const SavedValues *values, GError **error, const char *what)
{
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%s: %s", values->name, what);
  return FALSE;
}

/* -- bytes inside the pickle -- */

/* (transfer full) (nullable): the bytes that the characters of @text are. */
static GBytes *
encode (const PickleItem *text)
{
  g_autoptr (GByteArray) bytes = g_byte_array_sized_new (text->n);
  const guint8 *at = (const guint8 *) text->text;

  for (guint i = 0; i < text->n; i++)
    {
      gboolean pair = (at[i] == 0xc2 || at[i] == 0xc3) && i + 1 < text->n && at[i + 1] >> 6 == 2;
      guint8 byte = pair ? (guint8) (at[i] << 6 | (at[i + 1] & 0x3f)) : at[i];

      if (!pair && at[i] >= 0x80)
        return NULL;
      g_byte_array_append (bytes, &byte, 1);
      i += pair;
    }
  return g_byte_array_free_to_bytes (g_steal_pointer (&bytes));
}

/* (transfer full) (nullable) */
static GBytes *
make_bytes (const PickleItem *item, gboolean encoded)
{
  if (encoded)
    return item->kind == PICKLE_TEXT || item->kind == PICKLE_BYTES ? encode (item) : NULL;
  if (pickle_calls (item, "__builtin__.bytes") && pickle_argument (item, 0) == NULL)
    return g_bytes_new (NULL, 0);
  return item->kind == PICKLE_BYTES ? g_bytes_new (item->text, item->n) : NULL;
}

GBytes *
saved_values_get_bytes (SavedValues *values, const PickleItem *item)
{
  const PickleItem *text = pickle_calls (item, "_codecs.encode") ? pickle_argument (item, 0) : NULL;
  const PickleItem *of = text != NULL ? text : item;
  GBytes *known = g_hash_table_lookup (values->bytes, of);

  if (known == NULL && (known = make_bytes (of, text != NULL)) != NULL)
    g_hash_table_insert (values->bytes, (gpointer) of, known);
  return known;
}

AdjLateBytes *
saved_values_get_storage (SavedValues *values, const PickleItem *call, GBytes *bytes)
{
  AdjLateBytes *known = g_hash_table_lookup (values->storages, call);

  if (known == NULL)
    {
      known = adj_late_bytes_new_known (bytes);
      g_hash_table_insert (values->storages, (gpointer) call, known);
    }
  return known;
}

/* Before the parts of @item are read; %FALSE with @error: @item cannot stand where it does. */
static gboolean
enter (SavedValues *values, const PickleItem *item, GError **error)
{
  if (g_ptr_array_find (values->open, item, NULL))
    return saved_values_fail (values, error, "a value contains itself");
  if (values->open->len == ADJ_MAX_DEPTH)
    return saved_values_fail (values, error, "values are nested too deeply");
  g_ptr_array_add (values->open, (gpointer) item);
  return TRUE;
}

static void
leave (SavedValues *values)
{
  g_ptr_array_set_size (values->open, (gint) values->open->len - 1);
}

/* -- other calls -- */

static gboolean
read_list (SavedValues *values, const PickleItem *item, AdjValue *out, GError **error)
{
  const PickleItem *items = pickle_argument (item, 0);

  if (items == NULL)
    return saved_values_fail (values, error, "a list of nothing");
  return saved_values_read (values, items, out, error);
}

static gboolean
read_device (SavedValues *values, const PickleItem *item, AdjValue *out, GError **error)
{
  const PickleItem *type = pickle_argument (item, 0), *index = pickle_argument (item, 1);
  AdjDevice device;

  if (type == NULL || type->kind != PICKLE_TEXT || !adj_device_parse (type->text, -1, &device))
    return saved_values_fail (values, error, "a device that is not known");
  if (index != NULL && index->kind == PICKLE_INT && index->integer >= 0 && index->integer < 128)
    device.index = (gint8) index->integer;
  *out = (AdjValue){ .kind = ADJ_VALUE_DEVICE, .device = device };
  return TRUE;
}

static gboolean
read_of_class (SavedValues *values, const PickleItem *item, AdjValue *out, GError **error);

static const struct
{
  const char *name;
  gboolean (*read) (SavedValues *values, const PickleItem *item, AdjValue *out, GError **error);
  gboolean makes_tensor; /* of its arguments alone */
} calls[] = {
  { "torch._utils._rebuild_tensor", saved_tensor_read, TRUE },
  { "torch._utils._rebuild_tensor_v2", saved_tensor_read, TRUE },
  { "torch._utils._rebuild_tensor_v3", saved_tensor_read, TRUE },
  { "torch._utils._rebuild_parameter", saved_parameter_read, TRUE },
  { "torch._utils._rebuild_parameter_with_state", saved_parameter_read, TRUE },
  { "torch._tensor._rebuild_from_type_v2", read_of_class },
  { "torch.Size", read_list },
  { "torch.jit._pickle.build_tensorlist", read_list },
  { "torch.jit._pickle.build_intlist", read_list },
  { "torch.jit._pickle.build_doublelist", read_list },
  { "torch.jit._pickle.build_boollist", read_list },
  { "torch.jit._pickle.restore_type_tag", read_list },
  { "torch.device", read_device },
  { "numpy.core.multiarray._reconstruct", numpy_array_read },
  { "numpy._core.multiarray._reconstruct", numpy_array_read },
  { "numpy.core.numeric._frombuffer", numpy_buffer_read },
  { "numpy._core.numeric._frombuffer", numpy_buffer_read },
  { "numpy.core.multiarray.scalar", numpy_number_read },
  { "numpy._core.multiarray.scalar", numpy_number_read },
};

static void
set_text (AdjValueKind kind, const char *text, guint n, AdjValue *out)
{
  *out = (AdjValue){ .kind = kind, .n = n, .text = g_memdup2 (text, n + 1) };
}

/* -- objects of TorchScript's classes -- */

/* (transfer full): an object of which only the class is known, because of @reason. */
static AdjOpaque *
warn_of_state (const SavedValues *values, const char *name, const GError *reason)
{
  if (values->diags != NULL)
    adj_diags_add (values->diags, ADJ_SEVERITY_WARNING, (AdjSpan){ 0 },
                   "%s; of an object of '%s' only the class is known", reason->message, name);
  return scripted_object_new_unknown (name, reason->message);
}

/* (transfer full) (nullable): an object of the class @name. */
static AdjOpaque *
tell_scripted (SavedValues *values, const char *name, const PickleItem *pickled, GError **error)
{
  const guint n_open = values->open->len;
  g_autoptr (GError) reason = NULL;
  g_auto (AdjValue) value = ADJ_NONE;

  if (pickled == NULL)
    return scripted_object_new (name, NULL);
  if (saved_values_read (values, pickled, &value, &reason) && adj_value_fetch (&value, &reason))
    return scripted_object_new (name, &value);
  g_ptr_array_set_size (values->open, (gint) n_open);
  if (g_error_matches (reason, ADJ_ERROR, ADJ_ERROR_PARSE))
    return warn_of_state (values, name, reason);
  g_propagate_error (error, g_steal_pointer (&reason));
  return NULL;
}

static gboolean
read_scripted (SavedValues *values,
               const PickleItem *item,
               const char *name,
               const PickleItem *pickled,
               AdjValue *out,
               GError **error)
{
  AdjOpaque *object = g_hash_table_lookup (values->objects, item);

  if (object == NULL)
    {
      if (!enter (values, item, error))
        return FALSE;
      object = tell_scripted (values, name, pickled, error);
      leave (values);
      if (object == NULL)
        return FALSE;
      g_hash_table_insert (values->objects, (gpointer) item, object);
    }
  *out = ADJ_OPAQUE (adj_opaque_ref (object));
  return TRUE;
}

/* _rebuild_from_type_v2 (function, class, arguments, state): the tensor that the function makes;
 * class and state are of the object of Python, such as a buffer. */
static gboolean
read_of_class (SavedValues *values, const PickleItem *item, AdjValue *out, GError **error)
{
  PickleItem *parts[] = { pickle_argument (item, 0), pickle_argument (item, 2) };
  PickleItem call = { .kind = PICKLE_CALL, .n = G_N_ELEMENTS (parts), .items = parts };

  if (parts[0] == NULL || parts[1] == NULL)
    return saved_values_fail (values, error, "a tensor of a class, made of nothing");
  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    if (calls[i].makes_tensor && pickle_calls (&call, calls[i].name))
      return calls[i].read (values, &call, out, error);
  return saved_values_name_call (&call, out);
}

gboolean
saved_values_name_call (const PickleItem *item, AdjValue *out)
{
  const PickleItem *callee = item->items[0];
  g_autofree char *text =
      g_strdup_printf ("%s(...)", callee->kind == PICKLE_GLOBAL ? callee->text : "?");

  set_text (ADJ_VALUE_RAW, text, (guint) strlen (text), out);
  return TRUE;
}

static gboolean
read_call (SavedValues *values, const PickleItem *item, AdjValue *out, GError **error)
{
  const PickleItem *pickled;
  const char *scripted = scripted_object_find (item, &pickled);
  gboolean done;

  if (scripted != NULL)
    return read_scripted (values, item, scripted, pickled, out, error);
  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    if (pickle_calls (item, calls[i].name))
      {
        if (!enter (values, item, error))
          return FALSE;
        done = calls[i].read (values, item, out, error);
        leave (values);
        return done;
      }
  return saved_values_name_call (item, out);
}

/* -- values -- */

static gboolean
read_items (
    SavedValues *values, const PickleItem *item, AdjValueKind kind, AdjValue *out, GError **error)
{
  g_autoptr (GArray) items = adj_value_array_new ();

  if (!enter (values, item, error))
    return FALSE;
  for (guint i = 0; i < item->n; i++)
    {
      AdjValue value;

      if (!saved_values_read (values, item->items[i], &value, error))
        return FALSE;
      g_array_append_val (items, value);
    }
  leave (values);
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
count_item (SavedValues *values, const PickleItem *item, GError **error)
{
  if (values->n_values++ >= MAX_VALUES)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT, "%s: more than %u values", values->name,
                   MAX_VALUES);
      return FALSE;
    }
  if (item->kind == PICKLE_TEXT || item->kind == PICKLE_BYTES || item->kind == PICKLE_GLOBAL)
    values->n_text_bytes += item->n;
  if (values->n_text_bytes > MAX_TEXT_BYTES)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT,
                   "%s: more than %" G_GUINT64_FORMAT " bytes of text", values->name,
                   MAX_TEXT_BYTES);
      return FALSE;
    }
  return TRUE;
}

gboolean
saved_values_read (SavedValues *values, const PickleItem *item, AdjValue *out, GError **error)
{
  static const AdjValueKind containers[] = {
    [PICKLE_TUPLE] = ADJ_VALUE_TUPLE,
    [PICKLE_LIST] = ADJ_VALUE_LIST,
    [PICKLE_DICT] = ADJ_VALUE_DICT,
    [PICKLE_SET] = ADJ_VALUE_LIST,
  };

  *out = ADJ_NONE;
  if (!count_item (values, item, error))
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
      return read_call (values, item, out, error);
    case PICKLE_PERSISTENT:
      return saved_values_fail (values, error, "a storage outside of a tensor");
    case PICKLE_TUPLE:
    case PICKLE_LIST:
    case PICKLE_DICT:
    case PICKLE_SET:
      return read_items (values, item, containers[item->kind], out, error);
    default:
      g_assert_not_reached ();
    }
}
