/* SPDX-License-Identifier: MIT */
/* The values kept by a compiled forward, and the compiled backward that uses them. */

#include <string.h>

#include "aot/composite-private.h"
#include "aot/kept-private.h"
#include "aot/metadata-private.h"
#include "autograd/adj-autograd-internal.h"
#include "autograd/adj-engine-internal.h"
#include "ir/adj-opaque.h"
#include "ops/adj-op-id.h"
#include "rules/adj-rule.h"

static void
saved_value_clear (gpointer data)
{
  adj_value_clear (&((AotSavedValue *) data)->value);
}

void
aot_kept_free (gpointer data)
{
  AotKept *saved = data;

  aot_stage_unref (&saved->boundary->parent);
  g_free (saved->input_of);
  g_free (saved->grad_of);
  g_free (saved->metas);
  g_array_unref (saved->values);
  for (guint i = 0; i < saved->n_sizes; i++)
    adj_value_clear (&saved->sizes[i]);
  g_free (saved->sizes);
  g_free (saved);
}

AotKept *
aot_kept_new (AotBoundary *boundary, guint n_args)
{
  AotKept *saved = g_new0 (AotKept, 1);

  saved->boundary = (AotBoundary *) aot_stage_ref (&boundary->parent);
  saved->n_inputs = n_args;
  saved->input_of = g_new0 (gint, n_args + 1);
  saved->n_returns = boundary->metadata->n_forward_returns;
  saved->grad_of = g_new0 (gint, saved->n_returns + 1);
  saved->metas = g_new0 (AdjTensorMeta, saved->n_returns + 1);
  saved->values = g_array_new (FALSE, FALSE, sizeof (AotSavedValue));
  g_array_set_clear_func (saved->values, saved_value_clear);
  return saved;
}

/* -- backward -- */

static gboolean
check_versions (const AotKept *saved, AdjContext *cx)
{
  for (guint i = 0; i < saved->values->len; i++)
    {
      const AotSavedValue *entry = &g_array_index (saved->values, AotSavedValue, i);
      AdjTensor *tensor = entry->value.kind == ADJ_VALUE_TENSOR ? entry->value.tensor : NULL;
      guint32 now = tensor != NULL ? adj_tensor_get_version (tensor) : entry->version;

      /* A fake tensor replaces one that was checked before. */
      if (now == entry->version || adj_storage_is_fake (adj_tensor_get_storage (tensor)))
        continue;
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "one of the variables needed for gradient computation has been modified "
                        "by an inplace operation: value %u that the compiled forward saved is at "
                        "version %u; expected version %u instead",
                        i, now, entry->version);
      return FALSE;
    }
  return TRUE;
}

static AdjTensor *
make_zeros (AdjContext *cx, const AdjTensorMeta *meta)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  AdjValue kwargs[2] = { { .kind = ADJ_VALUE_STRING, .n = 5, .text = "dtype" },
                         ADJ_DTYPE (meta->dtype) };
  AdjValue sizes = adj_rule_list_sizes (arena, meta->shape.size, meta->shape.rank), result;

  return adj_call (cx, adj_op (ADJ_OP_zeros),
                   &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 1, .items = &sizes },
                   &(AdjValue){ .kind = ADJ_VALUE_DICT, .n = 2, .items = kwargs }, &result)
             ? result.tensor
             : NULL;
}

/* Whether the strides are in no memory format: then the tangent must have just these. */
static gboolean
has_own_strides (const AdjShape *shape, AdjSymbols *symbols)
{
  return !adj_shape_is_contiguous (shape, symbols) && !adj_shape_is_channels_last (shape, symbols);
}

/* (nullable) */
static AdjTensor *
with_strides (AdjContext *cx, AdjTensor *grad, const AdjShape *wanted)
{
  const AdjTensorMeta *meta = adj_tensor_get_meta (grad);
  g_autoptr (AdjArena) arena = adj_arena_new ();
  AdjValue args[7] = {
    adj_rule_list_sizes (arena, wanted->size, wanted->rank),
    adj_rule_list_sizes (arena, wanted->stride, wanted->rank),
    ADJ_DTYPE (meta->dtype),
    ADJ_NONE,
    { .kind = ADJ_VALUE_DEVICE, .device = meta->device },
  };
  AdjValue copy[3] = { ADJ_NONE, ADJ_TENSOR (grad), ADJ_BOOL (FALSE) };
  AdjValue result;

  if (memcmp (meta->shape.stride, wanted->stride, wanted->rank * sizeof *wanted->stride) == 0)
    return grad;
  if (!adj_call_bound (cx, adj_op (ADJ_OP_empty_strided), args, &result))
    return NULL;
  copy[0] = result;
  return adj_call_bound (cx, adj_op (ADJ_OP_copy_), copy, &result) ? result.tensor : NULL;
}

