/* SPDX-License-Identifier: MIT */
/* The function under functionalization; in-graph writes to inputs become its last nodes
 * (aot/SPEC.md §4.4). */

#include "aot/aot-private.h"

#include "aot/boundary-private.h"
#include "aot/metadata-private.h"
#include "call/adj-mode.h"
#include "ir/adj-graph.h"
#include "ops/adj-ops.h"
#include "rules/adj-apply.h"
#include "rules/adj-rule.h"
#include "trace/adj-composite.h"

typedef struct
{
  AotStage parent;
  AdjAotMetadata *metadata; /* (owned) */
  GArray *arguments;        /* AotArgument, owned by the program */
  const AdjAotOptions *options;
  const AdjAotObserver *observer; /* (unowned) (nullable): during the trace */
  gboolean is_joint;
  AotBoundary *boundary; /* (owned) (nullable): of a joint function */
} Functionalized;

static void
functionalized_finalize (AotStage *stage)
{
  Functionalized *functionalized = (Functionalized *) stage;

  adj_aot_metadata_free (functionalized->metadata);
  g_array_unref (functionalized->arguments);
  if (functionalized->boundary != NULL)
    aot_stage_unref (&functionalized->boundary->parent);
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
  const AdjValue *plain;   /* the inputs before they were wrapped */
  const AdjValue *wrapped; /* the same inputs wrapped, as the function got them */
} Writes;

/* Writes to each innermost tensor of @plain the current value of its wrapper. */
static gboolean
write_input (AdjContext *cx, AdjTensor *plain, AdjTensor *wrapped)
{
  const AdjCompositeClass *klass = adj_composite_get_class (plain);

  if (klass == NULL)
    return adj_functional_write_back (cx, plain, wrapped);
  for (guint i = 0; i < klass->n_inner; i++)
    if (!write_input (cx, adj_composite_get_inner (plain, i), adj_composite_get_inner (wrapped, i)))
      return FALSE;
  return TRUE;
}

/* Sets the tag of the following calls; @tag: (nullable). */
static void
set_tag (AdjContext *cx, const char *tag)
{
  const AdjPlace *place = adj_context_get_place (cx);
  AdjPlace inside = place != NULL ? *place : (AdjPlace){ 0 };

  inside.tag = tag;
  adj_context_set_place (cx, &inside);
}

static gboolean
write_inputs (const Writes *writes)
{
  const AdjAotMetadata *metadata = writes->stage->metadata;
  const char *tag = writes->stage->is_joint ? "must_be_in_forward" : ADJ_MUST_BE_IN_BACKWARD;
  gboolean done = TRUE;

  set_tag (writes->cx, writes->stage->options->tag_writes ? tag : NULL);
  for (guint i = 0; i < metadata->n_mutated_in_graph && done; i++)
    {
      guint index = metadata->mutated_in_graph[i];

      done = write_input (writes->cx, writes->plain[index].tensor, writes->wrapped[index].tensor);
    }
  set_tag (writes->cx, NULL);
  return done;
}

/* Writes of the backward, recorded at its end. */
static gboolean
write_inputs_of_backward (const Writes *writes)
{
  const AotBoundary *boundary = writes->stage->boundary;
  gboolean done = TRUE;

  set_tag (writes->cx, ADJ_MUST_BE_IN_BACKWARD);
  for (guint i = 0; boundary != NULL && done && i < boundary->metadata->n_inputs; i++)
    done = !boundary->written[i] || adj_functional_write_back (writes->cx, writes->plain[i].tensor,
                                                               writes->wrapped[i].tensor);
  set_tag (writes->cx, NULL);
  return done;
}

/* Replaces outputs that are such an input by its placeholder (aot/SPEC.md §4.4). */
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

typedef struct
{
  AdjValue *primals;
  guint n_primals;
  AdjValue *tangents;
  guint n_tangents;
} Wrapped;

static gboolean
wrap (AdjContext *cx, const Functionalized *stage, const AdjValue *args, Wrapped *wrapped)
{
  const AdjValue *primals = stage->is_joint ? args[0].items : args;
  const AdjValue *tangents = stage->is_joint && wrapped->n_tangents > 0 ? args[1].items : NULL;

  wrapped->primals = g_new0 (AdjValue, wrapped->n_primals + 1);
  wrapped->tangents = g_new0 (AdjValue, wrapped->n_tangents + 1);
  return aot_wrap_arguments (cx, (gconstpointer) stage->arguments->data, wrapped->n_primals,
                             primals, wrapped->primals) &&
         aot_wrap_arguments (cx, NULL, wrapped->n_tangents, tangents, wrapped->tangents);
}

static gboolean
call_inner (AdjFunction *inner,
            AdjContext *cx,
            const Functionalized *stage,
            const Wrapped *wrapped,
            AdjValue *outs)
{
  const AdjValue parts[2] = {
    { .kind = ADJ_VALUE_TUPLE, .n = wrapped->n_primals, .items = wrapped->primals },
    { .kind = ADJ_VALUE_TUPLE, .n = wrapped->n_tangents, .items = wrapped->tangents },
  };

  if (stage->is_joint)
    return adj_function_call (inner, cx, parts, stage->options->export_joint ? 1 : 2, outs);
  return adj_function_call (inner, cx, wrapped->primals, wrapped->n_primals, outs);
}

static gboolean
call_wrapped (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const Functionalized *stage = AOT_STAGE (Functionalized, function);
  Wrapped wrapped = {
    .n_primals = stage->is_joint ? args[0].n : n_args,
    .n_tangents = stage->is_joint && n_args > 1 ? args[1].n : 0,
  };
  gboolean enabled = adj_context_set_grad_enabled (cx, !stage->options->no_grad);
  gboolean done = wrap (cx, stage, args, &wrapped);
  Writes writes = { stage, cx, stage->is_joint ? args[0].items : args, wrapped.primals };
  g_auto (AdjValue) outs = ADJ_NONE;

  done = done && call_inner (AOT_INNER (function), cx, stage, &wrapped, &outs);
  adj_context_set_grad_enabled (cx, FALSE);
  done = done && write_inputs (&writes) && write_inputs_of_backward (&writes) &&
         aot_unwrap (cx, &outs, result);
  adj_context_set_grad_enabled (cx, enabled);
  if (done)
    return_placeholders (&writes, stage->is_joint ? &result->items[0] : result);
  clear_values (wrapped.primals, wrapped.n_primals);
  clear_values (wrapped.tangents, wrapped.n_tangents);
  g_free (wrapped.primals);
  g_free (wrapped.tangents);
  return done;
}

static gboolean
functionalized_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const Functionalized *stage = AOT_STAGE (Functionalized, function);
  gboolean done;

  aot_push_modes (cx, stage->options, stage->observer);
  done = call_wrapped (function, cx, args, n_args, result);
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
  stage->observer = program->observer;
  stage->is_joint = program->metadata->is_train;
  for (guint i = 0; stage->is_joint && i < program->stages->len; i++)
    if (aot_stage_is_boundary (program->stages->pdata[i]))
      stage->boundary = (AotBoundary *) aot_stage_ref (program->stages->pdata[i]);
  aot_program_set_function (program,
                            aot_function_new (&functionalized_class, program->function, stage));
  g_string_append_printf (program->note, "%u writes to inputs stay in the graph",
                          program->metadata->n_mutated_in_graph);
  aot_program_push (program, &stage->parent);
  return TRUE;
}
