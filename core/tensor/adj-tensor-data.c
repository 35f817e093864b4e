/* SPDX-License-Identifier: MIT */
/* AdjTensorData: immutable elements with a shape; reading, copying, making dense. */

#include "tensor/adj-tensor-data.h"

#include <string.h>

#include "tensor/adj-element.h"
#include "tensor/adj-late-bytes-private.h"
#include "tensor/adj-shape-internal.h"

/* Strides of 0 let a file of a few bytes describe a tensor of any size; bounds its dense form. */
#define MAX_DENSE_BYTES (G_GUINT64_CONSTANT (1) << 38)

struct _AdjTensorData
{
  gatomicrefcount ref_count;
  AdjTensorMeta meta;
  GBytes *bytes;      /* (owned) (nullable) */
  AdjLateBytes *late; /* (owned) (nullable): instead of @bytes */
  gint64 numel;
};

/* -- Making -------------------------------------------------------------------------------- */

static gboolean
fail (const AdjTensorMeta *meta, const char *reason, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);

  adj_shape_print_list (NULL, meta->shape.size, meta->shape.rank, text);
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE, "a tensor %s%s: %s",
               meta->dtype < ADJ_N_DTYPES ? adj_dtype_info (meta->dtype)->code : "", text->str,
               reason);
  return FALSE;
}

static gboolean
is_size (AdjSize size)
{
  return adj_size_is_int (size) && size.word >= 0;
}

static gboolean
check_numbers (const AdjTensorMeta *meta, GError **error)
{
  const AdjShape *shape = &meta->shape;

  if (meta->dtype >= ADJ_N_DTYPES || adj_dtype_info (meta->dtype)->n_bytes == 0 ||
      shape->rank > ADJ_MAX_RANK)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE, "a tensor has no elements of whole bytes");
      return FALSE;
    }
  for (guint i = 0; i < shape->rank; i++)
    if (!adj_size_is_int (shape->size[i]))
      {
        g_set_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE, "a tensor with bytes has a symbolic size");
        return FALSE;
      }
  for (guint i = 0; i < shape->rank; i++)
    if (!is_size (shape->size[i]) || !is_size (shape->stride[i]))
      return fail (meta, "a size or stride is negative", error);
  if (!is_size (shape->offset))
    return fail (meta, "the offset is negative", error);
  return TRUE;
}

static gboolean
check_bounds (const AdjTensorMeta *meta, gsize n_bytes, gint64 *numel, GError **error)
{
  const AdjShape *shape = &meta->shape;
  gint64 n_element = adj_dtype_info (meta->dtype)->n_bytes;
  gint64 last = shape->offset.word;
  gint64 needed;
  gboolean overflow = FALSE;

  *numel = 1;
  for (guint i = 0; i < shape->rank; i++)
    if (shape->size[i].word == 0)
      {
        *numel = 0;
        return TRUE;
      }

  for (guint i = 0; i < shape->rank; i++)
    {
      gint64 reach;

      overflow |= __builtin_mul_overflow (*numel, shape->size[i].word, numel);
      overflow |= __builtin_mul_overflow (shape->size[i].word - 1, shape->stride[i].word, &reach);
      overflow |= __builtin_add_overflow (last, reach, &last);
    }
  overflow |= __builtin_add_overflow (last, 1, &last);
  overflow |= __builtin_mul_overflow (last, n_element, &needed);
  if (overflow || (guint64) needed > n_bytes)
    return fail (meta, "it reaches outside its bytes", error);

  if (__builtin_mul_overflow (*numel, n_element, &needed) ||
      ((guint64) needed > MAX_DENSE_BYTES && (guint64) needed > n_bytes))
    {
      fail (meta, "it repeats its bytes too often", error);
      if (error != NULL)
        (*error)->code = ADJ_ERROR_LIMIT;
      return FALSE;
    }
  return TRUE;
}

