/* SPDX-License-Identifier: MIT */
/* The epilogue of every call (aot/SPEC.md §8.2). */

#include "aot/alias-private.h"
#include "aot/epilogue-private.h"
#include "aot/metadata-private.h"
#include "autograd/adj-autograd-internal.h"
#include "autograd/adj-autograd.h"
#include "call/adj-op-internal.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/adj-rule.h"
#include "tensor/adj-tensor-internal.h"

/* -- written inputs -- */

/* Grows the storage of @tensor if it is too small for @shape, which resize_ gave it; PyTorch 2.6
 * fails. */
static gboolean
grow (AdjContext *cx, AdjTensor *tensor, const AdjShape *shape)
{
  AdjTensorMeta meta = *adj_tensor_get_meta (tensor);
  g_autoptr (AdjArena) arena = NULL;

  meta.shape = *shape;
  if (adj_op_extent (&meta) <= adj_storage_get_n_bytes (adj_tensor_get_storage (tensor)))
    return TRUE;
  arena = adj_arena_new ();
  return ADJ_APPLY (cx, ADJ_OP_resize_, ADJ_TENSOR (tensor),
                    adj_rule_list_sizes (arena, shape->size, shape->rank)) != NULL;
}

gboolean
aot_set_geometry (AdjContext *cx, AdjTensor *tensor, AdjTensor *like, gboolean no_grad)
{
  const AdjShape *shape = &adj_tensor_get_meta (like)->shape;
  g_autoptr (AdjArena) arena = adj_arena_new ();
  AdjValue args[] = {
    ADJ_TENSOR (tensor),
    adj_rule_list_sizes (arena, shape->size, shape->rank),
    adj_rule_list_sizes (arena, shape->stride, shape->rank),
    adj_value_from_size (shape->offset),
  };
  gboolean enabled = adj_context_get_grad_enabled (cx);
  gboolean done;
  AdjValue result;

  adj_context_set_grad_enabled (cx, enabled && !no_grad);
  done = grow (cx, tensor, shape) &&
         adj_call (cx, adj_op_find ("torch.ops.aten.as_strided_.default"),
                   &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = G_N_ELEMENTS (args), .items = args },
                   NULL, &result);
  adj_context_set_grad_enabled (cx, enabled);
  if (done)
    adj_tensor_uncount_turn (tensor);
  return done;
}

static gboolean
set_storage (AdjContext *cx, AdjTensor *tensor, AdjTensor *from)
{
  gboolean enabled = adj_context_set_grad_enabled (cx, FALSE);
  gboolean done =
      ADJ_APPLY (cx, ADJ_OP_set__source_Tensor, ADJ_TENSOR (tensor), ADJ_TENSOR (from)) != NULL;

  adj_context_set_grad_enabled (cx, enabled);
  return done;
}

/* Copies @from into @tensor in the caller's grad mode, so that a write to a non-leaf is
 * recorded; one to a leaf is not. */
static gboolean
copy_into (AdjContext *cx, AdjTensor *tensor, AdjTensor *from)
{
  if (adj_tensor_get_requires_grad (tensor) && adj_tensor_get_grad_node (tensor) == NULL)
    tensor = ADJ_APPLY (cx, ADJ_OP_detach, ADJ_TENSOR (tensor));
  return tensor != NULL &&
         ADJ_APPLY (cx, ADJ_OP_copy_, ADJ_TENSOR (tensor), ADJ_TENSOR (from)) != NULL;
}

/* Writes the input in its old shape, then gives it its new, smaller one. */
static gboolean
write_whole (AdjContext *cx, const AdjAotInput *input, AdjTensor *tensor, AdjTensor *new)
{
  AdjTensor *part;

  if (!copy_into (cx, tensor, new))
    return FALSE;
  part = adj_view_chain_replay (input->turned, cx, tensor);
  return part != NULL && aot_set_geometry (cx, tensor, part, input->turns_no_grad);
}

static gboolean
apply_mutation (AdjContext *cx, const AdjAotInput *input, AdjTensor *tensor, AdjTensor *new)
{
  if (input->mutates_storage_metadata)
    return set_storage (cx, tensor, new);
  if (input->whole)
    return write_whole (cx, input, tensor, new);
  if (input->mutates_metadata && !aot_set_geometry (cx, tensor, new, input->turns_no_grad))
    return FALSE;
  return !input->mutates_data || copy_into (cx, tensor, new);
}

