/* SPDX-License-Identifier: MIT */
/* The stages in order (aot/SPEC.md §1.1), then the trace. */

#include "aot/adj-aot.h"

#include <string.h>

#include "aot/aot-private.h"
#include "aot/boundary-private.h"
#include "aot/composite-private.h"
#include "aot/metadata-private.h"
#include "aot/rng-private.h"
#include "aot/tokens-private.h"
#include "call/adj-op.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-graph.h"
#include "trace/adj-trace.h"

struct _AdjAotGraph
{
  gatomicrefcount ref_count;
  AdjGraph *graph;
  AdjAotMetadata *user_metadata;
  AdjAotMetadata *metadata;
  GPtrArray *stages;
  guint n_primals;
};

AdjAotGraph *
adj_aot_graph_ref (AdjAotGraph *aot)
{
  g_return_val_if_fail (aot != NULL, NULL);

  g_atomic_ref_count_inc (&aot->ref_count);
  return aot;
}

void
adj_aot_graph_unref (AdjAotGraph *aot)
{
  if (aot == NULL || !g_atomic_ref_count_dec (&aot->ref_count))
    return;
  g_clear_pointer (&aot->graph, adj_graph_unref);
  adj_aot_metadata_free (aot->user_metadata);
  adj_aot_metadata_free (aot->metadata);
  g_ptr_array_unref (aot->stages);
  g_free (aot);
}

AdjGraph *
adj_aot_graph_get_graph (const AdjAotGraph *aot)
{
  g_return_val_if_fail (aot != NULL, NULL);

  return aot->graph;
}

gboolean
adj_aot_graph_is_joint (const AdjAotGraph *aot)
{
  g_return_val_if_fail (aot != NULL, FALSE);

  return aot->metadata->is_train;
}

const AdjAotMetadata *
adj_aot_graph_get_user_metadata (const AdjAotGraph *aot)
{
  g_return_val_if_fail (aot != NULL, NULL);

  return aot->user_metadata;
}

const AdjAotMetadata *
adj_aot_graph_get_metadata (const AdjAotGraph *aot)
{
  g_return_val_if_fail (aot != NULL, NULL);

  return aot->metadata;
}

guint
adj_aot_graph_get_n_forward (const AdjAotGraph *aot)
{
  g_return_val_if_fail (aot != NULL, 0);

  return aot->metadata->n_tokens + aot->metadata->n_forward;
}

/* -- training or inference (aot/SPEC.md §1.4) -- */

static gboolean
output_trains (const AdjAotMetadata *metadata, const AdjAotOutput *output)
{
  if (!output->requires_grad)
    return FALSE;
  return (output->type != ADJ_OUTPUT_ALIAS_OF_INPUT && output->type != ADJ_OUTPUT_IS_INPUT) ||
         !metadata->inputs[output->base].requires_grad;
}

static gboolean
decide_training (AotProgram *program, GError **error)
{
  AdjAotMetadata *metadata = program->metadata;
  gboolean needed = FALSE, found = FALSE;

  for (guint i = 0; i < program->arguments->len; i++)
    needed |= aot_argument_requires_grad (AOT_ARGUMENT (program, i));
  for (guint i = 0; i < metadata->n_outputs; i++)
    found |= output_trains (metadata, &metadata->outputs[i]);
  for (guint i = 0; i < metadata->n_inputs; i++)
    {
      const AdjAotInput *input = &metadata->inputs[i];

      found |=
          input->requires_grad && input->mutates_data && !input->under_no_grad && !input->hidden;
    }
  metadata->is_train = needed && found && !program->options->no_grad;
  if (!metadata->is_train)
    metadata->n_bases = metadata->n_tangents = 0;
  g_ptr_array_set_size (program->tangents, (gint) metadata->n_tangents);
  adj_aot_metadata_derive (metadata);
  g_string_append (program->note, metadata->is_train ? "training: a joint graph"
                                  : needed           ? "inference: no result needs a backward"
                                                     : "inference: no input requires grad");
  return aot_check_composites (program, error);
}

/* -- steps -- */

typedef struct
{
  const char *name;
  gboolean (*run) (AotProgram *program, GError **error);
} Step;

