/* SPDX-License-Identifier: MIT */

/* Batch norm of images: a channel stays in the L2 cache while all passes run over it, leaf by leaf.
 * Leaves are those of the summation tree, so sums have the bits of any other reduction. */

#include <omp.h>
#include <stdlib.h>

#include "adj-kernel-channel-norm.h"
#include "tree.h"

enum
{
  SERIAL = 16 * 1024, /* elements below which threads do not pay */
  SHORT_RUN = 48,     /* runs shorter than this do not pay */
  SUMS = 4            /* sums of a channel at a time */
};

/* The elements of channels: where each channel begins, and how its elements lie. */
typedef struct
{
  AdjKView first, elements;
} Channels;

static Channels
channels_of (const AdjKView *x)
{
  Channels channels = { adj_k_view_keep (x, 2), adj_k_view_keep (x, ~UINT32_C (2)) };

  adj_k_views_merge (&channels.elements, 1);
  return channels;
}

bool
adj_k_channel_norm_fits (const AdjKView *x)
{
  AdjKView elements = channels_of (x).elements;
  int last = elements.rank - 1;

  return adj_k_view_count (x) > 0 && elements.stride[last] == 1 && elements.size[last] >= SHORT_RUN;
}

static int64_t
channel_at (const Channels *channels, int64_t channel)
{
  return channel * channels->first.stride[0];
}

/* (nullable): the leaf in place, if its elements are contiguous and of the type of the class. */
static void *
leaf_at (const ClassLoops *loops, const AdjKView *elements, int64_t base, int64_t start, int n)
{
  int64_t run = elements->size[elements->rank - 1];

  if (elements->type != loops->type || start % run + n > run)
    return NULL;
  return view_at (elements, base + adj_k_view_offset (elements, start));
}

static const void *
read_leaf (const ClassLoops *loops,
           void *tile,
           const AdjKView *elements,
           int64_t base,
           int64_t start,
           int n)
{
  const void *there = leaf_at (loops, elements, base, start, n);

  if (there)
    return there;
  adj_k_load (loops, tile, elements, base, start, n);
  return tile;
}

static Scalar
number_at (const ClassLoops *loops, const AdjKView *view, int64_t channel, double missing)
{
  return view->data ? adj_k_load_one (loops, view, channel * view->stride[0])
                    : scalar_of (loops, missing);
}

static void
store_number (const ClassLoops *loops, const AdjKView *view, int64_t channel, Scalar value)
{
  adj_k_store_one (loops, view, channel * view->stride[0], value);
}

/* Sums of leaves, for each thread. */
static char *
new_leaves (int64_t n, const ClassLoops *loops, int width)
{
  size_t leaves = (size_t) ((n + LEAF - 1) / LEAF);

  return malloc (leaves * (size_t) width * loops->size * (size_t) omp_get_max_threads ());
}

static char *
leaves_of_thread (char *memory, int64_t n, const ClassLoops *loops, int width)
{
  size_t leaves = (size_t) ((n + LEAF - 1) / LEAF);

  return memory + leaves * (size_t) width * loops->size * (size_t) omp_get_thread_num ();
}

static void
join_leaves (const ClassLoops *loops, char *leaves, int64_t n, int width)
{
  adj_k_tree_join_leaves (&loops->reduce[COMBINE_SUM], leaves, (n + LEAF - 1) / LEAF, width,
                          loops->size);
}

static Scalar
divide (const ClassLoops *loops, const void *sum, int64_t n)
{
  Scalar count = scalar_of (loops, (double) n), quotient;

  loops->op[ADJ_K_OP_DIV](&quotient, sum, &count, NULL, 1);
  return quotient;
}

/* --- forward -----------------------------------------------------------------------------------
 */

