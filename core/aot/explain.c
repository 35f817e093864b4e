/* SPDX-License-Identifier: MIT */
/* The metadata in words: mutation and aliasing of each input and output, and the reason. */

#include "aot/adj-aot-metadata.h"

/* -- inputs (aot/SPEC.md §2.3) -- */

static const char *
explain_in_graph (const AdjAotInput *input)
{
  return input->under_no_grad ? "every write was made with grad mode off"
         : input->hidden      ? "nothing was written, only set_ or a resize"
                              : "autograd does not follow it, and its sizes stayed";
}

static const char *
explain_out_of_graph (const AdjAotMetadata *metadata, const AdjAotInput *input)
{
  return !metadata->keep_input_mutations ? "no writes may stay in the graph"
         : input->requires_grad          ? "autograd has to see the write"
                                         : "its sizes or strides changed";
}

static guint
find_place (const AdjAotMetadata *metadata, guint index)
{
  guint place = 0;

  while (place < metadata->n_mutated_runtime && metadata->mutated_runtime[place] != index)
    place++;
  return place;
}

char *
adj_aot_metadata_explain_input (const AdjAotMetadata *metadata, guint index)
{
  const AdjAotInput *input;

  g_return_val_if_fail (metadata != NULL && index < metadata->n_inputs, NULL);

  input = &metadata->inputs[index];
  if (!input->is_tensor)
    return g_strdup ("is no tensor: passed on");
  if (input->mutation == ADJ_MUTATION_IN_GRAPH)
    return g_strdup_printf ("is written by the last nodes of the graph, since %s",
                            explain_in_graph (input));
  if (input->mutation == ADJ_MUTATION_OUT_OF_GRAPH)
    return g_strdup_printf ("is written: the new value leaves as output %u, and every call %s, "
                            "since %s",
                            find_place (metadata, index),
                            input->mutates_data ? "writes it back" : "gives its sizes back",
                            explain_out_of_graph (metadata, input));
  return g_strdup (input->requires_grad ? "is read alone, and gets a gradient" : "is read alone");
}

/* -- outputs (aot/SPEC.md §2.4) -- */

/* \001 stands for the number of the base; the second text is for outputs without one. */
static const char *const types[ADJ_N_OUTPUT_TYPES][2] = {
  [ADJ_OUTPUT_NON_ALIAS] = { "shows memory of input \001, with a history of its own: returned as "
                             "it "
                             "is",
                             "is a value of its own: returned as it is" },
  [ADJ_OUTPUT_ALIAS_OF_INPUT] = { "is a view of input \001: every call makes it again of the live "
                                  "one",
                                  "is a view of an input" },
  [ADJ_OUTPUT_IS_INPUT] = { "is input \001 itself: every call returns the live one",
                            "is an input itself" },
  [ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE_SAVE_AS_OUTPUT] = { "is a view of a value made here: that is "
                                                        "returned too, as base \001, and every "
                                                        "call makes the "
                                                        "view of it",
                                                        "is a view of a value made here" },
  [ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE] = { "is another view of base \001: every call makes it of "
                                         "that",
                                         "is a view of a base" },
  [ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE_BASE_IS_USER_OUTPUT] = { "is a view of output \001: every call "
                                                             "makes it of that",
                                                             "is a view of another output" },
  [ADJ_OUTPUT_UNSAFE_VIEW_ALIAS] = { "is a view of what nobody else sees: returned as if it were "
                                     "new",
                                     "is a view of what nobody else sees: returned as if it were "
                                     "new" },
  [ADJ_OUTPUT_CUSTOM_FUNCTION_VIEW] = { "a custom operation made it of memory of input \001: "
                                        "returned as the graph made it",
                                        "a custom operation made it: returned as the graph made "
                                        "it" },
};

char *
adj_aot_metadata_explain_output (const AdjAotMetadata *metadata, guint index)
{
  const AdjAotOutput *output;
  g_autofree char *number = NULL;
  GString *text;

  g_return_val_if_fail (metadata != NULL && index < metadata->n_outputs, NULL);

  output = &metadata->outputs[index];
  if (output->kind != ADJ_VALUE_TENSOR)
    return g_strdup ("is no tensor: passed on");
  number = g_strdup_printf ("%d", output->base);
  text = g_string_new (types[output->type][output->base < 0]);
  g_string_replace (text, "\001", number, 0);
  return g_string_free (text, FALSE);
}

const char *
adj_output_rule_explain (const char *rule)
{
  static const struct
  {
    const char *rule, *when;
  } rules[] = {
    { "1", "it is no tensor" },
    { "2", "its memory is an input's, and a custom operation made it" },
    { "own history", "its memory is an input's, but what detach made was written with a gradient" },
    { "3a", "its memory is an input's, and all outputs with it are results of one call" },
    { "3b", "it is an input" },
    { "3c", "its memory is an input's" },
    { "4", "set_ gave an input the memory that it shows" },
    { "5a", "it requires a gradient, and no other output shows its memory" },
    { "5b", "it requires a gradient, and what it shows is an output too" },
    { "5c", "it requires a gradient, and what it shows is a base already" },
    { "5d", "it requires a gradient, and shares memory with another output: what both show becomes "
            "a base" },
    { "6", "it requires none, but another output shows the same and does" },
    { "7", "nothing else shows its memory" },
    { "synthetic base", "it is an input that was made of a base" },
  };

  for (guint i = 0; rule != NULL && i < G_N_ELEMENTS (rules); i++)
    if (g_str_equal (rule, rules[i].rule))
      return rules[i].when;
  return "";
}
