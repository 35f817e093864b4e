/* SPDX-License-Identifier: MIT */
/* The switch, and one backward: collect, find or capture, run (compiled_autograd/SPEC.md §1). */

#include "compiled_autograd/compiled-private.h"
#include "ir/adj-graph.h"
#include "tensor/adj-tensor-internal.h"

#define MAX_KEPT 64    /* captures that are kept for who asks, beside those in the cache */
#define MAX_VARIANTS 8 /* captures at one end of the tree, which hold for other sizes */

struct _AdjCompiledAutograd
{
  BackwardWalker parent;
  AdjCompiledOptions options;
  CacheNode *root;
  GPtrArray *captures; /* of AdjCapture, owned: the last ones */
  AdjCompiledCounters counters;
  char *fallback_reason; /* (owned) (nullable) */
  guint n_enabled;
  gboolean running;
};

/* -- captures -- */

static void
clear_call (gpointer data)
{
  g_free ((char *) ((AdjCaptureCall *) data)->name);
}

static void
clear_origin (gpointer data)
{
  g_free ((char *) ((AdjCaptureOrigin *) data)->name);
}

AdjCapture *
adj_capture_ref (AdjCapture *capture)
{
  g_return_val_if_fail (capture != NULL, NULL);

  capture->ref_count++;
  return capture;
}

void
adj_capture_unref (AdjCapture *capture)
{
  if (capture == NULL || --capture->ref_count > 0)
    return;
  g_clear_pointer (&capture->replayed, adj_graph_unref);
  g_clear_pointer (&capture->graph, adj_graph_unref);
  g_clear_pointer (&capture->compiled, adj_function_unref);
  g_clear_pointer (&capture->rules, g_array_unref);
  g_array_unref (capture->moved);
  g_array_unref (capture->calls);
  g_array_unref (capture->inputs);
  g_array_unref (capture->objects);
  g_free (capture->reason);
  g_free (capture);
}

static void
note_calls (AdjCapture *capture, const Collection *collection)
{
  for (guint i = 0; i < collection->calls->len; i++)
    {
      const CollectedCall *call = &g_array_index (collection->calls, CollectedCall, i);
      const AdjCaptureCall noted = { g_strdup (call->node->name), call->id, call->key_length,
                                     call->needed };

      g_array_append_val (capture->calls, noted);
    }
  for (guint i = 0; i < collection->inputs->len; i++)
    {
      const CollectedOrigin *from = &g_array_index (collection->input_origins, CollectedOrigin, i);
      const AdjCaptureOrigin origin = { from->call, g_strdup (from->name) };

      g_array_append_val (capture->inputs, origin);
    }
  for (guint i = 0; i < collection->objects->len; i++)
    {
      guint call = g_array_index (collection->object_origins, CollectedOrigin, i).call;
      const AdjCaptureOrigin origin = { call, adj_opaque_describe (
                                                  g_ptr_array_index (collection->objects, i)) };

      g_array_append_val (capture->objects, origin);
    }
}

static AdjCapture *
capture_new (guint id, const Collection *collection, const char *reason)
{
  AdjCapture *capture = g_new0 (AdjCapture, 1);

  capture->ref_count = 1;
  capture->id = id;
  capture->reason = g_strdup (reason);
  capture->moved = g_array_new (FALSE, FALSE, sizeof (guint));
  capture->calls = g_array_new (FALSE, FALSE, sizeof (AdjCaptureCall));
  g_array_set_clear_func (capture->calls, clear_call);
  capture->inputs = g_array_new (FALSE, FALSE, sizeof (AdjCaptureOrigin));
  g_array_set_clear_func (capture->inputs, clear_origin);
  capture->objects = g_array_new (FALSE, FALSE, sizeof (AdjCaptureOrigin));
  g_array_set_clear_func (capture->objects, clear_origin);
  note_calls (capture, collection);
  return capture;
}

/* -- one backward -- */

static void
fall_back (AdjCompiledAutograd *self, AdjContext *cx, const char *reason)
{
  self->counters.fallbacks++;
  g_free (self->fallback_reason);
  self->fallback_reason = g_strdup (reason);
  if (self->options.strict)
    adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "%s", reason);
}

/* What stands in the way of collecting stands in the way of the engine too, but when it comes
 * there: until then hooks run and gradients are accumulated. */
static void
fall_back_on_error (AdjCompiledAutograd *self, AdjContext *cx)
{
  g_autoptr (GError) error = NULL;

  if (self->options.strict)
    return;
  adj_context_take_error (cx, &error);
  fall_back (self, cx, error->message);
}