/* Checks @meta against @n_bytes; the bytes are not set yet. */
static AdjTensorData *
new_data (const AdjTensorMeta *meta, gsize n_bytes, GError **error)
{
  AdjTensorData *data;
  gint64 numel;

  if (!check_numbers (meta, error) || !check_bounds (meta, n_bytes, &numel, error))
    return NULL;

  data = g_new0 (AdjTensorData, 1);
  g_atomic_ref_count_init (&data->ref_count);
  data->meta = *meta;
  data->meta.has_strides = TRUE;
  data->numel = numel;
  return data;
}

AdjTensorData *
adj_tensor_data_new (const AdjTensorMeta *meta, GBytes *bytes, GError **error)
{
  AdjTensorData *data;

  g_return_val_if_fail (meta != NULL && bytes != NULL, NULL);

  data = new_data (meta, g_bytes_get_size (bytes), error);
  if (data != NULL)
    data->bytes = g_bytes_ref (bytes);
  return data;
}

AdjTensorData *
adj_tensor_data_new_late (const AdjTensorMeta *meta, AdjLateBytes *late, GError **error)
{
  AdjTensorData *data = new_data (meta, adj_late_bytes_get_size (late), error);

  if (data != NULL)
    data->late = adj_late_bytes_ref (late);
  return data;
}

AdjTensorData *
adj_tensor_data_new_view (const AdjTensorMeta *meta, const AdjTensorData *of, GError **error)
{
  return of->late != NULL ? adj_tensor_data_new_late (meta, of->late, error)
                          : adj_tensor_data_new (meta, of->bytes, error);
}

AdjTensorData *
adj_tensor_data_new_from_array (
    AdjDType dtype, const gint64 *sizes, guint rank, gconstpointer elements, GError **error)
{
  AdjTensorMeta meta = { .dtype = dtype, .device = ADJ_CPU, .has_strides = TRUE, .storage = -1 };
  g_autoptr (GBytes) bytes = NULL;
  gsize n_bytes = 1;

  g_return_val_if_fail (rank == 0 || sizes != NULL, NULL);

  if (rank <= ADJ_MAX_RANK)
    adj_shape_init_ints (&meta.shape, rank, sizes);
  else
    meta.shape.rank = rank;
  if (!check_numbers (&meta, error))
    return NULL;
  for (guint i = 0; i < rank; i++)
    if (!g_size_checked_mul (&n_bytes, n_bytes, (gsize) sizes[i]))
      n_bytes = 0;
  if (!g_size_checked_mul (&n_bytes, n_bytes, adj_dtype_info (dtype)->n_bytes))
    n_bytes = 0;
  g_return_val_if_fail (n_bytes == 0 || elements != NULL, NULL);

  bytes = g_bytes_new (elements, n_bytes);
  return adj_tensor_data_new (&meta, bytes, error);
}

AdjTensorData *
adj_tensor_data_ref (AdjTensorData *data)
{
  g_return_val_if_fail (data != NULL, NULL);

  g_atomic_ref_count_inc (&data->ref_count);
  return data;
}

void
adj_tensor_data_unref (AdjTensorData *data)
{
  if (data == NULL || !g_atomic_ref_count_dec (&data->ref_count))
    return;

  g_clear_pointer (&data->bytes, g_bytes_unref);
  g_clear_pointer (&data->late, adj_late_bytes_unref);
  g_free (data);
}

const AdjTensorMeta *
adj_tensor_data_get_meta (const AdjTensorData *data)
{
  g_return_val_if_fail (data != NULL, NULL);

  return &data->meta;
}

GBytes *
adj_tensor_data_get_bytes (const AdjTensorData *data)
{
  g_return_val_if_fail (data != NULL, NULL);

  return data->late != NULL ? late_bytes_get (data->late, NULL) : data->bytes;
}

GBytes *
adj_tensor_data_read_bytes (const AdjTensorData *data, GError **error)
{
  return data->late != NULL ? adj_late_bytes_read (data->late, error) : g_bytes_ref (data->bytes);
}