/* Undefined gradients become zeros: the compiled backward needs all its tangents. */
static AdjTensor *
make_tangent (AdjContext *cx,
              const AdjTensorMeta *meta,
              const AdjTensorMeta *wanted,
              const AotComposite *composite, /* (nullable) */
              AdjTensor *grad)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  AdjSymbols *symbols = adj_context_get_symbols (cx);
  AdjMemoryFormat format = ADJ_MEMORY_FORMAT_CONTIGUOUS;
  AdjValue args[2], result;

  if (grad == NULL && composite != NULL && composite->klass != NULL)
    return aot_composite_zeros (cx, composite);
  if (grad == NULL)
    return make_zeros (cx, meta);
  if (has_own_strides (&wanted->shape, symbols))
    return with_strides (cx, grad, &wanted->shape);
  if (adj_shape_is_channels_last (&wanted->shape, symbols) &&
      !adj_shape_is_contiguous (&wanted->shape, symbols))
    format = ADJ_MEMORY_FORMAT_CHANNELS_LAST;
  if (format == ADJ_MEMORY_FORMAT_CONTIGUOUS
          ? adj_shape_is_contiguous (&adj_tensor_get_meta (grad)->shape, symbols)
          : adj_shape_is_channels_last (&adj_tensor_get_meta (grad)->shape, symbols))
    return grad;
  args[0] = ADJ_TENSOR (grad);
  args[1] = (AdjValue){ .kind = ADJ_VALUE_MEMORY_FORMAT, .format = format };
  return adj_call_bound (cx, adj_op (ADJ_OP_clone), args, &result) ? result.tensor : NULL;
}

static gboolean
append_tangents (AdjContext *cx, const AotKept *saved, AdjTensor *const *grads, GArray *args)
{
  const AdjAotMetadata *metadata = saved->boundary->metadata;
  const GPtrArray *composites = saved->boundary->tangents;
  guint next = 0;

  for (guint i = 0; i < saved->n_returns; i++)
    {
      AdjTensor *tangent;
      AdjValue value;

      if (!adj_aot_metadata_has_tangent (metadata, i))
        continue;
      tangent = make_tangent (cx, &saved->metas[i], &metadata->tangents[next],
                              composites != NULL ? composites->pdata[next] : NULL,
                              saved->grad_of[i] >= 0 ? grads[saved->grad_of[i]] : NULL);
      next++;
      if (tangent == NULL)
        return FALSE;
      value = ADJ_TENSOR (tangent);
      g_array_append_val (args, value);
    }
  return TRUE;
}

static gboolean
double_backward (AdjContext *cx,
                 AdjTensor *const *grads,
                 guint n_grads,
                 AdjTensor **grad_inputs,
                 guint n_inputs,
                 gpointer data)
{
  return aot_fail_context (cx, AOT_ERROR_DOUBLE_BACKWARD, AOT_BACKWARD, NULL);
}

/* Under create_graph: makes the gradients results of a node whose backward fails. Its inputs are
 * the tangents and the saved values. */
static gboolean
forbid_double_backward (AdjContext *cx, const GArray *args, AdjTensor **grads, guint n)
{
  static const AdjCustomGrad custom = { .name = "CompiledFunctionBackwardBackward",
                                        .backward = double_backward };
  g_autoptr (GPtrArray) inputs = g_ptr_array_new ();
  g_autoptr (GPtrArray) outputs = g_ptr_array_new ();

  for (guint i = 0; i < args->len; i++)
    {
      const AdjValue *value = &g_array_index (args, AdjValue, i);

      if (value->kind == ADJ_VALUE_TENSOR && adj_tensor_get_requires_grad (value->tensor))
        g_ptr_array_add (inputs, value->tensor);
    }
  for (guint i = 0; i < n; i++)
    if (grads[i] != NULL)
      g_ptr_array_add (outputs, grads[i]);
  return adj_autograd_connect_backward (cx, &custom, (AdjTensor *const *) inputs->pdata,
                                        inputs->len, (AdjTensor *const *) outputs->pdata,
                                        outputs->len);
}

