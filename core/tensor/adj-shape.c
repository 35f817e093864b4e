/* SPDX-License-Identifier: MIT */
/* Shapes: sizes, strides and memory formats, and the rules by which PyTorch chooses strides of
 * results. */

#include "tensor/adj-shape.h"

#include <string.h>

#include "tensor/adj-shape-internal.h"

/* The innermost dimension first. */
static const guint8 channels_last_2d[] = { 1, 3, 2, 0 };
static const guint8 channels_last_3d[] = { 1, 4, 3, 2, 0 };

static gboolean
equal (AdjSymbols *symbols, AdjSize a, AdjSize b)
{
  return adj_size_same (a, b) || adj_size_test (symbols, ADJ_SIZE_EQ, a, b);
}

static gboolean
less (AdjSymbols *symbols, AdjSize a, AdjSize b)
{
  return !adj_size_same (a, b) && adj_size_test (symbols, ADJ_SIZE_LT, a, b);
}

static const guint8 *
channels_last_order (guint rank)
{
  if (rank == 4)
    return channels_last_2d;
  return rank == 5 ? channels_last_3d : NULL;
}

/* -- Making shapes ------------------------------------------------------------------------- */

static void
set_contiguous (AdjShape *shape, AdjSymbols *symbols)
{
  AdjSize stride = ADJ_SIZE (1);

  for (guint i = shape->rank; i-- > 0;)
    {
      shape->stride[i] = stride;
      if (i > 0)
        stride = adj_size_mul (
            symbols, stride, adj_size_apply (symbols, ADJ_SIZE_MAX, shape->size[i], ADJ_SIZE (1)));
    }
}

/* Dense strides over the dimensions in @order, the innermost one first; a dimension known to have
 * fewer than @least elements counts as @least. */
static void
set_ordered (AdjShape *shape, AdjSymbols *symbols, const guint8 *order, gint64 least)
{
  AdjSize stride = ADJ_SIZE (1);

  for (guint i = 0; i < shape->rank; i++)
    {
      AdjSize size = shape->size[order[i]];

      if (adj_size_is_int (size) && size.word < least)
        size = ADJ_SIZE (least);
      shape->stride[order[i]] = stride;
      stride = adj_size_mul (symbols, stride, size);
    }
}

void
adj_shape_init (AdjShape *shape, AdjSymbols *symbols, guint rank, const AdjSize *sizes)
{
  g_return_if_fail (rank <= ADJ_MAX_RANK);

  shape->rank = rank;
  shape->offset = ADJ_SIZE (0);
  if (rank > 0 && sizes != shape->size)
    memcpy (shape->size, sizes, sizeof (AdjSize) * rank);
  set_contiguous (shape, symbols);
}

void
adj_shape_init_ints (AdjShape *shape, guint rank, const gint64 *sizes)
{
  AdjSize words[ADJ_MAX_RANK];

  g_return_if_fail (rank <= ADJ_MAX_RANK);

  for (guint i = 0; i < rank; i++)
    words[i] = ADJ_SIZE (sizes[i]);
  adj_shape_init (shape, NULL, rank, words);
}

gboolean
adj_shape_set_format (AdjShape *shape,
                      AdjSymbols *symbols,
                      AdjMemoryFormat format,
                      const AdjShape *like)
{
  AdjShape source;
  AdjShape result;
  const AdjShape *operands[] = { &source };

  if (format == ADJ_MEMORY_FORMAT_CONTIGUOUS)
    {
      set_contiguous (shape, symbols);
      return TRUE;
    }
  if (format == ADJ_MEMORY_FORMAT_CHANNELS_LAST || format == ADJ_MEMORY_FORMAT_CHANNELS_LAST_3D)
    {
      if (shape->rank != (format == ADJ_MEMORY_FORMAT_CHANNELS_LAST ? 4 : 5))
        return FALSE;
      set_ordered (shape, symbols, channels_last_order (shape->rank), 0);
      return TRUE;
    }

  g_return_val_if_fail (format == ADJ_MEMORY_FORMAT_PRESERVE, FALSE);
  if (like == NULL || like->rank != shape->rank)
    return FALSE;
  source = *like;
  memcpy (source.size, shape->size, sizeof source.size);
  if (adj_shape_is_dense (&source, symbols))
    {
      memcpy (shape->stride, source.stride, sizeof shape->stride);
      return TRUE;
    }
  if (!adj_shape_pointwise (&result, symbols, operands, 1, NULL))
    return FALSE;
  memcpy (shape->stride, result.stride, sizeof shape->stride);
  return TRUE;
}

/* -- Questions ----------------------------------------------------------------------------- */

