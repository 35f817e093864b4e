/* SPDX-License-Identifier: MIT */
/* The metadata of AOTAutograd about a function: copied, compared, printed, and derived from the
 * findings of the metadata pass. */

#include "aot/adj-aot-metadata.h"

#include <string.h>

#include "aot/aot-private.h"
#include "aot/metadata-private.h"

AdjAotMetadata *
adj_aot_metadata_new (guint n_inputs, guint n_outputs)
{
  AdjAotMetadata *metadata = g_new0 (AdjAotMetadata, 1);

  metadata->n_inputs = n_inputs;
  metadata->inputs = g_new0 (AdjAotInput, MAX (n_inputs, 1));
  metadata->n_outputs = n_outputs;
  metadata->outputs = g_new0 (AdjAotOutput, MAX (n_outputs, 1));
  for (guint i = 0; i < n_outputs; i++)
    {
      metadata->outputs[i].base = -1;
      metadata->outputs[i].first = i;
      metadata->outputs[i].n_recorded = G_MAXUINT;
    }
  metadata->grad_mode = -1;
  return metadata;
}

static gpointer
copy_items (gconstpointer items, guint n, gsize size)
{
  gpointer copy = g_malloc0 (MAX (n, 1) * size);

  if (n > 0)
    memcpy (copy, items, n * size);
  return copy;
}

AdjAotMetadata *
adj_aot_metadata_copy (const AdjAotMetadata *metadata)
{
  AdjAotMetadata *copy;

  g_return_val_if_fail (metadata != NULL, NULL);

  copy = g_memdup2 (metadata, sizeof *metadata);
  copy->inputs = copy_items (metadata->inputs, metadata->n_inputs, sizeof *metadata->inputs);
  copy->outputs = copy_items (metadata->outputs, metadata->n_outputs, sizeof *metadata->outputs);
  for (guint i = 0; i < copy->n_inputs; i++)
    adj_view_chain_ref (copy->inputs[i].turned);
  for (guint i = 0; i < copy->n_outputs; i++)
    {
      adj_view_chain_ref (copy->outputs[i].recipe);
      adj_view_chain_ref (copy->outputs[i].turned);
    }
  copy->tangents =
      copy_items (metadata->tangents, metadata->n_tangents, sizeof *metadata->tangents);
  copy->tokens = g_strdupv (metadata->tokens);
  copy->mutated_runtime =
      copy_items (metadata->mutated_runtime, metadata->n_mutated_runtime, sizeof (guint));
  copy->mutated_in_graph =
      copy_items (metadata->mutated_in_graph, metadata->n_mutated_in_graph, sizeof (guint));
  return copy;
}

void
adj_aot_metadata_free (AdjAotMetadata *metadata)
{
  if (metadata == NULL)
    return;
  for (guint i = 0; i < metadata->n_inputs; i++)
    adj_view_chain_unref (metadata->inputs[i].turned);
  for (guint i = 0; i < metadata->n_outputs; i++)
    {
      adj_view_chain_unref (metadata->outputs[i].recipe);
      adj_view_chain_unref (metadata->outputs[i].turned);
    }
  g_free (metadata->inputs);
  g_free (metadata->outputs);
  g_free (metadata->tangents);
  g_strfreev (metadata->tokens);
  g_free (metadata->mutated_runtime);
  g_free (metadata->mutated_in_graph);
  g_free (metadata);
}

/* -- what follows from the fields -- */

/* Whether the mutation stays in the graph or leaves it (aot/SPEC.md §2.3). */
static AdjMutation
classify_mutation (const AdjAotInput *input, gboolean keep)
{
  gboolean writes = input->mutates_data || input->mutates_storage_metadata || input->storage_resize;

  if (!writes && !input->mutates_metadata)
    return ADJ_MUTATION_NONE;
  if (keep && writes &&
      ((!input->mutates_metadata && !input->requires_grad) || input->hidden ||
       input->under_no_grad))
    return ADJ_MUTATION_IN_GRAPH;
  return ADJ_MUTATION_OUT_OF_GRAPH;
}

gboolean
adj_aot_input_hides_turn (const AdjAotInput *input)
{
  g_return_val_if_fail (input != NULL, FALSE);

  return input->turned_back && input->requires_grad && input->mutation != ADJ_MUTATION_OUT_OF_GRAPH;
}

static gboolean
is_plain_output (const AdjAotOutput *output)
{
  return output->type == ADJ_OUTPUT_NON_ALIAS || output->type == ADJ_OUTPUT_UNSAFE_VIEW_ALIAS ||
         output->type == ADJ_OUTPUT_CUSTOM_FUNCTION_VIEW;
}

