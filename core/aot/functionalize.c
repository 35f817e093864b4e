/* SPDX-License-Identifier: MIT */
#include "aot/aot-private.h"

#include "ops/adj-ops.h"
#include "rules/adj-apply.h"
#include "rules/adj-rule.h"

/* Stage 9: the function under functionalization; writes to inputs that stay in the graph are its
 * last nodes (§6.3). */

typedef struct
{
  AotStage parent;
  AdjAotMetadata *metadata; /* (owned) */
  GArray *arguments;        /* AotArgument, of the program's */
  const AdjAotOptions *options;
  gboolean is_joint;
} Functionalized;

static void
functionalized_finalize (AotStage *stage)
{
  Functionalized *functionalized = (Functionalized *) stage;

  adj_aot_metadata_free (functionalized->metadata);
  g_array_unref (functionalized->arguments);
}

static const AotStageClass functionalized_stage_class = {
  .name = "functionalize",
  .finalize = functionalized_finalize,
};

/* -- writes that stay in the graph -- */

typedef struct
{
  const Functionalized *stage;
  AdjContext *cx;
  const AdjValue *plain;   /* the inputs as they came */
  const AdjValue *wrapped; /* and as the function saw them */
  guint n;
} Writes;

/* What is there now goes into the placeholder; see the steps of §6.3. */
static gboolean
write_input (const Writes *writes, guint i)
{
  const AdjAotInput *input = &writes->stage->metadata->inputs[i];
  AdjTensor *old = writes->plain[i].tensor;
  AdjTensor *new = aot_get_plain (writes->cx, writes->wrapped[i].tensor);

  if (new == NULL)
    return FALSE;
  if (input->mutates_storage_metadata &&
      ADJ_APPLY (writes->cx, ADJ_OP_set__source_Tensor, ADJ_TENSOR (old), ADJ_TENSOR (new)) == NULL)
    return FALSE;
  if (old == new || !input->mutates_data)
    return TRUE;
  return ADJ_APPLY (writes->cx, ADJ_OP_copy_, ADJ_TENSOR (old), ADJ_TENSOR (new)) != NULL;
}

static gboolean
write_inputs (const Writes *writes)
{
  const AdjAotMetadata *metadata = writes->stage->metadata;

  for (guint i = 0; i < metadata->n_mutated_in_graph; i++)
    if (!write_input (writes, metadata->mutated_in_graph[i]))
      return FALSE;
  return TRUE;
}

/* Outputs that are such an input become its placeholder (§6.4). */
static void
return_placeholders (const Writes *writes, AdjValue *outs)
{
  const AdjAotMetadata *metadata = writes->stage->metadata;

  for (guint i = 0; i < metadata->n_outputs; i++)
    {
      const AdjAotOutput *output = &metadata->outputs[i];
      AdjValue *out = &outs->items[metadata->n_mutated_runtime + i];

      if (output->type != ADJ_OUTPUT_IS_INPUT ||
          metadata->inputs[output->base].mutation != ADJ_MUTATION_IN_GRAPH)
        continue;
      adj_value_clear (out);
      *out = adj_value_copy (&writes->plain[output->base]);
    }
}

/* -- the function -- */

static void
clear_values (AdjValue *values, guint n)
{
  for (guint i = 0; i < n; i++)
    adj_value_clear (&values[i]);
}

static gboolean
call_wrapped (AdjFunction *function,
              AdjContext *cx,
              const AdjValue *args,
              const AdjValue *primals,
              guint n_primals,
              AdjValue *result)
{
  const Functionalized *stage = AOT_STAGE (Functionalized, function);
  g_autofree AdjValue *wrapped = g_new0 (AdjValue, n_primals + 1);
  Writes writes = { stage, cx, primals, wrapped, n_primals };
  AdjValue inner[2] = { { .kind = ADJ_VALUE_TUPLE, .n = n_primals, .items = wrapped }, ADJ_NONE };
  g_auto (AdjValue) outs = ADJ_NONE;
  gboolean done;

  if (stage->is_joint)
    inner[1] = args[1];
  adj_context_set_grad_enabled (cx, !stage->options->no_grad);
  done =
      aot_wrap_arguments (cx, (gconstpointer) stage->arguments->data, n_primals, primals,
                          wrapped) &&
      (stage->is_joint ? adj_function_call (AOT_INNER (function), cx, inner,
                                            stage->options->export_joint ? 1 : 2, &outs)
                       : adj_function_call (AOT_INNER (function), cx, wrapped, n_primals, &outs));
  adj_context_set_grad_enabled (cx, FALSE);
  done = done && write_inputs (&writes) && aot_unwrap (cx, &outs, result);
  adj_context_set_grad_enabled (cx, TRUE);
  if (done)
    return_placeholders (&writes, stage->is_joint ? &result->items[0] : result);
  clear_values (wrapped, n_primals);
  return done;
}

static gboolean
functionalized_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const Functionalized *stage = AOT_STAGE (Functionalized, function);
  gboolean done;

  aot_push_modes (cx, stage->options);
  done = stage->is_joint ? call_wrapped (function, cx, args, args[0].items, args[0].n, result)
                         : call_wrapped (function, cx, args, args, n_args, result);
  aot_pop_modes (cx, stage->options);
  return done;
}

static const AdjFunctionClass functionalized_class = {
  .name = "functionalized",
  .call = functionalized_call,
  .finalize = aot_function_finalize,
};

gboolean
aot_functionalize (AotProgram *program, GError **error)
{
  Functionalized *stage = aot_stage_new (&functionalized_stage_class, sizeof *stage);

  stage->metadata = adj_aot_metadata_copy (program->metadata);
  stage->arguments = g_array_ref (program->arguments);
  stage->options = program->options;
  stage->is_joint = program->metadata->is_train;
  aot_program_set_function (program,
                            aot_function_new (&functionalized_class, program->function, stage));
  g_string_append_printf (program->note, "%u writes to inputs stay in the graph",
                          program->metadata->n_mutated_in_graph);
  aot_program_push (program, &stage->parent);
  return TRUE;
}
