/* SPDX-License-Identifier: MIT */
/* The random numbers of a run: those that were drawn when its inputs were recorded. */

#include "exec/generator-state-private.h"
#include "ir/adj-value-internal.h"

void
exec_be_of_release (AdjContext *cx, const AdjRunRequest *request)
{
  adj_context_set_release (cx, request->release);
  adj_generator_set_source (adj_context_get_generator (cx), request->random_source);
}

gboolean
exec_restore_generator (AdjContext *cx, const AdjRunRequest *request, GError **error)
{
  const AdjValue *state = adj_value_find_member (request->rng, "cpu");
  GBytes *bytes = NULL;
  gsize n_bytes = 0;
  gconstpointer data;

  if (state == NULL)
    return TRUE;
  if (state->kind == ADJ_VALUE_DATA)
    bytes = adj_tensor_data_get_bytes (state->data);
  data = bytes != NULL ? g_bytes_get_data (bytes, &n_bytes) : NULL;
  return adj_generator_set_state (adj_context_get_generator (cx), data, n_bytes, error);
}

gboolean
exec_be_as_recorded (AdjContext *cx, const AdjRunRequest *request, GError **error)
{
  exec_be_of_release (cx, request);
  return exec_restore_generator (cx, request, error);
}

static gboolean
find_in_leaf (const AdjValue *leaf, gpointer data)
{
  AdjDType *found = data;
  AdjDType dtype = leaf->kind == ADJ_VALUE_DATA   ? adj_tensor_data_get_meta (leaf->data)->dtype
                   : leaf->kind == ADJ_VALUE_META ? leaf->meta->dtype
                                                  : ADJ_DTYPE_NONE;

  if (dtype != ADJ_DTYPE_NONE && adj_dtype_is_floating (adj_dtype_get_real (dtype)))
    *found = adj_dtype_get_real (dtype);
  return *found == ADJ_DTYPE_NONE;
}

AdjDType
exec_find_dtype (const AdjValue *value)
{
  AdjDType found = ADJ_DTYPE_NONE;

  adj_value_foreach (value, find_in_leaf, &found);
  return found;
}
