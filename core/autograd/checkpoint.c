/* SPDX-License-Identifier: MIT */
/* One call of a checkpointed function.  Every tensor saved while it runs becomes a holder;
 * unpacking the first holder in a backward runs the function again, which fills all of them. */

#include "autograd/adj-checkpoint.h"
#include "autograd/autograd-private.h"
#include "call/adj-context-internal.h"

typedef struct
{
  guint ref_count;
  AdjFunction *function; /* (owned) */
  AdjCheckpointOptions options;
  AdjValue *args; /* (owned): with a NODE for each tensor, its index in @inputs */
  guint n_args;
  GPtrArray *inputs;  /* of Saved */
  GPtrArray *holders; /* of Holder, unowned; %NULL: freed */
  GArray *metas;      /* by holder: metadata of the saved tensor */
  GHashTable *runs;   /* number of a backward → Run */
  Selective *selective;
  gboolean forward_done;
  gboolean ignores_mismatch;
  AdjDrawState drawn_from;
  AdjThreadState thread_state; /* as it was when the forward ran */
} Frame;

typedef struct
{
  Frame *frame; /* (owned) */
  guint index;
} Holder;

/* The tensors that one backward has recomputed. */
typedef struct
{
  Frame *frame;       /* (unowned) */
  GPtrArray *tensors; /* by holder, owned; %NULL: not kept, or taken already */
  guint n;            /* number of tensors saved so far */
  gboolean done;
} Run;

/* The error that stops a recomputation early, when it has all tensors. */
static GQuark
stop_quark (void)
{
  return g_quark_from_static_string ("adj-checkpoint-stop");
}

static void
unref_or_null (gpointer tensor)
{
  if (tensor != NULL)
    adj_tensor_unref (tensor);
}

static void
run_free (gpointer data)
{
  Run *run = data;

  g_ptr_array_unref (run->tensors);
  g_free (run);
}

static void
frame_unref (gpointer data)
{
  Frame *frame = data;

  if (--frame->ref_count > 0)
    return;
  adj_function_unref (frame->function);
  for (guint i = 0; i < frame->n_args; i++)
    adj_value_clear (&frame->args[i]);
  g_free (frame->args);
  g_ptr_array_unref (frame->inputs);
  g_ptr_array_unref (frame->holders);
  g_array_unref (frame->metas);
  g_hash_table_unref (frame->runs);
  selective_free (frame->selective);
  g_free (frame);
}

/* -- inputs: saved as those of an operation would be, so that an outer region has them -- */

typedef struct
{
  Frame *frame;
  AdjContext *cx;
} Walk;

static gboolean
save_input (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  const Walk *walk = data;
  GPtrArray *inputs = walk->frame->inputs;

  *out = adj_value_copy (leaf);
  if (leaf->kind != ADJ_VALUE_TENSOR)
    return TRUE;
  adj_value_clear (out);
  *out = ADJ_NODE (((AdjNodeId){ inputs->len }));
  return saved_add (inputs, walk->cx, leaf->tensor, inputs->len, SAVED_ARGUMENT);
}

static gboolean
unpack_input (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  static AdjGradNode node = { .name = (char *) "checkpoint" };
  const Walk *walk = data;
  AdjTensor *tensor;

  if (leaf->kind != ADJ_VALUE_NODE)
    {
      *out = adj_value_copy (leaf);
      return TRUE;
    }
  tensor = saved_unpack (g_ptr_array_index (walk->frame->inputs, leaf->node.index), walk->cx, &node,
                         NULL);
  *out = tensor != NULL ? ADJ_TENSOR (adj_tensor_ref (tensor)) : ADJ_NONE;
  return tensor != NULL;
}

/* -- recomputing -- */

static gpointer
pack_again (AdjContext *cx, AdjTensor *tensor, gpointer data)
{
  Run *run = data;
  Frame *frame = run->frame;
  guint i = run->n++;

  if (i >= frame->holders->len)
    {
      if (frame->forward_done)
        adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                          "checkpoint: trying to save more tensors during recomputation than "
                          "during the original forward pass (%u)",
                          frame->holders->len);
      else
        frame->ignores_mismatch = TRUE;
      return adj_keep (tensor);
    }
  if (g_ptr_array_index (frame->holders, i) != NULL)
    run->tensors->pdata[i] = adj_tensor_ref (tensor);
  if (run->n == frame->holders->len && !frame->options.no_early_stop)
    adj_context_fail (cx, stop_quark (), 0, "stop");
  return adj_keep (tensor);
}