static gboolean
apply_mutations (AdjContext *cx,
                 const AdjAotMetadata *metadata,
                 const AdjValue *args,
                 const AdjValue *outs)
{
  for (guint i = 0; i < metadata->n_mutated_runtime; i++)
    {
      guint index = metadata->mutated_runtime[i];

      if (!apply_mutation (cx, &metadata->inputs[index], args[index].tensor, outs->items[i].tensor))
        return FALSE;
    }
  return TRUE;
}

/* -- outputs -- */

/* The tensor that output @index is recreated from: a live input, an intermediate base or another
 * output. */
static AdjTensor *
find_base (const AdjAotMetadata *metadata,
           guint index,
           const AdjValue *args,
           const AdjValue *outs,
           const AdjValue *items)
{
  const AdjAotOutput *output = &metadata->outputs[index];
  const AdjValue *user = outs->items + metadata->n_mutated_runtime;

  if (adj_aot_metadata_shows_input (metadata, index))
    return args[output->base].tensor;
  if (output->type == ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE_BASE_IS_USER_OUTPUT)
    return items[metadata->outputs[output->base].first].tensor;
  return user[metadata->n_outputs + (guint) output->base].tensor;
}

static gboolean
make_output (AdjContext *cx,
             const AdjAotMetadata *metadata,
             guint index,
             const AdjValue *args,
             const AdjValue *outs,
             AdjValue *items)
{
  const AdjAotOutput *output = &metadata->outputs[index];
  AdjValue *result = &items[index];
  const AdjValue *value = &outs->items[metadata->n_mutated_runtime + index];
  AdjTensor *tensor;

  switch (output->type)
    {
    case ADJ_OUTPUT_IS_INPUT:
      *result = adj_value_copy (&args[output->base]);
      return TRUE;
    case ADJ_OUTPUT_ALIAS_OF_INPUT:
    case ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE_SAVE_AS_OUTPUT:
    case ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE:
    case ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE_BASE_IS_USER_OUTPUT:
      tensor =
          aot_alias_new (cx, output, find_base (metadata, index, args, outs, items), value->tensor);
      if (tensor == NULL)
        return FALSE;
      *result = ADJ_TENSOR (adj_keep (tensor));
      return TRUE;
    case ADJ_OUTPUT_NON_ALIAS:
    case ADJ_OUTPUT_CUSTOM_FUNCTION_VIEW:
      if (output->base < 0)
        {
          *result = adj_value_copy (value);
          return TRUE;
        }
      tensor = aot_alias_with_history (cx, output, find_base (metadata, index, args, outs, items),
                                       value->tensor);
      if (tensor == NULL)
        return FALSE;
      if (output->hooked)
        adj_tensor_forbid_write (cx, tensor);
      *result = ADJ_TENSOR (adj_keep (tensor));
      return TRUE;
    case ADJ_OUTPUT_UNSAFE_VIEW_ALIAS:
      if (output->hooked)
        adj_tensor_forbid_write (cx, value->tensor);
      *result = adj_value_copy (value);
      return TRUE;
    case ADJ_N_OUTPUT_TYPES:
    default:
      *result = adj_value_copy (value);
      return TRUE;
    }
}

/* Makes views of other outputs after their bases; repeated outputs are copied last. */
static gboolean
make_outputs (AdjContext *cx,
              const AdjAotMetadata *metadata,
              const AdjValue *args,
              const AdjValue *outs,
              AdjValue *result)
{
  g_autofree AdjValue *items = g_new0 (AdjValue, metadata->n_outputs + 1);
  gboolean done = TRUE;

  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < metadata->n_outputs && done; i++)
      if (metadata->outputs[i].first == i &&
          (metadata->outputs[i].type == ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE_BASE_IS_USER_OUTPUT) ==
              (pass == 1))
        done = make_output (cx, metadata, i, args, outs, items);
  for (guint i = 0; i < metadata->n_outputs && done; i++)
    if (metadata->outputs[i].first < i)
      items[i] = adj_value_copy (&items[metadata->outputs[i].first]);
  *result = adj_value_new_items (ADJ_VALUE_TUPLE, items, metadata->n_outputs);
  return done;
}

