/* SPDX-License-Identifier: MIT */
/* Mutated inputs become outputs; in training the function gets copies of them, so that gradients
 * are those of their old values. Bases of outputs that alias each other become outputs too.  The
 * epilogue undoes both. */

#include "aot/aot-private.h"

#include "aot/epilogue-private.h"
#include "aot/metadata-private.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/adj-rule.h"

/* (transfer full) */
static gboolean
give_all (AdjContext *cx,
          const AdjAotMetadata *metadata,
          const AdjValue *args,
          const AdjValue *outs,
          const GPtrArray *bases,
          AdjValue *result)
{
  g_autofree AdjValue *items = g_new0 (AdjValue, metadata->n_forward_returns + 1);
  guint n = 0;

  for (guint i = 0; i < metadata->n_mutated_runtime; i++)
    {
      guint input = metadata->mutated_runtime[i];

      items[n++] = metadata->inputs[input].whole
                       ? ADJ_TENSOR (adj_keep (adj_functional_get_whole (cx, args[input].tensor)))
                       : adj_value_copy (&args[input]);
    }
  for (guint i = 0; i < metadata->n_outputs; i++)
    items[n++] = adj_value_copy (&outs->items[i]);
  for (guint i = 0; bases != NULL && i < bases->len; i++)
    items[n++] = ADJ_TENSOR (adj_tensor_ref (g_ptr_array_index (bases, i)));
  *result = adj_value_new_items (ADJ_VALUE_TUPLE, items, n);
  return TRUE;
}

static gboolean
check_outputs (AdjContext *cx, const AdjAotMetadata *metadata, const AdjValue *outs)
{
  if (outs->n == metadata->n_outputs)
    return TRUE;
  adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_VERIFY,
                    "the function gave %u outputs, and %u when it was run before", outs->n,
                    metadata->n_outputs);
  return FALSE;
}

/* -- inference -- */

static gboolean
returning_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const AdjAotMetadata *metadata = AOT_STAGE (AotEpilogue, function)->metadata;
  g_auto (AdjValue) outs = ADJ_NONE;

  return adj_function_call (AOT_INNER (function), cx, args, n_args, &outs) &&
         check_outputs (cx, metadata, &outs) && give_all (cx, metadata, args, &outs, NULL, result);
}

static const AdjFunctionClass returning_class = {
  .name = "mutations to outputs",
  .call = returning_call,
  .finalize = aot_function_finalize,
};

gboolean
aot_mutations_to_outputs (AotProgram *program, GError **error)
{
  AotEpilogue *epilogue = aot_epilogue_new (program);

  aot_program_set_function (program,
                            aot_function_new (&returning_class, program->function, epilogue));
  g_string_append_printf (program->note, "%u inputs are outputs too",
                          program->metadata->n_mutated_runtime);
  aot_program_push (program, &epilogue->parent);
  return TRUE;
}

/* -- training -- */

/* An identity of @tensor with a node of its own: changes of metadata such as t_() are recorded on
 * it, and the gradient is taken at @tensor. */
static AdjTensor *
stand_in (AdjContext *cx, AdjTensor *tensor)
{
  AdjTensor *copy = adj_functional_get_whole (cx, tensor);

  return aot_connect_same (cx, "InputBackward", tensor, copy) ? copy : NULL;
}

/* The value to pass for a mutated input, usually a copy (aot/SPEC.md §4.2); borrowed. */
static AdjTensor *
fresh (AdjContext *cx, const AdjAotInput *input, AdjTensor *tensor)
{
  const AdjShape *shape = &adj_tensor_get_meta (tensor)->shape;
  g_autoptr (AdjArena) arena = NULL;

  if (adj_aot_input_hides_turn (input) && adj_tensor_get_requires_grad (tensor))
    return stand_in (cx, tensor);
  if (input->mutation != ADJ_MUTATION_OUT_OF_GRAPH)
    return tensor;
  if (input->requires_grad && input->mutates_data)
    return ADJ_APPLY (cx, ADJ_OP_clone, ADJ_TENSOR (tensor));
  if (!input->mutates_metadata)
    return tensor;
  arena = adj_arena_new ();
  return ADJ_APPLY (cx, ADJ_OP_view, ADJ_TENSOR (tensor),
                    adj_rule_list_sizes (arena, shape->size, shape->rank));
}

static gboolean
collect_bases (AdjContext *cx, const AdjAotMetadata *metadata, const AdjValue *outs, GPtrArray *out)
{
  for (guint i = 0; i < metadata->n_outputs; i++)
    {
      AdjTensor *base;

      if (metadata->outputs[i].type != ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE_SAVE_AS_OUTPUT)
        continue;
      base = outs->items[i].kind == ADJ_VALUE_TENSOR ? adj_tensor_get_base (outs->items[i].tensor)
                                                     : NULL;
      if (base == NULL)
        {
          adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_VERIFY,
                            "output %u was a view when the function was run before", i);
          return FALSE;
        }
      g_ptr_array_add (out, base);
    }
  return TRUE;
}

static gboolean
prepared_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const AdjAotMetadata *metadata = AOT_STAGE (AotEpilogue, function)->metadata;
  g_autofree AdjValue *copies = g_memdup2 (args, n_args * sizeof *args);
  g_autoptr (GPtrArray) bases = g_ptr_array_new ();
  g_auto (AdjValue) outs = ADJ_NONE;
  gboolean done;

  for (guint i = 0; i < n_args; i++)
    if (args[i].kind == ADJ_VALUE_TENSOR)
      {
        copies[i].tensor = fresh (cx, &metadata->inputs[i], args[i].tensor);
        if (copies[i].tensor == NULL)
          return FALSE;
      }
  done = adj_function_call (AOT_INNER (function), cx, copies, n_args, &outs) &&
         check_outputs (cx, metadata, &outs) && collect_bases (cx, metadata, &outs, bases) &&
         give_all (cx, metadata, copies, &outs, bases, result);
  for (guint i = 0; done && i < n_args; i++)
    if (copies[i].kind == ADJ_VALUE_TENSOR)
      done = aot_get_plain (cx, copies[i].tensor) != NULL;
  return done;
}

static const AdjFunctionClass prepared_class = {
  .name = "prepared for autograd",
  .call = prepared_call,
  .finalize = aot_function_finalize,
};

gboolean
aot_prepare_for_autograd (AotProgram *program, GError **error)
{
  AotEpilogue *epilogue = aot_epilogue_new (program);

  aot_program_set_function (program,
                            aot_function_new (&prepared_class, program->function, epilogue));
  g_string_append_printf (program->note, "%u inputs and %u intermediate bases are outputs too",
                          program->metadata->n_mutated_runtime, program->metadata->n_bases);
  aot_program_push (program, &epilogue->parent);
  return TRUE;
}
