/* SPDX-License-Identifier: MIT */
/* The random number state of a context. */

#include <string.h>

#include "call/adj-generator-internal.h"
#include "call/context-private.h"

AdjPhilox
adj_context_get_philox (const AdjContext *cx)
{
  return cx->philox;
}

void
adj_context_set_philox (AdjContext *cx, AdjPhilox state)
{
  cx->philox = state;
}

gint64
adj_context_get_gpu_threads (const AdjContext *cx)
{
  return cx->gpu_threads;
}

void
adj_context_set_gpu_threads (AdjContext *cx, gint64 n_threads)
{
  cx->gpu_threads = n_threads;
}

void
adj_context_get_draw_state (AdjContext *cx, AdjDrawState *out)
{
  memset (out, 0, sizeof *out);
  adj_generator_get_state (adj_context_get_generator (cx), out->generator);
  out->philox = cx->philox;
  out->gpu_threads = cx->gpu_threads;
}

void
adj_context_set_draw_state (AdjContext *cx, const AdjDrawState *state)
{
  adj_generator_set_state (adj_context_get_generator (cx), state->generator,
                           sizeof state->generator, NULL);
  cx->philox = state->philox;
  cx->gpu_threads = state->gpu_threads;
}