/* Runs the metadata pass and reports its result: which inputs are written, the type of each output
 * and the rule that decided it. */
static gboolean
collect (AotProgram *program, GError **error)
{
  if (!aot_collect (program, error))
    return FALSE;
  adj_aot_metadata_print (program->metadata, program->symbols, program->note);
  if (program->note->len > 0)
    g_string_truncate (program->note, program->note->len - 1);
  return TRUE;
}

static const Step steps[] = {
  { "metadata", collect },
  { "training", decide_training },
};
static const Step convention_steps[] = {
  { "dedupe", aot_dedupe },
  { "synthetic base", aot_synthetic_base },
};
static const Step inference_steps[] = {
  { "mutations", aot_mutations_to_outputs },
  { "functionalize", aot_functionalize },
  { "composites", aot_desugar },
  { "tokens", aot_thread_tokens },
  { "rng", aot_functionalize_rng },
};
static const Step training_steps[] = {
  { "prepare", aot_prepare_for_autograd }, { "joint", aot_joint },
  { "functionalize", aot_functionalize },  { "composites", aot_desugar },
  { "tokens", aot_thread_tokens },         { "rng", aot_functionalize_rng },
};

static void
report (const AotProgram *program,
        const AdjAotObserver *observer,
        const char *name,
        AdjGraph *graph,
        gint64 since)
{
  const AdjAotStep step = {
    .name = name,
    .note = program->note->str,
    .graph = graph,
    .metadata = program->metadata,
    .ns = (g_get_monotonic_time () - since) * 1000,
  };

  if (observer != NULL && observer->step != NULL)
    observer->step (&step, observer->data);
  g_string_truncate (program->note, 0);
}

static gboolean
run_steps (
    AotProgram *program, const Step *list, guint n, const AdjAotObserver *observer, GError **error)
{
  for (guint i = 0; i < n; i++)
    {
      gint64 since = g_get_monotonic_time ();

      if (!list[i].run (program, error))
        return FALSE;
      report (program, observer, list[i].name, NULL, since);
    }
  return TRUE;
}

/* -- the trace -- */

/* Metadata of a seed or offset. */
static const AdjTensorMeta rng_meta = {
  .dtype = ADJ_DTYPE_I64,
  .device = { ADJ_DEVICE_CPU, -1 },
  .has_strides = TRUE,
  .storage = -1,
};
static const AdjValue rng_scalar = { .kind = ADJ_VALUE_META, .meta = &rng_meta };

static guint
count_inputs (const AotProgram *program)
{
  return program->metadata->n_tokens + program->arguments->len;
}

/* Tokens, then the inputs, into @values; returns how many. */
static guint
put_inputs (const AotProgram *program, AdjValue *values)
{
  guint n = 0;

  while (n < program->metadata->n_tokens)
    values[n++] = aot_token_example;
  for (guint i = 0; i < program->arguments->len; i++)
    {
      const AotArgument *argument = AOT_ARGUMENT (program, i);

      values[n] = argument->value;
      if (argument->is_size && argument->value.kind == ADJ_VALUE_INT)
        values[n] =
            (AdjValue){ .kind = ADJ_VALUE_SIZE, .size = ADJ_SIZE (argument->value.integer) };
      n++;
    }
  return n;
}

static AdjGraph *
trace_inference (AotProgram *program, const AdjTraceOptions *options, GError **error)
{
  g_autofree AdjValue *values = g_new0 (AdjValue, count_inputs (program) + 2);
  guint n = put_inputs (program, values);

  if (program->metadata->rng)
    values[n] = values[n + 1] = rng_scalar;
  return adj_trace (program->function, values, n + (program->metadata->rng ? 2 : 0), options,
                    error);
}

