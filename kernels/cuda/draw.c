/* SPDX-License-Identifier: MIT */
/* Launches random numbers: words by a block or, if there are many, by several; numbers from them by
 * a thread each. */

#include "launch.h"

/* Draws args->n words in args->n / CUDA_SEGMENT segments, two or more. */
static void
draw_segments (AdjKQueue *queue, const WordsArgs *args)
{
  int64_t segments = args->n / CUDA_SEGMENT;

  RUN_BLOCKS (queue, "adj_words_ahead", 1, CUDA_CHUNK, *args);
  RUN_BLOCKS (queue, "adj_words_jump", (segments - 1) * JUMP_PARTS, CUDA_CHUNK, *args);
  RUN_BLOCKS (queue, "adj_words", segments, CUDA_CHUNK, *args);
}

/* Memory for jumps; false: it ran out. */
static bool
make_jumps (AdjKQueue *queue, WordsArgs *args)
{
  const AdjKDevice *device = queue->device;

  args->segment = CUDA_SEGMENT;
  args->before = device->scratch (queue, sizeof *args->before);
  args->ahead = device->scratch (queue, WORDS_AHEAD * sizeof *args->ahead);
  args->parts = device->scratch (queue, sizeof adj_k_twister_jumps * JUMP_PARTS);
  args->jumps = device->constant (queue, adj_k_twister_jumps, sizeof adj_k_twister_jumps);
  return args->before != NULL && args->ahead != NULL && args->parts != NULL && args->jumps != NULL;
}

void
adj_k_cuda_words (AdjKQueue *queue, AdjKTwister *twister, const AdjKView *out)
{
  int64_t n = adj_k_view_count (out);
  WordsArgs args = { .twister = twister, .out = out->data };

  if (n >= 2 * CUDA_SEGMENT && !make_jumps (queue, &args))
    return;
  for (; n >= 2 * CUDA_SEGMENT; n -= args.n, args.out += args.n)
    {
      args.n = min_i64 (n, CUDA_SEGMENTS * CUDA_SEGMENT);
      draw_segments (queue, &args);
    }
  args.n = n;
  args.before = twister;
  if (n > 0)
    RUN_BLOCKS (queue, "adj_words", 1, CUDA_CHUNK, args);
}

void
adj_k_cuda_philox (AdjKQueue *queue, const AdjKView *seed, const AdjKView *out)
{
  PhiloxArgs args = {
    .seed = seed->data, .out = out->data, .n = out->size[0], .n_words = out->size[1]
  };

  RUN (queue, "adj_philox", args.n, args);
}

void
adj_k_cuda_uniform (
    AdjKQueue *queue, const AdjKView *out, const AdjKView *words, double scale, double shift)
{
  NumbersArgs args = { .words = words->data,
                       .out = out->data,
                       .n = adj_k_view_count (out),
                       .type = out->type,
                       .scale = scale,
                       .shift = shift };

  RUN (queue, "adj_uniform", args.n, args);
}

void
adj_k_cuda_normal (AdjKQueue *queue, const AdjKView *x, const AdjKNormal *normal)
{
  NormalArgs args = { .x = x->data, .n = adj_k_view_count (x) / 2, .normal = *normal };

  RUN (queue, "adj_normal", args.n, args);
}

void
adj_k_cuda_bernoulli (
    AdjKQueue *queue, const AdjKView *out, const AdjKView *words, double p, bool streams)
{
  BernoulliArgs args = {
    .words = words->data, .out = out->data, .n = adj_k_view_count (out), .p = p, .streams = streams
  };

  RUN (queue, "adj_bernoulli", args.n, args);
}

void
adj_k_cuda_integers (
    AdjKQueue *queue, const AdjKView *out, const AdjKView *words, int64_t low, uint64_t range)
{
  IntegersArgs args = { .words = words->data,
                        .out = out->data,
                        .n = adj_k_view_count (out),
                        .low = low,
                        .range = range,
                        .wide = adj_k_view_count (words) > adj_k_view_count (out) };

  RUN (queue, "adj_integers", args.n, args);
}

void
adj_k_cuda_draw (AdjKQueue *queue, AdjKPhilox *generator, const AdjKDraw *draw, const AdjKView *out)
{
  DrawArgs args = { .generator = generator,
                    .out = out->data,
                    .n = adj_k_view_count (out),
                    .type = out->type,
                    .draw = *draw };

  RUN (queue, "adj_draw", args.n, args);
  if (args.n > 0)
    RUN (queue, "adj_draw_move", 1, args);
}
