/* SPDX-License-Identifier: MIT */
/* One hook on the gradients of several tensors: called when all that a backward reaches have
 * arrived, or with the first. */

#include "autograd/autograd-private.h"

/* One of the tensors; pointers are unowned and valid while its hook exists. */
typedef struct
{
  Variable *leaf;    /* (nullable) */
  AdjGradNode *node; /* (nullable): of a tensor that is no leaf */
} Place;

typedef struct
{
  guint ref_count;
  AdjHook *handle; /* (owned) */
  gboolean first_only;
  guint n;
  Place *places;
  AdjTensor **grads; /* arrived in the running backward, owned */
  guint64 task;
  guint n_missing;
  gboolean done;
} MultiHook;

typedef struct
{
  MultiHook *multi; /* (owned) */
  guint index;
} Entry;

static void
clear_grads (MultiHook *multi)
{
  for (guint i = 0; i < multi->n; i++)
    g_clear_pointer (&multi->grads[i], adj_tensor_unref);
}

static void
multi_unref (MultiHook *multi)
{
  if (--multi->ref_count > 0)
    return;
  clear_grads (multi);
  adj_hook_unref (multi->handle);
  g_free (multi->places);
  g_free (multi->grads);
  g_free (multi);
}

static void
entry_free (gpointer data)
{
  Entry *entry = data;

  entry->multi->places[entry->index] = (Place){ NULL, NULL };
  multi_unref (entry->multi);
  g_free (entry);
}

static void
begin (MultiHook *multi, const Autograd *autograd, guint64 task)
{
  multi->task = task;
  multi->done = FALSE;
  multi->n_missing = 0;
  clear_grads (multi);
  for (guint i = 0; i < multi->n; i++)
    {
      const Place *place = &multi->places[i];
      const AdjGradNode *node = place->leaf != NULL ? place->leaf->accumulator : place->node;

      multi->n_missing += node != NULL && engine_will_run (autograd, node);
    }
}

static AdjTensor *
on_grad (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  const Entry *entry = data;
  MultiHook *multi = entry->multi;
  guint64 task;

  if (multi->handle->removed)
    return NULL;
  if (!engine_get_task (autograd_find (cx), &task))
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "expected this hook to be called inside a backward call");
      return NULL;
    }
  if (multi->task != task)
    begin (multi, autograd_find (cx), task);
  if (multi->done)
    return NULL;
  multi->grads[entry->index] = adj_keep (grad);
  multi->n_missing -= multi->n_missing > 0;
  if (!multi->first_only && multi->n_missing > 0)
    return NULL;
  multi->done = TRUE;
  ((AdjMultiHookFunc) multi->handle->func) (cx, multi->grads, multi->n, multi->handle->data);
  clear_grads (multi);
  return NULL;
}

AdjHook *
adj_autograd_add_multi_hook (AdjContext *cx,
                             AdjTensor *const *tensors,
                             guint n,
                             gboolean first_only,
                             AdjMultiHookFunc hook,
                             gpointer data)
{
  g_autoptr (GPtrArray) list = NULL;
  MultiHook *multi;
  AdjHook *handle;

  g_return_val_if_fail (cx != NULL && tensors != NULL && n > 0 && hook != NULL, NULL);

  multi = g_new0 (MultiHook, 1);
  multi->ref_count = 1;
  multi->handle = hook_list_add (&list, G_CALLBACK (hook), data, 0);
  multi->first_only = first_only;
  multi->n = n;
  multi->places = g_new0 (Place, n);
  multi->grads = g_new0 (AdjTensor *, n);
  multi->task = G_MAXUINT64;
  for (guint i = 0; i < n; i++)
    {
      Entry *entry = g_new (Entry, 1);
      g_autoptr (AdjHook) part = adj_tensor_add_hook (cx, tensors[i], on_grad, entry);
      Variable *variable = variable_find (tensors[i]);

      if (part == NULL || variable == NULL)
        {
          g_free (entry);
          break;
        }
      *entry = (Entry){ multi, i };
      multi->ref_count++;
      part->destroy = entry_free;
      multi->places[i] =
          variable->node != NULL ? (Place){ NULL, variable->node } : (Place){ variable, NULL };
    }
  handle = adj_hook_ref (multi->handle);
  multi_unref (multi);
  if (!adj_context_has_error (cx))
    return handle;
  adj_hook_remove (handle);
  adj_hook_unref (handle);
  return NULL;
}
