/* SPDX-License-Identifier: MIT */
/* The key of a call in words, to explain why a backward was captured again. */

#include "call/adj-function.h"
#include "compiled_autograd/compiled-private.h"
#include "ir/adj-text.h"

typedef struct
{
  GradVisitor parent;
  const Collection *collection;
  AdjGradNode *node;
  guint slot; /* the next tensor that the node saves */
  GPtrArray *words;
} Describer;

static void add (Describer *describer, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
add (Describer *describer, const char *format, ...)
{
  va_list list;

  va_start (list, format);
  g_ptr_array_add (describer->words, g_strdup_vprintf (format, list));
  va_end (list);
}

/* "f32 cpu input 3, requires grad" */
static void
describe_tensor (Describer *describer, const char *name)
{
  const Collection *collection = describer->collection;
  guint number = g_array_index (collection->slots, guint, describer->slot++);
  const AdjTensor *tensor = number > 0 && number < SLOT_PACKED
                                ? g_ptr_array_index (collection->inputs, number - 1)
                                : NULL;
  g_autoptr (GString) device = g_string_new (NULL);

  if ((number & SLOT_PACKED) != 0)
    {
      add (describer, "'%s' packed", name);
      return;
    }
  if (tensor == NULL)
    {
      add (describer, "'%s' absent", name);
      return;
    }
  adj_device_print (adj_tensor_get_meta (tensor)->device, device);
  add (describer, "'%s' %s %s, input %u%s", name,
       adj_dtype_info (adj_tensor_get_meta (tensor)->dtype)->code, device->str, number - 1,
       adj_tensor_get_requires_grad (tensor) ? ", requires grad" : "");
}

static void
describe_saved (GradVisitor *visitor, const char *name, AdjGradNode *node, Saved *saved)
{
  describe_tensor ((Describer *) visitor, name);
}

static void
describe_meta (GradVisitor *visitor, const char *name, AdjTensorMeta *meta)
{
  add ((Describer *) visitor, "'%s' %s of rank %u", name,
       meta->dtype < ADJ_N_DTYPES ? adj_dtype_info (meta->dtype)->code : "none", meta->shape.rank);
}

static void
describe_leaf (GradVisitor *visitor, const char *name, AdjValue *leaf, gboolean is_tensor)
{
  Describer *describer = (Describer *) visitor;
  g_autoptr (GString) text = NULL;

  if (leaf->kind == ADJ_VALUE_TENSOR || (is_tensor && leaf->kind == ADJ_VALUE_NONE) ||
      (is_tensor && number_is_lifted (describer->node, leaf)))
    describe_tensor (describer, name);
  else if (leaf->kind == ADJ_VALUE_META)
    describe_meta (visitor, name, (AdjTensorMeta *) leaf->meta);
  else if (adj_value_is_container (leaf))
    add (describer, "'%s' of length %u", name, leaf->n);
  else
    {
      text = g_string_new (NULL);
      adj_value_print (leaf, NULL, text);
      add (describer, "'%s' = %s", name, text->str);
    }
}

static void
describe_held (GradVisitor *visitor, const char *name, AdjTensor **tensor)
{
  describe_tensor ((Describer *) visitor, name);
}

static void
describe_size (GradVisitor *visitor, const char *name, AdjValue *size)
{
  add ((Describer *) visitor, "'%s' a size", name);
}

static void
describe_function (GradVisitor *visitor, const char *name, AdjFunction *function)
{
  add ((Describer *) visitor, "%s %s at %p", name, function->klass->name, (gpointer) function);
}

static void
describe_hooks (Describer *describer, const char *kind, const GPtrArray *hooks)
{
  guint n = hooks != NULL ? hooks->len : 0;

  add (describer, "%u %s%s", n, kind, n == 1 ? "" : "s");
}

static void
describe_edges (Describer *describer)
{
  const AdjGradNode *node = describer->node;

  for (guint i = 0; i < node->n_edges; i++)
    {
      const AdjGradNode *next = node->edges[i].node;
      const AdjTensorMeta *meta = next != NULL ? &next->inputs[node->edges[i].input] : NULL;
      guint id;

      if (meta == NULL)
        {
          add (describer, "edge %u to nothing", i);
          continue;
        }
      id = task_look_up (describer->collection->task, next);
      add (describer, "edge %u to gradient %u of %s (look-up %u), %s of rank %u", i,
           node->edges[i].input, next->name, id,
           meta->dtype < ADJ_N_DTYPES ? adj_dtype_info (meta->dtype)->code : "none",
           meta->shape.rank);
    }
}

GStrv
call_describe (const Collection *collection, guint index)
{
  const CollectedCall *call = &g_array_index (collection->calls, CollectedCall, index);
  AdjGradNode *node = call->node;
  Describer describer = { { collection->cx, describe_saved, describe_leaf, describe_meta,
                            describe_held, describe_size, describe_function },
                          collection,
                          node,
                          call->first_slot,
                          g_ptr_array_new () };

  add (&describer, "look-up %u", call->id);
  if (index == 0)
    add (&describer, "%u targets", task_get_request (collection->task)->n_targets);
  add (&describer, "%u wanted gradients", call->captures != NULL ? call->captures->len : 0);
  describe_hooks (&describer, "tensor hook", call->hooks->tensor);
  describe_hooks (&describer, "pre-hook", call->hooks->pre);
  describe_hooks (&describer, "post-hook", call->hooks->post);
  if (node->n_inputs > 1)
    add (&describer, "%u gradients arrive", node->n_inputs);
  add (&describer, "%s", call->needed ? "it runs" : "only what arrives is wanted");
  if (call->needed)
    call_visit (call, &describer.parent);
  describe_hooks (&describer, "post-accumulate hook", call->hooks->leaf);
  if (call->needed)
    describe_edges (&describer);
  g_ptr_array_add (describer.words, NULL);
  return (GStrv) g_ptr_array_free (describer.words, FALSE);
}
