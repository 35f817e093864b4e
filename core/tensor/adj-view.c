/* SPDX-License-Identifier: MIT */

/* Views: other sizes over the same elements.
 *
 * The old dimensions, from the last one, fall into runs that are dense in themselves; each run must
 * be the product of consecutive new dimensions (tensor/SPEC.md §3.4). */

#include <string.h>

#include "tensor/adj-shape.h"

static gboolean
fail_view (const AdjShape *shape,
           AdjSymbols *symbols,
           const AdjShape *to,
           const char *reason,
           GError **error)
{
  g_autoptr (GString) text = g_string_new ("a view of ");

  adj_shape_print_list (symbols, shape->size, shape->rank, text);
  g_string_append (text, " with strides ");
  adj_shape_print_list (symbols, shape->stride, shape->rank, text);
  g_string_append (text, " as ");
  adj_shape_print_list (symbols, to->size, to->rank, text);
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE, "%s is not possible: %s", text->str, reason);
  return FALSE;
}

/* Replaces the one size of -1 in @to. */
static gboolean
infer_size (const AdjShape *shape, AdjSymbols *symbols, AdjShape *to, GError **error)
{
  AdjSize numel = adj_shape_numel (shape, symbols);
  AdjShape known = { 0 };
  AdjSize product;
  guint inferred = to->rank;

  for (guint i = 0; i < to->rank; i++)
    if (adj_size_same (to->size[i], ADJ_SIZE (-1)))
      {
        if (inferred < to->rank)
          return fail_view (shape, symbols, to, "only one size can be inferred", error);
        inferred = i;
      }
    else if (adj_size_is_int (to->size[i]) && to->size[i].word < 0)
      return fail_view (shape, symbols, to, "a size is negative", error);
    else
      known.size[known.rank++] = to->size[i];

  product = adj_shape_numel (&known, symbols);
  if (inferred < to->rank)
    {
      if (adj_size_is (symbols, product, 0))
        return fail_view (shape, symbols, to, "the inferred size can be anything", error);
      to->size[inferred] = adj_size_floordiv (symbols, numel, product);
      product = adj_size_mul (symbols, product, to->size[inferred]);
    }
  if (!adj_size_same (product, numel) && !adj_size_test (symbols, ADJ_SIZE_EQ, product, numel))
    return fail_view (shape, symbols, to, "it has another number of elements", error);
  return TRUE;
}

/* Whether @done elements are still fewer than @run, so that the next dimension may be taken. */
static gboolean
is_short_of (AdjSymbols *symbols, AdjSize done, AdjSize run)
{
  gint64 hint;

  if (adj_size_same (done, run))
    return FALSE;
  if (adj_size_get_hint (symbols, done, &hint) && adj_size_get_hint (symbols, run, &hint))
    return adj_size_test (symbols, ADJ_SIZE_LT, done, run);
  return !adj_size_test (symbols, ADJ_SIZE_EQ, done, run);
}

/* Fills @to's strides; %FALSE when a run is no product of new sizes. */
static gboolean
split_runs (const AdjShape *shape, AdjSymbols *symbols, AdjShape *to)
{
  AdjSize base = shape->stride[shape->rank - 1];
  AdjSize run = ADJ_SIZE (1);
  guint next = to->rank;

  for (guint d = shape->rank; d-- > 0;)
    {
      AdjSize done = ADJ_SIZE (1);

      run = adj_size_mul (symbols, run, shape->size[d]);
      if (d > 0 && (adj_size_is (symbols, shape->size[d - 1], 1) ||
                    adj_size_test (symbols, ADJ_SIZE_EQ, shape->stride[d - 1],
                                   adj_size_mul (symbols, run, base))))
        continue;

      while (next > 0 &&
             (is_short_of (symbols, done, run) || adj_size_is (symbols, to->size[next - 1], 1)))
        {
          next--;
          to->stride[next] = adj_size_mul (symbols, done, base);
          done = adj_size_mul (symbols, done, to->size[next]);
        }
      if (!adj_size_same (done, run) && !adj_size_test (symbols, ADJ_SIZE_EQ, done, run))
        return FALSE;
      if (d > 0)
        base = shape->stride[d - 1];
      run = ADJ_SIZE (1);
    }
  return next == 0;
}

static gboolean
divides (AdjSymbols *symbols, AdjSize part, AdjSize whole)
{
  AdjSize times = adj_size_floordiv (symbols, whole, part);

  return adj_size_test (symbols, ADJ_SIZE_EQ, adj_size_mul (symbols, times, part), whole);
}

/* Sets the strides of dimensions of size 1, which may be anything.  They are those of the graphs
 * that PyTorch traces, where each new dimension, from the first one, takes its elements from the
 * old ones in order. */
static void
step_over_ones (const AdjShape *shape, AdjSymbols *symbols, AdjShape *to)
{
  AdjSize left = shape->size[0];
  guint d = 0;

  for (guint i = 0; i < to->rank; i++)
    {
      if (d == shape->rank)
        {
          to->stride[i] = to->stride[i - 1];
          continue;
        }
      if (adj_size_is (symbols, to->size[i], 1))
        to->stride[i] = adj_size_mul (symbols, left, shape->stride[d]);
      while (d + 1 < shape->rank && !divides (symbols, to->size[i], left))
        left = adj_size_mul (symbols, left, shape->size[++d]);
      left = adj_size_floordiv (symbols, left, to->size[i]);
      if (adj_size_is (symbols, left, 1) && ++d < shape->rank)
        left = shape->size[d];
    }
}

/* Whether @shape is one element with stride 1. */
static gboolean
is_flat_element (const AdjShape *shape, const AdjShape *to)
{
  for (guint i = 0; i < shape->rank; i++)
    if (!adj_size_same (shape->size[i], ADJ_SIZE (1)))
      return FALSE;
  return shape->rank == 0 || (shape->rank > 1 ? to->rank == 1 : to->rank == 2);
}

gboolean
adj_shape_view (const AdjShape *shape,
                AdjSymbols *symbols,
                const AdjSize *sizes,
                guint rank,
                AdjShape *out,
                GError **error)
{
  AdjShape to = { .rank = rank };

  if (rank > ADJ_MAX_RANK)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT, "a view of rank %u: at most %d", rank,
                   ADJ_MAX_RANK);
      return FALSE;
    }
  if (rank > 0)
    memcpy (to.size, sizes, sizeof (AdjSize) * rank);
  if (!infer_size (shape, symbols, &to, error))
    return FALSE;

  adj_shape_init (&to, symbols, rank, to.size);
  to.offset = shape->offset;
  if (is_flat_element (shape, &to))
    for (guint i = 0; i < rank; i++)
      to.stride[i] = ADJ_SIZE (1);
  else if (!adj_size_is (symbols, adj_shape_numel (shape, symbols), 0))
    {
      if (!split_runs (shape, symbols, &to))
        return fail_view (shape, symbols, &to, "the strides cannot express it", error);
      step_over_ones (shape, symbols, &to);
    }

  *out = to;
  return TRUE;
}
