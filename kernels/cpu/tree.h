/* SPDX-License-Identifier: MIT */
#pragma once

/* Private to kernels/cpu: the tree by which all sums are computed. */

#include "tile.h"

/* A summation tree in progress: partial results of 2^level leaves each, like the digits of a binary
 * counter.  Its shape depends on the number of leaves alone. */
typedef struct
{
  const ClassLoops *klass;
  const ReduceLoops *loops;
  int width;        /* elements of a partial result, at most COLUMNS */
  int64_t n_leaves; /* so far */
  _Alignas(64) Scalar part[LEVELS][COLUMNS];
} Tree;

void adj_k_tree_begin (Tree *tree, const ClassLoops *loops, Combine combine, int width);

/* Where to put the next leaf's result; the push adds it to the tree. */
void *adj_k_tree_slot (Tree *tree);
void adj_k_tree_push (Tree *tree);

/* A leaf of `width` columns side by side, each summed like a leaf of its own: @n rows of `width`
 * elements are added to @lanes (LANES × width elements).  Lanes without a row would be identities,
 * and are left out. */
void adj_k_tree_begin_columns (const Tree *tree, void *lanes, int64_t n);
void adj_k_tree_add_columns (const Tree *tree, void *lanes, const void *row, int64_t i);
/* The lane that row @i is added to. */
void *adj_k_tree_lane (const Tree *tree, void *lanes, int64_t i);
/* Adds all lanes into the first. */
void
adj_k_tree_fold_lanes (const ReduceLoops *loops, void *lanes, int64_t n, int width, size_t size);
void adj_k_tree_push_columns (Tree *tree, void *lanes, int64_t n);
/* Joins the results of @n whole leaves of @width elements each into the first. */
void
adj_k_tree_join_leaves (const ReduceLoops *loops, void *leaves, int64_t n, int width, size_t size);

/* Joins the remaining results into @result (as wide as @tree; the identity if there was no
 * leaf). */
void adj_k_tree_end (Tree *tree, void *result);

/* Reads a run of a sequence: elements @start … @start + @n - 1 into @tile, of the class. */
typedef void (*ReadRun) (const void *source, void *tile, int64_t start, int n);

/* The combination of @n elements read one leaf at a time.  One thread. */
void adj_k_tree_fold (const ClassLoops *loops,
                      Combine combine,
                      ReadRun read,
                      const void *source,
                      int64_t n,
                      void *result);

/* The same for @n contiguous elements. */
void adj_k_tree_fold_memory (
    const ClassLoops *loops, Combine combine, const void *from, int64_t n, void *result);
