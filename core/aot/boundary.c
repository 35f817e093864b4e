/* SPDX-License-Identifier: MIT */
/* A compiled forward as one operation of eager autograd, whose backward is the compiled one
 * (aot/SPEC.md §8.4).
 */

#include <string.h>

#include "aot/boundary-private.h"
#include "aot/composite-private.h"
#include "aot/metadata-private.h"
#include "autograd/adj-autograd-internal.h"
#include "autograd/adj-engine-internal.h"
#include "ir/adj-opaque.h"
#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"
#include "rules/adj-apply.h"
#include "rules/adj-rule.h"
#include "trace/adj-composite-internal.h"

/* -- what a call keeps for its backward -- */

typedef struct
{
  AdjValue value; /* (owned): TENSOR, or an object as it is */
  guint32 version;
} SavedValue;

typedef struct
{
  AotBoundary *boundary; /* (owned) */
  guint n_inputs;        /* of the function */
  gint *input_of;        /* by edge: the input it belongs to */
  guint n_edges;
  guint n_returns;      /* forward returns */
  gint *grad_of;        /* by return: which gradient arrives for it; -1: none does */
  AdjTensorMeta *metas; /* by return */
  GArray *values;       /* SavedValue */
  AdjValue *sizes;
  guint n_sizes;
} Kept;

static void
saved_value_clear (gpointer data)
{
  adj_value_clear (&((SavedValue *) data)->value);
}

