/* SPDX-License-Identifier: MIT */
/* Collecting: one visit to every node gives its key in the cache, the tensors and sizes that become
 * inputs of the graph, and the hooks that it will call (compiled_autograd/SPEC.md §2). */

#include <string.h>

#include "compiled_autograd/compiled-private.h"
#include "tensor/adj-tensor-internal.h"

static void
clear_call (gpointer data)
{
  CollectedCall *call = data;

  g_clear_pointer (&call->tensor_hooks, g_ptr_array_unref);
  g_clear_pointer (&call->pre_hooks, g_ptr_array_unref);
  g_clear_pointer (&call->post_hooks, g_ptr_array_unref);
  g_clear_pointer (&call->leaf_hooks, g_ptr_array_unref);
}

static Collection *
collection_new (AdjContext *cx, GraphTask *task, guint n_nodes)
{
  Collection *self = g_new0 (Collection, 1);

  self->cx = cx;
  self->task = task;
  self->calls = g_array_sized_new (FALSE, FALSE, sizeof (CollectedCall), n_nodes);
  g_array_set_clear_func (self->calls, clear_call);
  self->inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_tensor_unref);
  self->input_origins = g_array_new (FALSE, FALSE, sizeof (CollectedOrigin));
  self->numbers = g_hash_table_new (NULL, NULL);
  self->slots = g_array_sized_new (FALSE, FALSE, sizeof (guint), 2 * n_nodes);
  self->packed = g_array_new (FALSE, FALSE, sizeof (CollectedPacked));
  self->sizes = g_array_sized_new (FALSE, FALSE, sizeof (gint64), 8 * n_nodes);
  self->dynamic = g_array_new (FALSE, FALSE, sizeof (guint));
  self->objects = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_opaque_unref);
  self->object_origins = g_array_new (FALSE, FALSE, sizeof (CollectedOrigin));
  return self;
}

