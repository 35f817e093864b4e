/* SPDX-License-Identifier: MIT */
/* Arrays of numpy in pickles: their elements are bytes in the pickle. */

#include <string.h>

#include "formats/numpy-array-private.h"
#include "tensor/adj-tensor-data.h"

static const struct
{
  const char *code;
  AdjDType dtype;
} element_types[] = {
  { "b1", ADJ_DTYPE_BOOL }, { "i1", ADJ_DTYPE_I8 },    { "i2", ADJ_DTYPE_I16 },
  { "i4", ADJ_DTYPE_I32 },  { "i8", ADJ_DTYPE_I64 },   { "u1", ADJ_DTYPE_U8 },
  { "u2", ADJ_DTYPE_U16 },  { "u4", ADJ_DTYPE_U32 },   { "u8", ADJ_DTYPE_U64 },
  { "f2", ADJ_DTYPE_F16 },  { "f4", ADJ_DTYPE_F32 },   { "f8", ADJ_DTYPE_F64 },
  { "c8", ADJ_DTYPE_C64 },  { "c16", ADJ_DTYPE_C128 },
};

static gboolean
is_letter (const PickleItem *item, const char *letters)
{
  return (item->kind == PICKLE_TEXT || item->kind == PICKLE_BYTES) && item->n == 1 &&
         strchr (letters, item->text[0]) != NULL && item->text[0] != '\0';
}

/* numpy.dtype ('f4', False, True) with the state (3, '<', …); NONE: tensors have no such elements,
 * or their bytes are not in little-endian order. */
static AdjDType
read_dtype (const PickleItem *item)
{
  const PickleItem *code =
      item != NULL && pickle_calls (item, "numpy.dtype") ? pickle_argument (item, 0) : NULL;
  const PickleItem *state = code != NULL ? item->state : NULL;

  if (code == NULL || code->kind != PICKLE_TEXT || state == NULL || state->kind != PICKLE_TUPLE ||
      state->n < 2 || !is_letter (state->items[1], "<|"))
    return ADJ_DTYPE_NONE;
  for (guint i = 0; i < G_N_ELEMENTS (element_types); i++)
    if (strcmp (code->text, element_types[i].code) == 0)
      return element_types[i].dtype;
  return ADJ_DTYPE_NONE;
}

static gboolean
read_sizes (const PickleItem *item, AdjShape *out)
{
  if (item == NULL || item->kind != PICKLE_TUPLE || item->n > ADJ_MAX_RANK)
    return FALSE;
  for (guint i = 0; i < item->n; i++)
    {
      if (item->items[i]->kind != PICKLE_INT || item->items[i]->integer < 0)
        return FALSE;
      out->size[i] = ADJ_SIZE (item->items[i]->integer);
    }
  out->rank = item->n;
  return TRUE;
}

typedef enum
{
  ORDER_C,       /* the last dimension is the innermost */
  ORDER_FORTRAN, /* the first is */
} Order;

/* %FALSE: too large. */
static gboolean
set_strides (AdjShape *shape, Order order)
{
  gint64 stride = 1;

  for (guint i = 0; i < shape->rank; i++)
    {
      guint dim = order == ORDER_FORTRAN ? i : shape->rank - 1 - i;
      gint64 size = MAX (shape->size[dim].word, 1);

      shape->stride[dim] = ADJ_SIZE (stride);
      if (stride > G_MAXINT64 / size)
        return FALSE;
      stride *= size;
    }
  return TRUE;
}

/* Dimension i becomes dimension @axes[i] of before; %FALSE: they are no permutation. */
static gboolean
transpose (AdjShape *shape, const PickleItem *axes)
{
  const AdjShape before = *shape;
  guint64 seen = 0;

  if (axes->kind != PICKLE_TUPLE || axes->n != shape->rank)
    return FALSE;
  for (guint i = 0; i < axes->n; i++)
    {
      const PickleItem *axis = axes->items[i];

      if (axis->kind != PICKLE_INT || axis->integer < 0 || axis->integer >= before.rank ||
          (seen >> axis->integer & 1) != 0)
        return FALSE;
      seen |= G_GUINT64_CONSTANT (1) << axis->integer;
      shape->size[i] = before.size[axis->integer];
      shape->stride[i] = before.stride[axis->integer];
    }
  return TRUE;
}