static void
saved_free (gpointer data)
{
  Kept *saved = data;

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

/* -- backward -- */

static gboolean
check_versions (const Kept *saved, AdjContext *cx)
{
  for (guint i = 0; i < saved->values->len; i++)
    {
      const SavedValue *entry = &g_array_index (saved->values, SavedValue, i);
      AdjTensor *tensor = entry->value.kind == ADJ_VALUE_TENSOR ? entry->value.tensor : NULL;
      guint32 now = tensor != NULL ? adj_tensor_get_version (tensor) : entry->version;

      /* A fake one stands for what was checked before. */
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

/* Whether it lies as neither format does: it has the strides of what was returned. */
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

/* Undefined gradients become zeros: the compiled backward takes all of its tangents. */
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
append_tangents (AdjContext *cx, const Kept *saved, AdjTensor *const *grads, GArray *args)
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

/* Requires a gradient, and leads nowhere: for results that have a history although no input gets a
 * gradient, as views have that were made while grad mode was off. */
static AdjTensor *
make_seed (AdjContext *cx)
{
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE };
  AdjTensor *seed = adj_scope_add (cx, adj_tensor_new_empty (&meta, NULL, FALSE));

  adj_tensor_set_requires_grad (cx, seed, TRUE);
  return seed;
}

/* Under create_graph: makes the gradients results of a node that refuses to be differentiated. Its
 * inputs are the tangents and what was saved. */
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
run_backward (AdjContext *cx, const Kept *saved, const GArray *args, AdjTensor **grad_inputs)
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
check_mode (const Kept *saved, AdjContext *cx)
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

static gboolean
compiled_backward (AdjContext *cx,
                   AdjTensor *const *grads,
                   guint n_grads,
                   AdjTensor **grad_inputs,
                   guint n_inputs,
                   gpointer data)
{
  const Kept *saved = data;
  g_autoptr (GArray) args = g_array_new (FALSE, FALSE, sizeof (AdjValue));

  if (!check_mode (saved, cx))
    return FALSE;
  if (!check_versions (saved, cx))
    return FALSE;
  g_array_append_vals (args, saved->sizes, saved->n_sizes);
  for (guint i = 0; i < saved->values->len; i++)
    g_array_append_val (args, g_array_index (saved->values, SavedValue, i).value);
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

/* What the backward computes with. */
static gboolean
visit_kept (gpointer data, GradVisitor *visitor)
{
  Kept *kept = data;

  if (!check_mode (kept, visitor->cx) || !check_versions (kept, visitor->cx))
    return FALSE;
  visitor->function (visitor, "compiled backward", kept->boundary->backward);
  for (guint i = 0; i < kept->n_sizes; i++)
    visitor->size (visitor, "size", &kept->sizes[i]);
  for (guint i = 0; i < kept->values->len; i++)
    {
      AdjValue *value = &g_array_index (kept->values, SavedValue, i).value;

      if (value->kind != ADJ_VALUE_TENSOR)
        return refuse_object (visitor->cx, value);
      visitor->tensor (visitor, "saved", &value->tensor);
    }
  return TRUE;
}

/* -- forward -- */

/* Replaces inputs whose gradient is None by detached ones. */
static gboolean
detach_inputs (AdjContext *cx, const AotBoundary *boundary, AdjValue *args, guint n)
{
  for (guint i = 0; i < n; i++)
    if (args[i].kind == ADJ_VALUE_TENSOR && adj_tensor_get_requires_grad (args[i].tensor))
      {
        args[i].tensor = ADJ_APPLY (cx, ADJ_OP_detach, args[i]);
        if (args[i].tensor == NULL)
          return FALSE;
      }
  return TRUE;
}

/* Whether @saved is in the memory of @input, or of a part of it. */
static gboolean
shares_memory (const AdjTensor *input, const AdjTensor *saved)
{
  const AdjCompositeClass *klass = adj_composite_get_class (input);

  for (guint i = 0; klass != NULL && i < klass->n_inner; i++)
    if (shares_memory (adj_composite_get_inner (input, i), saved))
      return TRUE;
  return adj_tensor_get_storage (input) == adj_tensor_get_storage (saved);
}

/* A partitioner may save an input from which it computes again; the epilogue of the same call
 * writes its new value there. */
static gboolean
will_be_written (const AdjAotMetadata *metadata, const AdjValue *args, const AdjTensor *saved)
{
  for (guint i = 0; i < metadata->n_mutated_runtime; i++)
    {
      guint index = metadata->mutated_runtime[i];

      if (metadata->inputs[index].mutates_data && shares_memory (args[index].tensor, saved))
        return TRUE;
    }
  return FALSE;
}

/* A call of the forward: its arguments, and what its graph was given of them. */
typedef struct
{
  const AdjAotMetadata *metadata;
  const AdjValue *args, *plain;
  guint n;
} ForwardCall;

/* (nullable): the argument that @saved is, if the call does not change it. */
static AdjTensor *
find_argument (const ForwardCall *call, const AdjTensor *saved)
{
  for (guint i = 0; i < call->n; i++)
    {
      gboolean changes = FALSE;

      if (call->plain[i].kind != ADJ_VALUE_TENSOR || call->plain[i].tensor != saved)
        continue;
      for (guint k = 0; k < call->metadata->n_mutated_runtime; k++)
        changes |= call->metadata->mutated_runtime[k] == i;
      return changes ? NULL : call->args[i].tensor;
    }
  return NULL;
}

/* An argument itself, else a detached copy: a tensor that is returned, or a view of it, would refer
 * by its history to the node that saves it. */
static gboolean
save_value (AdjContext *cx, const ForwardCall *call, const AdjValue *value, SavedValue *entry)
{
  AdjTensor *tensor;

  if (value->kind != ADJ_VALUE_TENSOR)
    {
      *entry = (SavedValue){ adj_value_copy (value), 0 };
      return TRUE;
    }
  tensor = find_argument (call, value->tensor);
  if (tensor == NULL)
    tensor = ADJ_APPLY (cx,
                        will_be_written (call->metadata, call->args, value->tensor) ? ADJ_OP_clone
                                                                                    : ADJ_OP_detach,
                        *value);
  if (tensor == NULL)
    return FALSE;
  *entry = (SavedValue){ ADJ_TENSOR (adj_tensor_ref (tensor)), adj_tensor_get_version (tensor) };
  return TRUE;
}

static gboolean
save_values (AdjContext *cx, Kept *saved, const ForwardCall *call, const AdjValue *outs)
{
  const AdjAotMetadata *metadata = call->metadata;
  guint n_saved = outs->n - metadata->n_forward;
  guint n_tensors = n_saved - MIN (saved->boundary->n_saved_sizes, n_saved);

  for (guint i = 0; i < n_tensors; i++)
    {
      const AdjValue *value = &outs->items[metadata->n_forward + i];
      SavedValue entry;

      if (!save_value (cx, call, value, &entry))
        return FALSE;
      g_array_append_val (saved->values, entry);
    }
  saved->n_sizes = n_saved - n_tensors;
  saved->sizes = g_new0 (AdjValue, saved->n_sizes + 1);
  for (guint i = 0; i < saved->n_sizes; i++)
    saved->sizes[i] = adj_value_copy (&outs->items[metadata->n_forward + n_tensors + i]);
  return TRUE;
}

/* Returns that the caller gets, and what others are made of, hide that they are views: the graph
 * made them while nothing was recorded.  It may also return one tensor twice. */
static void
hide_views (AdjContext *cx, const AdjAotMetadata *metadata, AdjValue *outs)
{
  for (guint i = metadata->n_mutated_runtime; i < metadata->n_forward_returns; i++)
    {
      AdjValue *out = &outs->items[i];
      AdjTensor *tensor;

      if (!adj_aot_metadata_has_tangent (metadata, i))
        continue;
      tensor = adj_keep (adj_composite_alias (cx, out->tensor, out->tensor));
      adj_value_clear (out);
      *out = ADJ_TENSOR (tensor);
    }
}

static Kept *
saved_new (AotBoundary *boundary, guint n_args)
{
  Kept *saved = g_new0 (Kept, 1);

  saved->boundary = (AotBoundary *) aot_stage_ref (&boundary->parent);
  saved->n_inputs = n_args;
  saved->input_of = g_new0 (gint, n_args + 1);
  saved->n_returns = boundary->metadata->n_forward_returns;
  saved->grad_of = g_new0 (gint, saved->n_returns + 1);
  saved->metas = g_new0 (AdjTensorMeta, saved->n_returns + 1);
  saved->values = g_array_new (FALSE, FALSE, sizeof (SavedValue));
  g_array_set_clear_func (saved->values, saved_value_clear);
  return saved;
}

/* One operation from the inputs that get a gradient to the returns that have one. */
static gboolean
connect (AdjContext *cx, AotBoundary *boundary, const ForwardCall *call, const AdjValue *outs)
{
  const AdjAotMetadata *metadata = boundary->metadata;
  const AdjValue *args = call->args;
  const guint n_args = call->n;
  g_autoptr (GPtrArray) inputs = g_ptr_array_new ();
  g_autoptr (GPtrArray) outputs = g_ptr_array_new ();
  Kept *saved = saved_new (boundary, n_args);

  if (!save_values (cx, saved, call, outs))
    {
      saved_free (saved);
      return FALSE;
    }
  for (guint i = 0; i < n_args; i++)
    if (args[i].kind == ADJ_VALUE_TENSOR && !boundary->detached[i] &&
        adj_tensor_get_requires_grad (args[i].tensor))
      {
        saved->input_of[saved->n_edges++] = (gint) i;
        g_ptr_array_add (inputs, args[i].tensor);
      }
  for (guint i = 0; i < saved->n_returns; i++)
    {
      const AdjValue *out = &outs->items[i];

      saved->grad_of[i] = -1;
      if (!adj_aot_metadata_has_tangent (metadata, i))
        continue;
      saved->metas[i] = *adj_tensor_get_meta (out->tensor);
      saved->grad_of[i] = (gint) outputs->len;
      g_ptr_array_add (outputs, out->tensor);
    }
  if (inputs->len == 0 && outputs->len > 0)
    g_ptr_array_add (inputs, make_seed (cx));
  return autograd_connect_open (cx,
                                &(AdjCustomGrad){ .name = "CompiledFunctionBackward",
                                                  .backward = compiled_backward,
                                                  .data = saved,
                                                  .destroy = saved_free },
                                visit_kept, (AdjTensor *const *) inputs->pdata, inputs->len,
                                (AdjTensor *const *) outputs->pdata, outputs->len);
}

static gboolean
boundary_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AotBoundary *boundary = AOT_STAGE (AotBoundary, function);
  g_autofree AdjValue *plain = g_memdup2 (args, n_args * sizeof *args);
  gboolean enabled = adj_context_set_grad_enabled (cx, FALSE);
  gboolean done = detach_inputs (cx, boundary, plain, n_args) &&
                  adj_function_call (AOT_INNER (function), cx, plain, n_args, result);

  adj_context_set_grad_enabled (cx, enabled);
  if (done && result->n < boundary->metadata->n_forward)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_VERIFY,
                        "the compiled forward gave %u values, not %u", result->n,
                        boundary->metadata->n_forward);
      return FALSE;
    }
  if (done)
    hide_views (cx, boundary->metadata, result);
  return done &&
         connect (cx, boundary, &(ForwardCall){ boundary->metadata, args, plain, n_args }, result);
}