AdjSize
adj_shape_numel (const AdjShape *shape, AdjSymbols *symbols)
{
  AdjSize numel = ADJ_SIZE (1);

  /* A zero anywhere wins over an overflow elsewhere. */
  for (guint i = 0; i < shape->rank; i++)
    if (adj_size_same (shape->size[i], ADJ_SIZE (0)))
      return ADJ_SIZE (0);
  for (guint i = 0; i < shape->rank; i++)
    numel = adj_size_mul (symbols, numel, shape->size[i]);
  return numel;
}

gboolean
adj_shape_is_empty (const AdjShape *shape, AdjSymbols *symbols)
{
  for (guint i = 0; i < shape->rank; i++)
    if (adj_size_is (symbols, shape->size[i], 0))
      return TRUE;
  return FALSE;
}

AdjSize
adj_shape_span (const AdjShape *shape, AdjSymbols *symbols)
{
  AdjSize span = ADJ_SIZE (1);

  if (adj_shape_is_empty (shape, symbols))
    return ADJ_SIZE (0);
  for (guint i = 0; i < shape->rank; i++)
    {
      AdjSize last = adj_size_sub (symbols, shape->size[i], ADJ_SIZE (1));

      span = adj_size_add (symbols, span, adj_size_mul (symbols, last, shape->stride[i]));
    }
  return span;
}

gboolean
adj_shape_same_sizes (const AdjShape *a, const AdjShape *b, AdjSymbols *symbols)
{
  if (a->rank != b->rank)
    return FALSE;
  for (guint i = 0; i < a->rank; i++)
    if (!equal (symbols, a->size[i], b->size[i]))
      return FALSE;
  return TRUE;
}

static gboolean
is_dense_in_order (const AdjShape *shape, AdjSymbols *symbols, const guint8 *order)
{
  AdjSize expected = ADJ_SIZE (1);

  for (guint i = 0; i < shape->rank; i++)
    {
      guint d = order != NULL ? order[i] : shape->rank - 1 - i;

      if (adj_size_is (symbols, shape->size[d], 1))
        continue;
      if (!equal (symbols, shape->stride[d], expected))
        return FALSE;
      expected = adj_size_mul (symbols, expected, shape->size[d]);
    }
  return TRUE;
}

gboolean
adj_shape_is_contiguous (const AdjShape *shape, AdjSymbols *symbols)
{
  return adj_shape_is_empty (shape, symbols) || is_dense_in_order (shape, symbols, NULL);
}

gboolean
adj_shape_is_channels_last (const AdjShape *shape, AdjSymbols *symbols)
{
  const guint8 *order = channels_last_order (shape->rank);

  return order != NULL && is_dense_in_order (shape, symbols, order);
}

/* Whether dimension @a lies inside @b: by stride, sizes below 2 outermost. */
static gboolean
is_inside (const AdjShape *shape, AdjSymbols *symbols, guint a, guint b)
{
  if (less (symbols, shape->size[a], ADJ_SIZE (2)))
    return FALSE;
  if (less (symbols, shape->size[b], ADJ_SIZE (2)))
    return TRUE;
  return less (symbols, shape->stride[a], shape->stride[b]);
}

gboolean
adj_shape_is_dense (const AdjShape *shape, AdjSymbols *symbols)
{
  guint8 order[ADJ_MAX_RANK];

  if (adj_shape_is_contiguous (shape, symbols) || adj_shape_is_channels_last (shape, symbols))
    return TRUE;

  for (guint i = 0; i < shape->rank; i++)
    {
      guint at = i;

      while (at > 0 && is_inside (shape, symbols, i, order[at - 1]))
        {
          order[at] = order[at - 1];
          at--;
        }
      order[at] = (guint8) i;
    }
  return is_dense_in_order (shape, symbols, order);
}

/* PyTorch's "strides like channels last": descending from N to C, and not ambiguous.  Its tracing
 * skips dimensions of stride 1 here, where its eager kernels skip those of size 1. */
static gboolean
looks_channels_last (const AdjShape *shape, AdjSymbols *symbols)
{
  const guint8 *order = channels_last_order (shape->rank);
  AdjSize least = ADJ_SIZE (0);

  if (order == NULL || adj_size_is (symbols, shape->stride[1], 0))
    return FALSE;

  for (guint i = 0; i < shape->rank; i++)
    {
      guint d = order[i];

      if (adj_size_is (symbols, shape->size[d], 0) || less (symbols, shape->stride[d], least))
        return FALSE;
      if (d == 0 && equal (symbols, least, shape->stride[1]))
        return FALSE;
      least = shape->stride[d];
      if (!less (symbols, shape->stride[d], ADJ_SIZE (2)))
        least = adj_size_mul (symbols, least, shape->size[d]);
    }
  return TRUE;
}