static gboolean
run_backward (AdjContext *cx, const AotKept *saved, const GArray *args, AdjTensor **grad_inputs)
{
  gboolean enabled = adj_context_set_grad_enabled (cx, FALSE);
  g_auto (AdjValue) grads = ADJ_NONE;
  gboolean done = adj_function_call (saved->boundary->backward, cx, (gconstpointer) args->data,
                                     args->len, &grads);

  adj_context_set_grad_enabled (cx, enabled);
  if (done && grads.n < saved->n_inputs)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_VERIFY,
                        "the compiled backward gave %u gradients, not %u", grads.n,
                        saved->n_inputs);
      return FALSE;
    }
  for (guint i = 0; done && i < saved->n_edges; i++)
    {
      const AdjValue *grad = &grads.items[saved->input_of[i]];

      if (grad->kind == ADJ_VALUE_TENSOR)
        grad_inputs[i] = adj_scope_add (cx, adj_keep (grad->tensor));
    }
  return done && (!enabled || forbid_double_backward (cx, args, grad_inputs, saved->n_edges));
}

static gboolean
check_mode (const AotKept *saved, AdjContext *cx)
{
  const AotBoundary *boundary = saved->boundary;

  for (guint i = 0; i < boundary->metadata->n_inputs && adj_context_get_grad_enabled (cx); i++)
    if (boundary->written[i] && boundary->metadata->inputs[i].requires_grad)
      return aot_fail_context (cx, AOT_ERROR_BACKWARD_CREATE_GRAPH,
                               AOT_INPUT (boundary->metadata->inputs[i].place), NULL);
  if (adj_context_get_deterministic (cx) && !boundary->metadata->deterministic)
    return aot_fail_context (cx, AOT_ERROR_DETERMINISTIC, AOT_BACKWARD, NULL);
  return TRUE;
}

gboolean
aot_kept_run_backward (AdjContext *cx,
                       AdjTensor *const *grads,
                       guint n_grads,
                       AdjTensor **grad_inputs,
                       guint n_inputs,
                       gpointer data)
{
  const AotKept *saved = data;
  g_autoptr (GArray) args = g_array_new (FALSE, FALSE, sizeof (AdjValue));

  if (!check_mode (saved, cx))
    return FALSE;
  if (!check_versions (saved, cx))
    return FALSE;
  g_array_append_vals (args, saved->sizes, saved->n_sizes);
  for (guint i = 0; i < saved->values->len; i++)
    g_array_append_val (args, g_array_index (saved->values, AotSavedValue, i).value);
  return append_tangents (cx, saved, grads, args) && run_backward (cx, saved, args, grad_inputs);
}

static gboolean
refuse_object (AdjContext *cx, const AdjValue *value)
{
  g_autofree char *text =
      value->kind == ADJ_VALUE_OPAQUE_OBJECT ? adj_opaque_describe (value->object) : NULL;

  adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                    "a compiled backward that calls methods of an object (%s) cannot be captured",
                    text != NULL ? text : adj_value_kind_name (value->kind));
  return FALSE;
}

gboolean
aot_kept_visit (gpointer data, GradVisitor *visitor)
{
  AotKept *kept = data;

  if (!check_mode (kept, visitor->cx) || !check_versions (kept, visitor->cx))
    return FALSE;
  visitor->function (visitor, "compiled backward", kept->boundary->backward);
  for (guint i = 0; i < kept->n_sizes; i++)
    visitor->size (visitor, "size", &kept->sizes[i]);
  for (guint i = 0; i < kept->values->len; i++)
    {
      AdjValue *value = &g_array_index (kept->values, AotSavedValue, i).value;

      if (value->kind != ADJ_VALUE_TENSOR)
        return refuse_object (visitor->cx, value);
      visitor->tensor (visitor, "saved", &value->tensor);
    }
  return TRUE;
}
