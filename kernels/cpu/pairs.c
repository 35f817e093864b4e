/* SPDX-License-Identifier: MIT */

/* Sums of products of bf16 by an instruction that adds the upper product of a pair, rounds, and
 * adds the lower: with the earlier element in the upper half, the bits of two fused multiply-adds.
 * It flushes subnormals to zero, so callers must exclude them. */

#include "pairs.h"

#include <math.h>
#include <string.h>

#if defined __x86_64__
#include <immintrin.h>

#include "convert.h"

enum
{
  ROWS = 12,
  COLS = PAIR_COLS,
  LANES_OF_F32 = 16,
  LINES = 32 /* lines of a panel at most */
};

static inline __attribute__ ((always_inline)) void
multiply_rows (
    int rows, float *d, int64_t ld, const uint32_t *left, const uint32_t *right, int64_t k)
{
  __m512 sum[ROWS][2];

#pragma GCC unroll 16
  for (int r = 0; r < rows; r++)
    sum[r][0] = sum[r][1] = _mm512_setzero_ps ();

  for (int64_t p = 0; p < k; p++, left += ROWS, right += COLS)
    {
      __m512bh b0 = (__m512bh) _mm512_loadu_si512 (right);
      __m512bh b1 = (__m512bh) _mm512_loadu_si512 (right + LANES_OF_F32);

#pragma GCC unroll 16
      for (int r = 0; r < rows; r++)
        {
          __m512bh a = (__m512bh) _mm512_set1_epi32 ((int) left[r]);

          sum[r][0] = _mm512_dpbf16_ps (sum[r][0], a, b0);
          sum[r][1] = _mm512_dpbf16_ps (sum[r][1], a, b1);
        }
    }

#pragma GCC unroll 16
  for (int r = 0; r < rows; r++)
    for (int v = 0; v < 2; v++)
      {
        float *at = d + r * ld + v * LANES_OF_F32;

        _mm512_storeu_ps (at, _mm512_loadu_ps (at) + sum[r][v]);
      }
}

#define GEMM(rows)                                                                                 \
  static void gemm_##rows (void *acc, int64_t ld, const void *a, const void *b, int64_t k)         \
  {                                                                                                \
    multiply_rows (rows, acc, ld, a, b, k);                                                        \
  }

GEMM (1)
GEMM (2)
GEMM (3)
GEMM (4)
GEMM (5)
GEMM (6)
GEMM (8)
GEMM (10)
GEMM (12)

typedef uint16_t Half __attribute__ ((may_alias)); /* may alias halves of pairs */

/* The exponent of the least number, given without its sign and minus 1, which makes zeros the
 * largest. */
static int
exponent_of (uint16_t least)
{
  if (least == UINT16_MAX)
    return PAIRS_NONE;
  return least + 1 < 0x80 ? PAIRS_TINY : (least + 1) >> 7;
}

static int
find_least (const void *numbers, int64_t n)
{
  const Half *x = numbers;
  uint16_t least = UINT16_MAX;

  for (int64_t i = 0; i < n; i++)
    {
      uint16_t one = (uint16_t) ((x[i] & 0x7fff) - 1);

      least = one < least ? one : least;
    }
  return exponent_of (least);
}

static int
find_least_lane (__m512i least)
{
  uint16_t lanes[2 * LANES_OF_F32], found = UINT16_MAX;

  memcpy (lanes, &least, sizeof lanes);
  for (int i = 0; i < 2 * LANES_OF_F32; i++)
    found = lanes[i] < found ? lanes[i] : found;
  return exponent_of (found);
}

static inline __attribute__ ((always_inline)) __mmask16
first_lanes (int n)
{
  return n >= LANES_OF_F32 ? UINT16_MAX : n > 0 ? (__mmask16) ((1U << n) - 1) : 0;
}

/* Packs @n neighbours of two lines as pairs, and @width of these as a row of a panel; the least
 * numbers, as above, go to the lanes of @least. */
