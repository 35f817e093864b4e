/* SPDX-License-Identifier: MIT */
/* The stages as passes over a graph: their options, and notes at each node about what was found. */

#include "aot/adj-aot.h"
#include "ir/adj-graph.h"
#include "passes/adj-pass-internal.h"

static void
note_inputs (AdjPassContext *context, const AdjAotMetadata *metadata, const AdjGraph *in)
{
  for (guint i = 0; i < metadata->n_inputs && i < adj_graph_get_n_inputs (in); i++)
    {
      const AdjAotInput *input = &metadata->inputs[i];
      AdjNodeId id = adj_graph_get_input (in, i);

      if (input->mutation == ADJ_MUTATION_IN_GRAPH)
        adj_pass_note (context, id, ADJ_NO_NODE, "is written by the graph");
      else if (input->mutation == ADJ_MUTATION_OUT_OF_GRAPH)
        adj_pass_note (context, id, ADJ_NO_NODE,
                       input->mutates_data ? "its new value is an output"
                                           : "its new geometry is an output");
    }
}

static void
note_outputs (AdjPassContext *context, const AdjAotMetadata *metadata, const AdjGraph *in)
{
  const AdjValue *outputs =
      &adj_graph_get_node (in, adj_graph_get_output (in).index)->args.items[0];

  for (guint i = 0; i < metadata->n_outputs && i < outputs->n; i++)
    if (outputs->items[i].kind == ADJ_VALUE_NODE)
      adj_pass_note (context, outputs->items[i].node, ADJ_NO_NODE, "output %u: %s by rule %s", i,
                     adj_output_type_name (metadata->outputs[i].type), metadata->outputs[i].rule);
}

static void
note_step (const AdjAotStep *step, gpointer context)
{
  adj_pass_step (context, step->name, step->note, step->ns);
}

static void
note_warning (const char *text, gpointer context)
{
  adj_pass_warn (context, text);
}

static AdjGraph *
run (AdjGraph *in, AdjPassContext *context, const AdjAotOptions *options, GError **error)
{
  const AdjAotObserver observer = { .step = note_step, .warn = note_warning, .data = context };
  g_autoptr (AdjAotGraph) aot = adj_aot_trace_graph (in, options, &observer, error);

  if (aot == NULL)
    return NULL;
  note_inputs (context, adj_aot_graph_get_user_metadata (aot), in);
  note_outputs (context, adj_aot_graph_get_user_metadata (aot), in);
  if (!options->no_grad && !adj_aot_graph_is_joint (aot))
    adj_pass_context_set_role (context, "inference");
  return adj_graph_ref (adj_aot_graph_get_graph (aot));
}