typedef struct
{
  const PickleItem *bytes, *dtype, *sizes; /* (nullable) */
  const PickleItem *axes;                  /* (nullable): its dimensions as they lie in memory */
  Order order;
} Array;

static gboolean
make_array (
    SavedValues *values, const PickleItem *call, const Array *array, AdjValue *out, GError **error)
{
  AdjTensorMeta meta = { .storage = -1, .has_strides = TRUE, .device = ADJ_CPU };
  g_autoptr (GError) reason = NULL;
  AdjTensorData *data;
  GBytes *bytes;

  meta.dtype = read_dtype (array->dtype);
  if (meta.dtype == ADJ_DTYPE_NONE)
    return saved_values_name_call (call, out);
  if ((array->sizes != NULL && !read_sizes (array->sizes, &meta.shape)) ||
      !set_strides (&meta.shape, array->order))
    return saved_values_fail (values, error, "an array of numpy whose sizes are none");
  if (array->axes != NULL && !transpose (&meta.shape, array->axes))
    return saved_values_fail (values, error, "an array of numpy whose axes are none");
  bytes = array->bytes != NULL ? saved_values_get_bytes (values, array->bytes) : NULL;
  if (bytes == NULL)
    return saved_values_fail (values, error, "an array of numpy without elements");
  data = adj_tensor_data_new_late (&meta, saved_values_get_storage (values, call, bytes), &reason);
  if (data == NULL)
    return saved_values_fail (values, error, reason->message);
  *out = ADJ_DATA (data);
  return TRUE;
}

/* _reconstruct (numpy.ndarray, (0,), b'b') with the state (1, sizes, dtype, is in Fortran's order,
 * bytes). */
gboolean
numpy_array_read (SavedValues *values, const PickleItem *item, AdjValue *out, GError **error)
{
  const PickleItem *state = item->state;

  if (state == NULL || state->kind != PICKLE_TUPLE || state->n != 5)
    return saved_values_fail (values, error, "an array of numpy of which nothing is said");
  return make_array (
      values, item,
      &(Array){ .sizes = state->items[1],
                .dtype = state->items[2],
                .order = state->items[3]->kind == PICKLE_BOOL && state->items[3]->integer != 0
                             ? ORDER_FORTRAN
                             : ORDER_C,
                .bytes = state->items[4] },
      out, error);
}

/* _frombuffer (bytes, dtype, sizes, order), order being 'C' or 'F'; or 'K' with the axes of a
 * transpose that follows, None for none. */
gboolean
numpy_buffer_read (SavedValues *values, const PickleItem *item, AdjValue *out, GError **error)
{
  const PickleItem *order = pickle_argument (item, 3), *axes = pickle_argument (item, 4);
  gboolean is_kept = order != NULL && is_letter (order, "K");

  if (order == NULL || !is_letter (order, "CFK"))
    return saved_values_fail (values, error, "an array of numpy in an order that is not known");
  return make_array (
      values, item,
      &(Array){ .bytes = pickle_argument (item, 0),
                .dtype = pickle_argument (item, 1),
                .sizes = pickle_argument (item, 2),
                .axes = is_kept && axes != NULL && axes->kind != PICKLE_NONE ? axes : NULL,
                .order = is_letter (order, "F") ? ORDER_FORTRAN : ORDER_C },
      out, error);
}

/* scalar (dtype, bytes) */
gboolean
numpy_number_read (SavedValues *values, const PickleItem *item, AdjValue *out, GError **error)
{
  return make_array (
      values, item,
      &(Array){ .dtype = pickle_argument (item, 0), .bytes = pickle_argument (item, 1) }, out,
      error);
}
