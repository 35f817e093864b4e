/* SPDX-License-Identifier: MIT */
/* Coordinates at which a resampling blends.  PyTorch computes them in float32, with a product and a
 * difference that some processors round once and others twice.  At the far end of an image that
 * amounts to a hundred roundings. */

#include "call/adj-op.h"
#include "exec/perturbation-private.h"
#include "exec/places-private.h"
#include "exec/replay-inputs-private.h"

/* (transfer full) (nullable) */
static AdjTensorData *
compute_at (const Side *side, const Leaf *leaf, const AdjPlaceRounding *places)
{
  Replay replay = { .operation = side->operation, .kind = REPLAY_PLACED, .places = *places };
  NodeRounding rounding;
  g_auto (AdjValue) result = replay_compute (&replay, &rounding);
  g_autoptr (GPtrArray) tensors = list_tensors (&result);
  AdjTensorData *found = nth_tensor (tensors, leaf->item);

  return found != NULL ? adj_tensor_data_ref (found) : NULL;
}

AdjTensorData *
places_find_nearest (const Side *side, const Leaf *leaf)
{
  static const AdjPlaceRounding ways[] = { { .fused = TRUE },
                                           { .narrow = TRUE },
                                           { .narrow = TRUE, .fused = TRUE } };
  const AdjOp *op = rounding_get_op (&leaf->rounding);
  gboolean wide = adj_tensor_data_get_meta (side->value)->dtype == ADJ_DTYPE_F64;
  AdjTensorData *nearest = adj_tensor_data_ref (side->exact);
  double distance;

  if (op == NULL || op->band != ADJ_BAND_PLACES)
    return nearest;
  distance = perturbation_distance (side->value, nearest);
  for (guint i = 0; i < G_N_ELEMENTS (ways) && distance > 0; i++)
    {
      g_autoptr (AdjTensorData) found =
          wide && ways[i].narrow ? NULL : compute_at (side, leaf, &ways[i]);
      double other = perturbation_distance (side->value, found);

      if (other < distance)
        {
          distance = other;
          adj_tensor_data_unref (nearest);
          nearest = g_steal_pointer (&found);
        }
    }
  return nearest;
}
