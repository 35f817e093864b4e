/* SPDX-License-Identifier: MIT */
#pragma once

/* The sum tree of cpu/tree.c within a block: element i of a leaf of 1024 goes to lane i mod 64,
 * lanes are joined by halves, leaves like the digits of a binary counter.  Threads are in groups of
 * 64, each of which sums a leaf. */

#include "cuda/class.h"

enum
{
  FOLD_LEAF = 1024,
  FOLD_LANES = 64,
  FOLD_THREADS = 512, /* of a block, at most */
  FOLD_LEVELS = 48,
  FOLD_SUM = 0,
  FOLD_PROD,
  FOLD_MAX,
  FOLD_MIN
};

#define FOLD_FUNCTIONS(c, T)                                                                       \
  DEVICE T c##_combine (int kind, T x, T y)                                                        \
  {                                                                                                \
    return kind == FOLD_SUM    ? c##_sum (x, y)                                                    \
           : kind == FOLD_PROD ? c##_prod (x, y)                                                   \
           : kind == FOLD_MAX  ? c##_max (x, y)                                                    \
                               : c##_min (x, y);                                                    \
  }                                                                                                \
                                                                                                   \
  DEVICE int64_t c##_push (int kind, T *part, int64_t n_leaves, T x)                               \
  {                                                                                                \
    int depth = 0;                                                                                 \
                                                                                                   \
    for (int64_t n = n_leaves; n > 0; n &= n - 1)                                                  \
      depth++;                                                                                     \
    part[depth] = x;                                                                               \
    for (int64_t n = n_leaves + 1; n % 2 == 0; n /= 2, depth--)                                    \
      part[depth - 1] = c##_combine (kind, part[depth - 1], part[depth]);                          \
    return n_leaves + 1;                                                                           \
  }                                                                                                \
                                                                                                   \
  DEVICE T c##_end (int kind, T *part, int64_t n_leaves)                                           \
  {                                                                                                \
    int depth = 0;                                                                                 \
                                                                                                   \
    for (int64_t n = n_leaves; n > 0; n &= n - 1)                                                  \
      depth++;                                                                                     \
    for (; depth > 1; depth--)                                                                     \
      part[depth - 2] = c##_combine (kind, part[depth - 2], part[depth - 1]);                      \
    return depth == 0 ? c##_identity (kind) : part[0];                                             \
  }                                                                                                \
                                                                                                   \
  /* Joins the 64 lanes of each group, into the first of the group. */                             \
  DEVICE void c##_join_lanes (int kind, T *lanes, T x)                                             \
  {                                                                                                \
    int lane = THREAD % FOLD_LANES;                                                                \
                                                                                                   \
    lanes[THREAD] = x;                                                                             \
    sync_block ();                                                                                 \
    if (lane < FOLD_LANES / 2)                                                                     \
      {                                                                                            \
        x = c##_combine (kind, x, lanes[THREAD + FOLD_LANES / 2]);                                 \
        for (int by = FOLD_LANES / 4; by > 0; by /= 2)                                             \
          x = c##_combine (kind, x, SHUFFLE_DOWN (x, by));                                         \
      }                                                                                            \
    sync_block ();                                                                                 \
    if (lane == 0)                                                                                 \
      lanes[THREAD] = x;                                                                           \
    sync_block ();                                                                                 \
  }

FOLD_FUNCTIONS (f32, float)
FOLD_FUNCTIONS (f64, double)
FOLD_FUNCTIONS (i64, int64_t)

/* The sum of the thread's lane of the leaf from @first on.  Loads are not conditional, so that
 * those of several turns overlap: past the end the last element is loaded and not used. */
#define FOLD_LANE(c, T, kind, n, first, ELEMENT, x)                                                \
  do                                                                                               \
    {                                                                                              \
      int64_t fold_first = (first), fold_rest = (n) -fold_first;                                   \
      int fold_turns = fold_rest >= FOLD_LEAF ? FOLD_LEAF / FOLD_LANES                             \
                       : fold_rest > 0        ? ((int) fold_rest + FOLD_LANES - 1) / FOLD_LANES    \
                                              : 0;                                                        \
                                                                                                   \
      OVERLAPPED for (int fold_k = 0; fold_k < fold_turns; fold_k++)                               \
      {                                                                                            \
        int64_t fold_i = THREAD % FOLD_LANES + fold_k * FOLD_LANES;                                \
        int64_t fold_at = fold_first + (fold_i < fold_rest ? fold_i : fold_rest - 1);              \
        T fold_element = ELEMENT (fold_at);                                                        \
                                                                                                   \
        x = fold_i < fold_rest ? c##_combine (kind, x, fold_element) : x;                          \
      }                                                                                            \
    }                                                                                              \
  while (0)

/* Sums leaves, one per 64 threads at a time, and joins them by their number into fold_lanes[0]. */
#define FOLD_LEAVES(c, T, kind, n, ELEMENT)                                                        \
  do                                                                                               \
    {                                                                                              \
      T fold_part[FOLD_LEVELS];                                                                    \
      int64_t fold_leaves = 0;                                                                     \
      int fold_groups = THREADS / FOLD_LANES;                                                      \
                                                                                                   \
      for (int64_t leaf = 0; leaf * FOLD_LEAF < (n); leaf += fold_groups)                          \
        {                                                                                          \
          T fold_x = c##_identity (kind);                                                          \
                                                                                                   \
          FOLD_LANE (c, T, kind, n, (leaf + THREAD / FOLD_LANES) * FOLD_LEAF, ELEMENT, fold_x);    \
          c##_join_lanes (kind, fold_lanes, fold_x);                                               \
          for (int g = 0; g < fold_groups && THREAD == 0; g++)                                     \
            if ((leaf + g) * FOLD_LEAF < (n))                                                      \
              fold_leaves = c##_push (kind, fold_part, fold_leaves, fold_lanes[g * FOLD_LANES]);   \
          sync_block ();                                                                           \
        }                                                                                          \
      if (THREAD == 0)                                                                             \
        fold_lanes[0] = c##_end (kind, fold_part, fold_leaves);                                    \
      sync_block ();                                                                               \
    }                                                                                              \
  while (0)

