/* SPDX-License-Identifier: MIT */
/* Collecting: one visit of every node gives its key in the cache, the tensors and sizes that become
 * inputs of the graph, and its hooks (compiled_autograd/SPEC.md §2). */

#include "compiled_autograd/collection-private.h"

static const CollectedHooks no_hooks; /* for calls without hooks */

static void
clear_call (gpointer data)
{
  const CollectedCall *call = data;
  CollectedHooks *hooks = (CollectedHooks *) call->hooks;

  if (call->hooks == &no_hooks)
    return;
  g_clear_pointer (&hooks->tensor, g_ptr_array_unref);
  g_clear_pointer (&hooks->pre, g_ptr_array_unref);
  g_clear_pointer (&hooks->post, g_ptr_array_unref);
  g_clear_pointer (&hooks->leaf, g_ptr_array_unref);
  g_free (hooks);
}

Collection *
collection_new (void)
{
  Collection *self = g_new0 (Collection, 1);

  self->calls = g_array_new (FALSE, FALSE, sizeof (CollectedCall));
  g_array_set_clear_func (self->calls, clear_call);
  self->inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_tensor_unref);
  self->slots = g_array_new (FALSE, FALSE, sizeof (guint));
  self->packed = g_array_new (FALSE, FALSE, sizeof (CollectedPacked));
  self->sizes = g_array_new (FALSE, FALSE, sizeof (gint64));
  self->dynamic = g_array_new (FALSE, FALSE, sizeof (guint));
  self->objects = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_opaque_unref);
  return self;
}

void
collection_clear (Collection *self)
{
  g_array_set_size (self->calls, 0);
  g_ptr_array_set_size (self->inputs, 0);
  g_array_set_size (self->slots, 0);
  g_array_set_size (self->packed, 0);
  g_array_set_size (self->sizes, 0);
  g_array_set_size (self->dynamic, 0);
  g_ptr_array_set_size (self->objects, 0);
  self->n_key = 0;
  self->refusal = NULL;
}

void
collection_free (Collection *self)
{
  g_array_unref (self->calls);
  g_ptr_array_unref (self->inputs);
  g_array_unref (self->slots);
  g_array_unref (self->packed);
  g_array_unref (self->sizes);
  g_array_unref (self->dynamic);
  g_ptr_array_unref (self->objects);
  g_free (self->key);
  g_free (self);
}

gconstpointer
node_get_kind (const AdjGradNode *node)
{
  return node->klass->get_kind != NULL ? node->klass->get_kind (node) : node->klass;
}

gboolean
node_is_whole (const AdjGradNode *node)
{
  return node->klass->visit == NULL || node->klass->apply_to != NULL;
}

/* -- one node -- */

static guint
add_hooks (Collector *collector, ObjectKind kind, const GPtrArray *hooks)
{
  guint n = hooks != NULL ? hooks->len : 0;
  AdjOpaque *last = NULL;

  for (guint i = 0; i < n; i++)
    {
      AdjOpaque *object = object_new (kind, collector->node, g_ptr_array_index (hooks, i), NULL);

      collect_object (collector, object);
      if (last != NULL)
        object_set_next (last, object);
      last = object;
    }
  return n;
}

static guint
add_retainers (Collector *collector)
{
  AdjGradNode *node = collector->node;
  guint n = 0;

  for (guint i = 0; node->retainers != NULL && i < node->n_inputs; i++)
    if (node->retainers[i] != NULL)
      {
        collect_object (collector, object_new (OBJECT_RETAINER, node, NULL, node->retainers[i]));
        n++;
      }
  return n;
}

/* Writes the gradient index of each tensor hook. */
static void
put_hook_inputs (Collection *self, const AdjGradNode *node, const CollectedHooks *hooks)
{
  for (guint i = 0; hooks->tensor != NULL && i < hooks->tensor->len; i++)
    put_number (self, ((AdjHook *) g_ptr_array_index (hooks->tensor, i))->input);
  for (guint i = 0; node->retainers != NULL && i < node->n_inputs; i++)
    if (node->retainers[i] != NULL)
      put_number (self, i);
}

/* (transfer none): the hooks of @call, not shared, to be filled. */
static CollectedHooks *
own_hooks (CollectedCall *call)
{
  if (call->hooks == &no_hooks)
    call->hooks = g_new0 (CollectedHooks, 1);
  return (CollectedHooks *) call->hooks;
}

