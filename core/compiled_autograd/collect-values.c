/* SPDX-License-Identifier: MIT */
/* Collects the values that one node saves: tensors become inputs of the graph, sizes are listed,
 * all others are part of the key (compiled_autograd/SPEC.md §2.2). */

#include "compiled_autograd/collection-private.h"
#include "tensor/adj-tensor-internal.h"

/* The number of @tensor among the inputs, from 1.  The number that it had in an earlier backward is
 * tried first and verified. */
static guint
number_input (Collection *self, AdjTensor *tensor)
{
  const guint number = adj_tensor_get_number (tensor);

  if (number - 1 < self->inputs->len && self->inputs->pdata[number - 1] == tensor)
    return number;
  g_ptr_array_add (self->inputs, adj_tensor_ref (tensor));
  adj_tensor_set_number (tensor, self->inputs->len);
  return self->inputs->len;
}

static void
collect_tensor (Collector *collector, const char *name, AdjTensor *tensor)
{
  Collection *self = collector->self;
  const guint number = tensor != NULL ? number_input (self, tensor) : 0;

  *ADD_ITEMS (self->slots, guint, 1) = number;
  put_number (self, number);
  if (tensor == NULL)
    return;
  if (adj_tensor_get_slot (tensor, ADJ_SLOT_COMPOSITE) != NULL)
    self->refusal = "compiled_autograd does not support tensors that are made of tensors";
  put_look (self, adj_tensor_get_meta (tensor), adj_tensor_get_requires_grad (tensor));
}

/* Symbolic sizes belong to a trace, whose backwards are not captured. */
void
collect_meta (GradVisitor *visitor, const char *name, AdjTensorMeta *meta)
{
  Collector *collector = (Collector *) visitor;
  Collection *self = collector->self;
  static const guint8 rest[] = { 0, 0, 0, 0 }; /* layout, pinned, memory format, subclass */
  gint64 *sizes;

  put_look (self, meta, meta->requires_grad);
  put_bytes (self, rest, sizeof rest);
  put_number (self, meta->shape.rank);
  sizes = ADD_ITEMS (self->sizes, gint64, meta->shape.rank);
  for (guint i = 0; i < meta->shape.rank; i++)
    sizes[i] = meta->shape.size[i].word;
}

static void
collect_held (GradVisitor *visitor, const char *name, AdjTensor **tensor)
{
  collect_tensor ((Collector *) visitor, name, *tensor);
}

/* A size that PyTorch's node of the operator saves of a tensor. */
static void
collect_kept_size (GradVisitor *visitor, const char *name, AdjValue *size)
{
  Collection *self = ((Collector *) visitor)->self;
  gint64 value = size->kind == ADJ_VALUE_INT ? size->integer : 0;

  if (size->kind != ADJ_VALUE_INT)
    self->refusal = "compiled_autograd does not support sizes that are symbols already";
  g_array_append_val (self->sizes, value);
}

/* Sizes used by a compiled function are symbols from the first capture on. */
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

void
collect_object (Collector *collector, AdjOpaque *object)
{
  Collection *self = collector->self;

  g_ptr_array_add (self->objects, object);
  put_number (self, self->objects->len);
}

gboolean
collection_is_once (const Collection *self)
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
  collect_object (collector, object_new_unpack (node, saved, collection_is_once (self)));
  put_look (self, &packed.meta, FALSE);
}

static void
collect_saved (GradVisitor *visitor, const char *name, AdjGradNode *node, Saved *saved)
{
  Collector *collector = (Collector *) visitor;

  if (saved_get_packed (saved) != NULL && !collector->self->as_2_6)
    {
      collect_packed (collector, node, saved);
      return;
    }
  collect_tensor (collector, name, saved_unpack (saved, collector->self->cx, node, NULL));
}

/* With 16-bit gradients a tensor would be less exact than the number, which is not lifted. */
gboolean
number_is_lifted (const AdjGradNode *node, const AdjValue *leaf)
{
  AdjDType dtype = node->n_inputs > 0 ? node->inputs[0].dtype : ADJ_DTYPE_NONE;

  return (dtype == ADJ_DTYPE_F32 || dtype == ADJ_DTYPE_F64) &&
         (leaf->kind == ADJ_VALUE_INT || leaf->kind == ADJ_VALUE_FLOAT);
}

/* Lifts a number to a tensor, rounded to the precision of the gradient, so that results have the
 * same bits. */
static AdjTensor *
lift_number (const Collector *collector, const AdjValue *leaf)
{
  AdjContext *cx = collector->self->cx;
  const gboolean is_double = collector->keeper->inputs[0].dtype == ADJ_DTYPE_F64;
  const float single = (float) leaf->number;
  const double number = is_double ? leaf->number : (double) single;

  if (leaf->kind == ADJ_VALUE_INT)
    return adj_from_array (cx, ADJ_DTYPE_I64, NULL, 0, &leaf->integer);
  if (is_double || collector->self->as_2_6)
    return adj_from_array (cx, ADJ_DTYPE_F64, NULL, 0, &number);
  return adj_from_array (cx, ADJ_DTYPE_F32, NULL, 0, &single);
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
  else if (leaf->kind == ADJ_VALUE_DEVICE)
    put_bytes (self, payload, sizeof (AdjDevice));
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

void
collector_init (Collector *self, Collection *collection, const CollectedCall *call)
{
  *self = (Collector){ .parent = { collection->cx, collect_saved, collect_leaf, collect_meta,
                                   collect_held, collect_size, collect_function },
                       .self = collection,
                       .node = call->node,
                       .keeper = call_get_written (call).inner,
                       .call = collection->calls->len - 1 };
  if (call->form != NULL)
    self->parent.size = collect_kept_size;
}
