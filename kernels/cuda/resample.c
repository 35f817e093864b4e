/* SPDX-License-Identifier: MIT */
/* Launches resampling: the taps along each axis come from the host. */

#include "cpu/resample-plan.h"
#include "launch.h"

static bool
run (AdjKQueue *queue, const AdjKResample *resample, bool backward)
{
  AdjKClass klass = class_of (resample->x.type);
  ResampleArgs args = { .x = resample->x,
                        .y = resample->y,
                        .x_volumes = adj_k_volumes_of (&resample->x),
                        .y_volumes = adj_k_volumes_of (&resample->y) };
  AdjKView sums = resample->x;
  ResamplePlan plan;

  if (!adj_k_resample_begin (&plan, resample))
    return false;
  for (int i = 0; i < AXES; i++)
    {
      const ResampleAxis *axis = &plan.axes[i];
      size_t n = (size_t) axis->first[axis->out];

      args.first[i] = queue->device->constant (queue, axis->first,
                                               (size_t) (axis->out + 1) * sizeof *axis->first);
      args.taps[i] =
          queue->device->constant (queue, axis->taps, (n + (n == 0)) * sizeof *axis->taps);
    }
  adj_k_resample_end (&plan);
  if (!backward)
    {
      args.n = adj_k_view_count (&resample->y);
      RUN (queue, OF_CLASS ("adj_resample", klass), args.n, args);
      return true;
    }
  sums = adj_k_cuda_temporary (queue, &sums, adj_k_loops ()->klass[klass].type);
  if (sums.data == NULL)
    return false;
  adj_k_cuda_fill_i64 (queue, &sums, 0);
  args.sums = sums.data;
  args.n = adj_k_view_count (&args.x_volumes);
  RUN (queue, OF_CLASS ("adj_resample_backward", klass), args.n, args);
  adj_k_cuda_copy (queue, &resample->x, &sums);
  return true;
}

bool
adj_k_cuda_resample (AdjKQueue *queue, const AdjKResample *resample)
{
  return run (queue, resample, false);
}

bool
adj_k_cuda_resample_backward (AdjKQueue *queue, const AdjKResample *resample)
{
  return run (queue, resample, true);
}