static void
collect_hooks (Collector *collector, CollectedCall *call)
{
  Collection *self = collector->self;
  AdjGradNode *node = call->node;
  const GPtrArray *tensor = grad_node_get_tensor_hooks (node);
  CollectedHooks *hooks;
  guint n_tensor;

  call->first_object = self->objects->len;
  if (tensor == NULL && node->retainers == NULL && node->pre_hooks == NULL &&
      node->post_hooks == NULL)
    {
      memset (reserve (self, 3), 0, 3);
      return;
    }
  hooks = own_hooks (call);
  hooks->tensor = hook_list_snapshot (tensor);
  hooks->pre = call->needed ? hook_list_snapshot (node->pre_hooks) : NULL;
  hooks->post = call->needed ? hook_list_snapshot (node->post_hooks) : NULL;
  n_tensor = add_hooks (collector, OBJECT_TENSOR_PRE_HOOK, hooks->tensor);
  put_number (self, n_tensor + add_retainers (collector));
  put_number (self, add_hooks (collector, OBJECT_PRE_HOOK, hooks->pre));
  put_number (self, add_hooks (collector, OBJECT_POST_HOOK, hooks->post));
  put_hook_inputs (self, node, hooks);
}

static void
visit_shape (const AdjShape *shape, const char *name, GradVisitor *visitor)
{
  for (guint i = 0; i < shape->rank; i++)
    visitor->size (visitor, name,
                   &(AdjValue){ .kind = ADJ_VALUE_INT, .integer = shape->size[i].word });
  for (guint i = 0; i < shape->rank; i++)
    visitor->size (visitor, name,
                   &(AdjValue){ .kind = ADJ_VALUE_INT, .integer = shape->stride[i].word });
  visitor->size (visitor, name,
                 &(AdjValue){ .kind = ADJ_VALUE_INT, .integer = shape->offset.word });
}

WrittenView
call_get_written (const CollectedCall *call)
{
  WrittenView written = { .inner = call->node };

  if (call->is_written_view)
    grad_node_get_written_view (call->node, &written);
  return written;
}

gboolean
call_visit (const CollectedCall *call, GradVisitor *visitor)
{
  AdjGradNode *node = call->node;
  const WrittenView written = call_get_written (call);

  if (call->form == NULL)
    return node->klass->visit == NULL || node->klass->visit (node, visitor);
  if (call->is_written_view)
    {
      visit_shape (written.base, "base", visitor);
      visit_shape (written.view, "view", visitor);
    }
  return grad_node_visit_form (written.inner, visitor);
}

/* Whether the node is the backward of a compiled function and is recorded as one: PyTorch lists its
 * object, although it is not called. */
static gboolean
collector_is_compiled (const Collector *collector)
{
  return collector->function != NULL && collector->self->level == ADJ_CAPTURE_LEVEL_NODES;
}

/* %FALSE: the saved values were released. */
static gboolean
collect_attributes (Collector *collector, CollectedCall *call)
{
  AdjGradNode *node = call->node;
  AdjTensor *leaf;

  call->first_slot = collector->self->slots->len;
  call->first_packed = collector->self->packed->len;
  call->first_size = collector->self->sizes->len;
  if (!call_visit (call, &collector->parent))
    return FALSE;
  if (grad_node_is_accumulator (node, &leaf) && leaf != NULL && leaf_get_hooks (leaf) != NULL)
    {
      own_hooks (call)->leaf = hook_list_snapshot (leaf_get_hooks (leaf));
      add_hooks (collector, OBJECT_LEAF_HOOK, call->hooks->leaf);
    }
  call->n_slots = collector->self->slots->len - call->first_slot;
  call->n_packed = collector->self->packed->len - call->first_packed;
  if (node_is_whole (node) || collector_is_compiled (collector))
    collect_object (collector, object_new_backward (node, collection_is_once (collector->self)));
  return TRUE;
}

static void
collect_edges (Collector *collector)
{
  Collection *self = collector->self;
  const AdjGradNode *node = collector->node;

  put_number (self, node->n_edges);
  for (guint i = 0; i < node->n_edges; i++)
    {
      const GradEdge *edge = &node->edges[i];

      put_byte (self, edge->node != NULL);
      if (edge->node == NULL)
        continue;
      put_number (self, task_look_up (self->task, edge->node));
      put_number (self, edge->input);
      collect_meta (&collector->parent, "gradient", &edge->node->inputs[edge->input]);
    }
}

static void
put_captures (Collection *self, const GArray *captures)
{
  const GradRequest *request = task_get_request (self->task);

  /* The number of results, including those that are not reached. */
  if (self->calls->len == 1 && request->n_targets > 0)
    put_number (self, request->n_targets);
  put_number (self, captures != NULL ? captures->len : 0);
  for (guint i = 0; captures != NULL && i < captures->len; i++)
    {
      guint target = g_array_index (captures, guint, i);
      guint32 pair[2] = { request->targets[target].edge.input, target };

      put_bytes (self, pair, sizeof pair);
    }
}

