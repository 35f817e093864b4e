/* SPDX-License-Identifier: MIT */
/* Arrays of numpy in pickles: their elements are bytes in the pickle. */

#include "formats/numpy-array-private.h"

#include <string.h>

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

/* numpy.dtype ('f4', False, True) with the state (3, '<', …); NONE: tensors have no such elements.
 */
static AdjDType
read_dtype (const PickleItem *item)
{
  const PickleItem *code = item != NULL ? pickle_argument (item, 0) : NULL;
  const PickleItem *state = code != NULL ? item->state : NULL;
  const PickleItem *order =
      state != NULL && state->kind == PICKLE_TUPLE && state->n > 1 ? state->items[1] : NULL;

  if (code == NULL || code->kind != PICKLE_TEXT || !pickle_calls (item, "numpy.dtype") ||
      (order != NULL && order->kind == PICKLE_TEXT && strcmp (order->text, ">") == 0))
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

/* The last dimension is the innermost, or the first one if @fortran; FALSE: too large. */
static gboolean
set_strides (AdjShape *shape, gboolean fortran)
{
  gint64 stride = 1;

  for (guint i = 0; i < shape->rank; i++)
    {
      guint dim = fortran ? i : shape->rank - 1 - i;
      gint64 size = MAX (shape->size[dim].word, 1);

      shape->stride[dim] = ADJ_SIZE (stride);
      if (stride > G_MAXINT64 / size)
        return FALSE;
      stride *= size;
    }
  return TRUE;
}

/* (transfer none) (nullable): one copy of @item for all arrays over it. */
static AdjLateBytes *
find_bytes (SavedValues *values, const PickleItem *item)
{
  HeldBytes *held = g_hash_table_lookup (values->held, item);
  g_autoptr (GBytes) bytes = NULL;

  if (held == NULL)
    {
      bytes = saved_values_dup_bytes (item);
      if (bytes == NULL)
        return NULL;
      held = g_new0 (HeldBytes, 1);
      *held = (HeldBytes){ adj_late_bytes_new_known (bytes), ADJ_DTYPE_NONE };
      g_hash_table_insert (values->held, (gpointer) item, held);
    }
  return held->bytes;
}

typedef struct
{
  const PickleItem *bytes, *dtype, *sizes; /* (nullable) */
  gboolean fortran;
} Array;

static gboolean
make_array (
    SavedValues *values, const PickleItem *call, const Array *array, AdjValue *out, GError **error)
{
  AdjTensorMeta meta = { .storage = -1, .has_strides = TRUE, .device = ADJ_CPU };
  g_autoptr (GError) reason = NULL;
  AdjLateBytes *bytes;
  AdjTensorData *data;

  meta.dtype = read_dtype (array->dtype);
  if (meta.dtype == ADJ_DTYPE_NONE)
    return saved_values_name_call (call, out);
  if ((array->sizes != NULL && !read_sizes (array->sizes, &meta.shape)) ||
      !set_strides (&meta.shape, array->fortran))
    return saved_values_fail (values, error, "an array whose sizes are none");
  bytes = array->bytes != NULL ? find_bytes (values, array->bytes) : NULL;
  if (bytes == NULL)
    return saved_values_fail (values, error, "an array without elements");
  data = adj_tensor_data_new_late (&meta, bytes, &reason);
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
    return saved_values_fail (values, error, "an array of which nothing is said");
  return make_array (
      values, item,
      &(Array){ .sizes = state->items[1],
                .dtype = state->items[2],
                .fortran = state->items[3]->kind == PICKLE_BOOL && state->items[3]->integer != 0,
                .bytes = state->items[4] },
      out, error);
}

/* _frombuffer (bytes, dtype, sizes, 'C' or 'F') */
gboolean
numpy_buffer_read (SavedValues *values, const PickleItem *item, AdjValue *out, GError **error)
{
  const PickleItem *order = pickle_argument (item, 3);

  return make_array (values, item,
                     &(Array){ .bytes = pickle_argument (item, 0),
                               .dtype = pickle_argument (item, 1),
                               .sizes = pickle_argument (item, 2),
                               .fortran = order != NULL && order->kind == PICKLE_TEXT &&
                                          strcmp (order->text, "F") == 0 },
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