static gboolean
is_traced (const AdjTensor *tensor)
{
  return adj_tensor_get_slot (tensor, ADJ_SLOT_PROXY) != NULL ||
         adj_tensor_get_slot (tensor, ADJ_SLOT_FUNCTIONAL) != NULL;
}

static gboolean
is_autocast (AdjContext *cx)
{
  for (guint i = 0; i < ADJ_N_AUTOCAST; i++)
    if (adj_context_get_autocast (cx, i).on)
      return TRUE;
  return FALSE;
}

static gboolean
accepts (BackwardWalker *walker, AdjContext *cx, GraphTask *task)
{
  AdjCompiledAutograd *self = (AdjCompiledAutograd *) walker;
  const GradRequest *request = task_get_request (task);
  const char *reason = NULL;

  if (self->running)
    reason =
        "Trying to run compiled autograd within another compiled autograd call (e.g. reentrant "
        "checkpointing), this is not supported yet.";
  else if ((request->flags & ADJ_BACKWARD_CREATE_GRAPH) != 0)
    reason = "compiled_autograd does not support create_graph";
  else if ((autograd_flags (cx) & ADJ_AUTOGRAD_ANOMALY) != 0)
    reason = "compiled_autograd does not support AnomalyMode";
  else if (is_autocast (cx))
    reason = "compiled_autograd does not support autocast in the backward";
  for (guint i = 0; i < request->n_roots && reason == NULL; i++)
    if (is_traced (request->grads[i]))
      reason = "TorchDispatchMode not yet implemented for compiled autograd";
  if (reason == NULL)
    return TRUE;
  /* Nested backwards run eagerly, as they do in current PyTorch. */
  if (self->running && !self->options.strict)
    return FALSE;
  fall_back (self, cx, reason);
  return FALSE;
}

/* The last call whose sizes begin at or before @index. */
static guint
find_call_of_size (const Collection *collection, guint index)
{
  guint found = 0;

  for (guint i = 0; i < collection->calls->len; i++)
    if (g_array_index (collection->calls, CollectedCall, i).first_size <= index &&
        g_array_index (collection->calls, CollectedCall, i).needed)
      found = i;
  return found;
}

static char *
explain_size (const Collection *collection, guint index, gint64 before)
{
  guint call = find_call_of_size (collection, index);
  const CollectedCall *of = &g_array_index (collection->calls, CollectedCall, call);

  return g_strdup_printf ("%s (NodeCall %u): size %u of it was %" G_GINT64_FORMAT
                          ", is %" G_GINT64_FORMAT ", and a symbol from now on",
                          of->node->name, call, index - of->first_size, before,
                          g_array_index (collection->sizes, gint64, index));
}

/* (nullable): a capture that holds for the sizes; @reason (out) (transfer full): why none does. */
static AdjCapture *
find_capture (AdjCompiledAutograd *self,
              CacheNode *end,
              const Collection *collection,
              char **reason)
{
  g_autoptr (GArray) before = NULL;
  guint changed = 0;

  if (end->sizes == NULL)
    {
      end->sizes = g_array_new (FALSE, FALSE, sizeof (SizeState));
      end->captures = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_capture_unref);
      sizes_update (end->sizes, collection->sizes, &changed);
      for (guint i = 0; self->options.dynamic && i < end->sizes->len; i++)
        g_array_index (end->sizes, SizeState, i).dynamic = TRUE;
      for (guint i = 0; i < collection->dynamic->len; i++)
        g_array_index (end->sizes, SizeState, g_array_index (collection->dynamic, guint, i))
            .dynamic = TRUE;
      return NULL;
    }
  before = g_array_copy (end->sizes);
  if (sizes_update (end->sizes, collection->sizes, &changed))
    {
      *reason =
          explain_size (collection, changed, g_array_index (before, SizeState, changed).expected);
      g_ptr_array_set_size (end->captures, 0);
      return NULL;
    }
  for (guint i = end->captures->len; i-- > 0;)
    {
      AdjCapture *capture = g_ptr_array_index (end->captures, i);

      if (capture->any_sizes || sizes_fit (capture->rules, collection->sizes,
                                           adj_graph_get_symbols (capture->graph), reason))
        return capture;
    }
  return NULL;
}

static gboolean
compile (AdjCompiledAutograd *self, AdjCapture *capture, GError **error)
{
  g_autoptr (AdjGraph) ordered = NULL;

  capture->order = self->options.order;
  ordered = reorder (capture->replayed, capture->order, NULL, NULL, error);
  if (ordered != NULL && self->options.level == ADJ_CAPTURE_LEVEL_NODES)
    {
      AdjGraph *used = drop_sizes (ordered, capture->rules, error);

      adj_graph_unref (ordered);
      ordered = used;
    }
  if (ordered != NULL)
    capture->graph = self->options.move_scalars ? move_scalars (ordered, capture->moved, error)
                                                : adj_graph_ref (ordered);
  if (capture->graph != NULL && self->options.compile != NULL)
    capture->compiled = self->options.compile (capture->graph, self->options.data, error);
  return capture->graph != NULL && (self->options.compile == NULL || capture->compiled != NULL);
}