AdjMemoryFormat
adj_shape_suggest_format (const AdjShape *shape, AdjSymbols *symbols)
{
  if (!looks_channels_last (shape, symbols))
    return ADJ_MEMORY_FORMAT_CONTIGUOUS;
  return shape->rank == 4 ? ADJ_MEMORY_FORMAT_CHANNELS_LAST : ADJ_MEMORY_FORMAT_CHANNELS_LAST_3D;
}

gint
adj_shape_wrap_dim (const AdjShape *shape, gint64 dim)
{
  gint64 rank = MAX (shape->rank, 1);

  if (dim < -rank || dim >= rank)
    return -1;
  return (gint) (dim < 0 ? dim + rank : dim);
}

/* -- Pointwise operators ------------------------------------------------------------------- */

static gboolean
fail_broadcast (const AdjShape *a, const AdjShape *b, AdjSymbols *symbols, GError **error)
{
  g_autoptr (GString) text = g_string_new ("shapes ");

  adj_shape_print_list (symbols, a->size, a->rank, text);
  g_string_append (text, " and ");
  adj_shape_print_list (symbols, b->size, b->rank, text);
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE, "%s cannot be broadcast together", text->str);
  return FALSE;
}

/* @out becomes the broadcast of itself and @b; strides are not looked at. */
static gboolean
broadcast (AdjShape *out, const AdjShape *b, AdjSymbols *symbols, GError **error)
{
  AdjShape a = *out;
  guint rank = MAX (a.rank, b->rank);

  out->rank = rank;
  for (guint i = 0; i < rank; i++)
    {
      guint from_end = rank - i;
      AdjSize x = from_end <= a.rank ? a.size[a.rank - from_end] : ADJ_SIZE (1);
      AdjSize y = from_end <= b->rank ? b->size[b->rank - from_end] : ADJ_SIZE (1);

      if (from_end > b->rank || adj_size_same (x, y))
        out->size[i] = x;
      else if (from_end > a.rank || adj_size_is (symbols, x, 1))
        out->size[i] = y;
      else if (adj_size_is (symbols, y, 1))
        out->size[i] = x;
      else if (equal (symbols, x, y))
        out->size[i] = adj_size_is_int (y) ? y : x;
      else
        return fail_broadcast (&a, b, symbols, error);
    }
  return TRUE;
}

/* The operands of an operation as PyTorch's TensorIterator sees them. */
typedef struct
{
  AdjSymbols *symbols;
  const AdjShape *shape;
  const AdjShape *strides; /* of each operand, spread over shape */
  guint n;
} Iterator;

/* Below 0: dimension @a lies inside @b; above: outside; 0: no operand can tell. */
static gint
compare_dims (const Iterator *it, guint a, guint b)
{
  for (guint i = 0; i < it->n; i++)
    {
      AdjSize sa = it->strides[i].stride[a];
      AdjSize sb = it->strides[i].stride[b];

      if (adj_size_is (it->symbols, sa, 0) || adj_size_is (it->symbols, sb, 0))
        continue;
      if (less (it->symbols, sa, sb))
        return -1;
      if (!equal (it->symbols, sa, sb))
        return 1;
      if (less (it->symbols, it->shape->size[b], it->shape->size[a]))
        return 1;
    }
  return 0;
}

static void
sort_dims (const Iterator *it, guint8 *order)
{
  guint rank = it->shape->rank;

  for (guint i = 0; i < rank; i++)
    order[i] = (guint8) (rank - 1 - i);

  for (guint i = 1; i < rank; i++)
    for (guint outer = i, inner = i; inner-- > 0;)
      {
        gint order_of_dims = compare_dims (it, order[inner], order[outer]);

        if (order_of_dims < 0)
          break;
        if (order_of_dims > 0)
          {
            guint8 dim = order[inner];

            order[inner] = order[outer];
            order[outer] = dim;
            outer = inner;
          }
      }
}

typedef gboolean (*ShapeTest) (const AdjShape *shape, AdjSymbols *symbols);

static gboolean
all_are (ShapeTest test, const AdjShape *operands, guint n, AdjSymbols *symbols)
{
  for (guint i = 0; i < n; i++)
    if (!test (&operands[i], symbols))
      return FALSE;
  return TRUE;
}

/* All @operands have the sizes of @out.  If all are both contiguous and channels_last (as with one
 * channel), dimensions are sorted by stride, as in the graphs that PyTorch traces; its eager
 * kernels would give contiguous strides. */
static void
set_pointwise_strides (AdjShape *out, AdjSymbols *symbols, const AdjShape *operands, guint n)
{
  gboolean contiguous = all_are (adj_shape_is_contiguous, operands, n, symbols);
  gboolean channels_last =
      out->rank == 4 && all_are (adj_shape_is_channels_last, operands, n, symbols);
  Iterator it = { symbols, out, operands, n };
  guint8 order[ADJ_MAX_RANK];
  gboolean natural = TRUE;

  if (contiguous && !channels_last)
    set_contiguous (out, symbols);
  else if (channels_last && !contiguous)
    set_ordered (out, symbols, channels_last_2d, 1);
  else
    {
      sort_dims (&it, order);
      for (guint i = 0; i < out->rank; i++)
        natural &= order[i] == out->rank - 1 - i;
      if (natural)
        set_contiguous (out, symbols);
      else
        set_ordered (out, symbols, order, 1);
    }
}