static inline __attribute__ ((always_inline)) __m512i
pack_pairs (
    uint32_t *d, int width, const uint16_t *first, const uint16_t *second, int n, __m512i least)
{
  for (int w = 0; w < width; w += LANES_OF_F32)
    {
      __mmask16 read = first_lanes (n - w), write = first_lanes (width - w);
      __m512i high = _mm512_cvtepu16_epi32 (_mm256_maskz_loadu_epi16 (read, first + w));
      __m512i low = _mm512_cvtepu16_epi32 (_mm256_maskz_loadu_epi16 (read, second + w));
      __m512i pairs = _mm512_or_si512 (_mm512_slli_epi32 (high, 16), low);
      __m512i sizes = _mm512_and_si512 (pairs, _mm512_set1_epi16 (0x7fff));

      least = _mm512_min_epu16 (least, _mm512_sub_epi16 (sizes, _mm512_set1_epi16 (1)));
      _mm512_mask_storeu_epi32 (d + w, write, pairs);
    }
  return least;
}

static const uint16_t nothing[LINES];

/* Packs adjacent lines: two rows of them become one of pairs, in panels that are @next apart. */
static inline __attribute__ ((always_inline)) __m512i
pack_across (int width, uint32_t *d, const PanelLines *lines, int64_t next, int64_t k)
{
  const uint16_t *s = view_at (lines->view, lines->offset);
  int64_t whole = lines->count / width * width;
  __m512i least = _mm512_set1_epi16 (-1);

  for (int64_t p = 0; p < k; p += 2, d += width, s += 2 * lines->along)
    {
      bool last = p + 1 == k;
      uint32_t *to = d;

      for (int64_t i = 0; i < whole; i += width, to += next)
        least = pack_pairs (to, width, s + i, last ? nothing : s + lines->along + i, width, least);
      if (whole < lines->count)
        least = pack_pairs (to, width, s + whole, last ? nothing : s + lines->along + whole,
                            (int) (lines->count - whole), least);
    }
  return least;
}

static void
pack_along (
    uint32_t *d, int width, const uint16_t *s, int64_t next, int64_t along, int n, int64_t k)
{
  uint32_t between[LINES][GEMM_STEP / 2];
  int64_t pairs = (k + 1) / 2;

  memset (between[n], 0, (size_t) (width - n) * sizeof between[0]);
  for (int line = 0; line < n; line++, s += next)
    {
      if (along == 1)
        for (int64_t p = 0; p < k / 2; p++)
          {
            uint32_t pair;

            memcpy (&pair, s + 2 * p, sizeof pair);
            between[line][p] = pair << 16 | pair >> 16;
          }
      else
        for (int64_t p = 0; p < k / 2; p++)
          between[line][p] = (uint32_t) s[2 * p * along] << 16 | s[(2 * p + 1) * along];
      if (k % 2 == 1)
        between[line][k / 2] = (uint32_t) s[(k - 1) * along] << 16;
    }
  adj_k_loops_v4.klass[ADJ_K_CLASS_F32].pack (d, width, between, GEMM_STEP / 2, 1, pairs);
}

static int
pack (void *dst, int width, const PanelLines *lines, int64_t k)
{
  int64_t next = (k + 1) / 2 * width, panels = (lines->count + width - 1) / width;
  uint32_t *d = dst;

  if (lines->next == 1)
    return find_least_lane (width == COLS ? pack_across (COLS, d, lines, next, k)
                                          : pack_across (ROWS, d, lines, next, k));
  for (int64_t first = 0; first < lines->count; first += width, d += next)
    pack_along (d, width, view_at (lines->view, lines->offset + first * lines->next), lines->next,
                lines->along, (int) min_i64 (width, lines->count - first), k);
  return find_least (dst, 2 * next * panels);
}

static int
pack_rows (uint32_t *dst, const uint16_t *rows, const int64_t *at, int64_t k)
{
  __m512i least = _mm512_set1_epi16 (-1);
  uint32_t *d = dst;

  for (int64_t p = 0; p < k; p += 2, d += COLS)
    least = pack_pairs (d, COLS, rows + at[p], p + 1 < k ? rows + at[p + 1] : nothing, COLS, least);
  return find_least_lane (least);
}

