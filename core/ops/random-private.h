/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernel-random.h"

#include "ops/kernel-private.h"

G_BEGIN_DECLS

/* Shared by operators that draw random numbers, which they do in memory order. */

#define OP_CHUNK 1024               /* elements per chunk, on the stack */
#define OP_WORDS ((gint64) 1 << 20) /* elements for which words are drawn at once */

/* Scale and shift of the drawn numbers. */
typedef struct
{
  double scale, shift;
  gboolean once; /* each number is drawn once, also the last ones that PyTorch draws twice */
} OpStretch;

typedef void (*OpDraw) (const AdjOpCall *call,
                        const AdjKView *flat,
                        gboolean contiguous,
                        const OpStretch *stretch);

/* The generator on the host: operators that draw from it run on the CPU (ADJ_OP_ON_CPU). */
AdjGenerator *op_generator (const AdjOpCall *call);

/* The next words of the call's generator, in memory of its device; the caller frees the returned
 * memory like that of op_temporary(). */
gpointer op_draw_words (const AdjOpCall *call, gint64 n, AdjKView *out);

/* Fails unless random floats can be drawn in the dtype of the result. */
gboolean op_check_drawn (const AdjOpCall *call);

/* The elements of a dense view, in memory order. */
AdjKView op_flat (const AdjKView *view);
/* The elements of result @index in memory order; new results are dense. */
gboolean op_flat_output (const AdjOpCall *call, guint index, AdjKView *out);
AdjKView op_part_of (const AdjKView *flat, gint64 start, gint64 n);
void op_write_doubles (const AdjKView *flat, gint64 start, double *values, gint64 n);

/* Draws into the result: in its dtype, or in the narrower one that its float64 replaces. */
gboolean op_draw_output (AdjOpCall *call, OpDraw draw, const OpStretch *stretch);

/* Normal numbers of mean 0 and deviation @scale into the result. */
gboolean op_draw_normal (AdjOpCall *call, double scale);

/* Numbers of mean 1, exponentially distributed, into @out, dense. */
void op_draw_exponential (AdjOpCall *call, const AdjKView *out);

/* A result like argument 0: dense, in its order. */
void op_add_drawn (AdjOpCall *call);

/* In [0, 1), with as many bits as the dtype represents exactly. */
double op_next_uniform (AdjGenerator *generator, AdjKType type);

/* MKL's MCG31, a multiplicative congruential stream seeded by one draw of the generator
 * (ADJ_RANDOM_MKL). */
typedef struct
{
  guint64 x;
} OpStream;

OpStream op_stream_start (guint32 seed);
/* In (0, 1). */
double op_stream_next (OpStream *stream);

/* Result @index is set to 1 with probability @p, else 0: in memory order, from MKL's stream in
 * row-major order. */
gboolean op_draw_bernoulli (AdjOpCall *call, guint index, double p);

/* Whether the result was on a GPU when the graph was recorded. */
gboolean op_draws_for_gpu (const AdjOpCall *call);

gboolean op_draw_uniform_for_gpu (AdjOpCall *call, double from, double to);
gboolean op_draw_normal_for_gpu (AdjOpCall *call, double mean, double deviation);
gboolean op_draw_exponential_for_gpu (AdjOpCall *call, double rate);
/* Integers from @low on, from one word each or, if @wide, two. */
gboolean op_draw_integers_for_gpu (AdjOpCall *call, gint64 low, guint64 range, gboolean wide);
/* Result 0 becomes 1 with probability @p, else 0. */
gboolean op_draw_bernoulli_for_gpu (AdjOpCall *call, double p);
/* Numbers in (0, 1] in F32, to be compared with probabilities; on the CPU. */
void op_draw_units_for_gpu (const AdjOpCall *call, const AdjKView *units);
/* Result 1 of dropout: whether each element of @input is kept, with probability @p. */
gboolean op_draw_mask_for_gpu (AdjOpCall *call, const AdjKView *input, double p);

G_END_DECLS
