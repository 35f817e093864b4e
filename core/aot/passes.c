/* SPDX-License-Identifier: MIT */
#include "aot/adj-aot-passes.h"
#include "aot/adj-aot.h"

/* What the stages found out goes into the notes of the nodes that it is about. */

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

static AdjGraph *
run (AdjGraph *in, AdjPassContext *context, gboolean no_grad, GError **error)
{
  const char *table = adj_pass_context_get_argument (context);
  AdjAotOptions options = { .keep_input_mutations = TRUE, .no_grad = no_grad };
  g_autoptr (AdjAotGraph) aot = NULL;

  if (table != NULL)
    {
      options.decompositions = adj_decompositions_find (table, error);
      if (options.decompositions == NULL)
        return NULL;
    }
  aot = adj_aot_trace_graph (in, &options, NULL, error);
  if (aot == NULL)
    return NULL;
  note_inputs (context, adj_aot_graph_get_user_metadata (aot), in);
  note_outputs (context, adj_aot_graph_get_user_metadata (aot), in);
  return adj_graph_ref (adj_aot_graph_get_graph (aot));
}

static AdjGraph *
functionalize_run (AdjGraph *in, AdjPassContext *context, GError **error)
{
  return run (in, context, TRUE, error);
}

static AdjGraph *
joint_run (AdjGraph *in, AdjPassContext *context, GError **error)
{
  return run (in, context, FALSE, error);
}

const AdjPass adj_pass_functionalize = {
  .name = "functionalize",
  .argument = "core|inductor",
  .summary = "Say the forward without writes",
  .explain = "Writes to tensors become new values; views of what was written are made again.  "
             "What is written to an input stays, as the last nodes, or becomes an output.\n\n"
             "Before: `x.mul_(2); return y + x`\n\n"
             "After: `mul = mul(x, 2); add = add(y, mul); copy_(x, mul); return add`",
  .run = functionalize_run,
};

const AdjPass adj_pass_joint = {
  .name = "joint",
  .argument = "core|inductor",
  .summary = "Forward and backward in one graph",
  .explain = "The forward is run under functionalization and autograd, then differentiated, all in "
             "one trace.  It takes the inputs and a gradient of each result, and gives the results "
             "and a gradient of each input.  Without an input that requires a gradient the graph "
             "stays a forward.\n\n"
             "Before: `mul = mul(a, b); return mul`\n\n"
             "After: `mul = mul(a, b); mul_1 = mul(t, a); mul_2 = mul(t, b); return mul, mul_2, "
             "mul_1`",
  .run = joint_run,
};
