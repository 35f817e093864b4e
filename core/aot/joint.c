/* SPDX-License-Identifier: MIT */
/* The function and its gradients as one function of primals and tangents. */

#include "aot/aot-private.h"

#include "aot/boundary-private.h"
#include "aot/metadata-private.h"
#include "aot/rng-private.h"
#include "aot/tokens-private.h"
#include "autograd/adj-autograd.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/adj-rule.h"

typedef struct
{
  const AdjAotMetadata *metadata;
  gboolean exports;
  AdjContext *cx;
  const AdjValue *primals, *tangents;
  guint n_primals, n_tangents;
  const AdjValue *outs;
  GPtrArray *inputs; /* primals that require a gradient */
  GPtrArray *roots;
  GPtrArray *grads; /* by root */
} Joint;

/* -- what the backward writes (aot/SPEC.md §4.5) -- */

/* A primal or tangent before the backward. */
typedef struct
{
  AdjFunctionalState observed;
  AdjTensorMeta meta;
} Before;

static void
look_at (const AdjValue *values, guint n, Before *before)
{
  for (guint i = 0; i < n; i++)
    if (values[i].kind == ADJ_VALUE_TENSOR)
      {
        aot_get_functional_state (values[i].tensor, &before[i].observed);
        before[i].meta = *adj_tensor_get_meta (values[i].tensor);
      }
}

static gboolean
is_turned (const Before *before, const AdjTensor *tensor, const AdjFunctionalState *now)
{
  return now->storage_changed != before->observed.storage_changed ||
         !aot_same_geometry (&before->meta.shape, &adj_tensor_get_meta (tensor)->shape);
}

static gboolean
check_primals (const Joint *joint, const Before *before, AotBoundary *boundary)
{
  for (guint i = 0; i < joint->n_primals; i++)
    {
      AdjFunctionalState now;

      if (joint->primals[i].kind != ADJ_VALUE_TENSOR)
        continue;
      aot_get_functional_state (joint->primals[i].tensor, &now);
      if (now.storage_resized != before[i].observed.storage_resized)
        return aot_fail_context (joint->cx, AOT_ERROR_BACKWARD_RESIZE,
                                 AOT_INPUT (joint->metadata->inputs[i].place), NULL);
      if (is_turned (&before[i], joint->primals[i].tensor, &now))
        return aot_fail_context (joint->cx, AOT_ERROR_BACKWARD_METADATA,
                                 AOT_INPUT (joint->metadata->inputs[i].place), NULL);
      if (now.n_writes == before[i].observed.n_writes)
        continue;
      if (joint->metadata->inputs[i].mutates_data)
        return aot_fail_context (joint->cx, AOT_ERROR_BACKWARD_AND_FORWARD,
                                 AOT_INPUT (joint->metadata->inputs[i].place), NULL);
      boundary->written[i] = TRUE;
    }
  return TRUE;
}

/* The mutated input, output or base for which a tangent is; a base is blamed by its outputs. */
static AotBlame
find_tangent (const AdjAotMetadata *metadata, guint tangent)
{
  AotBlame blame = AOT_TANGENT (tangent);
  guint at = 0, first = metadata->n_mutated_runtime, end = first + metadata->n_outputs;

  for (guint n = 0; at < metadata->n_forward_returns; at++)
    if (adj_aot_metadata_has_tangent (metadata, at) && n++ == tangent)
      break;
  if (at < first)
    blame.input = (gint) metadata->inputs[metadata->mutated_runtime[at]].place;
  else if (at < end)
    blame.output = (gint) (at - first);
  for (guint i = 0; at >= end && i < metadata->n_outputs; i++)
    if (metadata->outputs[i].type == ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE_SAVE_AS_OUTPUT &&
        metadata->outputs[i].base == (gint) (at - end))
      blame.output = (gint) i;
  return blame;
}

static gboolean
check_tangents (const Joint *joint, const Before *before)
{
  for (guint i = 0; i < joint->n_tangents; i++)
    {
      AdjFunctionalState now;

      aot_get_functional_state (joint->tangents[i].tensor, &now);
      if (now.n_writes != before[i].observed.n_writes ||
          is_turned (&before[i], joint->tangents[i].tensor, &now))
        return aot_fail_context (joint->cx, AOT_ERROR_TANGENT_WRITTEN,
                                 find_tangent (joint->metadata, i), NULL);
    }
  return TRUE;
}

/* -- the function and its gradients -- */

/* @out in the shape of its tangent, if the two are known to differ (aot/SPEC.md §4.3). */
static AdjTensor *
like_tangent (AdjContext *cx, AdjTensor *out, AdjTensor *tangent)
{
  AdjSymbols *symbols = adj_context_get_symbols (cx);
  const AdjShape *shape = &adj_tensor_get_meta (tangent)->shape;
  g_autoptr (AdjArena) arena = NULL;

  if (adj_shape_same_sizes (&adj_tensor_get_meta (out)->shape, shape, symbols))
    return out;
  arena = adj_arena_new ();
  return ADJ_APPLY (cx, ADJ_OP_view, ADJ_TENSOR (out),
                    adj_rule_list_sizes (arena, shape->size, shape->rank));
}

