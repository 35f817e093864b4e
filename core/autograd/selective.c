/* SPDX-License-Identifier: MIT */
/* Selective checkpointing: results of some calls are kept, those of others recomputed. */

#include "autograd/autograd-private.h"
#include "call/adj-context-internal.h"
#include "call/adj-op.h"
#include "ops/adj-op-id.h"

struct _Selective
{
  guint ref_count;
  const AdjCheckpointOptions *options; /* (owned) */
  gboolean is_recompute;
  GHashTable *kept; /* operator → queue of Kept */
};

/* The kept results of one call. */
typedef struct
{
  GPtrArray *tensors; /* owned entries, (nullable) */
  GArray *versions;
} Kept;

static void
unref_or_null (gpointer tensor)
{
  if (tensor != NULL)
    adj_tensor_unref (tensor);
}

static void
kept_free (gpointer data)
{
  Kept *kept = data;

  g_ptr_array_unref (kept->tensors);
  g_array_unref (kept->versions);
  g_free (kept);
}

static void
queue_free (gpointer queue)
{
  g_queue_free_full (queue, kept_free);
}

Selective *
selective_new (const AdjCheckpointOptions *options)
{
  Selective *self = g_new0 (Selective, 1);

  self->ref_count = 1;
  self->options = g_memdup2 (options, sizeof *options);
  self->kept = g_hash_table_new_full (NULL, NULL, NULL, queue_free);
  return self;
}

void
selective_free (Selective *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->kept);
  checkpoint_options_clear (self->options);
  g_free ((gpointer) self->options);
  g_free (self);
}

void
selective_set_recompute (Selective *self, gboolean is_recompute)
{
  self->is_recompute = is_recompute;
}

static gboolean
is_saved (AdjRecompute answer)
{
  return answer == ADJ_RECOMPUTE_MUST_SAVE || answer == ADJ_RECOMPUTE_PREFER_SAVE;
}

/* In a trace everything is kept: recomputation is decided by the partitioner. */
static gboolean
is_traced (const AdjOpCall *call)
{
  for (guint i = 0; i < call->schema->n_arguments; i++)
    if (call->args[i].kind == ADJ_VALUE_TENSOR && tensor_is_traced (call->args[i].tensor))
      return TRUE;
  return FALSE;
}

static gboolean
keep (Selective *self, AdjMode *mode, AdjOpCall *call)
{
  GQueue *queue = g_hash_table_lookup (self->kept, call->op);
  Kept *kept = g_new0 (Kept, 1);

  if (queue == NULL)
    {
      queue = g_queue_new ();
      g_hash_table_insert (self->kept, (gpointer) call->op, queue);
    }
  kept->tensors = g_ptr_array_new_with_free_func (unref_or_null);
  kept->versions = g_array_new (FALSE, TRUE, sizeof (guint32));
  g_queue_push_tail (queue, kept);
  for (guint i = 0; i < call->n_results; i++)
    {
      AdjTensor *tensor = call->results[i].tensor;
      guint32 version = 0;

      if (tensor != NULL)
        {
          gboolean enabled = adj_context_set_grad_enabled (call->cx, FALSE);

          tensor = ADJ_APPLY (call->cx, ADJ_OP_detach, ADJ_TENSOR (tensor));
          adj_context_set_grad_enabled (call->cx, enabled);
          if (tensor == NULL)
            return FALSE;
          version = adj_tensor_get_version (tensor);
        }
      g_ptr_array_add (kept->tensors, adj_keep (tensor));
      g_array_append_val (kept->versions, version);
    }
  return TRUE;
}

/* Sets the results of @call to the kept ones. */
static gboolean
take (Selective *self, AdjOpCall *call)
{
  GQueue *queue = g_hash_table_lookup (self->kept, call->op);
  Kept *kept;

  if (queue == NULL)
    return adj_op_call_fail (call, "encountered during recomputation of a selective checkpoint, "
                                   "but not during its forward");
  kept = g_queue_pop_head (queue);
  if (kept == NULL)
    return adj_op_call_fail (call,
                             "trying to backward an extra time: what the selective checkpoint "
                             "kept has been taken; it supports one backward");
  for (guint i = 0; i < kept->tensors->len; i++)
    {
      AdjTensor *tensor = g_ptr_array_index (kept->tensors, i);

      if (tensor == NULL)
        {
          adj_op_call_add_none (call);
          continue;
        }
      if (!self->options->allows_mutation &&
          adj_tensor_get_version (tensor) != g_array_index (kept->versions, guint32, i))
        {
          kept_free (kept);
          return adj_op_call_fail (call, "a tensor cached by the selective checkpoint was mutated");
        }
      adj_op_call_add (call, adj_tensor_get_meta (tensor)->dtype,
                       &adj_tensor_get_meta (tensor)->shape)
          ->tensor = adj_tensor_ref (tensor);
    }
  kept_free (kept);
  return TRUE;
}

gboolean
selective_call (Selective *self, AdjMode *mode, AdjOpCall *call)
{
  const AdjRegionTag tag = adj_context_get_region (call->cx);
  gboolean traced = is_traced (call);
  AdjRecompute answer;

  if ((call->op->flags & ADJ_OP_NO_GRADIENT) != 0)
    return adj_mode_call_below (mode, call);
  answer = self->options->policy (call->op, call->args, call->schema->n_arguments,
                                  self->is_recompute, self->options->policy_data);
  if (self->is_recompute)
    return is_saved (answer) || traced ? take (self, call) : adj_mode_call_below (mode, call);
  if (traced && tag.id >= 0)
    adj_context_set_region (call->cx, (AdjRegionTag){ tag.id, answer, tag.is_again });
  return adj_mode_call_below (mode, call) &&
         ((!is_saved (answer) && !traced) || keep (self, mode, call));
}
