/* SPDX-License-Identifier: MIT */
/* Checks of indices, images, attention and optimisers. */

#include <math.h>

#include "cuda-check.h"

/* -- indices -- */

void
check_embedding (AdjKType type)
{
  AdjKView weight = RANDOM (type, 9, 5), idx = SOME (ADJ_K_I64, 0, 8, 4, 3);
  gint64 bad;
  Twin out;

  TWIN (out, RANDOM (type, 4, 3, 5));
  ON_BOTH (q, i)
  g_assert_true (adj_q_embedding (q, &out[i], &weight, &idx, &bad));
  assert_twins ("embedding", out);
}

void
check_embedding_backward (AdjKType type)
{
  for (gint by_freq = 0; by_freq < 2 && is_float (type); by_freq++)
    {
      AdjKEmbeddingBackward e = { .g = RANDOM (type, 4, 30, 5),
                                  .indices = SOME (ADJ_K_I32, 0, 8, 4, 30),
                                  .padding_idx = 3 - 4 * by_freq,
                                  .by_freq = by_freq };
      gint64 bad;
      Twin out;

      TWIN (out, RANDOM (type, 9, 5));
      ON_BOTH (q, i)
      {
        e.gw = out[i];
        g_assert_true (adj_q_embedding_backward (q, &e, &bad));
      }
      assert_twins ("embedding_backward", out);
    }
}

void
check_index_select (AdjKType type)
{
  AdjKView x = RANDOM (type, 4, 9, 3), idx = SOME (ADJ_K_I64, 0, 8, 13);
  gint64 bad;
  Twin out;

  TWIN (out, RANDOM (type, 4, 13, 3));
  ON_BOTH (q, i)
  g_assert_true (adj_q_index_select (q, &out[i], &x, 1, &idx, &bad));
  assert_twins ("index_select", out);
}

void
check_index_add (AdjKType type)
{
  AdjKView src = RANDOM (type, 4, 13, 3), idx = SOME (ADJ_K_I64, 0, 8, 13);
  gint64 bad;
  Twin out;

  TWIN (out, RANDOM (type, 4, 9, 3));
  ON_BOTH (q, i)
  g_assert_true (adj_q_index_add (q, &out[i], 1, &idx, &src, 2, &bad));
  assert_twins ("index_add", out);
}

void
check_gather (AdjKType type)
{
  AdjKView x = RANDOM (type, 4, 9, 3), idx = SOME (ADJ_K_I64, 0, 8, 3, 11, 2);
  gint64 bad;
  Twin out;

  TWIN (out, RANDOM (type, 3, 11, 2));
  ON_BOTH (q, i)
  g_assert_true (adj_q_gather (q, &out[i], &x, 1, &idx, &bad));
  assert_twins ("gather", out);
}

static void
check_scatters (AdjKType type, gboolean add)
{
  AdjKView src = RANDOM (type, 4, 15, 3), idx = SOME (ADJ_K_I64, 0, 8, 3, 11, 2);
  gint64 bad;
  Twin out;

  TWIN (out, RANDOM (type, 4, 9, 3));
  ON_BOTH (q, i)
  g_assert_true (add ? adj_q_scatter_add (q, &out[i], 1, &idx, &src, &bad)
                     : adj_q_scatter (q, &out[i], 1, &idx, &src, &bad));
  assert_twins ("scatter", out);
}

void
check_scatter (AdjKType type)
{
  check_scatters (type, FALSE);
}

void
check_scatter_add (AdjKType type)
{
  check_scatters (type, TRUE);
}

/* Neighbouring and separated indexed dims. */
static void
check_many (AdjKType type, gboolean put, gboolean accumulate)
{
  for (gint apart = 0; apart < 2; apart++)
    {
      AdjKView a = SOME (ADJ_K_I64, -4, 3, 6, 2), b = SOME (ADJ_K_I64, -3, 2, 6, 2);
      AdjKIndex index = { .accumulate = accumulate };
      Twin x, values;
      gint64 bad;

      b.stride[1] = 0;
      index.idx[1 - apart] = &a;
      index.idx[2] = &b;
      TWIN (x, apart ? RANDOM (type, 4, 5, 3) : RANDOM (type, 5, 4, 3));
      TWIN (values, apart ? RANDOM (type, 6, 2, 5) : RANDOM (type, 5, 6, 2));
      ON_BOTH (q, i)
      {
        index.x = x[i];
        index.values = values[i];
        g_assert_true (put ? adj_q_index_put (q, &index, &bad) : adj_q_index (q, &index, &bad));
      }
      assert_twins ("index", x);
      assert_twins ("index", values);
    }
}