/* The mean of the elements, or of their squared deviations from @center. */
static Scalar
mean_of (const ClassLoops *loops,
         const AdjKView *elements,
         int64_t base,
         const Scalar *center,
         char *leaves)
{
  int64_t length = adj_k_view_count (elements);
  Scalar tile[LEAF], squares[LEAF];

  for (int64_t start = 0; start < length; start += LEAF)
    {
      int n = (int) min_i64 (LEAF, length - start);
      const void *x = read_leaf (loops, tile, elements, base, start, n);

      if (center)
        loops->rows.deviate (squares, x, center, n);
      loops->reduce[COMBINE_SUM].leaf (leaves + (size_t) (start / LEAF) * loops->size,
                                       center ? squares : x, n);
    }
  join_leaves (loops, leaves, length, 1);
  return divide (loops, leaves, length);
}

bool
adj_k_channel_norm_measure (const AdjKView *x, const AdjKView *mean, const AdjKView *var)
{
  const ClassLoops *loops = &adj_k_loops ()->klass[class_of (mean->type)];
  Channels of_x = channels_of (x);
  int64_t n = adj_k_view_count (&of_x.elements);
  char *memory = new_leaves (n, loops, 1);

  if (!memory)
    return false;
#pragma omp parallel for schedule(static) if (n * x->size[1] > SERIAL)
  for (int64_t i = 0; i < x->size[1]; i++)
    {
      char *leaves = leaves_of_thread (memory, n, loops, 1);
      int64_t base = channel_at (&of_x, i);
      Scalar center = mean_of (loops, &of_x.elements, base, NULL, leaves);

      store_number (loops, mean, i, center);
      store_number (loops, var, i, mean_of (loops, &of_x.elements, base, &center, leaves));
    }
  free (memory);
  return true;
}

/* For y, or gx: where a leaf is computed, and whether it must be stored to its place. */
typedef struct
{
  const ClassLoops *loops;
  Channels channels;
} Target;

static void *
begin_leaf (const Target *to, void *tile, int64_t channel, int64_t start, int n)
{
  void *there =
      leaf_at (to->loops, &to->channels.elements, channel_at (&to->channels, channel), start, n);

  return there ? there : tile;
}

static void
end_leaf (
    const Target *to, const void *tile, const void *from, int64_t channel, int64_t start, int n)
{
  if (from == tile)
    adj_k_store (to->loops, &to->channels.elements, channel_at (&to->channels, channel), start,
                 tile, n);
}

void
adj_k_channel_norm_write (const AdjKChannelNorm *norm)
{
  const ClassLoops *loops = &adj_k_loops ()->klass[class_of (norm->y.type)];
  Channels of_x = channels_of (&norm->x);
  Target y = { loops, channels_of (&norm->y) };
  int64_t length = adj_k_view_count (&of_x.elements);

#pragma omp parallel for schedule(static) if (length * norm->x.size[1] > SERIAL)
  for (int64_t i = 0; i < norm->x.size[1]; i++)
    {
      Scalar numbers[] = { number_at (loops, &norm->mean, i, 0),
                           number_at (loops, &norm->rstd, i, 0), number_at (loops, &norm->w, i, 1),
                           number_at (loops, &norm->b, i, 0) };
      Scalar x_tile[LEAF], y_tile[LEAF];

      for (int64_t start = 0; start < length; start += LEAF)
        {
          int n = (int) min_i64 (LEAF, length - start);
          const void *x =
              read_leaf (loops, x_tile, &of_x.elements, channel_at (&of_x, i), start, n);
          void *to = begin_leaf (&y, y_tile, i, start, n);

          loops->rows.scale_channel (to, x, numbers, n);
          end_leaf (&y, y_tile, to, i, start, n);
        }
    }
}

/* --- backward ----------------------------------------------------------------------------------
 */

typedef struct
{
  const ClassLoops *loops;
  Channels x, g;
  int64_t length;
} Inputs;