gboolean
adj_aot_metadata_shows_input (const AdjAotMetadata *metadata, guint index)
{
  const AdjAotOutput *output;

  g_return_val_if_fail (metadata != NULL && index < metadata->n_outputs, FALSE);

  output = &metadata->outputs[index];
  return output->type == ADJ_OUTPUT_ALIAS_OF_INPUT || output->type == ADJ_OUTPUT_IS_INPUT ||
         (output->base >= 0 && (output->type == ADJ_OUTPUT_NON_ALIAS ||
                                output->type == ADJ_OUTPUT_CUSTOM_FUNCTION_VIEW));
}

void
adj_aot_metadata_derive (AdjAotMetadata *metadata)
{
  g_return_if_fail (metadata != NULL);

  g_free (metadata->mutated_runtime);
  g_free (metadata->mutated_in_graph);
  metadata->mutated_runtime = g_new0 (guint, MAX (metadata->n_inputs, 1));
  metadata->mutated_in_graph = g_new0 (guint, MAX (metadata->n_inputs, 1));
  metadata->n_mutated_runtime = metadata->n_mutated_in_graph = 0;
  for (guint i = 0; i < metadata->n_inputs; i++)
    {
      AdjAotInput *input = &metadata->inputs[i];

      input->mutation = classify_mutation (input, metadata->keep_input_mutations);
      if (input->mutation == ADJ_MUTATION_OUT_OF_GRAPH)
        metadata->mutated_runtime[metadata->n_mutated_runtime++] = i;
      else if (input->mutation == ADJ_MUTATION_IN_GRAPH)
        metadata->mutated_in_graph[metadata->n_mutated_in_graph++] = i;
    }

  metadata->n_aliased = metadata->n_aliased_to_inputs = metadata->n_aliased_to_intermediates = 0;
  metadata->dynamic_outputs = FALSE;
  for (guint i = 0; i < metadata->n_outputs; i++)
    {
      const AdjAotOutput *output = &metadata->outputs[i];
      gboolean of_input =
          output->type == ADJ_OUTPUT_ALIAS_OF_INPUT || output->type == ADJ_OUTPUT_IS_INPUT;

      metadata->n_aliased_to_inputs += of_input;
      metadata->n_aliased_to_intermediates += !of_input && !is_plain_output (output);
      metadata->dynamic_outputs |= output->dynamic_dims != 0;
    }
  metadata->n_aliased = metadata->n_aliased_to_inputs + metadata->n_aliased_to_intermediates;
  metadata->n_forward_returns =
      metadata->n_mutated_runtime + metadata->n_outputs + metadata->n_bases;
  metadata->n_forward = metadata->n_forward_returns + (metadata->rng ? 1 : 0);
}

gboolean
adj_aot_metadata_has_tangent (const AdjAotMetadata *metadata, guint index)
{
  g_return_val_if_fail (metadata != NULL && index < metadata->n_forward_returns, FALSE);

  if (index < metadata->n_mutated_runtime)
    {
      const AdjAotInput *input = &metadata->inputs[metadata->mutated_runtime[index]];

      return input->mutates_data && input->requires_grad;
    }
  index -= metadata->n_mutated_runtime;
  if (index < metadata->n_outputs)
    return is_plain_output (&metadata->outputs[index]) &&
           metadata->outputs[index].kind == ADJ_VALUE_TENSOR &&
           metadata->outputs[index].requires_grad;
  return TRUE;
}

/* -- comparison -- */