gpointer
adj_tensor_data_get_storage (const AdjTensorData *data)
{
  return data->late != NULL ? (gpointer) data->late : (gpointer) data->bytes;
}

gsize
adj_tensor_data_get_n_bytes (const AdjTensorData *data)
{
  return data->late != NULL ? adj_late_bytes_get_size (data->late) : g_bytes_get_size (data->bytes);
}

AdjLateBytes *
adj_tensor_data_get_late (const AdjTensorData *data)
{
  return data->late;
}

gboolean
adj_tensor_data_fetch (const AdjTensorData *data, GError **error)
{
  GError *reason = NULL;

  if (data->late != NULL)
    late_bytes_get (data->late, &reason);
  if (reason != NULL)
    g_propagate_error (error, reason);
  return reason == NULL;
}

gboolean
adj_tensor_data_check_read (const AdjTensorData *data, GError **error)
{
  return data->late == NULL || late_bytes_check (data->late, error);
}

gint64
adj_tensor_data_get_numel (const AdjTensorData *data)
{
  g_return_val_if_fail (data != NULL, 0);

  return data->numel;
}

/* -- Reading ------------------------------------------------------------------------------- */

/* Visits the elements in row-major order. */
typedef struct
{
  const AdjShape *shape;
  gint64 index[ADJ_MAX_RANK];
  gint64 offset;
} Walk;

static void
walk_init (Walk *walk, const AdjShape *shape)
{
  *walk = (Walk){ .shape = shape, .offset = shape->offset.word };
}

static void
walk_next (Walk *walk)
{
  const AdjShape *shape = walk->shape;

  for (guint d = shape->rank; d-- > 0;)
    {
      walk->offset += shape->stride[d].word;
      if (++walk->index[d] < shape->size[d].word)
        return;
      walk->offset -= shape->size[d].word * shape->stride[d].word;
      walk->index[d] = 0;
    }
}

/* @bytes: those of @data */
static const guint8 *
address (const AdjTensorData *data, GBytes *bytes, gint64 offset)
{
  const guint8 *start = g_bytes_get_data (bytes, NULL);

  return start + (gsize) offset * adj_dtype_info (data->meta.dtype)->n_bytes;
}

double
adj_tensor_data_get_double (const AdjTensorData *data, gint64 index)
{
  const AdjShape *shape;
  gint64 offset;

  g_return_val_if_fail (data != NULL && index >= 0 && index < data->numel, 0.0);

  shape = &data->meta.shape;
  offset = shape->offset.word;
  for (guint d = shape->rank; d-- > 0;)
    {
      offset += index % shape->size[d].word * shape->stride[d].word;
      index /= shape->size[d].word;
    }
  return adj_element_load (data->meta.dtype,
                           address (data, adj_tensor_data_get_bytes (data), offset))
      .real;
}

void
adj_tensor_data_read_doubles (const AdjTensorData *data, double *out)
{
  g_autoptr (GBytes) bytes = NULL;
  Walk walk;

  g_return_if_fail (data != NULL);

  bytes = adj_tensor_data_read_bytes (data, NULL);
  walk_init (&walk, &data->meta.shape);
  for (gint64 i = 0; i < data->numel; i++, walk_next (&walk))
    out[i] = adj_element_load (data->meta.dtype, address (data, bytes, walk.offset)).real;
}

void
adj_tensor_data_read_parts (const AdjTensorData *data, double *out)
{
  g_autoptr (GBytes) bytes = NULL;
  gboolean complex;
  Walk walk;

  g_return_if_fail (data != NULL);

  bytes = adj_tensor_data_read_bytes (data, NULL);
  complex = adj_dtype_info (data->meta.dtype)->category == ADJ_CATEGORY_COMPLEX;
  walk_init (&walk, &data->meta.shape);
  for (gint64 i = 0; i < data->numel; i++, walk_next (&walk))
    {
      AdjElement element = adj_element_load (data->meta.dtype, address (data, bytes, walk.offset));

      *out++ = element.real;
      if (complex)
        *out++ = element.imaginary;
    }
}

