/* SPDX-License-Identifier: MIT */

/* The one tree by which all sums of the kernels go: pairwise over leaves of LEAF elements. */

#include <string.h>

#include "tile.h"

void
adj_k_tree_begin (Tree *tree, const ClassLoops *loops, Combine combine, int width)
{
  tree->loops = &loops->reduce[combine];
  tree->row = (size_t) width * loops->size;
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

void
adj_k_tree_end (Tree *tree, void *result)
{
  int depth = __builtin_popcountll ((uint64_t) tree->n_leaves);

  if (depth == 0)
    for (int i = 0; i < tree->width; i++)
      tree->loops->leaf ((char *) result + (size_t) i * (tree->row / (size_t) tree->width), NULL,
                         0);
  else
    {
      for (; depth > 1; depth--)
        join_last_two (tree, depth);
      memcpy (result, tree->part[0], tree->row);
    }
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