static AdjTensor *
unpack_again (AdjContext *cx, gpointer packed, gpointer data)
{
  return packed;
}

static gboolean
check_run (const Run *run, AdjContext *cx)
{
  const Frame *frame = run->frame;

  if (frame->ignores_mismatch)
    return TRUE;
  if (run->n != frame->holders->len)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "checkpoint: A different number of tensors was saved during the original "
                        "forward and recomputation. Number of tensors saved during forward: %u, "
                        "during recomputation: %u",
                        frame->holders->len, run->n);
      return FALSE;
    }
  for (guint i = 0; i < frame->metas->len && !frame->options.no_metadata_check; i++)
    {
      const AdjTensorMeta *before = &g_array_index (frame->metas, AdjTensorMeta, i);
      AdjTensor *tensor = g_ptr_array_index (run->tensors, i);
      const AdjTensorMeta *now = tensor != NULL ? adj_tensor_get_meta (tensor) : before;
      g_autoptr (GString) text = NULL;

      if (now->dtype == before->dtype && adj_device_equal (now->device, before->device) &&
          adj_shape_same_sizes (&now->shape, &before->shape, adj_context_get_symbols (cx)))
        continue;
      text = g_string_new ("saved metadata: ");
      adj_tensor_meta_print (before, adj_context_get_symbols (cx), text);
      g_string_append (text, ", recomputed metadata: ");
      adj_tensor_meta_print (now, adj_context_get_symbols (cx), text);
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "checkpoint: Recomputed values have different metadata than during the "
                        "forward pass: tensor at position %u: %s",
                        i, text->str);
      return FALSE;
    }
  return TRUE;
}

/* Calls the function again, with hooks that collect the tensors it saves. */
static gboolean
call_again (Run *run, AdjContext *cx, const AdjValue *args)
{
  Frame *frame = run->frame;
  const AdjSavedHooks hooks = { .pack = pack_again,
                                .unpack = unpack_again,
                                .free_packed = (GDestroyNotify) adj_tensor_unref,
                                .data = run };
  const AdjPlace place = *adj_context_get_place (cx);
  AdjPlace again = place;
  Autograd *autograd = autograd_find (cx);
  Selective *selective = autograd->selective;
  const AdjThreadState thread_state = adj_context_get_thread_state (cx);
  g_auto (AdjValue) result = ADJ_NONE;
  const GError *error;

  again.running = 0; /* the forward runs, not a backward node */
  adj_context_set_place (cx, &again);
  adj_context_set_thread_state (cx, &frame->thread_state);
  adj_context_set_grad_enabled (cx, TRUE);
  adj_autograd_push_saved_hooks (cx, &hooks);
  if (frame->selective != NULL)
    selective_set_recompute (frame->selective, TRUE);
  autograd->selective = frame->selective;
  adj_function_call (frame->function, cx, args, frame->n_args, &result);
  autograd->selective = selective;
  adj_autograd_pop_saved_hooks (cx);
  adj_context_set_thread_state (cx, &thread_state);
  adj_context_set_place (cx, &place);

  error = adj_context_get_error (cx);
  if (error != NULL && error->domain == stop_quark ())
    adj_context_take_error (cx, NULL);
  return !adj_context_has_error (cx);
}

static gboolean
recompute (Run *run, AdjContext *cx)
{
  Frame *frame = run->frame;
  const AdjRegionTag region = adj_context_get_region (cx);
  AdjDrawState now;
  g_autofree AdjValue *args = g_new0 (AdjValue, frame->n_args + 1);
  gboolean done = TRUE;

  run->done = TRUE;
  g_ptr_array_set_size (run->tensors, (gint) frame->holders->len);
  adj_scope_begin (cx);
  for (guint i = 0; i < frame->n_args && done; i++)
    done = adj_value_map (&frame->args[i], unpack_input, &(Walk){ frame, cx }, &args[i]);
  if (!frame->options.keeps_rng_moving)
    {
      adj_context_get_draw_state (cx, &now);
      adj_context_set_draw_state (cx, &frame->drawn_from);
    }
  adj_context_set_region (cx, (AdjRegionTag){ .id = -1, .is_again = TRUE });
  done = done && call_again (run, cx, args) && check_run (run, cx);
  adj_context_set_region (cx, region);
  if (!frame->options.keeps_rng_moving)
    adj_context_set_draw_state (cx, &now);
  for (guint i = 0; i < frame->n_args; i++)
    adj_value_clear (&args[i]);
  adj_scope_end (cx);
  return done;
}