gboolean
adj_shape_pointwise (
    AdjShape *out, AdjSymbols *symbols, const AdjShape *const *operands, guint n, GError **error)
{
  g_autofree AdjShape *spread = g_new (AdjShape, n);
  AdjShape result = { 0 };

  for (guint i = 0; i < n; i++)
    if (!broadcast (&result, operands[i], symbols, error))
      return FALSE;
  for (guint i = 0; i < n; i++)
    adj_shape_expand (operands[i], symbols, &result, &spread[i]);
  set_pointwise_strides (&result, symbols, spread, n);
  *out = result;
  return TRUE;
}

gboolean
adj_shape_expand (const AdjShape *shape, AdjSymbols *symbols, const AdjShape *to, AdjShape *out)
{
  AdjShape result = { .rank = to->rank, .offset = shape->offset };
  AdjSize all =
      shape->rank == 0 ? ADJ_SIZE (1) : adj_size_mul (symbols, shape->size[0], shape->stride[0]);

  if (shape->rank > to->rank)
    return FALSE;
  for (guint i = 0; i < to->rank; i++)
    {
      guint from_end = to->rank - i;
      guint d = shape->rank - from_end;

      result.size[i] = to->size[i];
      if (from_end > shape->rank)
        {
          if (adj_size_is (symbols, to->size[i], 1))
            result.stride[i] = all;
          continue;
        }
      if (equal (symbols, shape->size[d], to->size[i]))
        result.stride[i] = shape->stride[d];
      else if (!adj_size_is (symbols, shape->size[d], 1))
        return FALSE;
    }
  *out = result;
  return TRUE;
}

/* Tests whether a stride is not larger than the span of the dimensions below it. */
gboolean
adj_shape_may_overlap (const AdjShape *shape, AdjSymbols *symbols)
{
  guint32 left = (1u << shape->rank) - 1;
  AdjSize reach = ADJ_SIZE (1);
  AdjSize steps;

  for (guint i = 0; i < shape->rank; i++)
    if (adj_size_is_int (shape->size[i]) && shape->size[i].word == 0)
      return FALSE;
  while (left != 0)
    {
      gint smallest = -1;

      for (guint i = 0; i < shape->rank; i++)
        if ((left & (1u << i)) != 0 &&
            (smallest < 0 ||
             adj_size_test (symbols, ADJ_SIZE_LT, shape->stride[i], shape->stride[smallest])))
          smallest = (gint) i;
      left &= ~(1u << smallest);
      if (adj_size_is (symbols, shape->size[smallest], 1))
        continue;
      if (adj_size_test (symbols, ADJ_SIZE_LT, shape->stride[smallest], reach))
        return TRUE;
      steps = adj_size_sub (symbols, shape->size[smallest], ADJ_SIZE (1));
      steps = adj_size_mul (symbols, steps, shape->stride[smallest]);
      reach = adj_size_add (symbols, reach, steps);
    }
  return FALSE;
}

/* Among the dimensions whose stride is not known: that of the smallest stride, the last one of
 * equals; the rank when there is none. */
static guint
find_unknown (const AdjShape *shape, const gboolean *known)
{
  guint found = shape->rank;

  for (guint i = 0; i < shape->rank; i++)
    if (!known[i] && (found == shape->rank || shape->stride[i].word <= shape->stride[found].word))
      found = i;
  return found;
}

void
adj_shape_restride (AdjShape *shape,
                    const AdjShape *was,
                    AdjSymbols *symbols,
                    AdjSize (*other) (AdjSize stride, gpointer data),
                    gpointer data)
{
  gboolean known[ADJ_MAX_RANK] = { FALSE };
  guint i;

  for (i = 0; i < was->rank; i++)
    known[i] = !adj_size_is_int (was->stride[i]) || was->stride[i].word <= 1;
  while ((i = find_unknown (was, known)) < was->rank)
    {
      guint k = 0;

      while (k < was->rank &&
             !(known[k] && adj_size_same (adj_size_mul (symbols, was->size[k], was->stride[k]),
                                          was->stride[i])))
        k++;
      if (k < was->rank)
        shape->stride[i] = adj_size_mul (symbols, shape->size[k], shape->stride[k]);
      else if (other != NULL)
        shape->stride[i] = other (was->stride[i], data);
      known[i] = TRUE;
    }
}
