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
  Pair out;

  PAIR (out, RANDOM (type, 4, 3, 5));
  ON_BOTH (q, i)
  g_assert_true (adj_q_embedding (q, &out[i], &weight, &idx, &bad));
  assert_pair ("embedding", out);
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
      Pair out;

      PAIR (out, RANDOM (type, 9, 5));
      ON_BOTH (q, i)
      {
        e.gw = out[i];
        g_assert_true (adj_q_embedding_backward (q, &e, &bad));
      }
      assert_pair ("embedding_backward", out);
    }
}

void
check_index_select (AdjKType type)
{
  AdjKView x = RANDOM (type, 4, 9, 3), idx = SOME (ADJ_K_I64, 0, 8, 13);
  gint64 bad;
  Pair out;

  PAIR (out, RANDOM (type, 4, 13, 3));
  ON_BOTH (q, i)
  g_assert_true (adj_q_index_select (q, &out[i], &x, 1, &idx, &bad));
  assert_pair ("index_select", out);
}

void
check_index_add (AdjKType type)
{
  AdjKView src = RANDOM (type, 4, 13, 3), idx = SOME (ADJ_K_I64, 0, 8, 13);
  gint64 bad;
  Pair out;

  PAIR (out, RANDOM (type, 4, 9, 3));
  ON_BOTH (q, i)
  g_assert_true (adj_q_index_add (q, &out[i], 1, &idx, &src, 2, &bad));
  assert_pair ("index_add", out);
}

void
check_gather (AdjKType type)
{
  AdjKView x = RANDOM (type, 4, 9, 3), idx = SOME (ADJ_K_I64, 0, 8, 3, 11, 2);
  gint64 bad;
  Pair out;

  PAIR (out, RANDOM (type, 3, 11, 2));
  ON_BOTH (q, i)
  g_assert_true (adj_q_gather (q, &out[i], &x, 1, &idx, &bad));
  assert_pair ("gather", out);
}