void
collection_free (Collection *self)
{
  g_array_unref (self->calls);
  g_ptr_array_unref (self->inputs);
  g_array_unref (self->input_origins);
  g_hash_table_unref (self->numbers);
  g_array_unref (self->slots);
  g_array_unref (self->packed);
  g_array_unref (self->sizes);
  g_array_unref (self->dynamic);
  g_ptr_array_unref (self->objects);
  g_array_unref (self->object_origins);
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

/* -- the key -- */

static void
grow (Collection *self, guint n)
{
  self->key_size = 2 * (self->n_key + n);
  self->key = g_realloc (self->key, self->key_size);
}

/* Room for @n more bytes, which are counted as written. */
static inline guint8 *
reserve (Collection *self, guint n)
{
  guint8 *room;

  if (G_UNLIKELY (self->n_key + n > self->key_size))
    grow (self, n);
  room = self->key + self->n_key;
  self->n_key += n;
  return room;
}

static inline void
put_bytes (Collection *self, gconstpointer bytes, guint n)
{
  memcpy (reserve (self, n), bytes, n);
}

static inline void
put_byte (Collection *self, guint8 byte)
{
  *reserve (self, 1) = byte;
}

static void
put_big_number (Collection *self, guint64 number)
{
  const guint64 little = GUINT64_TO_LE (number);
  guint n = number <= G_MAXUINT16 ? 2 : number <= G_MAXUINT32 ? 4 : 8;

  put_byte (self, n == 2 ? 253 : n == 4 ? 254 : 255);
  put_bytes (self, &little, n);
}

/* One byte for a small number, else a mark and the bytes that it needs. */
static inline void
put_number (Collection *self, guint64 number)
{
  if (G_LIKELY (number < 253))
    put_byte (self, (guint8) number);
  else
    put_big_number (self, number);
}

static void
put_device (Collection *self, AdjDevice device)
{
  put_byte (self, (guint8) device.type);
  put_byte (self, (guint8) device.index);
}

static void
put_dtype (Collection *self, AdjDType dtype)
{
  const guint64 little = GUINT64_TO_LE ((guint64) dtype);

  put_bytes (self, &little, sizeof little);
}

/* -- what a node keeps -- */

typedef struct
{
  GradVisitor parent;
  Collection *self;
  AdjGradNode *node;
  const AdjGradNode *keeper; /* of what is visited: @node, or what wrote for it */
  guint call;
  AdjFunction *function; /* (unowned) (nullable): that it calls */
} Collector;

static void
collect_tensor (Collector *collector, const char *name, AdjTensor *tensor)
{
  Collection *self = collector->self;
  guint number = 0;

  if (tensor != NULL)
    number = GPOINTER_TO_UINT (g_hash_table_lookup (self->numbers, tensor));
  if (tensor != NULL && number == 0)
    {
      const CollectedOrigin origin = { collector->call, name };

      g_ptr_array_add (self->inputs, adj_tensor_ref (tensor));
      g_array_append_val (self->input_origins, origin);
      number = self->inputs->len;
      g_hash_table_insert (self->numbers, tensor, GUINT_TO_POINTER (number));
    }
  g_array_append_val (self->slots, number);
  put_number (self, number);
  if (tensor == NULL)
    return;
  if (adj_tensor_get_slot (tensor, ADJ_SLOT_COMPOSITE) != NULL)
    self->refusal = "compiled_autograd does not support tensors that are made of tensors";
  put_device (self, adj_tensor_get_meta (tensor)->device);
  put_dtype (self, adj_tensor_get_meta (tensor)->dtype);
  put_byte (self, adj_tensor_get_requires_grad (tensor));
}

/* A size that is a symbol already is of a trace, and no backward of one comes here. */
static void
collect_meta (GradVisitor *visitor, const char *name, AdjTensorMeta *meta)
{
  Collector *collector = (Collector *) visitor;
  Collection *self = collector->self;
  static const guint8 rest[] = { 0, 0, 0, 0 }; /* layout, pinned, memory format, subclass */
  const guint n = self->sizes->len;

  put_device (self, meta->device);
  put_dtype (self, meta->dtype);
  put_byte (self, meta->requires_grad);
  put_bytes (self, rest, sizeof rest);
  put_number (self, meta->shape.rank);
  g_array_set_size (self->sizes, n + meta->shape.rank);
  for (guint i = 0; i < meta->shape.rank; i++)
    g_array_index (self->sizes, gint64, n + i) = meta->shape.size[i].word;
}

static void
collect_held (GradVisitor *visitor, const char *name, AdjTensor **tensor)
{
  collect_tensor ((Collector *) visitor, name, *tensor);
}

/* What PyTorch's node of an operator keeps of a tensor. */
static void
collect_kept_size (GradVisitor *visitor, const char *name, AdjValue *size)
{
  Collection *self = ((Collector *) visitor)->self;
  gint64 value = size->kind == ADJ_VALUE_INT ? size->integer : 0;

  if (size->kind != ADJ_VALUE_INT)
    self->refusal = "compiled_autograd does not support sizes that are symbols already";
  g_array_append_val (self->sizes, value);
}

/* What a compiled function computes with is a symbol from the first time on. */
static void
collect_size (GradVisitor *visitor, const char *name, AdjValue *size)
{
  Collection *self = ((Collector *) visitor)->self;
  gint64 value = size->kind == ADJ_VALUE_INT ? size->integer : 0;

  if (size->kind != ADJ_VALUE_INT)
    self->refusal = "compiled_autograd does not support sizes that are symbols already";
  g_array_append_val (self->dynamic, self->sizes->len);
  g_array_append_val (self->sizes, value);
}

static void
collect_function (GradVisitor *visitor, const char *name, AdjFunction *function)
{
  Collector *collector = (Collector *) visitor;

  put_bytes (collector->self, &function, sizeof function);
  collector->function = function;
}

static void
add_object (Collector *collector, AdjOpaque *object)
{
  Collection *self = collector->self;
  const CollectedOrigin origin = { collector->call, NULL };

  g_ptr_array_add (self->objects, object);
  g_array_append_val (self->object_origins, origin);
  put_number (self, self->objects->len);
}

static gboolean
is_once (const Collection *self)
{
  return (task_get_request (self->task)->flags & ADJ_BACKWARD_RETAIN_GRAPH) == 0;
}

static void
collect_packed (Collector *collector, AdjGradNode *node, Saved *saved)
{
  Collection *self = collector->self;
  const CollectedPacked packed = { self->objects->len, *saved_get_packed (saved) };
  guint slot = SLOT_PACKED | self->packed->len;

  g_array_append_val (self->packed, packed);
  g_array_append_val (self->slots, slot);
  put_number (self, slot);
  add_object (collector, object_new_unpack (node, saved, is_once (self)));
  put_device (self, packed.meta.device);
  put_dtype (self, packed.meta.dtype);
}

static void
collect_saved (GradVisitor *visitor, const char *name, AdjGradNode *node, Saved *saved)
{
  Collector *collector = (Collector *) visitor;

  if (saved_get_packed (saved) != NULL && !collector->self->unpacks)
    {
      collect_packed (collector, node, saved);
      return;
    }
  collect_tensor (collector, name, saved_unpack (saved, collector->self->cx, node, NULL));
}

/* In 16 bit a number is more exact than a tensor of it would be. */
gboolean
number_is_lifted (const AdjGradNode *node, const AdjValue *leaf)
{
  AdjDType dtype = node->n_inputs > 0 ? node->inputs[0].dtype : ADJ_DTYPE_NONE;

  return (dtype == ADJ_DTYPE_F32 || dtype == ADJ_DTYPE_F64) &&
         (leaf->kind == ADJ_VALUE_INT || leaf->kind == ADJ_VALUE_FLOAT);
}

static AdjTensor *
lift_number (const Collector *collector, const AdjValue *leaf)
{
  AdjDType dtype = collector->keeper->inputs[0].dtype;
  float single;

  if (leaf->kind == ADJ_VALUE_INT)
    return adj_from_array (collector->self->cx, ADJ_DTYPE_I64, NULL, 0, &leaf->integer);
  single = (float) leaf->number;
  return adj_from_array (collector->self->cx, dtype, NULL, 0,
                         dtype == ADJ_DTYPE_F64 ? (gconstpointer) &leaf->number : &single);
}

static void
collect_plain (Collection *self, const AdjValue *leaf)
{
  const guint8 *payload = (const guint8 *) &leaf->integer;

  put_byte (self, (guint8) leaf->kind);
  if (adj_value_is_container (leaf))
    put_number (self, leaf->n);
  else if (leaf->kind == ADJ_VALUE_STRING || leaf->kind == ADJ_VALUE_BYTES ||
           leaf->kind == ADJ_VALUE_OP || leaf->kind == ADJ_VALUE_RAW)
    {
      put_number (self, leaf->n);
      put_bytes (self, leaf->text, leaf->n);
    }
  else if (leaf->kind == ADJ_VALUE_BOOL || leaf->kind == ADJ_VALUE_DTYPE ||
           leaf->kind == ADJ_VALUE_LAYOUT || leaf->kind == ADJ_VALUE_MEMORY_FORMAT)
    put_bytes (self, payload, sizeof (gboolean));
  else if (leaf->kind != ADJ_VALUE_NONE && leaf->kind != ADJ_VALUE_ELLIPSIS)
    put_bytes (self, payload, sizeof (gint64));
}

static void
collect_leaf (GradVisitor *visitor, const char *name, AdjValue *leaf, gboolean is_tensor)
{
  Collector *collector = (Collector *) visitor;
  const gboolean lifted = is_tensor && number_is_lifted (collector->keeper, leaf);

  if (leaf->kind == ADJ_VALUE_TENSOR)
    collect_tensor (collector, name, leaf->tensor);
  else if (leaf->kind == ADJ_VALUE_META)
    collect_meta (visitor, name, (AdjTensorMeta *) leaf->meta);
  else if (leaf->kind == ADJ_VALUE_NONE && is_tensor)
    collect_tensor (collector, name, NULL);
  else if (lifted)
    collect_tensor (collector, name, lift_number (collector, leaf));
  else
    collect_plain (collector->self, leaf);
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

      add_object (collector, object);
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
        add_object (collector, object_new (OBJECT_RETAINER, node, NULL, node->retainers[i]));
        n++;
      }
  return n;
}