/* Whether no node is written as its operators, which compute with sizes. */
static gboolean
has_only_nodes (const Collection *collection)
{
  AdjTensor *leaf;

  for (guint i = 1; i < collection->calls->len; i++)
    {
      const CollectedCall *call = &g_array_index (collection->calls, CollectedCall, i);

      if (call->needed && call->form == NULL && !node_is_whole (call->node) &&
          !grad_node_is_accumulator (call->node, &leaf))
        return FALSE;
    }
  return TRUE;
}

/* (transfer none) (nullable): %NULL with @error. */
static AdjCapture *
make_capture (AdjCompiledAutograd *self,
              CacheNode *end,
              const Collection *collection,
              const char *reason,
              GError **error)
{
  g_autofree char *name =
      g_strdup_printf ("CompiledAutograd%" G_GUINT64_FORMAT, self->counters.captures);
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  AdjCapture *capture = capture_new ((guint) self->counters.captures, collection, reason);
  gint64 begin = g_get_monotonic_time ();

  capture->rules = sizes_make_rules (end->sizes, symbols);
  capture->n_lists = self->options.level == ADJ_CAPTURE_LEVEL_NODES ? 5 : 4;
  capture->any_sizes =
      self->options.level == ADJ_CAPTURE_LEVEL_NODES && has_only_nodes (collection);
  capture->replayed =
      replay (collection, self->options.level, name, capture->rules, symbols, error);
  if (capture->replayed == NULL || !compile (self, capture, error))
    {
      adj_capture_unref (capture);
      return NULL;
    }
  self->counters.capture_ns = (g_get_monotonic_time () - begin) * 1000;
  self->counters.captures++;
  if (end->captures->len == MAX_VARIANTS)
    g_ptr_array_remove_index (end->captures, 0);
  g_ptr_array_add (end->captures, capture);
  if (self->captures->len == MAX_KEPT)
    g_ptr_array_remove_index (self->captures, 0);
  g_ptr_array_add (self->captures, adj_capture_ref (capture));
  return capture;
}

static gboolean
run_capture (AdjCompiledAutograd *self, AdjCapture *capture, AdjContext *cx, Collection *collection)
{
  gboolean done;

  adj_capture_ref (capture);
  self->running = TRUE;
  done = capture_run (capture, cx, collection);
  self->running = FALSE;
  adj_capture_unref (capture);
  return done;
}

static gboolean
walk (BackwardWalker *walker, AdjContext *cx, GraphTask *task)
{
  AdjCompiledAutograd *self = (AdjCompiledAutograd *) walker;
  g_autoptr (Collection) collection = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *reason = NULL;
  CachePath path = { self->root, NULL };
  gint64 begin = g_get_monotonic_time ();
  AdjCapture *capture;

  self->running = TRUE;
  collection = collect (cx, task, &self->options, cache_descend, &path);
  self->running = FALSE;
  reason = path.reason;
  if (collection == NULL)
    {
      fall_back_on_error (self, cx);
      return FALSE;
    }
  if (collection->refusal != NULL)
    {
      fall_back (self, cx, collection->refusal);
      return FALSE;
    }
  capture = find_capture (self, path.node, collection, &reason);
  self->counters.lookup_ns = (g_get_monotonic_time () - begin) * 1000;
  if (capture != NULL)
    self->counters.hits++;
  else
    capture = make_capture (self, path.node, collection, reason, &error);
  if (capture == NULL)
    {
      fall_back (self, cx, error->message);
      return FALSE;
    }
  return run_capture (self, capture, cx, collection);
}

/* -- the switch -- */

AdjCompiledAutograd *
adj_compiled_autograd_new (const AdjCompiledOptions *options)
{
  AdjCompiledAutograd *self = g_new0 (AdjCompiledAutograd, 1);

  if (options != NULL)
    self->options = *options;
  self->parent = (BackwardWalker){ accepts, walk };
  self->root = cache_node_new ();
  self->captures = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_capture_unref);
  return self;
}

void
adj_compiled_autograd_free (AdjCompiledAutograd *self)
{
  g_return_if_fail (self != NULL && !self->running);

  cache_node_free (self->root);
  g_ptr_array_unref (self->captures);
  if (self->options.destroy != NULL)
    self->options.destroy (self->options.data);
  g_free (self->fallback_reason);
  g_free (self);
}

