/* SPDX-License-Identifier: MIT */
#pragma once

/* Private to kernels/cpu: tiles, spans and the loops that are compiled once per instruction set.
 *
 * A kernel loads a run of elements of any type into a tile (a small buffer of the compute class),
 * computes there, and stores the tile.  So element types meet arithmetic only in load and store. */

#include "adj-kernels.h"
#include "winograd-loops.h"

enum
{
  TILE = 256,         /* elements of a pointwise tile */
  LEAF = 1024,        /* elements of a leaf of the summation tree */
  LANES = 64,         /* accumulators of a leaf: 16 lanes × 4 */
  GEMM_MAX_ROWS = 12, /* rows of panels, in any table */
  GEMM_STEP = 128,    /* length of a slice of k: fixed, as the bits depend on it */
  COLUMNS = 512,      /* the most neighbouring outputs that a reduction handles together */
  LEVELS = 48         /* depth of the tree, enough for 2^48 leaves */
};

/* One element of any class. */
typedef union
{
  float f32;
  double f64;
  int64_t i64;
} Scalar;

/* How elements of a leaf are combined; any and all are MAX and MIN of x != 0. */
typedef enum
{
  COMBINE_SUM,
  COMBINE_PROD,
  COMBINE_MAX,
  COMBINE_MIN,
  COMBINE_N
} Combine;

/* The function applied to an element before it is combined. */
typedef enum
{
  MAP_NONE,
  MAP_NONZERO, /* x != 0 */
  MAP_SQUARE,  /* x² */
  MAP_DEVIATE, /* (x - center)² */
  MAP_N
} Map;

typedef void (*LoadLoop) (void *tile, const void *src, int64_t stride, int n);
typedef void (*StoreLoop) (void *dst, int64_t stride, const void *tile, int n);
typedef void (*OpLoop) (void *dst, const void *a, const void *b, const void *c, int n);

/* In place over @n elements; element i has @center[i * @step] (MAP_DEVIATE only). */
typedef void (*MapLoop) (void *tile, const void *center, int step, int n);

/* dst[at[i]] += tile[i], in sequence */
typedef void (*AddAtLoop) (void *dst, const int64_t *at, const void *tile, int n);

/* The combination of @n <= LEAF elements into *@result. */
typedef void (*LeafLoop) (void *result, const void *tile, int n);

/* result[i] = result[i] ∘ other[i] */
typedef void (*JoinLoop) (void *result, const void *other, int n);

/* acc[rows][cols] += packed A panel · packed B panel; row stride of acc is @ld elements. */
typedef void (*GemmLoop) (void *acc, int64_t ld, const void *a, const void *b, int64_t k);

/* The same where row p of B begins @at[p] elements after @b. */
typedef void (*GemmLinesLoop) (
    void *acc, int64_t ld, const void *a, const void *b, const int64_t *at, int64_t k);

/* @count neighbouring elements, @from elements after the first. */
typedef struct
{
  int64_t from, count;
} GemmRun;

/* The same for gemm_rows rows of A that are read in place. */
typedef void (*GemmRunsLoop) (
    void *acc, int64_t ld, const void *const *a, const void *b, const GemmRun *runs, int n_runs);

/* A panel: for every k, @width elements that are @next apart; @width is gemm_rows or gemm_cols. */
typedef void (*PackLoop) (
    void *dst, int width, const void *src, int64_t next, int64_t along, int64_t k);

typedef struct
{
  LeafLoop leaf;
  JoinLoop join;
} ReduceLoops;

/* Loops of row kernels (loops-rows.inc): elements, and numbers of the row by address. */
typedef struct
{
  void (*normalize) (void *dst, const void *x, const void *mean, const void *rstd, int n);
  void (*center) (
      void *h, const void *normal, const void *p, const void *s, const void *rstd, int n);
  void (*add_normal) (
      void *sum, const void *x, const void *g, const void *mean, const void *rstd, int n);
  void (*deviate) (void *dst, const void *x, const void *mean, int n);
  void (*scale_normal) (void *dst,
                        const void *x,
                        const void *mean,
                        const void *rstd,
                        const void *w,
                        const void *b,
                        int n);
  void (*spread) (void *h,
                  void *normal,
                  void *product,
                  const void *x,
                  const void *g,
                  const void *w,
                  const void *mean,
                  const void *rstd,
                  int n);
  void (*subtract) (void *dst, const void *x, const void *value, int n);
  void (*divide) (void *dst, const void *x, const void *value, int n);
  void (*subtract_product) (void *dst, const void *x, const void *y, const void *value, int n);
  void (*scale_channel) (void *dst, const void *x, const Scalar *numbers, int n);
  void (*spread_channel) (
      void *h, void *p, void *q, const void *x, const void *g, const Scalar *numbers, int n);
  void (*center_channel) (void *dst, const void *x, const void *g, const Scalar *numbers, int n);
} RowLoops;

/* A second operation, applied to the result of a first one. */
typedef enum
{
  PAIR_ADD,
  PAIR_SUB,
  PAIR_SUB_FROM, /* the result of the first is subtracted */
  PAIR_MUL,
  PAIR_N
} Pair;