static AdjGraph *
trace_joint (AotProgram *program, AdjTraceOptions *options, GError **error)
{
  static const char *const rng_names[] = {
    "fwd_seed",
    "fwd_base_offset",
    "bwd_seed",
    "bwd_base_offset",
  };
  const char *names[8] = { "primals", "tangents" };
  const AdjAotMetadata *metadata = program->metadata;
  g_autofree AdjValue *primals = g_new0 (AdjValue, count_inputs (program) + 1);
  g_autofree AdjValue *tangents = g_new0 (AdjValue, metadata->n_tangents + 1);
  AdjValue values[8] = {
    { .kind = ADJ_VALUE_TUPLE, .items = primals },
    { .kind = ADJ_VALUE_TUPLE, .n = metadata->n_tangents, .items = tangents },
  };
  guint n = program->options->export_joint ? 1 : 2;

  values[0].n = put_inputs (program, primals);
  for (guint i = 0; i < metadata->n_tangents; i++)
    tangents[i] = (AdjValue){ .kind = ADJ_VALUE_META, .meta = &metadata->tangents[i] };
  if (metadata->n_backward_tokens > 0)
    {
      names[n] = options->unlisted = "tangents_token";
      values[n++] = aot_token_example;
    }
  for (guint i = 0; metadata->rng && i < G_N_ELEMENTS (rng_names); i++)
    {
      names[n] = rng_names[i];
      values[n++] = rng_scalar;
    }
  options->parameters = names;
  options->name = "joint_helper";
  return adj_trace (program->function, values, n, options, error);
}

/* Fails with @error, whose blame is mapped to nodes of the traced graph, if there is one. */
static gboolean
fail_at (const AotProgram *program, const AdjNode *node, GError **error)
{
  const AdjGraph *like = program->options->like;
  g_autofree char *what = g_strdup_printf ("node '%s'", node->name);

  aot_fail (error, AOT_ERROR_NOT_FUNCTIONAL, (AotBlame){ what, -1, -1, -1, -1 }, NULL);
  if (error != NULL && like != NULL && adj_node_id_is_valid (node->origin))
    adj_error_blame_node (*error, adj_graph_get_node (like, node->origin.index)->name,
                          node->origin.index);
  return FALSE;
}

/* Checks that the graph writes only placeholders (aot/SPEC.md §4.6). */
static gboolean
check_functional (const AotProgram *program, const AdjGraph *graph, GError **error)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);

      if (node->op == NULL || !adj_schema_mutates (adj_op_get_schema (node->op)))
        continue;
      if (node->args.n > 0 && node->args.items[0].kind == ADJ_VALUE_NODE &&
          adj_graph_get_node (graph, node->args.items[0].node.index)->opcode ==
              ADJ_OPCODE_PLACEHOLDER)
        continue;
      return fail_at (program, node, error);
    }
  return TRUE;
}

static AdjGraph *
trace_once (AotProgram *program, AdjTraceOptions *options, GError **error)
{
  return program->metadata->is_train ? trace_joint (program, options, error)
                                     : trace_inference (program, options, error);
}

AdjNodeId
aot_find_source (const AdjAotOptions *options, guint place)
{
  guint n = options->like != NULL ? adj_graph_get_n_inputs (options->like) : 0;

  if (place < options->n_lifted)
    return (AdjNodeId){ options->lifted[place] };
  place -= options->n_lifted;
  return place < n ? adj_graph_get_input (options->like, place) : ADJ_NO_NODE;
}

/* The node of the traced graph for input @index; ADJ_NO_NODE for a C function. */
static AdjNodeId
find_input (const AotProgram *program, guint index)
{
  return aot_find_source (program->options, AOT_ARGUMENT (program, index)->place);
}

static AdjGraph *
trace (AotProgram *program, const AdjAotObserver *observer, GError **error)
{
  guint n = count_inputs (program);
  g_autofree const AdjNodeMeta **metas = g_new0 (const AdjNodeMeta *, n + 1);
  g_autofree AdjNodeId *origins = g_new (AdjNodeId, n + 1);
  AdjTraceOptions options = {
    .symbols = program->symbols,
    .decompositions = program->options->decompositions,
    .input_metas = metas,
    .n_input_metas = n,
    .input_origins = origins,
    .drop_dead = !program->options->keep_dead,
  };
  gint64 since = g_get_monotonic_time ();
  g_autoptr (AdjGraph) graph = NULL;

  for (guint i = 0; i < program->metadata->n_tokens; i++)
    origins[i] = ADJ_NO_NODE;
  for (guint i = 0; i < program->arguments->len; i++)
    {
      metas[program->metadata->n_tokens + i] = AOT_ARGUMENT (program, i)->observed;
      origins[program->metadata->n_tokens + i] = find_input (program, i);
    }
  graph = trace_once (program, &options, error);
  if (graph != NULL && aot_tokens_need_retrace (program))
    {
      adj_graph_unref (graph);
      graph = trace_once (program, &options, error);
    }
  if (graph == NULL || !check_functional (program, graph, error))
    return NULL;
  if (program->options->floats_as_tensors && !aot_tensorify (&graph, error))
    return NULL;
  report (program, observer, "trace", graph, since);
  return g_steal_pointer (&graph);
}