static const AdjFunctionClass boundary_class = {
  .name = "boundary",
  .call = boundary_call,
  .finalize = aot_function_finalize,
};

static AdjFunction *
boundary_wrap (AotStage *stage, AdjFunction *inner)
{
  return aot_function_new (&boundary_class, inner, stage);
}

static void
boundary_finalize (AotStage *stage)
{
  AotBoundary *boundary = (AotBoundary *) stage;

  adj_aot_metadata_free (boundary->metadata);
  if (boundary->backward != NULL)
    adj_function_unref (boundary->backward);
  g_free (boundary->detached);
  g_clear_pointer (&boundary->tangents, g_ptr_array_unref);
  g_free (boundary->written);
}

static const AotStageClass stage_class = {
  .name = "joint",
  .wrap = boundary_wrap,
  .finalize = boundary_finalize,
};

AotBoundary *
aot_boundary_new (const AotProgram *program)
{
  AotBoundary *boundary = aot_stage_new (&stage_class, sizeof *boundary);

  boundary->metadata = adj_aot_metadata_copy (program->metadata);
  boundary->exports = program->options->export_joint;
  boundary->detached = g_new0 (gboolean, program->metadata->n_inputs + 1);
  boundary->tangents = program->has_composites ? g_ptr_array_ref (program->tangents) : NULL;
  boundary->written = g_new0 (gboolean, program->metadata->n_inputs + 1);
  return boundary;
}

AotStage *
aot_boundary_complete (const AotStage *stage,
                       AdjFunction *backward,
                       const gboolean *detached,
                       guint n_saved_sizes)
{
  const AotBoundary *from = (const AotBoundary *) stage;
  AotBoundary *boundary = aot_stage_new (&stage_class, sizeof *boundary);

  boundary->metadata = adj_aot_metadata_copy (from->metadata);
  boundary->metadata->n_saved_sizes = n_saved_sizes;
  boundary->backward = adj_function_ref (backward);
  boundary->detached = g_memdup2 (detached, (from->metadata->n_inputs + 1) * sizeof *detached);
  boundary->written =
      g_memdup2 (from->written, (from->metadata->n_inputs + 1) * sizeof *from->written);
  boundary->n_saved_sizes = n_saved_sizes;
  boundary->tangents = from->tangents != NULL ? g_ptr_array_ref (from->tangents) : NULL;
  return &boundary->parent;
}

gboolean
aot_stage_is_boundary (const AotStage *stage)
{
  return stage->klass == &stage_class;
}
