/* SPDX-License-Identifier: MIT */
/* Generator states of a run: those at which its inputs were recorded. */

#include <string.h>

#include "adj-kernel-random.h"

#include "call/adj-context-internal.h"
#include "call/adj-generator-internal.h"
#include "exec/generator-state-private.h"
#include "ir/adj-value-internal.h"

#define MAX_GPUS 16 /* GPUs in one machine */

void
exec_be_of_release (AdjContext *cx, const AdjRunRequest *request)
{
  adj_context_set_release (cx, request->release);
  adj_generator_set_source (adj_context_get_generator (cx), request->random_source);
}

/* (nullable): the @n_bytes of member @name */
static gconstpointer
find_state (const AdjValue *rng, const char *name, gsize *n_bytes)
{
  const AdjValue *state = adj_value_find_member (rng, name);
  GBytes *bytes = state != NULL && state->kind == ADJ_VALUE_DATA
                      ? adj_tensor_data_get_bytes (state->data)
                      : NULL;

  return bytes != NULL ? g_bytes_get_data (bytes, n_bytes) : NULL;
}

/* Restores the state of the first GPU that has one, in the format of torch.cuda.get_rng_state():
 * seed and offset.  @found: whether there is one. */
static gboolean
restore_philox (AdjContext *cx, const AdjValue *rng, gboolean *found, GError **error)
{
  *found = FALSE;
  for (guint i = 0; i < MAX_GPUS && !*found; i++)
    {
      g_autofree char *name = g_strdup_printf ("cuda:%u", i);
      guint64 state[2];
      gsize n_bytes = 0;
      gconstpointer bytes = find_state (rng, name, &n_bytes);

      *found = bytes != NULL;
      if (bytes == NULL)
        continue;
      if (n_bytes != sizeof state)
        {
          g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE,
                       "the state of the generator of %s has %" G_GSIZE_FORMAT
                       " bytes, not %" G_GSIZE_FORMAT,
                       name, n_bytes, sizeof state);
          return FALSE;
        }
      memcpy (state, bytes, sizeof state);
      adj_context_set_philox (
          cx, (AdjPhilox){ GUINT64_FROM_LE (state[0]), GUINT64_FROM_LE (state[1]) });
    }
  return TRUE;
}

gboolean
exec_restore_generator (AdjContext *cx, const AdjRunRequest *request, GError **error)
{
  gint64 n_threads = request->gpu_threads > 0 ? request->gpu_threads : ADJ_K_DRAW_THREADS;
  gsize n_bytes = 0;
  gconstpointer bytes = find_state (request->rng, "cpu", &n_bytes);
  gboolean of_gpu;

  if (!restore_philox (cx, request->rng, &of_gpu, error))
    return FALSE;
  adj_context_set_gpu_threads (cx, of_gpu ? n_threads : 0);
  return adj_value_find_member (request->rng, "cpu") == NULL ||
         adj_generator_set_state (adj_context_get_generator (cx), bytes, n_bytes, error);
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
