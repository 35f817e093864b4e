/* SPDX-License-Identifier: MIT */
/* Comparisons in a perturbed run: two numbers that are as near as roundings are may be equal or
 * not, and either may be the larger.  What a recomputed tensor is compared with was often computed
 * from its first computation, and equal bits are asked for. */

#include <math.h>

#include "exec/deviation-private.h"
#include "exec/perturbation-private.h"

/* How many times further than the elements of a tensor moved on average one of them may lie. */
#define FAR 8

/* One side of a comparison, spread over its result. */
typedef struct
{
  double *unmoved, *moved; /* (owned) (nullable): in row-major order */
  AdjShape shape;          /* strides over these */
  double number;
  double reach; /* how far from it an element that moves may be */
} Spread;

static void
spread_clear (Spread *spread)
{
  g_free (spread->unmoved);
  g_free (spread->moved);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Spread, spread_clear)

static gboolean
spread (const Compared *side, const AdjShape *over, Spread *out)
{
  gint64 n, n_moved;
  const AdjShape *shape;
  AdjShape dense;
  double squares = 0;

  out->number = side->number;
  if (side->unmoved == NULL)
    return TRUE;
  out->unmoved = deviation_read (side->unmoved, &n);
  out->moved = deviation_read (side->moved, &n_moved);
  if (n != n_moved || n != adj_tensor_data_get_numel (side->unmoved))
    return FALSE;
  for (gint64 i = 0; i < n; i++)
    if (isfinite (out->unmoved[i]) && isfinite (out->moved[i]))
      squares += (out->moved[i] - out->unmoved[i]) * (out->moved[i] - out->unmoved[i]);
  out->reach = FAR * sqrt (squares / (double) MAX (n, 1));
  shape = &adj_tensor_data_get_meta (side->unmoved)->shape;
  adj_shape_init (&dense, NULL, shape->rank, shape->size);
  return adj_shape_expand (&dense, NULL, over, &out->shape);
}

static gint64
find_place (const AdjShape *shape, const gint64 *index)
{
  gint64 place = 0;

  for (guint d = 0; d < shape->rank; d++)
    place += index[d] * shape->stride[d].word;
  return place;
}

/* @reach: of that element; 0 of what does not move */
static double
get_number (const Spread *side, const gint64 *index, double *reach)
{
  gint64 place;

  *reach = 0;
  if (side->unmoved == NULL)
    return side->number;
  place = find_place (&side->shape, index);
  if (side->moved[place] != side->unmoved[place])
    *reach = side->reach;
  return side->unmoved[place];
}

static void
step_index (const AdjShape *shape, gint64 *index)
{
  for (guint d = shape->rank; d-- > 0 && ++index[d] == shape->size[d].word;)
    index[d] = 0;
}

AdjTensorData *
perturbation_flip (const AdjTensorData *value, const Compared *a, const Compared *b)
{
  g_autoptr (AdjTensorData) dense = adj_tensor_data_contiguous ((AdjTensorData *) value);
  const AdjTensorMeta *meta = adj_tensor_data_get_meta (dense);
  g_auto (Spread) left = { 0 };
  g_auto (Spread) right = { 0 };
  gint64 index[ADJ_MAX_RANK] = { 0 };
  gsize size;
  const guint8 *bytes = g_bytes_get_data (adj_tensor_data_get_bytes (dense), &size);
  guint8 *answers;
  g_autoptr (GBytes) store = NULL;

  if (!spread (a, &meta->shape, &left) || !spread (b, &meta->shape, &right))
    return g_steal_pointer (&dense);
  answers = g_memdup2 (bytes, size);
  for (gsize i = 0; i < size; i++, step_index (&meta->shape, index))
    {
      double of_left, of_right;
      double distance = get_number (&left, index, &of_left) - get_number (&right, index, &of_right);

      if (of_left + of_right > 0 && fabs (distance) <= of_left + of_right)
        answers[i] = !answers[i];
    }
  store = g_bytes_new_take (answers, size);
  return adj_tensor_data_new (meta, store, NULL);
}