void
check_index (AdjKType type)
{
  check_many (type, FALSE, FALSE);
}

void
check_index_put (AdjKType type)
{
  check_many (type, TRUE, FALSE);
  check_many (type, TRUE, TRUE);
}

/* -- images -- */

typedef bool (*Conv) (AdjKQueue *, const AdjKConv *);

static void
check_convs (AdjKType type, const char *name, Conv run, gint which)
{
  AdjKView bias = RANDOM (type, which == 1 ? 4 : 6);
  AdjKConv conv = { .stride = { 2, 1 }, .padding = { 1, 0 }, .dilation = { 1, 2 }, .groups = 2 };
  Twin out;

  conv.x = RANDOM (type, 2, 4, 9, 8);
  conv.w = RANDOM (type, 6, 2, 3, 2);
  conv.y = RANDOM (type, 2, 6, 5, 6);
  if (which != 2)
    conv.bias = &bias;
  TWIN (out, which == 0 ? conv.y : which == 1 ? conv.x : conv.w);
  ON_BOTH (q, i)
  {
    *(which == 0 ? &conv.y : which == 1 ? &conv.x : &conv.w) = out[i];
    g_assert_true (run (q, &conv));
  }
  assert_twins (name, out);
}

void
check_conv (AdjKType type)
{
  check_convs (type, "conv", adj_q_conv, 0);
}

void
check_conv_input (AdjKType type)
{
  check_convs (type, "conv_input", adj_q_conv_input, 1);
}

void
check_conv_weight (AdjKType type)
{
  check_convs (type, "conv_weight", adj_q_conv_weight, 2);
}

static AdjKPool
some_pool (AdjKType type, gboolean adaptive)
{
  return (AdjKPool){ .x = RANDOM (type, 2, 3, 1, 9, 8),
                     .y = RANDOM (type, 2, 3, 1, 5, 4),
                     .adaptive = adaptive,
                     .kernel = { 1, 3, 2 },
                     .stride = { 1, 2, 2 },
                     .padding = { 0, 1, 0 },
                     .dilation = { 1, 1, 1 } };
}

void
check_max_pool (AdjKType type)
{
  for (gint adaptive = 0; adaptive < 2; adaptive++)
    {
      AdjKPool pool = some_pool (type, adaptive);
      Twin y, indices;

      TWIN (y, pool.y);
      TWIN (indices, RANDOM (ADJ_K_I64, 2, 3, 1, 5, 4));
      ON_BOTH (q, i)
      {
        pool.y = y[i];
        g_assert_true (adj_q_max_pool (q, &pool, &indices[i]));
      }
      assert_twins ("max_pool", y);
      assert_twins ("max_pool", indices);
    }
}

static void
check_avg_pools (AdjKType type, gboolean backward)
{
  for (gint way = 0; way < 4; way++)
    {
      AdjKPool pool = some_pool (type, way == 1);
      Twin out;

      pool.counts_padding = way == 2;
      pool.divisor = way == 3 ? 5 : 0;
      TWIN (out, backward ? pool.x : pool.y);
      ON_BOTH (q, i)
      {
        *(backward ? &pool.x : &pool.y) = out[i];
        g_assert_true (backward ? adj_q_avg_pool_backward (q, &pool) : adj_q_avg_pool (q, &pool));
      }
      assert_twins ("avg_pool", out);
    }
}

void
check_avg_pool (AdjKType type)
{
  check_avg_pools (type, FALSE);
}

void
check_avg_pool_backward (AdjKType type)
{
  check_avg_pools (type, TRUE);
}

void
check_unpool (AdjKType type)
{
  for (gint last = 0; last < 2; last++)
    {
      AdjKView y = RANDOM (type, 2, 3, 1, 5, 4);
      AdjKView indices = SOME (ADJ_K_I64, 0, 71, 2, 3, 1, 5, 4);
      Twin x;

      TWIN (x, RANDOM (type, 2, 3, 1, 9, 8));
      ON_BOTH (q, i)
      g_assert_true (adj_q_unpool (q, &x[i], &y, &indices, last));
      assert_twins ("unpool", x);
    }
}