static void
check_scatters (AdjKType type, gboolean add)
{
  AdjKView src = RANDOM (type, 4, 15, 3), idx = SOME (ADJ_K_I64, 0, 8, 3, 11, 2);
  gint64 bad;
  Pair out;

  PAIR (out, RANDOM (type, 4, 9, 3));
  ON_BOTH (q, i)
  g_assert_true (add ? adj_q_scatter_add (q, &out[i], 1, &idx, &src, &bad)
                     : adj_q_scatter (q, &out[i], 1, &idx, &src, &bad));
  assert_pair ("scatter", out);
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

/* Adjacent and separated indexed dims. */
static void
check_many (AdjKType type, gboolean put, gboolean accumulate)
{
  for (gint apart = 0; apart < 2; apart++)
    {
      AdjKView a = SOME (ADJ_K_I64, -4, 3, 6, 2), b = SOME (ADJ_K_I64, -3, 2, 6, 2);
      AdjKIndex index = { .accumulate = accumulate };
      Pair x, values;
      gint64 bad;

      b.stride[1] = 0;
      index.idx[1 - apart] = &a;
      index.idx[2] = &b;
      PAIR (x, apart ? RANDOM (type, 4, 5, 3) : RANDOM (type, 5, 4, 3));
      PAIR (values, apart ? RANDOM (type, 6, 2, 5) : RANDOM (type, 5, 6, 2));
      ON_BOTH (q, i)
      {
        index.x = x[i];
        index.values = values[i];
        g_assert_true (put ? adj_q_index_put (q, &index, &bad) : adj_q_index (q, &index, &bad));
      }
      assert_pair ("index", x);
      assert_pair ("index", values);
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

/* Channels of x and y and the sides of their images; groups; the kernel is 3 × 2. */
typedef struct
{
  gint x, y, height, width, groups, y_height, y_width;
  AdjKConv conv;
} ConvCase;

static const ConvCase convs[] = {
  { 4, 6, 9, 8, 2, 5, 6, { .stride = { 2, 1 }, .padding = { 1, 0 }, .dilation = { 1, 2 } } },
  /* More than a tile of channels and positions, and than a slice of k. */
  { 23, 22, 6, 5, 1, 4, 4, { .stride = { 1, 1 }, .dilation = { 1, 1 } } },
  /* More positions than a chunk. */
  { 1, 1, 35, 36, 1, 33, 35, { .stride = { 1, 1 }, .dilation = { 1, 1 } } },
};

static void
check_conv_case (AdjKType type, const char *name, Conv run, gint which, const ConvCase *c)
{
  AdjKView bias = RANDOM (type, which == 1 ? c->x : c->y);
  AdjKConv conv = c->conv;
  Pair out;

  conv.groups = c->groups;
  conv.x = RANDOM (type, 2, c->x, c->height, c->width);
  conv.w = RANDOM (type, c->y, c->x / c->groups, 3, 2);
  conv.y = RANDOM (type, 2, c->y, c->y_height, c->y_width);
  if (which != 2)
    conv.bias = &bias;
  PAIR (out, which == 0 ? conv.y : which == 1 ? conv.x : conv.w);
  ON_BOTH (q, i)
  {
    *(which == 0 ? &conv.y : which == 1 ? &conv.x : &conv.w) = out[i];
    g_assert_true (run (q, &conv));
  }
  assert_pair (name, out);
}

static void
check_convs (AdjKType type, const char *name, Conv run, gint which)
{
  for (guint k = 0; k < G_N_ELEMENTS (convs); k++)
    check_conv_case (type, name, run, which, &convs[k]);
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
      Pair y, indices;

      PAIR (y, pool.y);
      PAIR (indices, RANDOM (ADJ_K_I64, 2, 3, 1, 5, 4));
      ON_BOTH (q, i)
      {
        pool.y = y[i];
        g_assert_true (adj_q_max_pool (q, &pool, &indices[i]));
      }
      assert_pair ("max_pool", y);
      assert_pair ("max_pool", indices);
    }
}

static void
check_avg_pools (AdjKType type, gboolean backward)
{
  for (gint way = 0; way < 4; way++)
    {
      AdjKPool pool = some_pool (type, way == 1);
      Pair out;

      pool.counts_padding = way == 2;
      pool.divisor = way == 3 ? 5 : 0;
      PAIR (out, backward ? pool.x : pool.y);
      ON_BOTH (q, i)
      {
        *(backward ? &pool.x : &pool.y) = out[i];
        g_assert_true (backward ? adj_q_avg_pool_backward (q, &pool) : adj_q_avg_pool (q, &pool));
      }
      assert_pair ("avg_pool", out);
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
      Pair x;

      PAIR (x, RANDOM (type, 2, 3, 1, 9, 8));
      ON_BOTH (q, i)
      g_assert_true (adj_q_unpool (q, &x[i], &y, &indices, last));
      assert_pair ("unpool", x);
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
        Pair out;

        PAIR (out, backward ? resample.x : resample.y);
        ON_BOTH (q, i)
        {
          *(backward ? &resample.x : &resample.y) = out[i];
          g_assert_true (backward ? adj_q_resample_backward (q, &resample)
                                  : adj_q_resample (q, &resample));
        }
        assert_pair ("resample", out);
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

typedef struct
{
  gint batches, rows, columns, depth;
} AttentionSizes;

static AdjKAttention
some_attention (AdjKType type, const AttentionSizes *n, const AdjKView *mask, gboolean causal)
{
  return (AdjKAttention){ .q = RANDOM (type, n->batches, 2, n->rows, n->depth),
                          .k = RANDOM (type, n->batches, 2, n->columns, n->depth),
                          .v = RANDOM (type, n->batches, 2, n->columns, n->depth),
                          .mask = mask,
                          .causal = causal,
                          .scale = 0.4 };
}

static void
check_attention_of (AdjKType type, const AttentionSizes *n)
{
  for (gint way = 0; way < 3; way++)
    {
      AdjKView mask = RANDOM (type, n->batches, 2, n->rows, n->columns);
      AdjKAttention attention = some_attention (type, n, way == 1 ? &mask : NULL, way == 2);
      Pair out, lse;

      for (gint j = 0; j < n->columns; j++)
        kernel_array_set (&mask, j, -INFINITY);
      PAIR (out, RANDOM (type, n->batches, 2, n->rows, n->depth));
      PAIR (lse, RANDOM (ADJ_K_F32, n->batches, 2, n->rows));
      ON_BOTH (q, i)
      g_assert_true (adj_q_attention (q, &attention, &out[i], &lse[i]));
      assert_pair ("attention", out);
      assert_pair ("attention", lse);
    }
}

static bool
decline (AdjKQueue *queue, const AdjKGemm *gemm)
{
  return false;
}

/* Keys that several heads share are left to the CPU. */
static void
check_shared_keys (void)
{
  static const AttentionSizes n = { 1, 3, 5, 4 };
  AdjKAttention shared = some_attention (ADJ_K_F32, &n, NULL, FALSE);
  AdjKView out = RANDOM (ADJ_K_F32, 1, 2, 3, 4), lse = RANDOM (ADJ_K_F32, 1, 2, 3);

  shared.k = RANDOM (ADJ_K_F32, 1, 1, 5, 4);
  shared.v = RANDOM (ADJ_K_F32, 1, 1, 5, 4);
  g_assert_true (adj_q_attention (&cuda.queue, &shared, &out, &lse));
  g_assert_cmpstr (cuda.queue.lacks, ==, "attention with shared keys");
  cuda.queue.lacks = NULL;
}

/* Tiles of one and of several blocks, slices and leaves; and with whole scores, which a device with
 * a library holds. */
void
check_attention (AdjKType type)
{
  static const AttentionSizes sizes[] = { { 2, 98, 19, 5 }, { 1, 20, 150, 70 }, { 1, 3, 1100, 2 } };
  const AdjKDevice *by_tiles = cuda.queue.device;
  AdjKDevice with_scores = *by_tiles;

  with_scores.gemm = decline;
  check_shared_keys ();
  for (guint k = 0; k < G_N_ELEMENTS (sizes) && is_float (type); k++)
    check_attention_of (type, &sizes[k]);
  cuda.queue.device = &with_scores;
  if (type == ADJ_K_F32 || type == ADJ_K_F64)
    check_attention_of (type, &sizes[0]);
  cuda.queue.device = by_tiles;
}

void
check_attention_backward (AdjKType type)
{
  static const AttentionSizes sizes = { 2, 98, 19, 5 };

  for (gint causal = 0; causal < 2 && is_float (type); causal++)
    {
      AdjKAttentionBackward b = { .forward = some_attention (type, &sizes, NULL, causal),
                                  .g = RANDOM (type, 2, 2, 98, 5),
                                  .out = RANDOM (type, 2, 2, 98, 5),
                                  .lse = RANDOM (ADJ_K_F32, 2, 2, 98) };
      Pair gq, gk, gv;

      PAIR (gq, RANDOM (type, 2, 2, 98, 5));
      PAIR (gk, RANDOM (type, 2, 2, 19, 5));
      PAIR (gv, RANDOM (type, 2, 2, 19, 5));
      ON_BOTH (q, i)
      {
        b.gq = gq[i];
        b.gk = gk[i];
        b.gv = gv[i];
        g_assert_true (adj_q_attention_backward (q, &b));
      }
      assert_pair ("attention_backward", gq);
      assert_pair ("attention_backward", gk);
      assert_pair ("attention_backward", gv);
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
      Pair p, m, v, g, top;

      PAIR (p, RANDOM (type, 3, 41));
      PAIR (m, RANDOM (type, 3, 41));
      PAIR (v, SOME (type, 0, 3, 3, 41));
      PAIR (g, RANDOM (type, 3, 41));
      PAIR (top, SOME (type, 0, 3, 3, 41));
      ON_BOTH (q, i)
      {
        adam.p = p[i];
        adam.m = m[i];
        adam.v = v[i];
        adam.g = g[i];
        adam.v_max = way == 3 ? &top[i] : NULL;
        adj_q_adam (q, &adam);
      }
      assert_pair ("adam", p);
      assert_pair ("adam", m);
      assert_pair ("adam", v);
      assert_pair ("adam", g);
      assert_pair ("adam", top);
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
      Pair p, g, m;

      PAIR (p, RANDOM (type, 3, 41));
      PAIR (g, RANDOM (type, 3, 41));
      PAIR (m, RANDOM (type, 3, 41));
      ON_BOTH (q, i)
      {
        sgd.p = p[i];
        sgd.g = g[i];
        sgd.momentum_buffer = way > 0 ? &m[i] : NULL;
        adj_q_sgd (q, &sgd);
      }
      assert_pair ("sgd", p);
      assert_pair ("sgd", g);
      assert_pair ("sgd", m);
    }
}

void
check_unscale (AdjKType type)
{
  for (gint infinite = 0; infinite < 2 && is_float (type); infinite++)
    {
      AdjKNumber factor = { .at = SOME (ADJ_K_F32, 0.25, 0.25, 1) };
      Pair x, found;

      PAIR (x, RANDOM (type, 3, 41));
      for (gint i = 0; i < 2 && infinite; i++)
        kernel_array_set (&x[i], 77, INFINITY);
      PAIR (found, SOME (ADJ_K_F32, 0, 0, 1));
      found[0].rank = found[1].rank = 0;
      ON_BOTH (q, i)
      adj_q_unscale (q, &x[i], &factor, &found[i]);
      assert_pair ("unscale", x);
      assert_pair ("unscale", found);
      g_assert_cmpfloat (kernel_array_get (&found[1], 0), ==, infinite);
    }
}