/* Σ of h, h x̂, g x̂ and g: the first of @leaves. */
static void
add_up_channel (const Inputs *in, int64_t channel, const Scalar *numbers, char *leaves)
{
  const ClassLoops *loops = in->loops;
  LeafLoop leaf = loops->reduce[COMBINE_SUM].leaf;
  Scalar x_tile[LEAF], g_tile[LEAF], h[LEAF], p[LEAF], q[LEAF];

  for (int64_t start = 0; start < in->length; start += LEAF)
    {
      int n = (int) min_i64 (LEAF, in->length - start);
      const void *x =
          read_leaf (loops, x_tile, &in->x.elements, channel_at (&in->x, channel), start, n);
      const void *g =
          read_leaf (loops, g_tile, &in->g.elements, channel_at (&in->g, channel), start, n);
      const void *terms[SUMS] = { h, p, q, g };

      loops->rows.spread_channel (h, p, q, x, g, numbers, n);
      for (int k = 0; k < SUMS; k++)
        leaf (leaves + (size_t) (start / LEAF * SUMS + k) * loops->size, terms[k], n);
    }
  join_leaves (loops, leaves, in->length, SUMS);
}

static void
write_channel (const Inputs *in, const Target *gx, int64_t channel, const Scalar *numbers)
{
  const ClassLoops *loops = in->loops;
  Scalar x_tile[LEAF], g_tile[LEAF], to_tile[LEAF];

  for (int64_t start = 0; start < in->length; start += LEAF)
    {
      int n = (int) min_i64 (LEAF, in->length - start);
      const void *x =
          read_leaf (loops, x_tile, &in->x.elements, channel_at (&in->x, channel), start, n);
      const void *g =
          read_leaf (loops, g_tile, &in->g.elements, channel_at (&in->g, channel), start, n);
      void *to = begin_leaf (gx, to_tile, channel, start, n);

      loops->rows.center_channel (to, x, g, numbers, n);
      end_leaf (gx, to_tile, to, channel, start, n);
    }
}

static void
differentiate_channel (const AdjKChannelNormBackward *norm,
                       const Inputs *in,
                       const Target *gx,
                       int64_t channel,
                       char *leaves)
{
  const ClassLoops *loops = in->loops;
  Scalar numbers[5] = { number_at (loops, &norm->mean, channel, 0),
                        number_at (loops, &norm->rstd, channel, 0),
                        number_at (loops, &norm->w, channel, 1) };
  const void *sums[SUMS];

  for (int k = 0; k < SUMS; k++)
    sums[k] = leaves + (size_t) k * loops->size;
  add_up_channel (in, channel, numbers, leaves);
  if (norm->gw)
    loops->store[norm->gw->type](view_at (norm->gw, channel * norm->gw->stride[0]), 1, sums[2], 1);
  if (norm->gb)
    loops->store[norm->gb->type](view_at (norm->gb, channel * norm->gb->stride[0]), 1, sums[3], 1);
  numbers[3] = divide (loops, sums[1], in->length);
  numbers[4] = divide (loops, sums[0], in->length);
  if (norm->gx)
    write_channel (in, gx, channel, numbers);
}

bool
adj_k_channel_norm_backward (const AdjKChannelNormBackward *norm)
{
  const ClassLoops *loops = &adj_k_loops ()->klass[class_of (norm->x.type)];
  Inputs in = { loops, channels_of (&norm->x), channels_of (&norm->g), 0 };
  Target gx = { loops, channels_of (norm->gx ? norm->gx : &norm->x) };
  char *memory;

  in.length = adj_k_view_count (&in.x.elements);
  memory = new_leaves (in.length, loops, SUMS);
  if (!memory)
    return false;
#pragma omp parallel for schedule(static) if (in.length * norm->x.size[1] > SERIAL)
  for (int64_t i = 0; i < norm->x.size[1]; i++)
    differentiate_channel (norm, &in, &gx, i, leaves_of_thread (memory, in.length, loops, SUMS));
  free (memory);
  return true;
}