static gboolean
compile (AotProgram *program,
         AdjAotGraph *aot,
         const AdjAotObserver *observer,
         const AdjValue *inputs,
         guint n,
         GError **error)
{
  gint64 since = g_get_monotonic_time ();
  gboolean done = aot_flatten (program, inputs, n, error);

  if (!done)
    return FALSE;
  report (program, observer, "flatten", NULL, since);
  aot_take_hooks (program);
  if (!run_steps (program, steps, G_N_ELEMENTS (steps), observer, error))
    return FALSE;
  aot_give_hooks (program);
  aot->user_metadata = adj_aot_metadata_copy (program->metadata);
  if (!run_steps (program, convention_steps, G_N_ELEMENTS (convention_steps), observer, error))
    return FALSE;
  done =
      program->metadata->is_train
          ? run_steps (program, training_steps, G_N_ELEMENTS (training_steps), observer, error)
          : run_steps (program, inference_steps, G_N_ELEMENTS (inference_steps), observer, error);
  if (!done)
    return FALSE;
  aot->graph = trace (program, observer, error);
  aot->metadata = adj_aot_metadata_copy (program->metadata);
  aot->n_primals = program->arguments->len;
  return aot->graph != NULL;
}

AdjAotGraph *
adj_aot_trace (AdjFunction *function,
               const AdjValue *inputs,
               guint n,
               const AdjAotOptions *options,
               const AdjAotObserver *observer,
               GError **error)
{
  static const AdjAotOptions defaults = { 0 };
  g_autoptr (AdjAotGraph) aot = g_new0 (AdjAotGraph, 1);
  AotProgram program = { .options = options != NULL ? options : &defaults, .observer = observer };
  gboolean done;

  g_return_val_if_fail (function != NULL, NULL);
  g_return_val_if_fail (n == 0 || inputs != NULL, NULL);

  g_atomic_ref_count_init (&aot->ref_count);
  aot->stages = g_ptr_array_new_with_free_func ((GDestroyNotify) aot_stage_unref);
  program.symbols = adj_symbols_new ();
  program.function = adj_function_ref (function);
  program.arguments = aot_arguments_new ();
  program.fakes = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_tensor_unref);
  program.composites = g_ptr_array_new_with_free_func ((GDestroyNotify) aot_composite_unref);
  program.leaves = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  program.stages = g_ptr_array_ref (aot->stages);
  program.note = g_string_new (NULL);
  done = compile (&program, aot, observer, inputs, n, error);
  if (!done)
    aot_name_error (error);
  g_string_free (program.note, TRUE);
  adj_aot_metadata_free (program.metadata);
  adj_function_unref (program.function);
  g_array_unref (program.arguments);
  g_ptr_array_unref (program.fakes);
  g_ptr_array_unref (program.composites);
  g_ptr_array_unref (program.leaves);
  g_clear_pointer (&program.returns, g_ptr_array_unref);
  g_clear_pointer (&program.tangents, g_ptr_array_unref);
  g_ptr_array_unref (program.stages);
  aot_stage_unref (program.hooks);
  adj_symbols_unref (program.symbols);
  return done ? g_steal_pointer (&aot) : NULL;
}

