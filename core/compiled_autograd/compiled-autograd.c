/* SPDX-License-Identifier: MIT */
/* The switch, and one backward: collect, find or capture, run (compiled_autograd/SPEC.md §1). */

#include <string.h>

#include "compiled_autograd/compiled-private.h"
#include "ir/adj-graph.h"
#include "tensor/adj-tensor-internal.h"

#define MAX_KEPT 64    /* captures that are kept for who asks, beside those in the cache */
#define MAX_VARIANTS 8 /* captures at one end of the tree, which hold for other sizes */
#define MAX_ENDS 256   /* of the tree */

struct _AdjCompiledAutograd
{
  BackwardWalker parent;
  AdjCompiledOptions options;
  CacheNode *root;
  guint64 n_found;     /* ways down the tree that were gone */
  Collection *spare;   /* (owned) (nullable): that no backward fills */
  GPtrArray *captures; /* of AdjCapture, owned: the last ones */
  AdjCompiledCounters counters;
  char *fallback_reason; /* (owned) (nullable) */
  guint n_enabled;
  gboolean running;
};

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

/* It holds for the sizes of @collection. */
static void
note_sizes (AdjCapture *capture, const Collection *collection)
{
  g_array_set_size (capture->sizes, 0);
  g_array_append_vals (capture->sizes, collection->sizes->data, collection->sizes->len);
}

static gboolean
has_sizes (const AdjCapture *capture, const Collection *collection)
{
  guint n = collection->sizes->len;

  return capture->sizes->len == n &&
         (n == 0 ||
          memcmp (capture->sizes->data, collection->sizes->data, sizeof (gint64) * n) == 0);
}

/* The sizes of the first backward that comes to @end. */
static void
begin_sizes (const AdjCompiledAutograd *self, CacheNode *end, const Collection *collection)
{
  end->sizes = g_array_new (FALSE, FALSE, sizeof (SizeState));
  end->captures = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_capture_unref);
  sizes_update (end->sizes, collection->sizes, NULL);
  for (guint i = 0; self->options.dynamic && i < end->sizes->len; i++)
    g_array_index (end->sizes, SizeState, i).dynamic = TRUE;
  for (guint i = 0; i < collection->dynamic->len; i++)
    g_array_index (end->sizes, SizeState, g_array_index (collection->dynamic, guint, i)).dynamic =
        TRUE;
}

/* (nullable): a capture that holds for the sizes; @reason (out) (transfer full): why none does. */
static AdjCapture *
find_capture (AdjCompiledAutograd *self,
              CacheNode *end,
              const Collection *collection,
              char **reason)
{
  SizeChange change;

  if (end->sizes == NULL)
    {
      begin_sizes (self, end, collection);
      return NULL;
    }
  for (guint i = end->captures->len; i-- > 0;)
    if (has_sizes (g_ptr_array_index (end->captures, i), collection))
      return g_ptr_array_index (end->captures, i);
  if (sizes_update (end->sizes, collection->sizes, &change))
    {
      *reason = explain_size (collection, change.index, change.before);
      g_ptr_array_set_size (end->captures, 0);
      return NULL;
    }
  for (guint i = end->captures->len; i-- > 0;)
    {
      AdjCapture *capture = g_ptr_array_index (end->captures, i);

      if (capture->any_sizes || sizes_fit (capture->rules, collection->sizes,
                                           adj_graph_get_symbols (capture->graph), reason))
        {
          note_sizes (capture, collection);
          return capture;
        }
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
  note_sizes (capture, collection);
  self->counters.capture_ns = (g_get_monotonic_time () - begin) * 1000;
  self->counters.captures++;
  if (end->captures->len == MAX_VARIANTS)
    {
      g_ptr_array_remove_index (end->captures, 0);
      self->counters.evictions++;
    }
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

/* (transfer none) (nullable): what holds for @collection, or is made for it; else it fell back. */
static AdjCapture *
find_or_make (AdjCompiledAutograd *self, AdjContext *cx, const Collection *collection, gint64 begin)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *reason = NULL;
  CacheNode *end = cache_find (self->root, collection, &reason);
  AdjCapture *capture;

  end->used = ++self->n_found;
  capture = find_capture (self, end, collection, &reason);
  self->counters.lookup_ns = (g_get_monotonic_time () - begin) * 1000;
  if (capture != NULL)
    {
      self->counters.hits++;
      return capture;
    }
  capture = make_capture (self, end, collection, reason, &error);
  self->counters.evictions += cache_evict (self->root, MAX_ENDS);
  if (capture == NULL)
    fall_back (self, cx, error->message);
  return capture;
}

static gboolean
collect_and_run (AdjCompiledAutograd *self, AdjContext *cx, GraphTask *task, Collection *collection)
{
  const gint64 begin = g_get_monotonic_time ();
  AdjCapture *capture = NULL;
  gboolean done;

  self->running = TRUE;
  done = collect (collection, cx, task, &self->options);
  self->running = FALSE;
  if (!done)
    fall_back_on_error (self, cx);
  else if (collection->refusal != NULL)
    fall_back (self, cx, collection->refusal);
  else
    capture = find_or_make (self, cx, collection, begin);
  return capture != NULL && run_capture (self, capture, cx, collection);
}

/* What is collected uses the memory of the backward before; one within another has its own. */
static gboolean
walk (BackwardWalker *walker, AdjContext *cx, GraphTask *task)
{
  AdjCompiledAutograd *self = (AdjCompiledAutograd *) walker;
  Collection *collection = self->spare != NULL ? g_steal_pointer (&self->spare) : collection_new ();
  gboolean done = collect_and_run (self, cx, task, collection);

  collection_clear (collection);
  if (self->spare != NULL)
    collection_free (collection);
  else
    self->spare = collection;
  return done;
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
  g_clear_pointer (&self->spare, collection_free);
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