/* Which gradient each of them is of. */
static void
put_hook_inputs (Collection *self, const CollectedCall *call)
{
  const AdjGradNode *node = call->node;

  for (guint i = 0; call->tensor_hooks != NULL && i < call->tensor_hooks->len; i++)
    put_number (self, ((AdjHook *) g_ptr_array_index (call->tensor_hooks, i))->input);
  for (guint i = 0; node->retainers != NULL && i < node->n_inputs; i++)
    if (node->retainers[i] != NULL)
      put_number (self, i);
}

static void
collect_hooks (Collector *collector, CollectedCall *call)
{
  Collection *self = collector->self;
  AdjGradNode *node = call->node;
  guint n_tensor, n_pre = 0, n_post = 0;

  call->first_object = self->objects->len;
  call->tensor_hooks = hook_list_snapshot (grad_node_get_tensor_hooks (node));
  n_tensor = add_hooks (collector, OBJECT_TENSOR_PRE_HOOK, call->tensor_hooks);
  n_tensor += add_retainers (collector);
  if (call->needed)
    {
      call->pre_hooks = hook_list_snapshot (node->pre_hooks);
      call->post_hooks = hook_list_snapshot (node->post_hooks);
      n_pre = add_hooks (collector, OBJECT_PRE_HOOK, call->pre_hooks);
      n_post = add_hooks (collector, OBJECT_POST_HOOK, call->post_hooks);
    }
  put_number (self, n_tensor);
  put_number (self, n_pre);
  put_number (self, n_post);
  put_hook_inputs (self, call);
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

gboolean
call_visit (const CollectedCall *call, GradVisitor *visitor)
{
  AdjGradNode *node = call->node;

  if (call->form == NULL)
    return node->klass->visit == NULL || node->klass->visit (node, visitor);
  if (!call->is_written_view)
    return grad_node_visit_form (node, visitor);
  visit_shape (call->written.base, "base", visitor);
  visit_shape (call->written.view, "view", visitor);
  return grad_node_visit_form (call->written.inner, visitor);
}

/* %FALSE: what it kept was let go. */
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
  if (grad_node_is_accumulator (node, &leaf) && leaf != NULL)
    {
      call->leaf_hooks = hook_list_snapshot (leaf_get_hooks (leaf));
      add_hooks (collector, OBJECT_LEAF_HOOK, call->leaf_hooks);
    }
  call->n_slots = collector->self->slots->len - call->first_slot;
  call->n_packed = collector->self->packed->len - call->first_packed;
  if (node_is_whole (node))
    add_object (collector, object_new_backward (node, is_once (collector->self)));
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

  /* How many results the graph has: those that it does not come to are among them. */
  if (self->calls->len == 0 && request->n_targets > 0)
    put_number (self, request->n_targets);
  put_number (self, captures != NULL ? captures->len : 0);
  for (guint i = 0; captures != NULL && i < captures->len; i++)
    {
      guint target = g_array_index (captures, guint, i);
      guint32 pair[2] = { request->targets[target].edge.input, target };

      put_bytes (self, pair, sizeof pair);
    }
}

