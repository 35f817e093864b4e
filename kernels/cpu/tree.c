/* SPDX-License-Identifier: MIT */

/* The tree by which all sums of the kernels are computed: pairwise over leaves of LEAF elements. */

#include "tree.h"

#include <string.h>

void
adj_k_tree_begin (Tree *tree, const ClassLoops *loops, Combine combine, int width)
{
  tree->klass = loops;
  tree->loops = &loops->reduce[combine];
  tree->width = width;
  tree->n_leaves = 0;
}

void *
adj_k_tree_slot (Tree *tree)
{
  return tree->part[__builtin_popcountll ((uint64_t) tree->n_leaves)];
}

static void
join_last_two (Tree *tree, int depth)
{
  tree->loops->join (tree->part[depth - 2], tree->part[depth - 1], tree->width);
}

void
adj_k_tree_push (Tree *tree)
{
  int depth = __builtin_popcountll ((uint64_t) tree->n_leaves) + 1;

  tree->n_leaves++;
  for (int64_t n = tree->n_leaves; n % 2 == 0; n /= 2)
    join_last_two (tree, depth--);
}

static void
fill_identity (const Tree *tree, void *dst, int n)
{
  Scalar identity;

  tree->loops->leaf (&identity, NULL, 0);
  fill_tile (tree->klass, dst, &identity, n);
}

void
adj_k_tree_begin_columns (const Tree *tree, void *lanes, int64_t n)
{
  fill_identity (tree, lanes, (int) min_i64 (n, LANES) * tree->width);
}

static void *
lane_at (const Tree *tree, void *lanes, int64_t lane)
{
  return (char *) lanes + (size_t) (lane * tree->width) * tree->klass->size;
}

void *
adj_k_tree_lane (const Tree *tree, void *lanes, int64_t i)
{
  return lane_at (tree, lanes, i % LANES);
}

void
adj_k_tree_add_columns (const Tree *tree, void *lanes, const void *row, int64_t i)
{
  tree->loops->join (adj_k_tree_lane (tree, lanes, i), row, tree->width);
}

void
adj_k_tree_fold_lanes (const ReduceLoops *loops, void *lanes, int64_t n, int width, size_t size)
{
  int there = (int) min_i64 (n, LANES);

  for (int half = LANES / 2; half > 0; half /= 2)
    if (there > half)
      {
        loops->join (lanes, (char *) lanes + (size_t) (half * width) * size,
                     (there - half) * width);
        there = half;
      }
}

void
adj_k_tree_push_columns (Tree *tree, void *lanes, int64_t n)
{
  adj_k_tree_fold_lanes (tree->loops, lanes, n, tree->width, tree->klass->size);
  memcpy (adj_k_tree_slot (tree), lanes, (size_t) tree->width * tree->klass->size);
  adj_k_tree_push (tree);
}

void
adj_k_tree_join_leaves (const ReduceLoops *loops, void *leaves, int64_t n, int width, size_t size)
{
  size_t leaf = (size_t) width * size;

  for (int64_t step = 1; step < n; step *= 2)
    for (int64_t i = 0; i + step < n; i += 2 * step)
      loops->join ((char *) leaves + (size_t) i * leaf,
                   (char *) leaves + (size_t) (i + step) * leaf, width);
}

void
adj_k_tree_end (Tree *tree, void *result)
{
  int depth = __builtin_popcountll ((uint64_t) tree->n_leaves);

  for (; depth > 1; depth--)
    join_last_two (tree, depth);
  if (depth == 0)
    fill_identity (tree, result, tree->width);
  else
    memcpy (result, tree->part[0], (size_t) tree->width * tree->klass->size);
}

void
adj_k_tree_fold_memory (
    const ClassLoops *loops, Combine combine, const void *from, int64_t n, void *result)
{
  Tree tree;

  if (n <= LEAF)
    {
      loops->reduce[combine].leaf (result, from, (int) n);
      return;
    }
  adj_k_tree_begin (&tree, loops, combine, 1);
  for (int64_t start = 0; start < n; start += LEAF)
    {
      tree.loops->leaf (adj_k_tree_slot (&tree), (const char *) from + (size_t) start * loops->size,
                        (int) min_i64 (LEAF, n - start));
      adj_k_tree_push (&tree);
    }
  adj_k_tree_end (&tree, result);
}

void
adj_k_tree_fold (const ClassLoops *loops,
                 Combine combine,
                 ReadRun read,
                 const void *source,
                 int64_t n,
                 void *result)
{
  Scalar tile[LEAF];
  Tree tree;

  adj_k_tree_begin (&tree, loops, combine, 1);
  for (int64_t start = 0; start < n; start += LEAF)
    {
      int m = (int) min_i64 (LEAF, n - start);

      read (source, tile, start, m);
      tree.loops->leaf (adj_k_tree_slot (&tree), tile, m);
      adj_k_tree_push (&tree);
    }
  adj_k_tree_end (&tree, result);
}
