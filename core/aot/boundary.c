/* SPDX-License-Identifier: MIT */
/* A compiled forward as one operation of eager autograd, whose backward is the compiled one
 * (aot/SPEC.md §8.4).
 */

#include "aot/kept-private.h"
#include "aot/metadata-private.h"
#include "autograd/adj-autograd-internal.h"
#include "autograd/adj-engine-internal.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "trace/adj-composite-internal.h"

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

/* Whether @saved has the storage of @input, or of a part of it. */
static gboolean
shares_memory (const AdjTensor *input, const AdjTensor *saved)
{
  const AdjCompositeClass *klass = adj_composite_get_class (input);

  for (guint i = 0; klass != NULL && i < klass->n_inner; i++)
    if (shares_memory (adj_composite_get_inner (input, i), saved))
      return TRUE;
  return adj_tensor_get_storage (input) == adj_tensor_get_storage (saved);
}

/* Whether the epilogue of this call will write to the memory of @saved: a partitioner may save an
 * input to recompute from it. */
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

/* A call of the forward: @args as the caller gave them, @plain as passed to the graph. */
typedef struct
{
  const AdjAotMetadata *metadata;
  const AdjValue *args, *plain;
  guint n;
} ForwardCall;

/* (nullable): the argument of the call that is @saved, unless the call changes it. */
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

/* Saves an argument as it is, anything else as a detached copy: a returned tensor or a view of it
 * would hold the node that saves it, by its history. */
static gboolean
save_value (AdjContext *cx, const ForwardCall *call, const AdjValue *value, AotSavedValue *entry)
{
  AdjTensor *tensor;

  if (value->kind != ADJ_VALUE_TENSOR)
    {
      *entry = (AotSavedValue){ adj_value_copy (value), 0 };
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
  *entry = (AotSavedValue){ ADJ_TENSOR (adj_tensor_ref (tensor)), adj_tensor_get_version (tensor) };
  return TRUE;
}

static gboolean
save_values (AdjContext *cx, AotKept *saved, const ForwardCall *call, const AdjValue *outs)
{
  const AdjAotMetadata *metadata = call->metadata;
  guint n_saved = outs->n - metadata->n_forward;
  guint n_tensors = n_saved - MIN (saved->boundary->n_saved_sizes, n_saved);

  for (guint i = 0; i < n_tensors; i++)
    {
      const AdjValue *value = &outs->items[metadata->n_forward + i];
      AotSavedValue entry;

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

/* Replaces returned tensors by aliases that are no views: the graph made them with grad mode off,
 * and may return one tensor twice. */
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

/* A leaf that requires a gradient and is not otherwise used: the input of the operation if results
 * have a history although no input gets a gradient, as views made with grad mode off have. */
static AdjTensor *
make_seed (AdjContext *cx)
{
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE };
  AdjTensor *seed = adj_scope_add (cx, adj_tensor_new_empty (&meta, NULL, FALSE));

  adj_tensor_set_requires_grad (cx, seed, TRUE);
  return seed;
}

/* Connects the returns that have a gradient to the inputs that get one, as one operation. */
static gboolean
connect (AdjContext *cx, AotBoundary *boundary, const ForwardCall *call, const AdjValue *outs)
{
  const AdjAotMetadata *metadata = boundary->metadata;
  const AdjValue *args = call->args;
  const guint n_args = call->n;
  g_autoptr (GPtrArray) inputs = g_ptr_array_new ();
  g_autoptr (GPtrArray) outputs = g_ptr_array_new ();
  AotKept *saved = aot_kept_new (boundary, n_args);

  if (!save_values (cx, saved, call, outs))
    {
      aot_kept_free (saved);
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
                                                  .backward = aot_kept_run_backward,
                                                  .data = saved,
                                                  .destroy = aot_kept_free },
                                aot_kept_visit, (AdjTensor *const *) inputs->pdata, inputs->len,
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
