/* SPDX-License-Identifier: MIT */
/* Metadata of a function whose inputs were merged into synthetic bases, for the inner and the outer
 * function. */

#include "aot/metadata-private.h"
#include "aot/synthetic-base-private.h"

static void
rebase_output (const AotMerging *merging, guint index, AdjAotOutput *output)
{
  AotMerge *merge = merging->merge;
  const AotMember *member;

  merge->own[index] = -1;
  if (!adj_aot_metadata_shows_input (merging->program->metadata, index))
    return;
  member = &merge->members[output->base];
  if (member->base == AOT_NOT_MERGED)
    {
      output->base = (gint) member->inner;
      return;
    }
  if (output->type == ADJ_OUTPUT_IS_INPUT)
    {
      merge->own[index] = output->base;
      output->type = ADJ_OUTPUT_ALIAS_OF_INPUT;
      g_clear_pointer (&output->recipe, adj_view_chain_unref);
    }
  output->base = (gint) member->base;
}

static void
add_returned_outputs (const AotMerging *merging, AdjAotMetadata *metadata)
{
  const AotMerge *merge = merging->merge;
  guint n = metadata->n_outputs;

  metadata->outputs = g_renew (AdjAotOutput, metadata->outputs, n + merge->n_returned + 1);
  for (guint i = 0; i < merge->n; i++)
    if (merge->members[i].returned >= 0)
      metadata->outputs[n + (guint) merge->members[i].returned] = (AdjAotOutput){
        .type = ADJ_OUTPUT_ALIAS_OF_INPUT,
        .rule = "synthetic base",
        .kind = ADJ_VALUE_TENSOR,
        .base = (gint) merge->members[i].base,
        .first = n + (guint) merge->members[i].returned,
        .requires_grad = metadata->inputs[i].requires_grad,
        .meta = *aot_argument_meta (AOT_ARGUMENT (merging->program, i)),
      };
  metadata->n_outputs = n + merge->n_returned;
}

/* The previous tangent of inner input @input, which is no base. */
static const AdjTensorMeta *
find_tangent (const AotMerging *merging, const AdjAotMetadata *before, guint input)
{
  guint n = 0;

  for (guint i = 0; i < before->n_mutated_runtime; i++)
    if (adj_aot_metadata_has_tangent (before, i))
      {
        const AotMember *member = &merging->merge->members[before->mutated_runtime[i]];

        if (member->base == AOT_NOT_MERGED && member->inner == input)
          return &before->tangents[n];
        n++;
      }
  return NULL;
}

/* Recreates the tangents of written inputs for the inner function; the others are unchanged. */
static void
renew_tangents (const AotMerging *merging, const AdjAotMetadata *before, AdjAotMetadata *metadata)
{
  AdjTensorMeta *tangents = g_new0 (AdjTensorMeta, before->n_tangents + metadata->n_inputs + 1);
  guint n = 0, skip = 0;

  for (guint i = 0; i < before->n_mutated_runtime; i++)
    skip += adj_aot_metadata_has_tangent (before, i);
  for (guint i = 0; i < metadata->n_mutated_runtime; i++)
    if (adj_aot_metadata_has_tangent (metadata, i))
      {
        guint input = metadata->mutated_runtime[i];
        const AdjTensorMeta *known = find_tangent (merging, before, input);
        AdjTensorMeta meta =
            *aot_argument_meta (&g_array_index (merging->arguments, AotArgument, input));

        adj_shape_init (&meta.shape, merging->program->symbols, meta.shape.rank, meta.shape.size);
        meta.requires_grad = FALSE;
        meta.storage = -1;
        tangents[n++] = known != NULL ? *known : meta;
      }
  for (guint i = skip; i < before->n_tangents; i++)
    tangents[n++] = before->tangents[i];
  g_free (metadata->tangents);
  metadata->tangents = tangents;
  metadata->n_tangents = n;
}

void
aot_merging_edit_metadata (const AotMerging *merging)
{
  AdjAotMetadata *metadata = adj_aot_metadata_copy (merging->program->metadata);
  const AdjAotMetadata *before = merging->program->metadata;

  for (guint i = 0; i < metadata->n_outputs; i++)
    rebase_output (merging, i, &metadata->outputs[i]);
  add_returned_outputs (merging, metadata);
  for (guint i = 0; i < metadata->n_inputs; i++)
    adj_view_chain_unref (metadata->inputs[i].turned);
  g_free (metadata->inputs);
  metadata->n_inputs = merging->inputs->len;
  metadata->inputs =
      g_memdup2 (merging->inputs->data, MAX (merging->inputs->len, 1) * sizeof (AdjAotInput));
  for (guint i = 0; i < metadata->n_inputs; i++)
    adj_view_chain_ref (metadata->inputs[i].turned);
  adj_aot_metadata_derive (metadata);
  if (metadata->is_train)
    renew_tangents (merging, before, metadata);
  adj_aot_metadata_free (merging->program->metadata);
  merging->program->metadata = metadata;
}

/* -- seen again -- */

/* Keeps the type of an output that is the caller's own tensor. */
static void
update_output (const AotMerge *merge, AdjAotMetadata *metadata, AdjAotMetadata *seen, guint index)
{
  AdjAotOutput before = metadata->outputs[index];

  if (index >= merge->n_outputs || merge->own[index] >= 0)
    {
      metadata->outputs[index].requires_grad = seen->outputs[index].requires_grad;
      return;
    }
  metadata->outputs[index] = seen->outputs[index];
  seen->outputs[index] = before;
}

/* Appends the tangents of outputs and intermediate bases; those of inputs are there already. */
static void
update_tangents (const AotProgram *program, AdjAotMetadata *metadata, const AdjAotMetadata *seen)
{
  AdjTensorMeta *tangents = g_new0 (AdjTensorMeta, metadata->n_forward_returns + 1);
  const AdjTensorMeta *of_bases = seen->tangents + (seen->n_tangents - seen->n_bases);
  guint n_inputs = metadata->n_mutated_runtime, n = 0;

  for (guint i = 0; i < n_inputs; i++)
    if (adj_aot_metadata_has_tangent (metadata, i))
      {
        tangents[n] = metadata->tangents[n];
        n++;
      }
  for (guint i = 0; i < metadata->n_outputs; i++)
    if (adj_aot_metadata_has_tangent (metadata, n_inputs + i))
      tangents[n++] =
          aot_tangent_of (program->options, &metadata->outputs[i].meta, program->symbols);
  for (guint i = 0; i < metadata->n_bases; i++)
    tangents[n++] = of_bases[i];
  g_free (metadata->tangents);
  metadata->tangents = tangents;
  metadata->n_tangents = n;
}

gboolean
aot_merge_collect_again (const AotMerge *merge, AotProgram *program, GError **error)
{
  AdjAotMetadata *metadata = program->metadata;
  gboolean done;

  program->metadata = NULL;
  done = aot_collect (program, error);
  for (guint i = 0; done && i < metadata->n_outputs; i++)
    update_output (merge, metadata, program->metadata, i);
  if (done && metadata->is_train)
    {
      metadata->n_bases = program->metadata->n_bases;
      adj_aot_metadata_derive (metadata);
      update_tangents (program, metadata, program->metadata);
    }
  g_clear_pointer (&program->metadata, adj_aot_metadata_free);
  program->metadata = metadata;
  return done;
}
