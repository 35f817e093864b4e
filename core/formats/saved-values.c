/* SPDX-License-Identifier: MIT */
/* What a pickle of PyTorch describes, as values: containers, numbers, tensors, and by its name what
 * only Python could make. */

#include <string.h>

#include "formats/saved-values-private.h"
#include "formats/scripted-object-private.h"
#include "ir/adj-builder.h"
#include "ir/adj-text.h"
#include "ir/adj-value-internal.h"

/* An item that stands in several places counts in each, and so does its text. */
#define MAX_VALUES 10000000u
#define MAX_TEXT_BYTES (G_GUINT64_CONSTANT (1) << 28)

void
saved_values_init (SavedValues *values, const char *name, AdjDiags *diags)
{
  *values = (SavedValues){ .name = name, .diags = diags };
  values->objects = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) adj_opaque_unref);
  values->open = g_ptr_array_new ();
}

void
saved_values_clear (SavedValues *values)
{
  g_clear_pointer (&values->objects, g_hash_table_unref);
  g_clear_pointer (&values->open, g_ptr_array_unref);
}

gboolean
saved_values_fail (const SavedValues *values, GError **error, const char *what)
{
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%s: %s", values->name, what);
  return FALSE;
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

static const struct
{
  const char *name;
  gboolean (*read) (SavedValues *values, const PickleItem *item, AdjValue *out, GError **error);
} calls[] = {
  { "torch._utils._rebuild_tensor", saved_tensor_read },
  { "torch._utils._rebuild_tensor_v2", saved_tensor_read },
  { "torch._utils._rebuild_tensor_v3", saved_tensor_read },
  { "torch._utils._rebuild_parameter", saved_parameter_read },
  { "torch._utils._rebuild_parameter_with_state", saved_parameter_read },
  { "torch._tensor._rebuild_from_type_v2", saved_of_class_read },
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

/* What would be called, by name. */
static gboolean
read_call (SavedValues *values, const PickleItem *item, AdjValue *out, GError **error)
{
  const PickleItem *callee = item->items[0], *pickled;
  const char *scripted = scripted_object_find (item, &pickled);
  g_autofree char *text = NULL;
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
  text = g_strdup_printf ("%s(...)", callee->kind == PICKLE_GLOBAL ? callee->text : "?");
  set_text (ADJ_VALUE_RAW, text, (guint) strlen (text), out);
  return TRUE;
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