void
check_pool_check (AdjKType type)
{
  AdjKView indices = SOME (ADJ_K_I64, 0, 71, 4, 5);
  gint64 bad;

  g_assert_true (adj_q_pool_check (&cpu, &indices, 72, &bad));
  g_assert_true (adj_q_pool_check (&cuda.queue, &indices, 72, &bad));
  g_assert_cmpint (cuda.faults.bad_index, ==, G_MAXINT64);
  kernel_array_set (&indices, 3, 99);
  g_assert_true (adj_q_pool_check (&cuda.queue, &indices, 72, &bad));
  g_assert_cmpint (cuda.faults.bad_index, ==, 99);
  cuda.faults = ADJ_K_NO_FAULTS;
}

static void
check_resamples (AdjKType type, gboolean backward)
{
  for (AdjKResampleMode mode = 0; mode < ADJ_K_RESAMPLE_N && is_float (type); mode++)
    for (gint antialias = 0; antialias < (mode >= ADJ_K_RESAMPLE_LINEAR ? 2 : 1); antialias++)
      {
        AdjKResample resample = { .x = RANDOM (type, 2, 2, 1, 7, 6),
                                  .y = RANDOM (type, 2, 2, 1, 5, 9),
                                  .mode = mode,
                                  .n_axes = 2,
                                  .antialias = antialias };
        Twin out;

        TWIN (out, backward ? resample.x : resample.y);
        ON_BOTH (q, i)
        {
          *(backward ? &resample.x : &resample.y) = out[i];
          g_assert_true (backward ? adj_q_resample_backward (q, &resample)
                                  : adj_q_resample (q, &resample));
        }
        assert_twins ("resample", out);
      }
}

void
check_resample (AdjKType type)
{
  check_resamples (type, FALSE);
}

void
check_resample_backward (AdjKType type)
{
  check_resamples (type, TRUE);
}

/* -- attention -- */

static AdjKAttention
some_attention (AdjKType type, const AdjKView *mask, gboolean causal)
{
  return (AdjKAttention){ .q = RANDOM (type, 1, 2, 98, 5),
                          .k = RANDOM (type, 1, 2, 19, 5),
                          .v = RANDOM (type, 1, 2, 19, 5),
                          .mask = mask,
                          .causal = causal,
                          .scale = 0.4 };
}

void
check_attention (AdjKType type)
{
  for (gint way = 0; way < 3 && is_float (type); way++)
    {
      AdjKView mask = RANDOM (type, 1, 2, 98, 19);
      AdjKAttention attention = some_attention (type, way == 1 ? &mask : NULL, way == 2);
      Twin out, lse;

      for (gint j = 0; j < 19; j++)
        kernel_array_set (&mask, j, -INFINITY);
      TWIN (out, RANDOM (type, 1, 2, 98, 5));
      TWIN (lse, RANDOM (ADJ_K_F32, 1, 2, 98));
      ON_BOTH (q, i)
      g_assert_true (adj_q_attention (q, &attention, &out[i], &lse[i]));
      assert_twins ("attention", out);
      assert_twins ("attention", lse);
    }
}

void
check_attention_backward (AdjKType type)
{
  for (gint causal = 0; causal < 2 && is_float (type); causal++)
    {
      AdjKAttentionBackward b = { .forward = some_attention (type, NULL, causal),
                                  .g = RANDOM (type, 1, 2, 98, 5),
                                  .out = RANDOM (type, 1, 2, 98, 5),
                                  .lse = RANDOM (ADJ_K_F32, 1, 2, 98) };
      Twin gq, gk, gv;

      TWIN (gq, RANDOM (type, 1, 2, 98, 5));
      TWIN (gk, RANDOM (type, 1, 2, 19, 5));
      TWIN (gv, RANDOM (type, 1, 2, 19, 5));
      ON_BOTH (q, i)
      {
        b.gq = gq[i];
        b.gk = gk[i];
        b.gv = gv[i];
        g_assert_true (adj_q_attention_backward (q, &b));
      }
      assert_twins ("attention_backward", gq);
      assert_twins ("attention_backward", gk);
      assert_twins ("attention_backward", gv);
    }
}

/* -- optimisers -- */

