/* SPDX-License-Identifier: MIT */
/* Conditions of a joint graph for export (aot/SPEC.md §1.5): no epilogue, and a backward from one
 * scalar. */

#include "aot/aot-private.h"

static gboolean
check_inputs (const AdjAotMetadata *metadata, GError **error)
{
  for (guint i = 0; i < metadata->n_inputs; i++)
    {
      const AdjAotInput *input = &metadata->inputs[i];

      if (input->mutates_metadata)
        return aot_fail (error, AOT_ERROR_EXPORT_METADATA, AOT_INPUT (input->place), NULL);
      if (input->mutates_data && input->requires_grad)
        return aot_fail (error, AOT_ERROR_EXPORT_GRAD_MUTATION, AOT_INPUT (input->place), NULL);
    }
  return TRUE;
}

static gboolean
is_scalar (const AdjAotOutput *output)
{
  for (guint i = 0; i < output->meta.shape.rank; i++)
    if (!adj_size_is_int (output->meta.shape.size[i]) || output->meta.shape.size[i].word != 1)
      return FALSE;
  return TRUE;
}

gboolean
aot_check_export (const AdjAotMetadata *metadata, const AdjAotOptions *options, GError **error)
{
  guint loss = options->loss;

  if (!check_inputs (metadata, error))
    return FALSE;
  if (loss >= metadata->n_outputs || metadata->outputs[loss].kind != ADJ_VALUE_TENSOR)
    return aot_fail (error, AOT_ERROR_EXPORT_LOSS_MISSING, AOT_OUTPUT (loss), NULL);
  if (!metadata->outputs[loss].requires_grad)
    return aot_fail (error, AOT_ERROR_EXPORT_LOSS_GRAD, AOT_OUTPUT (loss), NULL);
  if (!is_scalar (&metadata->outputs[loss]))
    return aot_fail (error, AOT_ERROR_EXPORT_LOSS_SHAPE, AOT_OUTPUT (loss), NULL);
  for (guint i = 0; i < metadata->n_outputs; i++)
    if (i != loss && metadata->outputs[i].requires_grad)
      return aot_fail (error, AOT_ERROR_EXPORT_OTHER_GRAD, AOT_OUTPUT (i), NULL);
  return TRUE;
}