/* Whether it runs, and how many gradients it takes where that is not one: as many results as an
 * operation had, which a size may say. */
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
  Collector collector = { .parent = { self->cx, collect_saved, collect_leaf, collect_meta,
                                      collect_held, collect_size, collect_function },
                          .self = self,
                          .node = call->node,
                          .keeper = call->is_written_view ? call->written.inner : call->node,
                          .call = self->calls->len };
  gboolean there = TRUE;

  if (call->form != NULL)
    collector.parent.size = collect_kept_size;
  self->n_key = 0;
  put_number (self, call->id);
  put_captures (self, call->captures);
  collect_hooks (&collector, call);
  put_form (self, call);
  if (call->needed)
    {
      adj_scope_begin (self->cx);
      there = collect_attributes (&collector, call);
      adj_scope_end (self->cx);
      call->first_edge_size = self->sizes->len;
      collect_edges (&collector);
    }
  call->key_length = self->n_key;
  return (there || saved_fail_released (self->cx, call->node)) && !adj_context_has_error (self->cx);
}

/* Nodes whose gradients are wanted come first, in order. */
static void
look_up_targets (Collection *self)
{
  const GradRequest *request = task_get_request (self->task);

  for (guint i = 0; i < request->n_targets; i++)
    if (task_reaches (self->task, request->targets[i].edge.node))
      task_look_up (self->task, request->targets[i].edge.node);
}

/* How PyTorch calls the node of @call, where it has such a node. */
static void
find_form (CollectedCall *call)
{
  call->form = grad_node_get_form (call->node);
  if (call->form != NULL || !grad_node_get_written_view (call->node, &call->written))
    return;
  call->form = grad_node_get_form (call->written.inner);
  call->is_written_view = call->form != NULL;
}

Collection *
collect (AdjContext *cx,
         GraphTask *task,
         const AdjCompiledOptions *options,
         CollectFunc each,
         gpointer data)
{
  const gboolean last_first = options->order != ADJ_CAPTURE_ORDER_EAGER;
  g_autoptr (GPtrArray) nodes = task_list_nodes (task, last_first);
  Collection *self = collection_new (cx, task, nodes->len);
  gboolean done = TRUE;

  self->unpacks = last_first && options->order != ADJ_CAPTURE_ORDER_2_15;
  look_up_targets (self);
  for (guint i = 0; i < nodes->len && done; i++)
    {
      CollectedCall call = { .node = g_ptr_array_index (nodes, i) };

      call.id = task_look_up (task, call.node);
      call.needed = task_needs (task, call.node);
      call.captures = task_get_captures (task, call.node);
      if (options->level == ADJ_CAPTURE_LEVEL_NODES && call.needed)
        find_form (&call);
      done = collect_call (self, &call);
      g_array_append_val (self->calls, call);
      if (done && each != NULL)
        each (self, &call, node_get_kind (call.node), data);
    }
  if (done)
    return self;
  collection_free (self);
  return NULL;
}