AdjAotGraph *
adj_aot_trace_graph (AdjGraph *graph,
                     const AdjAotOptions *options,
                     const AdjAotObserver *observer,
                     GError **error)
{
  g_autoptr (AdjFunction) function = NULL;
  g_autoptr (GArray) lifted = NULL;
  g_autofree AdjValue *inputs = NULL;
  AdjAotOptions with_graph = { 0 };
  guint n;

  g_return_val_if_fail (graph != NULL, NULL);

  if (options != NULL)
    with_graph = *options;
  lifted = aot_list_attributes (graph);
  n = lifted->len + adj_graph_get_n_inputs (graph);
  inputs = g_new0 (AdjValue, n + 1);
  with_graph.lifted = (gconstpointer) lifted->data;
  with_graph.n_lifted = lifted->len;
  with_graph.like = graph;
  for (guint i = 0; i < n; i++)
    inputs[i] = adj_graph_get_node (graph, aot_find_source (&with_graph, i).index)->val;
  memcpy (with_graph.autocast, adj_graph_get_thread_state (graph)->autocast,
          sizeof with_graph.autocast);
  with_graph.symbols = adj_graph_get_symbols (graph);
  function = lifted->len > 0
                 ? aot_lifted_function_new (graph, with_graph.lifted, with_graph.n_lifted)
                 : adj_graph_function_new (graph);
  return adj_aot_trace (function, inputs, n, &with_graph, observer, error);
}

/* -- run time -- */

/* (nullable) */
static AotStage *
find_desugar (const AdjAotGraph *aot)
{
  for (guint i = 0; i < aot->stages->len; i++)
    if (aot_stage_is_desugar (g_ptr_array_index (aot->stages, i)))
      return g_ptr_array_index (aot->stages, i);
  return NULL;
}

/* By input: whether its gradient is None in the backward graph (transfer full). All %FALSE without
 * a graph, or if composite inputs are taken apart. */
static gboolean *
find_detached (const AdjAotGraph *aot, AdjGraph *backward)
{
  gboolean *detached = g_new0 (gboolean, aot->n_primals + 1);
  const AdjValue *grads;

  if (backward == NULL || find_desugar (aot) != NULL)
    return detached;
  grads = &adj_graph_get_node (backward, adj_graph_get_output (backward).index)->args.items[0];
  for (guint i = 0; i < aot->n_primals && i < grads->n; i++)
    detached[i] = grads->items[i].kind == ADJ_VALUE_NONE;
  return detached;
}

/* The backward as called at run time, with saved values and tangents only. (transfer full) */
static AdjFunction *
wrap_backward (const AdjAotGraph *aot, AdjFunction *backward)
{
  const AdjAotMetadata *metadata = aot->metadata;
  AotStage *desugar = find_desugar (aot);
  AdjFunction *called =
      metadata->rng ? aot_rng_wrap_backward (backward) : adj_function_ref (backward);
  AdjFunction *inner = called;

  if (metadata->n_backward_tokens > 0)
    {
      called = aot_tokens_wrap_backward (inner, metadata->n_backward_tokens);
      adj_function_unref (inner);
    }
  inner = called;
  if (desugar != NULL)
    {
      called = aot_desugar_wrap_backward (desugar, inner);
      adj_function_unref (inner);
    }
  return called;
}

AdjFunction *
adj_aot_compile (AdjAotGraph *aot,
                 AdjFunction *forward,
                 AdjFunction *backward,
                 AdjGraph *backward_graph,
                 guint n_saved_sizes)
{
  g_autofree gboolean *detached = NULL;
  g_autoptr (AdjFunction) called = NULL;
  AdjFunction *function;

  g_return_val_if_fail (aot != NULL && forward != NULL, NULL);
  g_return_val_if_fail (!adj_aot_graph_is_joint (aot) || backward != NULL, NULL);

  detached = find_detached (aot, backward_graph);
  called = backward != NULL ? wrap_backward (aot, backward) : NULL;
  function = adj_function_ref (forward);
  for (guint i = aot->stages->len; i-- > 0;)
    {
      AotStage *stage = aot_stage_ref (g_ptr_array_index (aot->stages, i));
      AdjFunction *inner = function;

      if (aot_stage_is_boundary (stage))
        {
          AotStage *complete = aot_boundary_complete (stage, called, detached, n_saved_sizes);

          aot_stage_unref (stage);
          stage = complete;
        }
      if (stage->klass->wrap != NULL)
        {
          function = stage->klass->wrap (stage, inner);
          adj_function_unref (inner);
        }
      aot_stage_unref (stage);
    }
  return function;
}
