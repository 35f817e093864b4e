/* SPDX-License-Identifier: MIT */
/* The random numbers of a run: those that were drawn when its inputs were recorded. */

#include <string.h>

#include "exec/generator-state-private.h"

/* (nullable): the state that was recorded of the CPU's random numbers. */
static const AdjValue *
find_state (const AdjValue *rng)
{
  if (rng != NULL && rng->kind == ADJ_VALUE_DICT)
    for (guint i = 0; i + 1 < rng->n; i += 2)
      if (rng->items[i].kind == ADJ_VALUE_STRING && strcmp (rng->items[i].text, "cpu") == 0)
        return &rng->items[i + 1];
  return NULL;
}

void
exec_be_of_release (AdjContext *cx, const AdjRunRequest *request)
{
  adj_context_set_release (cx, request->release);
  adj_generator_set_source (adj_context_get_generator (cx), request->random_source);
}

gboolean
exec_restore_generator (AdjContext *cx, const AdjRunRequest *request, GError **error)
{
  const AdjValue *state = find_state (request->rng);
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