/* -- the call -- */

/* Bumps versions for writes inside the graph, so that tensors saved before the call become stale;
 * the graph saves after it.  The same for changes of metadata, also those that cancel out; they
 * make the history of views stale, but not of the changed tensor itself. */
static void
count_writes (const AdjAotInput *input, AdjTensor *tensor)
{
  gboolean writes = input->mutation == ADJ_MUTATION_IN_GRAPH && !input->hidden;
  gboolean turns = input->mutates_metadata || input->turned_back;

  if (turns && !input->turns_no_grad && !writes)
    adj_tensor_count_turn (tensor);
  else if (writes || turns || (input->counted && input->mutation == ADJ_MUTATION_NONE))
    adj_tensor_bump_version (tensor);
}

static gboolean
call_inner (AdjFunction *function,
            AdjContext *cx,
            const AdjAotMetadata *metadata,
            const AdjValue *args,
            guint n_args,
            AdjValue *outs)
{
  gboolean enabled = adj_context_set_grad_enabled (cx, metadata->is_train);
  gboolean done;

  for (guint i = 0; i < n_args; i++)
    if (metadata->inputs[i].is_tensor)
      count_writes (&metadata->inputs[i], args[i].tensor);
  done = adj_function_call (AOT_INNER (function), cx, args, n_args, outs);
  adj_context_set_grad_enabled (cx, enabled);
  if (!done || outs->n >= metadata->n_forward_returns)
    return done;
  adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_VERIFY, "the compiled forward gave %u values, not %u",
                    outs->n, metadata->n_forward_returns);
  return FALSE;
}

/* Fails if an input requires a gradient but was traced without. */
static gboolean
check_gradients (const AotEpilogue *epilogue, AdjContext *cx, const AdjValue *args)
{
  if (epilogue->no_grad || !adj_context_get_grad_enabled (cx))
    return TRUE;
  for (guint i = 0; i < epilogue->metadata->n_inputs; i++)
    if (args[i].kind == ADJ_VALUE_TENSOR && !epilogue->metadata->inputs[i].requires_grad &&
        adj_tensor_get_requires_grad (args[i].tensor))
      return aot_fail_context (cx, AOT_ERROR_REQUIRES_GRAD_DIFFERS,
                               AOT_INPUT (epilogue->metadata->inputs[i].place), NULL);
  return TRUE;
}

static gboolean
epilogue_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const AdjAotMetadata *metadata = AOT_STAGE (AotEpilogue, function)->metadata;
  g_auto (AdjValue) outs = ADJ_NONE;
  gboolean done;

  done = check_gradients (AOT_STAGE (AotEpilogue, function), cx, args) &&
         call_inner (function, cx, metadata, args, n_args, &outs) &&
         apply_mutations (cx, metadata, args, &outs) &&
         make_outputs (cx, metadata, args, &outs, result);
  if (done && metadata->grad_mode >= 0)
    adj_context_set_grad_enabled (cx, metadata->grad_mode != 0);
  return done;
}

static const AdjFunctionClass epilogue_class = {
  .name = "epilogue",
  .call = epilogue_call,
  .finalize = aot_function_finalize,
};

static AdjFunction *
epilogue_wrap (AotStage *stage, AdjFunction *inner)
{
  return aot_function_new (&epilogue_class, inner, stage);
}

static void
epilogue_finalize (AotStage *stage)
{
  adj_aot_metadata_free (((AotEpilogue *) stage)->metadata);
}

static const AotStageClass stage_class = {
  .name = "epilogue",
  .wrap = epilogue_wrap,
  .finalize = epilogue_finalize,
};

AotEpilogue *
aot_epilogue_new (const AotProgram *program)
{
  AotEpilogue *epilogue = aot_stage_new (&stage_class, sizeof *epilogue);

  epilogue->metadata = adj_aot_metadata_copy (program->metadata);
  epilogue->no_grad = program->options->no_grad;
  return epilogue;
}