void
check_adam (AdjKType type)
{
  for (gint way = 0; way < 5 && is_float (type); way++)
    {
      AdjKView number = SOME (ADJ_K_F32, 3, 3, 1);
      AdjKAdam adam = { .lr = { .value = 0.1 },
                        .beta1 = 0.9,
                        .beta2 = 0.99,
                        .weight_decay = 0.01,
                        .eps = 1e-8,
                        .step = { .at = number },
                        .grad_scale = { .value = way == 1 ? 4 : 0 },
                        .found = { .value = way == 4 },
                        .decoupled = way == 2,
                        .maximize = way == 3 };
      Twin p, m, v, g, top;

      TWIN (p, RANDOM (type, 3, 41));
      TWIN (m, RANDOM (type, 3, 41));
      TWIN (v, SOME (type, 0, 3, 3, 41));
      TWIN (g, RANDOM (type, 3, 41));
      TWIN (top, SOME (type, 0, 3, 3, 41));
      ON_BOTH (q, i)
      {
        adam.p = p[i];
        adam.m = m[i];
        adam.v = v[i];
        adam.g = g[i];
        adam.v_max = way == 3 ? &top[i] : NULL;
        adj_q_adam (q, &adam);
      }
      assert_twins ("adam", p);
      assert_twins ("adam", m);
      assert_twins ("adam", v);
      assert_twins ("adam", g);
      assert_twins ("adam", top);
    }
}

void
check_sgd (AdjKType type)
{
  for (gint way = 0; way < 5 && is_float (type); way++)
    {
      AdjKView number = SOME (ADJ_K_F64, 0.1, 0.1, 1);
      AdjKSgd sgd = { .lr = { .at = number },
                      .momentum = 0.9,
                      .dampening = 0.1,
                      .weight_decay = 0.01,
                      .grad_scale = { .value = way == 1 ? 4 : 0 },
                      .found = { .value = way == 4 },
                      .nesterov = way == 2,
                      .maximize = way == 3,
                      .is_first = way == 1 };
      Twin p, g, m;

      TWIN (p, RANDOM (type, 3, 41));
      TWIN (g, RANDOM (type, 3, 41));
      TWIN (m, RANDOM (type, 3, 41));
      ON_BOTH (q, i)
      {
        sgd.p = p[i];
        sgd.g = g[i];
        sgd.momentum_buffer = way > 0 ? &m[i] : NULL;
        adj_q_sgd (q, &sgd);
      }
      assert_twins ("sgd", p);
      assert_twins ("sgd", g);
      assert_twins ("sgd", m);
    }
}

void
check_unscale (AdjKType type)
{
  for (gint infinite = 0; infinite < 2 && is_float (type); infinite++)
    {
      AdjKNumber factor = { .at = SOME (ADJ_K_F32, 0.25, 0.25, 1) };
      Twin x, found;

      TWIN (x, RANDOM (type, 3, 41));
      for (gint i = 0; i < 2 && infinite; i++)
        kernel_array_set (&x[i], 77, INFINITY);
      TWIN (found, SOME (ADJ_K_F32, 0, 0, 1));
      found[0].rank = found[1].rank = 0;
      ON_BOTH (q, i)
      adj_q_unscale (q, &x[i], &factor, &found[i]);
      assert_twins ("unscale", x);
      assert_twins ("unscale", found);
      g_assert_cmpfloat (kernel_array_get (&found[1], 0), ==, infinite);
    }
}

/* -- random numbers -- */

/* @n words, the same for both. */
static AdjKView
words_of (gint n)
{
  AdjKView words = kernel_array (ADJ_K_I32, 1, n);
  AdjKTwister twister;

  adj_k_twister_seed (&twister, (guint32) n);
  adj_k_words (&twister, &words);
  return words;
}

/* From wherever a turn begins, through several and to their ends. */
void
check_words (AdjKType type)
{
  static const gint counts[] = { 1, 623, 624, 625, 227, 1300 };
  AdjKTwister twisters[2];

  if (type != ADJ_K_I32)
    return;
  adj_k_twister_seed (&twisters[0], 7);
  twisters[1] = twisters[0];
  for (guint k = 0; k < G_N_ELEMENTS (counts); k++)
    {
      Twin out;

      TWIN (out, kernel_array (type, 1, counts[k]));
      ON_BOTH (q, i)
      adj_q_words (q, &twisters[i], &out[i]);
      assert_twins ("words", out);
      g_assert_cmpmem (&twisters[0], sizeof twisters[0], &twisters[1], sizeof twisters[1]);
    }
}