/* Writes whether the node runs, and its number of gradients if that is not one (the number of
 * results of its operation, which may depend on a size). */
static void
put_form (Collection *self, const CollectedCall *call)
{
  const guint n = call->node->n_inputs;

  put_byte (self, (guint8) (call->needed | (n > 1) << 1));
  if (n > 1)
    put_number (self, n);
}

static gboolean
collect_call (Collection *self, CollectedCall *call)
{
  Collector collector;
  gboolean there = TRUE;

  collector_init (&collector, self, call);
  put_number (self, call->id);
  put_captures (self, call->captures);
  collect_hooks (&collector, call);
  put_form (self, call);
  if (call->needed)
    {
      there = collect_attributes (&collector, call);
      call->first_edge_size = self->sizes->len;
      collect_edges (&collector);
    }
  call->function = collector.function;
  return (there || saved_fail_released (self->cx, call->node)) && !adj_context_has_error (self->cx);
}

/* Finds PyTorch's node for the node of @call, if it has one. */
static void
find_form (CollectedCall *call)
{
  WrittenView written;

  call->form = grad_node_get_form (call->node);
  if (call->form != NULL || !grad_node_get_written_view (call->node, &written))
    return;
  call->form = grad_node_get_form (written.inner);
  call->is_written_view = call->form != NULL;
}

/* A key begins with the kind of its node and its length, so that sequences of keys are equal if
 * their bytes are. */
static gboolean
collect_node (Collection *self, AdjGradNode *node, AdjCaptureLevel level)
{
  CollectedCall *call = ADD_ITEMS (self->calls, CollectedCall, 1);
  const guint begin = self->n_key;
  KeyHead head = { .kind = node_get_kind (node) };
  gboolean done;

  *call = (CollectedCall){ .node = node,
                           .hooks = &no_hooks,
                           .id = task_look_up (self->task, node),
                           .needed = task_needs (self->task, node),
                           .captures = task_get_captures (self->task, node) };
  if (level == ADJ_CAPTURE_LEVEL_NODES && call->needed)
    find_form (call);
  reserve (self, sizeof head);
  done = collect_call (self, call);
  head.length = self->n_key - begin - sizeof head;
  memcpy (self->key + begin, &head, sizeof head);
  call->key_end = self->n_key;
  return done;
}

/* Numbers the target nodes first, in order. */
static void
look_up_targets (Collection *self)
{
  const GradRequest *request = task_get_request (self->task);

  for (guint i = 0; i < request->n_targets; i++)
    if (task_reaches (self->task, request->targets[i].edge.node))
      task_look_up (self->task, request->targets[i].edge.node);
}

#define N_AHEAD 16         /* number of nodes prefetched together */
#define N_PREFETCH_STEPS 6 /* steps of GradNodeClass.prefetch */

/* Nodes are scattered in memory and lead to further addresses: prefetches @n of them together, step
 * by step. */
static void
prefetch (AdjGradNode *const *nodes, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      __builtin_prefetch (&nodes[i]->klass);
      __builtin_prefetch (&nodes[i]->retainers);
      __builtin_prefetch (nodes[i]->few + 1);
    }
  for (guint i = 0; i < n; i++)
    {
      __builtin_prefetch (nodes[i]->inputs);
      __builtin_prefetch ((const char *) nodes[i]->inputs + 64);
      __builtin_prefetch (nodes[i]->task_node);
      if (nodes[i]->edges != nodes[i]->few)
        __builtin_prefetch (nodes[i]->edges);
    }
  for (guint step = 0; step < N_PREFETCH_STEPS; step++)
    for (guint i = 0; i < n; i++)
      if (nodes[i]->klass->prefetch != NULL)
        nodes[i]->klass->prefetch (nodes[i], step);
}

gboolean
collect (Collection *self, AdjContext *cx, GraphTask *task, const AdjCompiledOptions *options)
{
  const gboolean last_first = options->order != ADJ_CAPTURE_ORDER_EAGER;
  g_autoptr (GPtrArray) nodes = task_list_nodes (task, last_first);
  gboolean done = TRUE;

  self->cx = cx;
  self->task = task;
  self->level = options->level;
  self->as_2_6 = last_first && options->order != ADJ_CAPTURE_ORDER_2_15;
  self->writes_gradients = options->write_gradients;
  look_up_targets (self);
  adj_scope_begin (cx);
  for (guint i = 0; i < nodes->len && done; i++)
    {
      if (i % N_AHEAD == 0)
        prefetch ((gpointer) (nodes->pdata + i), MIN (N_AHEAD, nodes->len - i));
      done = collect_node (self, g_ptr_array_index (nodes, i), options->level);
    }
  adj_scope_end (cx);
  return done;
}
