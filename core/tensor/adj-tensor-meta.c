/* SPDX-License-Identifier: MIT */

/* Metadata as graph text annotates it: "f32[2, 3][3, 1]cuda:0" (tensor/SPEC.md §4). */

#include <string.h>

#include "tensor/adj-shape.h"

void
adj_shape_print_list (const AdjSymbols *symbols, const AdjSize *sizes, guint rank, GString *out)
{
  g_string_append_c (out, '[');
  for (guint i = 0; i < rank; i++)
    {
      if (i > 0)
        g_string_append (out, ", ");
      adj_size_print (symbols, sizes[i], out);
    }
  g_string_append_c (out, ']');
}

void
adj_tensor_meta_print (const AdjTensorMeta *meta, const AdjSymbols *symbols, GString *out)
{
  const AdjShape *shape = &meta->shape;

  if (meta->dtype < ADJ_N_DTYPES)
    g_string_append (out, adj_dtype_info (meta->dtype)->code);
  adj_shape_print_list (symbols, shape->size, shape->rank, out);
  if (meta->has_strides)
    adj_shape_print_list (symbols, shape->stride, shape->rank, out);
  adj_device_print (meta->device, out);
}

typedef struct
{
  const char *at;
  const char *end;
  AdjSymbols *symbols;
} Reader;

static gboolean fail (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
fail (GError **error, const char *format, ...)
{
  g_autofree char *reason = NULL;
  g_autofree char *valid = NULL; /* it may quote any bytes */
  va_list args;

  va_start (args, format);
  reason = g_strdup_vprintf (format, args);
  va_end (args);
  valid = g_utf8_make_valid (reason, -1);
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%s", valid);
  return FALSE;
}

/* The length up to a comma or bracket outside of all brackets. */
static gsize
entry_length (const Reader *reader)
{
  guint depth = 0;
  const char *c;

  for (c = reader->at; c < reader->end; c++)
    if (*c == '(' || *c == '[')
      depth++;
    else if (depth == 0 && (*c == ',' || *c == ']'))
      break;
    else if (depth > 0 && (*c == ')' || *c == ']'))
      depth--;
  return (gsize) (c - reader->at);
}

static gboolean
parse_list (Reader *reader, AdjSize *out, guint *n, GError **error)
{
  *n = 0;
  reader->at++;
  while (reader->at < reader->end && *reader->at != ']')
    {
      gsize length = entry_length (reader);

      if (*n == ADJ_MAX_RANK)
        return fail (error, "a tensor of more than %d dimensions", ADJ_MAX_RANK);
      if (!adj_size_parse (reader->symbols, reader->at, (gssize) length, &out[*n], error))
        return FALSE;
      (*n)++;
      reader->at += length;
      if (reader->at < reader->end && *reader->at == ',')
        reader->at++;
      while (reader->at < reader->end && *reader->at == ' ')
        reader->at++;
    }
  if (reader->at >= reader->end)
    return fail (error, "a list of sizes lacks its “]”");
  reader->at++;
  return TRUE;
}

static gboolean
parse_strides (Reader *reader, AdjTensorMeta *meta, GError **error)
{
  AdjSize strides[ADJ_MAX_RANK];
  guint n;

  if (!parse_list (reader, strides, &n, error))
    return FALSE;
  if (n != meta->shape.rank)
    return fail (error, "%u strides for %u sizes", n, meta->shape.rank);
  memcpy (meta->shape.stride, strides, sizeof (AdjSize) * n);
  meta->has_strides = TRUE;
  return TRUE;
}

gboolean
adj_tensor_meta_parse (
    const char *text, gssize length, AdjSymbols *symbols, AdjTensorMeta *out, GError **error)
{
  gsize n = length < 0 ? strlen (text) : (gsize) length;
  Reader reader = { text, text + n, symbols };
  const char *bracket = memchr (text, '[', n);
  AdjTensorMeta meta = { .device = ADJ_DEVICE_NONE, .storage = -1 };
  AdjSize sizes[ADJ_MAX_RANK];
  guint rank;

  if (bracket == NULL)
    return fail (error, "“%.*s” describes no tensor", (int) MIN (n, (gsize) 60), text);
  meta.dtype = adj_dtype_from_code (text, bracket - text);
  if (meta.dtype == ADJ_DTYPE_NONE)
    return fail (error, "“%.*s” is no dtype", (int) MIN (bracket - text, (gssize) 60), text);

  reader.at = bracket;
  if (!parse_list (&reader, sizes, &rank, error))
    return FALSE;
  adj_shape_init (&meta.shape, symbols, rank, sizes);
  if (reader.at < reader.end && *reader.at == '[' && !parse_strides (&reader, &meta, error))
    return FALSE;
  if (reader.at < reader.end && !adj_device_parse (reader.at, reader.end - reader.at, &meta.device))
    return fail (error, "“%.*s” is no device", (int) MIN (reader.end - reader.at, (gssize) 60),
                 reader.at);

  *out = meta;
  return TRUE;
}

gboolean
adj_tensor_meta_equal (const AdjTensorMeta *a, const AdjTensorMeta *b)
{
  if (a->dtype != b->dtype || !adj_device_equal (a->device, b->device) || a->layout != b->layout ||
      a->has_strides != b->has_strides || a->requires_grad != b->requires_grad ||
      a->shape.rank != b->shape.rank || !adj_size_same (a->shape.offset, b->shape.offset))
    return FALSE;

  for (guint i = 0; i < a->shape.rank; i++)
    if (!adj_size_same (a->shape.size[i], b->shape.size[i]) ||
        !adj_size_same (a->shape.stride[i], b->shape.stride[i]))
      return FALSE;
  return TRUE;
}

guint64
adj_tensor_meta_bytes (const AdjTensorMeta *meta, AdjSymbols *symbols)
{
  guint64 n_bytes = meta->dtype < ADJ_N_DTYPES ? adj_dtype_info (meta->dtype)->n_bytes : 0;
  gboolean overflow = FALSE;

  for (guint i = 0; i < meta->shape.rank; i++)
    {
      gint64 size;

      if (!adj_size_get_hint (symbols, meta->shape.size[i], &size) || size <= 0)
        return 0;
      overflow |= __builtin_mul_overflow (n_bytes, (guint64) size, &n_bytes);
    }
  return overflow ? G_MAXUINT64 : n_bytes;
}