void
check_philox (AdjKType type)
{
  AdjKView seed = SOME (ADJ_K_I64, -5, 900, 1);

  for (gint n_words = 1; n_words <= 4 && type == ADJ_K_I32; n_words++)
    {
      Twin out;

      TWIN (out, kernel_array (type, 2, 301, n_words));
      ON_BOTH (q, i)
      adj_q_philox (q, &seed, &out[i]);
      assert_twins ("philox", out);
    }
}

void
check_uniform (AdjKType type)
{
  AdjKView words = words_of (2 * 301);
  Twin out;

  if (!is_float (type))
    return;
  TWIN (out, kernel_array (type, 1, 301));
  ON_BOTH (q, i)
  adj_q_uniform (q, &out[i], &words, 3, -1);
  assert_twins ("uniform", out);
}

void
check_normal (AdjKType type)
{
  for (gint stretched = 0; stretched < 2 && type == ADJ_K_F32; stretched++)
    {
      const AdjKNormal normal = { 3, 0.1, stretched };
      Twin x;

      TWIN (x, SOME (type, 0, 0.99, 48 * 16));
      if (x[0].stride[0] != 1)
        TWIN (x, SOME (type, 0, 0.99, 48 * 16));
      ON_BOTH (q, i)
      adj_q_normal (q, &x[i], &normal);
      assert_twins ("normal", x);
    }
}

void
check_bernoulli (AdjKType type)
{
  AdjKView words = words_of (2 * 3001);

  for (gint streams = 0; streams < 2 && type == ADJ_K_BOOL; streams++)
    {
      Twin out;

      TWIN (out, kernel_array (type, 1, 3001));
      ON_BOTH (q, i)
      adj_q_bernoulli (q, &out[i], &words, 0.3, streams);
      assert_twins ("bernoulli", out);
    }
}

void
check_integers (AdjKType type)
{
  for (gint wide = 0; wide < 2 && type == ADJ_K_I64; wide++)
    {
      AdjKView words = words_of (wide ? 2 * 301 : 301);
      Twin out;

      TWIN (out, kernel_array (type, 1, 301));
      ON_BOTH (q, i)
      adj_q_integers (q, &out[i], &words, -5, wide ? G_MAXUINT64 / 3 : 1000);
      assert_twins ("integers", out);
    }
}

/* Fewer elements than threads, more, several turns; each way that numbers lie. */
void
check_draw (AdjKType type)
{
  static const gint counts[] = { 1, 301, 5000 };
  static const gint32 widths[] = { 1, 2, 4, 8 };
  AdjKDrawKind first = type == ADJ_K_BOOL  ? ADJ_K_DRAW_BELOW
                       : type == ADJ_K_I64 ? ADJ_K_DRAW_INTEGER
                                           : ADJ_K_DRAW_UNIFORM;
  AdjKDrawKind last = is_float (type) ? ADJ_K_DRAW_EXPONENTIAL : first;
  AdjKPhilox generators[2] = { { 0x123456789abcdefu, 12 }, { 0x123456789abcdefu, 12 } };

  if (!is_float (type) && first == ADJ_K_DRAW_UNIFORM)
    return;
  for (AdjKDrawKind kind = first; kind <= last; kind++)
    for (guint k = 0; k < G_N_ELEMENTS (counts) * G_N_ELEMENTS (widths) * 2; k++)
      {
        gint n = counts[k / 8];
        const AdjKDraw draw = { .kind = kind,
                                .wide = type == ADJ_K_F64 || (k % 2 == 1 && !is_float (type)),
                                .width = k % 2 == 1 || type == ADJ_K_F64 ? 1 : widths[k / 2 % 4],
                                .n_threads = adj_k_draw_threads (n, 512),
                                .scale = kind == ADJ_K_DRAW_EXPONENTIAL ? -0.5 : 0.7,
                                .shift = -0.25,
                                .end = 0.45,
                                .range = G_GUINT64_CONSTANT (0x1234567890),
                                .low = -7 };
        Twin out;

        TWIN (out, kernel_array (type, 1, n));
        ON_BOTH (q, i)
        adj_q_draw (q, &generators[i], &draw, &out[i]);
        assert_twins ("draw", out);
        g_assert_cmpuint (generators[0].offset, ==, generators[1].offset);
      }
}