static gboolean differ (GString *difference, const char *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
differ (GString *difference, const char *format, ...)
{
  va_list list;

  if (difference != NULL)
    {
      va_start (list, format);
      g_string_append_vprintf (difference, format, list);
      va_end (list);
    }
  return FALSE;
}

static gboolean
inputs_equal (const AdjAotInput *a, const AdjAotInput *b)
{
  return a->is_tensor == b->is_tensor && a->is_leaf == b->is_leaf &&
         a->mutates_data == b->mutates_data && a->mutates_metadata == b->mutates_metadata &&
         a->mutates_storage_metadata == b->mutates_storage_metadata &&
         a->storage_resize == b->storage_resize && a->hidden == b->hidden &&
         a->under_no_grad == b->under_no_grad && a->requires_grad == b->requires_grad &&
         a->mutation == b->mutation;
}

static gboolean
outputs_equal (const AdjAotOutput *a, const AdjAotOutput *b)
{
  return a->type == b->type && a->kind == b->kind && a->base == b->base &&
         a->requires_grad == b->requires_grad && a->dynamic_dims == b->dynamic_dims;
}

static gboolean
tangents_equal (const AdjTensorMeta *a, const AdjTensorMeta *b)
{
  gboolean same = a->dtype == b->dtype && a->shape.rank == b->shape.rank;

  for (guint i = 0; same && i < a->shape.rank; i++)
    same = adj_size_same (a->shape.size[i], b->shape.size[i]);
  return same;
}

gboolean
adj_aot_metadata_equal (const AdjAotMetadata *a, const AdjAotMetadata *b, GString *difference)
{
  g_return_val_if_fail (a != NULL && b != NULL, FALSE);

  if (a->n_inputs != b->n_inputs || a->n_outputs != b->n_outputs)
    return differ (difference, "%u inputs and %u outputs, %u and %u", a->n_inputs, a->n_outputs,
                   b->n_inputs, b->n_outputs);
  for (guint i = 0; i < a->n_inputs; i++)
    if (!inputs_equal (&a->inputs[i], &b->inputs[i]))
      return differ (difference, "input %u", i);
  for (guint i = 0; i < a->n_outputs; i++)
    if (!outputs_equal (&a->outputs[i], &b->outputs[i]))
      return differ (difference, "output %u: %s, %s", i, adj_output_type_name (a->outputs[i].type),
                     adj_output_type_name (b->outputs[i].type));
  if (a->n_bases != b->n_bases)
    return differ (difference, "%u intermediate bases, %u", a->n_bases, b->n_bases);
  if (a->keep_input_mutations != b->keep_input_mutations || a->rng != b->rng)
    return differ (difference, "the options differ");
  if (a->n_tangents != b->n_tangents)
    return differ (difference, "%u tangents, %u", a->n_tangents, b->n_tangents);
  for (guint i = 0; i < a->n_tangents; i++)
    if (!tangents_equal (&a->tangents[i], &b->tangents[i]))
      return differ (difference, "tangent %u", i);
  return TRUE;
}

/* -- text -- */

const char *
adj_output_type_name (AdjOutputType type)
{
  static const char *const names[ADJ_N_OUTPUT_TYPES] = {
    [ADJ_OUTPUT_NON_ALIAS] = "non_alias",
    [ADJ_OUTPUT_ALIAS_OF_INPUT] = "alias_of_input",
    [ADJ_OUTPUT_IS_INPUT] = "is_input",
    [ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE_SAVE_AS_OUTPUT] = "alias_of_intermediate_save_as_output",
    [ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE] = "alias_of_intermediate",
    [ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE_BASE_IS_USER_OUTPUT] =
        "alias_of_intermediate_base_is_user_output",
    [ADJ_OUTPUT_UNSAFE_VIEW_ALIAS] = "unsafe_view_alias",
    [ADJ_OUTPUT_CUSTOM_FUNCTION_VIEW] = "custom_function_view",
  };

  return type < ADJ_N_OUTPUT_TYPES ? names[type] : "";
}

static void
print_input (const AdjAotInput *input, guint index, GString *out)
{
  static const char *const types[] = { "", " -> IN", " -> OUT" };
  const struct
  {
    gboolean set;
    const char *name;
  } flags[] = {
    { !input->is_tensor, "no tensor" },
    { input->is_tensor && input->is_leaf, "leaf" },
    { input->mutates_data, "data" },
    { input->mutates_metadata, "meta" },
    { input->mutates_storage_metadata, "storage" },
    { input->storage_resize, "resize" },
    { input->under_no_grad, "under_no_grad" },
    { input->hidden && input->mutates_data, "hidden" },
    { input->requires_grad, "rg" },
  };
  const char *separator = "";

  g_string_append_printf (out, "in %u: ", index);
  for (guint i = 0; i < G_N_ELEMENTS (flags); i++)
    if (flags[i].set)
      {
        g_string_append_printf (out, "%s%s", separator, flags[i].name);
        separator = ", ";
      }
  g_string_append_printf (out, "%s\n", types[input->mutation]);
}

void
adj_aot_metadata_print (const AdjAotMetadata *metadata, const AdjSymbols *symbols, GString *out)
{
  g_return_if_fail (metadata != NULL && out != NULL);

  for (guint i = 0; i < metadata->n_inputs; i++)
    print_input (&metadata->inputs[i], i, out);
  for (guint i = 0; i < metadata->n_outputs; i++)
    {
      const AdjAotOutput *output = &metadata->outputs[i];

      g_string_append_printf (out, "out %u: %s", i, adj_output_type_name (output->type));
      if (output->base >= 0 && output->type != ADJ_OUTPUT_CUSTOM_FUNCTION_VIEW)
        g_string_append_printf (out, "(%d)", output->base);
      g_string_append_printf (out, "%s by rule %s\n", output->requires_grad ? " rg" : "",
                              output->rule != NULL ? output->rule : "-");
    }
  if (metadata->n_bases > 0)
    g_string_append_printf (out, "bases: %u\n", metadata->n_bases);
  for (guint i = 0; i < metadata->n_tangents; i++)
    {
      g_string_append_printf (out, "tangent %u: ", i);
      adj_tensor_meta_print (&metadata->tangents[i], symbols, out);
      g_string_append_c (out, '\n');
    }
  if (metadata->grad_mode >= 0)
    g_string_append_printf (out, "grad mode: %s\n", metadata->grad_mode ? "on" : "off");
  for (guint i = 0; i < metadata->n_tokens; i++)
    g_string_append_printf (out, "token %u: %s\n", i, metadata->tokens[i]);
}