gboolean
adj_compiled_autograd_enable (AdjCompiledAutograd *self, AdjContext *cx)
{
  g_return_val_if_fail (cx != NULL, FALSE);

  return engine_push_walker (cx, self != NULL ? &self->parent : NULL);
}

void
adj_compiled_autograd_restore (AdjContext *cx)
{
  g_return_if_fail (cx != NULL);

  engine_pop_walker (cx);
}

gboolean
adj_compiled_autograd_is_enabled (AdjContext *cx)
{
  g_return_val_if_fail (cx != NULL, FALSE);

  return engine_get_walker (cx) != NULL;
}

gboolean
adj_compiled_autograd_is_running (const AdjCompiledAutograd *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->running;
}

gboolean
adj_compiled_autograd_reset (AdjCompiledAutograd *self, GError **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (self->running)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                   "compiled autograd cannot be reset while one of its backwards runs");
      return FALSE;
    }
  cache_node_free (self->root);
  self->root = cache_node_new ();
  g_ptr_array_set_size (self->captures, 0);
  g_clear_pointer (&self->fallback_reason, g_free);
  self->counters = (AdjCompiledCounters){ 0 };
  return TRUE;
}

/* -- what was captured -- */

AdjCompiledCounters
adj_compiled_autograd_get_counters (const AdjCompiledAutograd *self)
{
  AdjCompiledCounters counters = { 0 };

  g_return_val_if_fail (self != NULL, counters);

  counters = self->counters;
  counters.fallback_reason = self->fallback_reason;
  return counters;
}

guint
adj_compiled_autograd_get_n_captures (const AdjCompiledAutograd *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->captures->len;
}

AdjCapture *
adj_compiled_autograd_get_capture (const AdjCompiledAutograd *self, guint index)
{
  g_return_val_if_fail (self != NULL && index < self->captures->len, NULL);

  return g_ptr_array_index (self->captures, index);
}

AdjGraph *
adj_capture_get_replayed (const AdjCapture *capture)
{
  g_return_val_if_fail (capture != NULL, NULL);

  return capture->replayed;
}

AdjGraph *
adj_capture_get_graph (const AdjCapture *capture)
{
  g_return_val_if_fail (capture != NULL, NULL);

  return capture->graph;
}

gboolean
adj_capture_record (const AdjCapture *capture, AdjRecording *recording, GError **error)
{
  g_autoptr (AdjGraph) graph = NULL;

  g_return_val_if_fail (capture != NULL && recording != NULL, FALSE);

  graph = reorder (capture->replayed, capture->order, recording, capture->reason, error);
  if (graph != NULL && capture->n_lists == 5)
    adj_recording_add (recording,
                       &(AdjStage){ .name = (char *) "sizes",
                                    .summary = (char *) "Drop sizes that nobody reads",
                                    .graph = capture->graph,
                                    .from = (gint) adj_recording_get_n_stages (recording) - 1,
                                    .ns = -1 });
  return graph != NULL;
}

const char *
adj_capture_get_reason (const AdjCapture *capture)
{
  g_return_val_if_fail (capture != NULL, NULL);

  return capture->reason;
}

guint64
adj_capture_get_n_runs (const AdjCapture *capture)
{
  g_return_val_if_fail (capture != NULL, 0);

  return capture->n_runs;
}

guint
adj_capture_get_n_calls (const AdjCapture *capture)
{
  g_return_val_if_fail (capture != NULL, 0);

  return capture->calls->len;
}

AdjCaptureCall
adj_capture_get_call (const AdjCapture *capture, guint index)
{
  g_return_val_if_fail (capture != NULL && index < capture->calls->len, (AdjCaptureCall){ 0 });

  return g_array_index (capture->calls, AdjCaptureCall, index);
}

guint
adj_capture_get_n_inputs (const AdjCapture *capture)
{
  g_return_val_if_fail (capture != NULL, 0);

  return capture->inputs->len;
}

AdjCaptureOrigin
adj_capture_get_input (const AdjCapture *capture, guint index)
{
  g_return_val_if_fail (capture != NULL && index < capture->inputs->len, (AdjCaptureOrigin){ 0 });

  return g_array_index (capture->inputs, AdjCaptureOrigin, index);
}

guint
adj_capture_get_n_hooks (const AdjCapture *capture)
{
  g_return_val_if_fail (capture != NULL, 0);

  return capture->objects->len;
}

AdjCaptureOrigin
adj_capture_get_hook (const AdjCapture *capture, guint index)
{
  g_return_val_if_fail (capture != NULL && index < capture->objects->len, (AdjCaptureOrigin){ 0 });

  return g_array_index (capture->objects, AdjCaptureOrigin, index);
}