/* -- packing -- */

static gpointer
pack (AdjContext *cx, AdjTensor *tensor, gpointer data)
{
  Frame *frame = data;
  Holder *holder = g_new0 (Holder, 1);

  frame->ref_count++;
  *holder = (Holder){ frame, frame->holders->len };
  g_ptr_array_add (frame->holders, holder);
  g_array_append_val (frame->metas, *adj_tensor_get_meta (tensor));
  return holder;
}

static void
free_holder (gpointer data)
{
  Holder *holder = data;

  holder->frame->holders->pdata[holder->index] = NULL;
  frame_unref (holder->frame);
  g_free (holder);
}

/* The recomputation of the running backward; outside a backward, a new one for each access. */
static Run *
find_run (Frame *frame, AdjContext *cx)
{
  Autograd *autograd = autograd_find (cx);
  guint64 *id = g_new (guint64, 1);
  Run *run;

  if (!engine_get_task (autograd, id))
    *id = G_MAXUINT64 - autograd->n_tasks++;
  run = g_hash_table_lookup (frame->runs, id);
  if (run != NULL)
    {
      g_free (id);
      return run;
    }
  /* Tensors that an earlier backward has not taken are not needed any more. */
  if (autograd->task == NULL || autograd->n_nested == 0)
    g_hash_table_remove_all (frame->runs);
  run = g_new0 (Run, 1);
  run->frame = frame;
  run->tensors = g_ptr_array_new_with_free_func (unref_or_null);
  g_hash_table_insert (frame->runs, id, run);
  return run;
}

static AdjTensor *
unpack (AdjContext *cx, gpointer packed, gpointer data)
{
  const Holder *holder = packed;
  Run *run = find_run (holder->frame, cx);
  AdjTensor *tensor;

  if (!run->done && !recompute (run, cx))
    return NULL;
  tensor = holder->index < run->tensors->len ? g_steal_pointer (&run->tensors->pdata[holder->index])
                                             : NULL;
  if (tensor == NULL)
    adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                      "checkpoint: Unpack is being triggered for a tensor that was already "
                      "unpacked once, or that recomputation did not give");
  return adj_scope_add (cx, tensor);
}

/* -- the call -- */

static Frame *
frame_new (AdjFunction *function, guint n_args, const AdjCheckpointOptions *options)
{
  Frame *frame = g_new0 (Frame, 1);

  frame->ref_count = 1;
  frame->function = adj_function_ref (function);
  if (options != NULL)
    frame->options = *options;
  frame->args = g_new0 (AdjValue, n_args + 1);
  frame->n_args = n_args;
  frame->inputs = saved_list_new ();
  frame->holders = g_ptr_array_new ();
  frame->metas = g_array_new (FALSE, FALSE, sizeof (AdjTensorMeta));
  frame->runs = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, run_free);
  if (options != NULL && options->policy != NULL)
    frame->selective = selective_new (options);
  return frame;
}

/* Runs the function of @frame with hooks that discard what it saves. */
static gboolean
run_forward (Frame *frame, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  const AdjSavedHooks hooks = { .pack = pack,
                                .unpack = unpack,
                                .free_packed = free_holder,
                                .data = frame,
                                .destroy = frame_unref };
  Autograd *autograd = autograd_find (cx);
  Selective *outer = autograd->selective;
  gboolean done;

  if (!frame->options.keeps_rng_moving)
    adj_context_get_draw_state (cx, &frame->drawn_from);
  frame->thread_state = adj_context_get_thread_state (cx);
  frame->ref_count++;
  adj_autograd_push_saved_hooks (cx, &hooks);
  if (frame->selective != NULL)
    autograd->selective = frame->selective;
  frame->ref_count++;
  done = adj_function_call (frame->function, cx, args, frame->n_args, result);
  frame->forward_done = TRUE;
  autograd->selective = outer;
  adj_autograd_pop_saved_hooks (cx);
  frame_unref (frame);
  return done;
}