/* In reversed lines the 32 bits at an element are a pair, the earlier element in the upper half. */
static void
gemm_runs (void *acc,
           int64_t ld,
           const void *const *left,
           const void *right,
           const GemmRun *runs,
           int n_runs)
{
  const uint32_t *b = right;
  float *d = acc;
  __m512 sum[ROWS][2];

#pragma GCC unroll 16
  for (int r = 0; r < ROWS; r++)
    sum[r][0] = sum[r][1] = _mm512_setzero_ps ();

  for (int i = 0; i < n_runs; i++)
    {
      const Half *line[ROWS];

#pragma GCC unroll 16
      for (int r = 0; r < ROWS; r++)
        line[r] = (const Half *) left[r] - runs[i].from - 1;
      for (int64_t p = 0; p < runs[i].count; p += 2, b += COLS)
        {
          __m512bh b0 = (__m512bh) _mm512_loadu_si512 (b);
          __m512bh b1 = (__m512bh) _mm512_loadu_si512 (b + LANES_OF_F32);

#pragma GCC unroll 16
          for (int r = 0; r < ROWS; r++)
            {
              uint32_t pair;
              __m512bh a;

              memcpy (&pair, line[r] - p, sizeof pair);
              a = (__m512bh) _mm512_set1_epi32 ((int) pair);
              sum[r][0] = _mm512_dpbf16_ps (sum[r][0], a, b0);
              sum[r][1] = _mm512_dpbf16_ps (sum[r][1], a, b1);
            }
        }
    }

#pragma GCC unroll 16
  for (int r = 0; r < ROWS; r++)
    for (int v = 0; v < 2; v++)
      {
        float *at = d + r * ld + v * LANES_OF_F32;

        _mm512_storeu_ps (at, _mm512_loadu_ps (at) + sum[r][v]);
      }
}

static const PairLoops pairs = { .gemm = { NULL, gemm_1, gemm_2, gemm_3, gemm_4, gemm_5, gemm_6,
                                           gemm_8, gemm_8, gemm_10, gemm_10, gemm_12, gemm_12 },
                                 .gemm_runs = gemm_runs,
                                 .pack = pack,
                                 .pack_rows = pack_rows,
                                 .find_least = find_least };

/* Whether the instruction rounds as described above: other processors might round less often. */
static bool
adds_in_turn (void)
{
  uint32_t a[LANES_OF_F32], b[LANES_OF_F32], random = 1;
  float sum[LANES_OF_F32];

  for (int i = 0; i < LANES_OF_F32; i++)
    {
      random = random * 1664525 + 1013904223;
      a[i] = (random & 0x807f807f) | 0x3f803f00;
      random = random * 1664525 + 1013904223;
      b[i] = (random & 0x807f807f) | 0x3f003f80;
      sum[i] = 1 + 0x1p-23f * (float) (random >> 12 & 0xffff);
    }

  __m512 by_pairs = _mm512_dpbf16_ps (_mm512_loadu_ps (sum), (__m512bh) _mm512_loadu_si512 (a),
                                      (__m512bh) _mm512_loadu_si512 (b));

  for (int i = 0; i < LANES_OF_F32; i++)
    {
      sum[i] = fmaf (f32_of_bits (a[i] & 0xffff0000), f32_of_bits (b[i] & 0xffff0000), sum[i]);
      sum[i] = fmaf (f32_of_bits (a[i] << 16), f32_of_bits (b[i] << 16), sum[i]);
    }
  return _mm512_cmpneq_epi32_mask (_mm512_castps_si512 (by_pairs), _mm512_loadu_si512 (sum)) == 0;
}

const PairLoops *
adj_k_pair_loops_try (void)
{
  return adds_in_turn () ? &pairs : NULL;
}
#endif