typedef struct
{
  AdjKType type; /* type of the elements of a tile */
  size_t size;   /* bytes of an element */
  LoadLoop load[ADJ_K_N];
  StoreLoop store[ADJ_K_N];
  OpLoop op[ADJ_K_OP_N]; /* NULL where the class lacks the op, and for const and load */
  MapLoop map[MAP_N];    /* NULL for MAP_NONE */
  AddAtLoop add_at;      /* to elements of type @type */
  /* Rounds to bf16; NULL except in class F32. */
  void (*round_bf16) (void *dst, const void *x, int n);
  OpLoop rounded_bf16[ADJ_K_OP_N]; /* an operation followed by that; NULL: two loops are needed */
  OpLoop pair[ADJ_K_OP_MUL + 1][PAIR_N]; /* two operations; NULL: two loops; always in class I64 */
  ReduceLoops reduce[COMBINE_N];
  RowLoops rows;                    /* NULL in class I64 */
  GemmLoop gemm[GEMM_MAX_ROWS + 1]; /* by number of used rows of the panel: from 1 to gemm_rows */
  GemmLinesLoop gemm_lines[GEMM_MAX_ROWS + 1];
  GemmRunsLoop gemm_runs;
  PackLoop pack;            /* of elements of type @type */
  int gemm_rows, gemm_cols; /* panel sizes */
} ClassLoops;

typedef struct
{
  ClassLoops klass[ADJ_K_CLASS_N];
  WinogradLoops winograd;
} Loops;

typedef enum
{
  ISA_BASE,
  ISA_V3, /* AVX2 */
  ISA_V4, /* AVX-512 */
  ISA_N
} Isa;

/* One table per instruction set, all computing the same bits. */
extern const Loops adj_k_loops_base;
extern const Loops adj_k_loops_v3;
extern const Loops adj_k_loops_v4;

/* The table for @isa, or NULL when this processor cannot run it. */
const Loops *adj_k_loops_get (Isa isa);

/* The best table that this processor can run. */
const Loops *adj_k_loops (void);

static inline AdjKClass
class_of (AdjKType type)
{
  if (type == ADJ_K_F64)
    return ADJ_K_CLASS_F64;
  return adj_k_type_is_float (type) ? ADJ_K_CLASS_F32 : ADJ_K_CLASS_I64;
}

static inline size_t
class_size (AdjKClass klass)
{
  return klass == ADJ_K_CLASS_F32 ? sizeof (float) : sizeof (double);
}

static inline int64_t
min_i64 (int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static inline void *
view_at (const AdjKView *view, int64_t offset)
{
  return (char *) view->data + offset * (int64_t) adj_k_type_get_size (view->type);
}

/* --- span.c ----------------------------------------------------------------------------------- */

/* Drops dims of size 1 and merges dims that are contiguous in all @n views (which have the same
 * sizes), keeping row-major order.  Afterwards every rank is at least 1. */
void adj_k_views_merge (AdjKView *views, int n);

/* The same, after ordering dims by the strides of views[0]: for work where order is free. */
void adj_k_views_merge_any_order (AdjKView *views, int n);

/* Only the dims of @view in @dims (bit set), or only the others. */
AdjKView adj_k_view_keep (const AdjKView *view, uint32_t dims);

/* Offset in elements of the row-major @index-th element. */
int64_t adj_k_view_offset (const AdjKView *view, int64_t index);

/* Elements @start … @start + @n - 1 of @view, in row-major order, @base elements further on. */
void adj_k_load (
    const ClassLoops *loops, void *tile, const AdjKView *view, int64_t base, int64_t start, int n);
void adj_k_store (const ClassLoops *loops,
                  const AdjKView *view,
                  int64_t base,
                  int64_t start,
                  const void *tile,
                  int n);

/* One element, @base elements after the first. */
Scalar adj_k_load_one (const ClassLoops *loops, const AdjKView *view, int64_t base);
void adj_k_store_one (const ClassLoops *loops, const AdjKView *view, int64_t base, Scalar value);

/* All of @tile becomes *@value, which is of the class. */
static inline void
fill_tile (const ClassLoops *loops, void *tile, const void *value, int n)
{
  loops->load[loops->type](tile, value, 0, n);
}

static inline Scalar
scalar_of (const ClassLoops *loops, double value)
{
  Scalar scalar;

  loops->load[ADJ_K_F64](&scalar, &value, 1, 1);
  return scalar;
}

/* Elements of @size bytes from strided to strided memory. */
void adj_k_copy_run (
    void *dst, int64_t dst_stride, const void *src, int64_t src_stride, int64_t n, size_t size);

/* Walks several views (of the same sizes) together, one element at a time, in row-major order. */
enum
{
  WALK_VIEWS = ADJ_K_MAX_RANK + 2
};

typedef struct
{
  int rank, n_views;
  int64_t left; /* elements not yet passed */
  int64_t size[ADJ_K_MAX_RANK];
  int64_t index[ADJ_K_MAX_RANK];
  int64_t stride[WALK_VIEWS][ADJ_K_MAX_RANK];
  int64_t offset[WALK_VIEWS]; /* in elements, of the current position */
} Walk;

/* @shape gives the sizes; adj_k_walk_add() the strides of one view each, offsets in this order. */
void adj_k_walk_begin (Walk *walk, const AdjKView *shape);
void adj_k_walk_add (Walk *walk, const int64_t *stride);
void adj_k_walk_next (Walk *walk);

/* --- held-rows.c ------------------------------------------------------------------------------ */

enum
{
  HELD = 8192 /* elements of the longest row that is held in a tile */
};

/* The @n elements of a row, @base elements further on: in place if they are dense and of the class,
 * else loaded into @tile. */
const void *
adj_k_hold_row (const ClassLoops *loops, void *tile, const AdjKView *row, int64_t base, int n);
/* Where to compute the row: in place, or in @tile; to be finished by adj_k_store_row(). */
void *adj_k_begin_row (const ClassLoops *loops, void *tile, const AdjKView *row, int64_t base);
void adj_k_store_row (
    const ClassLoops *loops, const AdjKView *row, int64_t base, const void *from, int n);