/* -- Copying ------------------------------------------------------------------------------- */

/* @data's sizes, dense; takes @bytes. */
static AdjTensorData *
new_dense (const AdjTensorData *data, AdjDType dtype, guint8 *bytes, gsize n_bytes)
{
  g_autoptr (GBytes) owned = g_bytes_new_take (bytes, n_bytes);
  AdjTensorMeta meta = data->meta;

  meta.dtype = dtype;
  meta.storage = -1;
  adj_shape_init (&meta.shape, NULL, data->meta.shape.rank, data->meta.shape.size);
  return adj_tensor_data_new (&meta, owned, NULL);
}

AdjTensorData *
adj_tensor_data_contiguous (AdjTensorData *data)
{
  g_autoptr (GBytes) own = NULL;
  gsize n_element;
  guint8 *bytes;
  Walk walk;

  g_return_val_if_fail (data != NULL, NULL);

  n_element = adj_dtype_info (data->meta.dtype)->n_bytes;
  if (data->meta.shape.offset.word == 0 && adj_shape_is_contiguous (&data->meta.shape, NULL) &&
      adj_tensor_data_get_n_bytes (data) == (gsize) data->numel * n_element)
    return adj_tensor_data_ref (data);

  own = adj_tensor_data_read_bytes (data, NULL);
  bytes = g_malloc_n ((gsize) data->numel, n_element);
  if (data->numel > 0 && adj_shape_is_contiguous (&data->meta.shape, NULL))
    memcpy (bytes, address (data, own, data->meta.shape.offset.word),
            (gsize) data->numel * n_element);
  else
    {
      walk_init (&walk, &data->meta.shape);
      for (gint64 i = 0; i < data->numel; i++, walk_next (&walk))
        memcpy (bytes + (gsize) i * n_element, address (data, own, walk.offset), n_element);
    }
  return new_dense (data, data->meta.dtype, bytes, (gsize) data->numel * n_element);
}

/* Whether @shape has the sizes of @data, other strides, and is dense. */
static gboolean
is_other_layout (const AdjTensorData *data, const AdjShape *shape)
{
  const AdjShape *own = &data->meta.shape;
  gboolean other = FALSE;
  gint64 reach = 1;

  if (shape->rank != own->rank || data->numel == 0)
    return FALSE;
  for (guint d = 0; d < shape->rank; d++)
    {
      if (!adj_size_is_int (shape->size[d]) || !adj_size_is_int (shape->stride[d]) ||
          shape->size[d].word != own->size[d].word || shape->stride[d].word < 0 ||
          shape->stride[d].word > data->numel)
        return FALSE;
      other = other || (own->size[d].word > 1 && shape->stride[d].word != own->stride[d].word);
      reach += (shape->size[d].word - 1) * shape->stride[d].word;
      if (reach > data->numel)
        return FALSE;
    }
  return other && reach == data->numel && !adj_shape_may_overlap (shape, NULL);
}

AdjTensorData *
adj_tensor_data_lay_out (AdjTensorData *data, const AdjShape *shape)
{
  AdjTensorMeta meta;
  g_autoptr (GBytes) own = NULL;
  g_autoptr (GBytes) owned = NULL;
  gsize n_element, n_bytes;
  guint8 *bytes;
  Walk from, to;

  g_return_val_if_fail (data != NULL && shape != NULL, NULL);

  if (!is_other_layout (data, shape))
    return adj_tensor_data_ref (data);
  meta = data->meta;
  meta.shape = *shape;
  meta.shape.offset = ADJ_SIZE (0);
  meta.storage = -1;
  n_element = adj_dtype_info (meta.dtype)->n_bytes;
  n_bytes = (gsize) data->numel * n_element;
  bytes = g_malloc (n_bytes);
  own = adj_tensor_data_read_bytes (data, NULL);
  walk_init (&from, &data->meta.shape);
  walk_init (&to, &meta.shape);
  for (gint64 i = 0; i < data->numel; i++, walk_next (&from), walk_next (&to))
    memcpy (bytes + (gsize) to.offset * n_element, address (data, own, from.offset), n_element);
  owned = g_bytes_new_take (bytes, n_bytes);
  return adj_tensor_data_new (&meta, owned, NULL);
}

