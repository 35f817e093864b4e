/* SPDX-License-Identifier: MIT */
/* Reading and returning states, for the classes of this folder. */

#include "objects/object-state-private.h"

gboolean
object_is_tensor (const AdjValue *value)
{
  return value->kind == ADJ_VALUE_DATA || value->kind == ADJ_VALUE_TENSOR;
}

gboolean
object_refuse_state (GError **error, const char *name, const char *what)
{
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "the state '%s' must be %s", name, what);
  return FALSE;
}

gboolean
object_read_tensor (const AdjValue *state, const char *name, AdjValue *value, GError **error)
{
  const AdjValue *entry = adj_object_state_get (state, name);
  const gint64 none = 0;

  if (entry != NULL && !object_is_tensor (entry))
    return object_refuse_state (error, name, "a tensor");
  *value = entry != NULL
               ? adj_value_copy (entry)
               : ADJ_DATA (adj_tensor_data_new_from_array (ADJ_DTYPE_F32, &none, 1, NULL, NULL));
  return TRUE;
}

gboolean
object_read_int (const AdjValue *state, const char *name, gint64 *value, GError **error)
{
  const AdjValue *entry = adj_object_state_get (state, name);

  if (entry != NULL && entry->kind != ADJ_VALUE_INT)
    return object_refuse_state (error, name, "an integer");
  *value = entry != NULL ? entry->integer : 0;
  return TRUE;
}

AdjValue
object_copy_list (const AdjValue *items, guint n)
{
  g_autoptr (GArray) copies = adj_value_array_new ();

  for (guint i = 0; i < n; i++)
    {
      AdjValue copy = adj_value_copy (&items[i]);

      g_array_append_val (copies, copy);
    }
  return adj_value_array_end (copies, ADJ_VALUE_LIST);
}

gboolean
object_give_tensor (AdjContext *cx, const AdjValue *stored, AdjValue *result)
{
  AdjTensor *tensor = adj_object_load (cx, stored);

  *result = tensor != NULL ? ADJ_TENSOR (adj_keep (tensor)) : ADJ_NONE;
  return tensor != NULL;
}

gboolean
object_give_tensors (AdjContext *cx, const AdjValue *stored, guint n, AdjValue *result)
{
  g_autoptr (GArray) tensors = adj_value_array_new ();

  for (guint i = 0; i < n; i++)
    {
      AdjValue tensor;

      if (!object_give_tensor (cx, &stored[i], &tensor))
        return FALSE;
      g_array_append_val (tensors, tensor);
    }
  *result = adj_value_array_end (tensors, ADJ_VALUE_LIST);
  return TRUE;
}
