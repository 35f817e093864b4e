/* SPDX-License-Identifier: MIT */
/* A GPU's random numbers, drawn by the CPU kernel. */

#include "support/gpu-numbers.h"

guint64
adj_test_draw_uniform (AdjKPhilox state, gint64 n, float *out)
{
  const AdjKDraw uniform = { .kind = ADJ_K_DRAW_UNIFORM,
                             .width = 1,
                             .n_threads = adj_k_draw_threads (n, ADJ_K_DRAW_THREADS),
                             .scale = 1,
                             .end = 1 };
  const AdjKView view = {
    .data = out, .type = ADJ_K_F32, .rank = 1, .size = { n }, .stride = { 1 }
  };

  adj_k_draw (&state, &uniform, &view);
  return state.offset;
}