gboolean
checkpoint_run (AdjContext *cx,
                AdjFunction *function,
                const AdjValue *args,
                guint n_args,
                const AdjCheckpointOptions *options,
                AdjValue *result)
{
  Frame *frame;
  gboolean done = TRUE;

  *result = ADJ_NONE;
  if (autograd_find (cx) == NULL || !adj_context_get_grad_enabled (cx) ||
      adj_context_has_error (cx))
    {
      checkpoint_options_clear (options);
      return adj_function_call (function, cx, args, n_args, result);
    }
  frame = frame_new (function, n_args, options);
  for (guint i = 0; i < n_args && done; i++)
    done = adj_value_map (&args[i], save_input, &(Walk){ frame, cx }, &frame->args[i]);
  done = done && run_forward (frame, cx, args, result);
  frame_unref (frame);
  return done && !adj_context_has_error (cx);
}

/* -- regions of a trace -- */

static gboolean
find_traced (const AdjValue *leaf, gpointer data)
{
  gboolean *traced = data;

  *traced = leaf->kind == ADJ_VALUE_TENSOR && tensor_is_traced (leaf->tensor);
  return !*traced;
}

static gboolean
any_is_traced (const AdjValue *args, guint n_args)
{
  gboolean traced = FALSE;

  for (guint i = 0; i < n_args && !traced; i++)
    adj_value_foreach (&args[i], find_traced, &traced);
  return traced;
}

/* Calls the policy for each call of the body.  What is saved is saved, as in PyTorch, which defers
 * hooks on it while it traces: nothing is run again. */
static gboolean
run_selective (AdjContext *cx,
               AdjFunction *function,
               const AdjValue *args,
               guint n_args,
               const AdjCheckpointOptions *options,
               AdjValue *result)
{
  Autograd *autograd = autograd_find (cx);
  Selective *outer, *selective;
  gboolean done;

  if (autograd == NULL || !adj_context_get_grad_enabled (cx))
    return checkpoint_run (cx, function, args, n_args, options, result);
  outer = autograd->selective;
  selective = selective_new (options);
  autograd->selective = selective;
  done = adj_function_call (function, cx, args, n_args, result);
  autograd->selective = outer;
  selective_free (selective);
  return done;
}

gboolean
checkpoint_run_region (AdjContext *cx,
                       AdjFunction *function,
                       const AdjValue *args,
                       guint n_args,
                       const AdjCheckpointOptions *options,
                       AdjValue *result)
{
  return (options->policy != NULL && any_is_traced (args, n_args)
              ? run_selective
              : checkpoint_run) (cx, function, args, n_args, options, result);
}

/* Without a policy the body runs, and that is all: the partitioner does the rest. */
static gboolean
run_tagged (AdjContext *cx,
            AdjFunction *function,
            const AdjValue *args,
            guint n_args,
            const AdjCheckpointOptions *options,
            AdjValue *result)
{
  gboolean is_selective = options != NULL && options->policy != NULL;
  AdjRegionTag before = adj_context_get_region (cx);
  const AdjRegionTag tag = { adj_context_next_region (cx),
                             is_selective ? ADJ_RECOMPUTE_NONE : ADJ_RECOMPUTE_PREFER_RECOMPUTE,
                             before.is_again };
  gboolean done;

  adj_context_set_region (cx, tag);
  done = is_selective ? run_selective (cx, function, args, n_args, options, result)
                      : adj_function_call (function, cx, args, n_args, result);
  adj_context_set_region (cx, before);
  return done;
}

gboolean
adj_checkpoint (AdjContext *cx,
                AdjFunction *function,
                const AdjValue *args,
                guint n_args,
                const AdjCheckpointOptions *options,
                AdjValue *result)
{
  g_return_val_if_fail (cx != NULL && function != NULL && result != NULL, FALSE);

  *result = ADJ_NONE;
  return (any_is_traced (args, n_args) ? run_tagged : checkpoint_run) (cx, function, args, n_args,
                                                                       options, result);
}