/* Chooses as roots the returns that have a tangent and still require a gradient. */
static gboolean
choose_roots (Joint *joint)
{
  guint next = 0;

  for (guint i = 0; i < joint->metadata->n_forward_returns; i++)
    {
      const AdjValue *out = &joint->outs[i];
      AdjTensor *tangent = NULL;
      AdjTensor *root;

      if (!adj_aot_metadata_has_tangent (joint->metadata, i))
        continue;
      if (joint->tangents != NULL && next == joint->n_tangents)
        {
          adj_context_fail (joint->cx, ADJ_ERROR, ADJ_ERROR_VERIFY,
                            "forward return %u has a gradient, and had none when the function was "
                            "run before",
                            i);
          return FALSE;
        }
      if (joint->tangents != NULL)
        tangent = joint->tangents[next++].tensor;
      if (out->kind != ADJ_VALUE_TENSOR || !adj_tensor_get_requires_grad (out->tensor))
        continue;
      root = tangent != NULL ? like_tangent (joint->cx, out->tensor, tangent) : out->tensor;
      if (root == NULL)
        return FALSE;
      g_ptr_array_add (joint->roots, root);
      g_ptr_array_add (joint->grads, tangent);
    }
  return TRUE;
}

static void
choose_inputs (Joint *joint)
{
  for (guint i = 0; i < joint->n_primals; i++)
    if (joint->primals[i].kind == ADJ_VALUE_TENSOR &&
        adj_tensor_get_requires_grad (joint->primals[i].tensor))
      g_ptr_array_add (joint->inputs, joint->primals[i].tensor);
}

/* One value for each primal; for export, only for those that require a gradient. */
static AdjValue
collect_grads (const Joint *joint, AdjTensor *const *grads)
{
  g_autofree AdjValue *items = g_new0 (AdjValue, joint->n_primals + 1);
  guint n = 0, next = 0;

  for (guint i = 0; i < joint->n_primals; i++)
    if (next < joint->inputs->len && joint->primals[i].kind == ADJ_VALUE_TENSOR &&
        joint->primals[i].tensor == joint->inputs->pdata[next])
      {
        AdjTensor *grad = grads[next++];

        if (grad != NULL)
          items[i] = ADJ_TENSOR (adj_tensor_ref (grad));
      }
  for (guint i = 0; i < joint->n_primals; i++)
    if (!joint->exports || items[i].kind == ADJ_VALUE_TENSOR)
      items[n++] = items[i];
  return adj_value_new_items (ADJ_VALUE_LIST, items, n);
}

static gboolean
differentiate (Joint *joint, AdjValue *result)
{
  g_autofree AdjTensor **grads = NULL;
  AdjGradRoots roots;

  aot_rng_begin_backward (joint->cx);
  aot_effects_begin_backward (joint->cx);
  choose_inputs (joint);
  grads = g_new0 (AdjTensor *, joint->inputs->len + 1);
  if (!choose_roots (joint))
    return FALSE;
  roots = (AdjGradRoots){ (AdjTensor *const *) joint->roots->pdata,
                          joint->tangents != NULL ? (AdjTensor *const *) joint->grads->pdata : NULL,
                          joint->roots->len };
  if (joint->inputs->len > 0 && joint->roots->len > 0 &&
      !adj_grad (joint->cx, &roots, (AdjTensor *const *) joint->inputs->pdata, joint->inputs->len,
                 ADJ_BACKWARD_ALLOW_UNUSED, grads))
    return FALSE;
  for (guint i = 0; i < joint->n_primals && joint->exports; i++)
    {
      guint at;

      if (g_ptr_array_find (joint->inputs, joint->primals[i].tensor, &at) && grads[at] == NULL)
        return aot_fail_context (joint->cx, AOT_ERROR_EXPORT_NO_GRADIENT,
                                 AOT_INPUT (joint->metadata->inputs[i].place), NULL);
    }
  *result = collect_grads (joint, grads);
  return TRUE;
}

/* @args: TUPLE of primals, TUPLE of tangents unless there are none. */
static gboolean
joint_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AotBoundary *boundary = AOT_STAGE (AotBoundary, function);
  g_autofree Before *primals = g_new0 (Before, args[0].n + 1);
  g_autofree Before *tangents = g_new0 (Before, n_args > 1 ? args[1].n + 1 : 1);
  g_autoptr (GPtrArray) inputs = g_ptr_array_new ();
  g_autoptr (GPtrArray) roots = g_ptr_array_new ();
  g_autoptr (GPtrArray) grads = g_ptr_array_new ();
  AdjValue parts[2] = { ADJ_NONE, ADJ_NONE };
  Joint joint = {
    .metadata = boundary->metadata,
    .exports = boundary->exports,
    .cx = cx,
    .primals = args[0].items,
    .n_primals = args[0].n,
    .tangents = n_args > 1 ? args[1].items : NULL,
    .n_tangents = n_args > 1 ? args[1].n : 0,
    .inputs = inputs,
    .roots = roots,
    .grads = grads,
  };
  gboolean done = adj_function_call (AOT_INNER (function), cx, args[0].items, args[0].n, &parts[0]);

  joint.outs = parts[0].items;
  look_at (joint.primals, joint.n_primals, primals);
  look_at (joint.tangents, joint.n_tangents, tangents);
  done = done && differentiate (&joint, &parts[1]) && check_primals (&joint, primals, boundary) &&
         check_tangents (&joint, tangents);
  *result = adj_value_new_items (ADJ_VALUE_TUPLE, parts, 2);
  return done;
}

static const AdjFunctionClass joint_class = {
  .name = "joint",
  .call = joint_call,
  .finalize = aot_function_finalize,
};

gboolean
aot_joint (AotProgram *program, GError **error)
{
  AotBoundary *boundary = aot_boundary_new (program);

  aot_program_set_function (program, aot_function_new (&joint_class, program->function, boundary));
  g_string_append_printf (program->note, "%u tangents", program->metadata->n_tangents);
  aot_program_push (program, &boundary->parent);
  return TRUE;
}