/* result = the combination of ELEMENT (i) for 0 <= i < n, the same in all threads of the block. */
#define FOLD(...) FOLD_ (__VA_ARGS__)
#define FOLD_(c, T, kind, n, ELEMENT, result)                                                      \
  do                                                                                               \
    {                                                                                              \
      SHARED T fold_lanes[FOLD_THREADS];                                                           \
                                                                                                   \
      if ((n) <= FOLD_LEAF)                                                                        \
        {                                                                                          \
          T fold_only = c##_identity (kind);                                                       \
                                                                                                   \
          if (THREAD < FOLD_LANES)                                                                 \
            FOLD_LANE (c, T, kind, n, 0, ELEMENT, fold_only);                                      \
          c##_join_lanes (kind, fold_lanes, fold_only);                                            \
        }                                                                                          \
      else                                                                                         \
        FOLD_LEAVES (c, T, kind, n, ELEMENT);                                                      \
      result = fold_lanes[0];                                                                      \
      sync_block ();                                                                               \
    }                                                                                              \
  while (0)

enum
{
  FOLD_COLUMNS_AT_ONCE = 16, /* of a block of 256, whose threads have four lanes each */
  FOLD_LANE_GROUPS = 256 / FOLD_COLUMNS_AT_ONCE,
  FOLD_LANES_EACH = FOLD_LANES / FOLD_LANE_GROUPS
};

/* result = the combination of ELEMENT (i) for @start <= i < @end, whole leaves from there on, in
 * the first 16 threads of a block of 256: for each its own column, since ELEMENT depends on THREAD
 * % 16. */
#define FOLD_COLUMNS(...) FOLD_COLUMNS_ (__VA_ARGS__)
#define FOLD_COLUMNS_(c, T, kind, start, end, ELEMENT, result)                                     \
  do                                                                                               \
    {                                                                                              \
      SHARED T fold_table[FOLD_LANES][FOLD_COLUMNS_AT_ONCE];                                       \
      T fold_part[FOLD_LEVELS];                                                                    \
      int64_t fold_leaves = 0;                                                                     \
      int fold_x = THREAD % FOLD_COLUMNS_AT_ONCE, fold_g = THREAD / FOLD_COLUMNS_AT_ONCE;          \
                                                                                                   \
      for (int64_t leaf = (start); leaf < (end); leaf += FOLD_LEAF)                                \
        {                                                                                          \
          UNROLLED for (int l = 0; l < FOLD_LANES_EACH; l++)                                       \
          {                                                                                        \
            T fold_lane = c##_identity (kind);                                                     \
                                                                                                   \
            OVERLAPPED for (int k = 0; k < FOLD_LEAF / FOLD_LANES; k++)                            \
            {                                                                                      \
              int64_t i = leaf + fold_g * FOLD_LANES_EACH + l + k * FOLD_LANES;                    \
              T fold_element = ELEMENT (i < (end) ? i : (end) -1);                                 \
                                                                                                   \
              fold_lane = i < (end) ? c##_combine (kind, fold_lane, fold_element) : fold_lane;     \
            }                                                                                      \
            fold_table[fold_g * FOLD_LANES_EACH + l][fold_x] = fold_lane;                          \
          }                                                                                        \
          sync_block ();                                                                           \
          for (int by = FOLD_LANES / 2; by > 0; by /= 2)                                           \
            {                                                                                      \
              for (int l = fold_g; l < by; l += FOLD_LANE_GROUPS)                                  \
                fold_table[l][fold_x] =                                                            \
                    c##_combine (kind, fold_table[l][fold_x], fold_table[l + by][fold_x]);         \
              sync_block ();                                                                       \
            }                                                                                      \
          if (fold_g == 0)                                                                         \
            fold_leaves = c##_push (kind, fold_part, fold_leaves, fold_table[0][fold_x]);          \
          sync_block ();                                                                           \
        }                                                                                          \
      result = fold_g == 0 ? c##_end (kind, fold_part, fold_leaves) : c##_identity (kind);         \
    }                                                                                              \
  while (0)

/* Names of what is compiled once per class: f32_name, and the kernel name_f32. */
#define OF_CLASS__(c, name) c##_##name
#define OF_CLASS_(c, name) OF_CLASS__ (c, name)
#define OF_CLASS(name) OF_CLASS_ (CLASS, name)
#define CLASS_KERNEL__(name, c, Args) KERNEL (name##_##c, Args)
#define CLASS_KERNEL_(name, c, Args) CLASS_KERNEL__ (name, c, Args)
#define CLASS_KERNEL(name, Args) CLASS_KERNEL_ (name, CLASS, Args)

#define FOR_EACH_BLOCK(i, n) for (int64_t i = BLOCK; i < (n); i += BLOCKS)