static gboolean
read_release (const char *word, AdjAotOptions *options)
{
  static const struct
  {
    const char *word, *release;
    AdjDetaches detaches;
    gboolean copy_written, like_outputs, tag_writes, maxima_by_sign, floats_as_tensors;
  } releases[] = {
    { "torch", NULL, ADJ_DETACHES_2_6, TRUE, FALSE, FALSE, FALSE, FALSE },
    { "torch2.15", "2.15", ADJ_DETACHES_2_15, TRUE, TRUE, TRUE, TRUE, TRUE },
    { "2.15", "2.15", ADJ_DETACHES_ONCE, FALSE, TRUE, TRUE, TRUE, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (releases); i++)
    if (g_str_equal (word, releases[i].word))
      {
        options->detaches = releases[i].detaches;
        options->copy_written = releases[i].copy_written;
        options->release = releases[i].release;
        options->like_outputs = releases[i].like_outputs;
        options->tag_writes = releases[i].tag_writes;
        options->maxima_by_sign = releases[i].maxima_by_sign;
        options->floats_as_tensors = releases[i].floats_as_tensors;
        return TRUE;
      }
  return FALSE;
}

/* "core+rng+torch" */
static gboolean
read_argument (const char *argument, AdjAotOptions *options, GError **error)
{
  g_auto (GStrv) words = g_strsplit (argument != NULL ? argument : "", "+", -1);

  for (guint i = 0; words[i] != NULL; i++)
    {
      options->functionalize_rng |= g_str_equal (words[i], "rng");
      if (g_str_equal (words[i], "rng") || read_release (words[i], options))
        continue;
      options->decompositions = adj_decompositions_find (words[i], error);
      if (options->decompositions == NULL)
        return FALSE;
    }
  return TRUE;
}

static AdjGraph *
functionalize_run (AdjGraph *in, AdjPassContext *context, GError **error)
{
  AdjAotOptions options = { .keep_input_mutations = TRUE, .no_grad = TRUE };

  return read_argument (adj_pass_context_get_argument (context), &options, error)
             ? run (in, context, &options, error)
             : NULL;
}

static AdjGraph *
joint_run (AdjGraph *in, AdjPassContext *context, GError **error)
{
  AdjAotOptions options = { .keep_input_mutations = TRUE };

  return read_argument (adj_pass_context_get_argument (context), &options, error)
             ? run (in, context, &options, error)
             : NULL;
}

static AdjGraph *
export_run (AdjGraph *in, AdjPassContext *context, GError **error)
{
  const char *argument = adj_pass_context_get_argument (context);
  AdjAotOptions options = { .export_joint = TRUE };
  guint64 loss;

  if (!g_ascii_string_to_unsigned (argument != NULL ? argument : "0", 10, 0, G_MAXUINT, &loss,
                                   error))
    return NULL;
  options.loss = (guint) loss;
  return run (in, context, &options, error);
}

const AdjPass adj_pass_functionalize = {
  .name = "functionalize",
  .argument = "core|inductor|rng",
  .summary = "Say the forward without writes",
  .explain = "Writes to tensors become new values; views of what was written are made again.  "
             "What is written to an input stays, as the last nodes, or becomes an output.\n\n"
             "Before: `x.mul_(2); return y + x`\n\n"
             "After: `mul = mul(x, 2); add = add(y, mul); copy_(x, mul); return add`\n\n"
             "With a table of decompositions, `functionalize=core`, operators are taken apart on "
             "the way.  With `rng`, as in `functionalize=core+rng`, seed and offset of the random "
             "numbers become inputs and the new offset an output.",
  .run = functionalize_run,
};

const AdjPass adj_pass_joint = {
  .name = "joint",
  .argument = "core|inductor|rng|torch|torch2.15|2.15",
  .summary = "Forward and backward in one graph",
  .explain = "The forward is run under functionalization and autograd, then differentiated, all in "
             "one trace.  It takes the inputs and a gradient of each result, and gives the results "
             "and a gradient of each input.  Without an input that requires a gradient the graph "
             "stays a forward.\n\n"
             "Before: `mul = mul(a, b); return mul`\n\n"
             "After: `mul = mul(a, b); mul_1 = mul(t, a); mul_2 = mul(t, b); return mul, mul_2, "
             "mul_1`\n\n"
             "With a table of decompositions, `joint=core`, operators are taken apart on the way.  "
             "With `rng`, as in `joint=core+rng`, seeds and offsets of the random numbers become "
             "inputs and the new offsets outputs.  With `torch`, what backward reads of its own "
             "results passes `detach` four times, as in the joint graphs of PyTorch 2.6, and the "
             "gradient of what was written through a view is copied; with `torch2.15`, it passes "
             "`detach` twice.  With that, and with `2.15`, formulas are those of 2.15, and the "
             "gradient of a result is taken to lie as the result does.",
  .run = joint_run,
};

const AdjPass adj_pass_export = {
  .name = "export",
  .argument = "LOSS",
  .summary = "Forward and backward in one graph, from a scalar loss",
  .explain = "As `joint`, for export: the backward begins at the output LOSS, by its number (0), "
             "which must be a scalar; there are no gradients of results among the inputs, and what "
             "is written to an input is an output.  The gradients come last, of those inputs alone "
             "that require one.\n\n"
             "Before: `mul = mul(a, b); sum = sum(mul); return sum`\n\n"
             "After: `mul = mul(a, b); sum = sum(mul); one = ones_like(sum); …; return sum, mul_2, "
             "mul_1`",
  .run = export_run,
};
