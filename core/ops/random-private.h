/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernel-random.h"

#include "ops/kernel-private.h"

G_BEGIN_DECLS

/* What operators that draw share.  Values are drawn in the order of memory. */

#define OP_CHUNK 1024               /* so many at once, on the stack */
#define OP_WORDS ((gint64) 1 << 20) /* of so many elements at once are words drawn */

/* What is drawn, times @scale, moved by @shift. */
typedef struct
{
  double scale, shift;
  gboolean once; /* each number is drawn once, also of those that are drawn anew at the end */
} OpStretch;

typedef void (*OpDraw) (const AdjOpCall *call,
                        const AdjKView *flat,
                        gboolean contiguous,
                        const OpStretch *stretch);

/* Of the host: what draws from it runs on the CPU (ADJ_OP_ON_CPU). */
AdjGenerator *op_generator (const AdjOpCall *call);

/* The next words of the call's random numbers, where its kernels run; the caller frees what is
 * returned, as of op_temporary(). */
gpointer op_draw_words (const AdjOpCall *call, gint64 n, AdjKView *out);

/* Fails unless the result has a dtype that floating numbers are drawn for. */
gboolean op_check_drawn (const AdjOpCall *call);

/* The elements of a view without gaps, in the order of memory. */
AdjKView op_flat (const AdjKView *view);
/* The elements of result @index in the order of memory: fresh results have no gaps. */
gboolean op_flat_output (const AdjOpCall *call, guint index, AdjKView *out);
AdjKView op_part_of (const AdjKView *flat, gint64 start, gint64 n);
void op_write_doubles (const AdjKView *flat, gint64 start, double *values, gint64 n);

/* Draws into the result: in its own dtype, or in the narrower one that its float64 stands for. */
gboolean op_draw_output (AdjOpCall *call, OpDraw draw, const OpStretch *stretch);

/* Normal numbers of mean 0 and deviation @scale into the result. */
gboolean op_draw_normal (AdjOpCall *call, double scale);

/* Numbers of mean 1, exponentially distributed, into @out, dense. */
void op_draw_exponential (AdjOpCall *call, const AdjKView *out);

/* A result like argument 0: dense, in its order. */
void op_add_drawn (AdjOpCall *call);

/* In [0, 1), as many bits as the dtype holds exactly. */
double op_next_uniform (AdjGenerator *generator, AdjKType type);

/* MKL's MCG31, a multiplicative congruential stream that one draw of the generator starts
 * (ADJ_RANDOM_MKL). */
typedef struct
{
  guint64 x;
} OpStream;

OpStream op_stream_start (guint32 seed);
/* In (0, 1). */
double op_stream_next (OpStream *stream);

/* Result @index becomes 1 with probability @p, else 0: in the order of memory, from MKL's stream in
 * the order of elements. */
gboolean op_draw_bernoulli (AdjOpCall *call, guint index, double p);

/* Whether the result was on a GPU where the graph was recorded. */
gboolean op_draws_for_gpu (const AdjOpCall *call);

gboolean op_draw_uniform_for_gpu (AdjOpCall *call, double from, double to);
gboolean op_draw_normal_for_gpu (AdjOpCall *call, double mean, double deviation);
gboolean op_draw_exponential_for_gpu (AdjOpCall *call, double rate);
/* Integers from @low on, of one word or, @wide, of two. */
gboolean op_draw_integers_for_gpu (AdjOpCall *call, gint64 low, guint64 range, gboolean wide);
/* Result 0 becomes 1 with probability @p, else 0. */
gboolean op_draw_bernoulli_for_gpu (AdjOpCall *call, double p);
/* Numbers of (0, 1] in F32 that are compared with a probability each; on the CPU. */
void op_draw_units_for_gpu (const AdjOpCall *call, const AdjKView *units);
/* Result 1, of dropout: which elements of @input stay, each with probability @p. */
gboolean op_draw_mask_for_gpu (AdjOpCall *call, const AdjKView *input, double p);

G_END_DECLS