AdjTensorData *
adj_tensor_data_cast (AdjTensorData *data, AdjDType dtype)
{
  g_autoptr (GBytes) own = NULL;
  gsize n_element;
  guint8 *bytes;
  Walk walk;

  g_return_val_if_fail (data != NULL && dtype < ADJ_N_DTYPES, NULL);
  g_return_val_if_fail (adj_dtype_info (dtype)->n_bytes > 0, NULL);

  if (dtype == data->meta.dtype)
    return adj_tensor_data_contiguous (data);

  n_element = adj_dtype_info (dtype)->n_bytes;
  bytes = g_malloc_n ((gsize) data->numel, n_element);
  own = adj_tensor_data_read_bytes (data, NULL);
  walk_init (&walk, &data->meta.shape);
  for (gint64 i = 0; i < data->numel; i++, walk_next (&walk))
    adj_element_store (dtype, bytes + (gsize) i * n_element,
                       adj_element_load (data->meta.dtype, address (data, own, walk.offset)));
  return new_dense (data, dtype, bytes, (gsize) data->numel * n_element);
}

/* (transfer full) */
static GBytes *
cast_bytes (GBytes *bytes, AdjDType from, AdjDType to)
{
  gsize n_from = adj_dtype_info (from)->n_bytes, n_to = adj_dtype_info (to)->n_bytes, size;
  const guint8 *source = g_bytes_get_data (bytes, &size);
  guint8 *cast = g_malloc_n (size / n_from, n_to);

  for (gsize i = 0; i < size / n_from; i++)
    adj_element_store (to, cast + i * n_to, adj_element_load (from, source + i * n_from));
  return g_bytes_new_take (cast, size / n_from * n_to);
}

typedef struct
{
  AdjLateBytes *late; /* (owned) */
  AdjDType from, to;
} LateCast;

static GBytes *
read_cast (gpointer data, GError **error)
{
  const LateCast *cast = data;
  g_autoptr (GError) reason = NULL;
  g_autoptr (GBytes) bytes = adj_late_bytes_read (cast->late, &reason);

  if (reason == NULL)
    return cast_bytes (bytes, cast->from, cast->to);
  g_propagate_error (error, g_steal_pointer (&reason));
  return NULL;
}

static void
free_cast (gpointer data)
{
  adj_late_bytes_unref (((LateCast *) data)->late);
  g_free (data);
}

AdjTensorData *
adj_tensor_data_cast_storage (AdjTensorData *data, AdjDType dtype)
{
  AdjTensorMeta meta;
  gsize from, to;

  g_return_val_if_fail (data != NULL && dtype < ADJ_N_DTYPES, NULL);

  meta = data->meta;
  from = adj_dtype_info (meta.dtype)->n_bytes;
  to = adj_dtype_info (dtype)->n_bytes;
  g_return_val_if_fail (from > 0 && to > 0, NULL);

  if (dtype == meta.dtype)
    return adj_tensor_data_ref (data);
  meta.dtype = dtype;
  meta.storage = -1;
  if (data->late != NULL)
    {
      LateCast *cast = g_new (LateCast, 1);
      g_autoptr (AdjLateBytes) late = NULL;

      *cast = (LateCast){ adj_late_bytes_ref (data->late), data->meta.dtype, dtype };
      late = adj_late_bytes_new (adj_late_bytes_get_size (data->late) / from * to, read_cast, cast,
                                 free_cast);
      return adj_tensor_data_new_late (&meta, late, NULL);
    }
  else
    {
      g_autoptr (GBytes) cast = cast_bytes (data->bytes, data->meta.dtype, dtype);

      return adj_tensor_data_new (&meta, cast, NULL);
    }
}
