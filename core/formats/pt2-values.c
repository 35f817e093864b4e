/* SPDX-License-Identifier: MIT */
/* Sizes, descriptions of tensors and constants of exported programs. */

#include <string.h>

#include "formats/pt2-private.h"
#include "formats/sympy-repr-private.h"

/* -- tables of the schema -- */

static const struct
{
  gint64 number; /* number in the schema of torch.export, which differs from c10::ScalarType */
  AdjDType dtype;
} scalar_types[] = {
  { 1, ADJ_DTYPE_U8 },         { 2, ADJ_DTYPE_I8 },          { 3, ADJ_DTYPE_I16 },
  { 4, ADJ_DTYPE_I32 },        { 5, ADJ_DTYPE_I64 },         { 6, ADJ_DTYPE_F16 },
  { 7, ADJ_DTYPE_F32 },        { 8, ADJ_DTYPE_F64 },         { 9, ADJ_DTYPE_C32 },
  { 10, ADJ_DTYPE_C64 },       { 11, ADJ_DTYPE_C128 },       { 12, ADJ_DTYPE_BOOL },
  { 13, ADJ_DTYPE_BF16 },      { 28, ADJ_DTYPE_U16 },        { 29, ADJ_DTYPE_F8E4M3FN },
  { 30, ADJ_DTYPE_F8E5M2 },    { 31, ADJ_DTYPE_F8E4M3FNUZ }, { 32, ADJ_DTYPE_F8E5M2FNUZ },
  { 33, ADJ_DTYPE_F8E8M0FNU }, { 34, ADJ_DTYPE_U32 },        { 35, ADJ_DTYPE_U64 },
};

static const struct
{
  gint64 number;
  AdjMemoryFormat format;
} memory_formats[] = {
  { 1, ADJ_MEMORY_FORMAT_CONTIGUOUS },
  { 2, ADJ_MEMORY_FORMAT_CHANNELS_LAST },
  { 3, ADJ_MEMORY_FORMAT_CHANNELS_LAST_3D },
  { 4, ADJ_MEMORY_FORMAT_PRESERVE },
};

static const struct
{
  gint64 number;
  AdjLayout layout;
} layouts[] = {
  { 1, ADJ_LAYOUT_SPARSE_COO },
  { 2, ADJ_LAYOUT_SPARSE_CSR },
  { 7, ADJ_LAYOUT_STRIDED },
};

static gboolean
bad (const Pt2Scope *scope, const JsonItem *item, const char *what, GError **error)
{
  json_fail (scope->json, item, error, "%s", what);
  return FALSE;
}

const JsonItem *
pt2_union (const JsonItem *item, const char **kind)
{
  if (item == NULL || item->kind != JSON_OBJECT || item->n != 1)
    return NULL;
  *kind = item->items[0].key;
  return &item->items[0];
}

/* -- sizes -- */

/* {"expr_str": "Symbol('s0', integer=True)", "hint": {"as_int": 4}} */
static gboolean
read_expression (const Pt2Scope *scope, const JsonItem *item, AdjSize *out, GError **error)
{
  const char *repr = json_get_text (item, "expr_str");
  g_autofree char *text = repr != NULL ? sympy_repr_to_text (repr) : NULL;

  if (text == NULL || !adj_size_parse (scope->symbols, text, -1, out, NULL))
    return bad (scope, item, "an expression that cannot be read", error);
  return TRUE;
}

gboolean
pt2_read_size (const Pt2Scope *scope, const JsonItem *item, AdjSize *out, GError **error)
{
  const char *kind;
  const JsonItem *value = pt2_union (item, &kind);

  if (value != NULL && strcmp (kind, "as_expr") == 0)
    return read_expression (scope, value, out, error);
  if (value == NULL || value->kind != JSON_INT)
    return bad (scope, item, "expected a size", error);
  *out = ADJ_SIZE (value->integer);
  return TRUE;
}

static gboolean
read_sizes (const Pt2Scope *scope, const JsonItem *list, AdjSize *out, guint *n, GError **error)
{
  if (list == NULL || list->kind != JSON_ARRAY || list->n > ADJ_MAX_RANK)
    return bad (scope, list, "expected a list of at most 16 sizes", error);
  for (guint i = 0; i < list->n; i++)
    if (!pt2_read_size (scope, &list->items[i], &out[i], error))
      return FALSE;
  *n = list->n;
  return TRUE;
}

/* -- tensors -- */

static gboolean
read_dtype (const Pt2Scope *scope, const JsonItem *item, AdjDType *out, GError **error)
{
  for (guint i = 0; item != NULL && i < G_N_ELEMENTS (scalar_types); i++)
    if (item->kind == JSON_INT && item->integer == scalar_types[i].number)
      {
        *out = scalar_types[i].dtype;
        return TRUE;
      }
  return bad (scope, item, "a dtype that is not known", error);
}

/* {"type": "cuda", "index": 0} */
static gboolean
read_device (const Pt2Scope *scope, const JsonItem *item, AdjDevice *out, GError **error)
{
  const char *type = json_get_text (item, "type");
  gint64 index = json_get_int (item, "index", -1);

  if (type == NULL || !adj_device_parse (type, -1, out))
    return bad (scope, item, "a device that is not known", error);
  if (index >= 0 && index < 128)
    out->index = (gint8) index;
  return TRUE;
}

static AdjLayout
layout_of (const JsonItem *item)
{
  for (guint i = 0; item != NULL && i < G_N_ELEMENTS (layouts); i++)
    if (item->kind == JSON_INT && item->integer == layouts[i].number)
      return layouts[i].layout;
  return ADJ_N_LAYOUTS;
}

gboolean
pt2_read_tensor_meta (const Pt2Scope *scope,
                      const JsonItem *item,
                      AdjTensorMeta *meta,
                      GError **error)
{
  const JsonItem *grad = json_get (item, "requires_grad");
  const JsonItem *offset = json_get (item, "storage_offset");
  AdjLayout layout = layout_of (json_get (item, "layout"));
  guint n_strides = 0;

  *meta = (AdjTensorMeta){ .storage = -1, .has_strides = TRUE };
  if (!read_dtype (scope, json_get (item, "dtype"), &meta->dtype, error) ||
      !read_device (scope, json_get (item, "device"), &meta->device, error) ||
      !read_sizes (scope, json_get (item, "sizes"), meta->shape.size, &meta->shape.rank, error))
    return FALSE;
  meta->layout = layout == ADJ_N_LAYOUTS ? ADJ_LAYOUT_STRIDED : layout;
  meta->requires_grad = grad != NULL && grad->kind == JSON_TRUE;
  if (meta->layout != ADJ_LAYOUT_STRIDED)
    {
      meta->has_strides = FALSE;
      return TRUE;
    }
  if (!read_sizes (scope, json_get (item, "strides"), meta->shape.stride, &n_strides, error))
    return FALSE;
  if (n_strides != meta->shape.rank)
    return bad (scope, item, "a tensor with another number of strides than of sizes", error);
  return offset == NULL || offset->kind == JSON_NULL ||
         pt2_read_size (scope, offset, &meta->shape.offset, error);
}

/* -- constants -- */

static gboolean
read_none (const Pt2Scope *scope, const JsonItem *item, AdjValue *out, GError **error)
{
  *out = ADJ_NONE;
  return TRUE;
}

static gboolean
read_int (const Pt2Scope *scope, const JsonItem *item, AdjValue *out, GError **error)
{
  if (item->kind != JSON_INT)
    return bad (scope, item, "expected an integer", error);
  *out = ADJ_INT (item->integer);
  return TRUE;
}

/* What JSON has no number for is text: "Infinity". */
static gboolean
read_float (const Pt2Scope *scope, const JsonItem *item, AdjValue *out, GError **error)
{
  if (item->kind == JSON_FLOAT)
    *out = ADJ_FLOAT (item->number);
  else if (item->kind == JSON_INT)
    *out = ADJ_FLOAT ((double) item->integer);
  else if (item->kind == JSON_STRING)
    *out = ADJ_FLOAT (g_ascii_strtod (item->text, NULL));
  else
    return bad (scope, item, "expected a number", error);
  return TRUE;
}

static gboolean
read_bool (const Pt2Scope *scope, const JsonItem *item, AdjValue *out, GError **error)
{
  if (item->kind != JSON_TRUE && item->kind != JSON_FALSE)
    return bad (scope, item, "expected true or false", error);
  *out = ADJ_BOOL (item->kind == JSON_TRUE);
  return TRUE;
}

static gboolean
read_string (const Pt2Scope *scope, const JsonItem *item, AdjValue *out, GError **error)
{
  if (item->kind != JSON_STRING)
    return bad (scope, item, "expected a text", error);
  *out = (AdjValue){ .kind = ADJ_VALUE_STRING, .n = item->n, .text = item->text };
  return TRUE;
}

static gboolean
read_complex (const Pt2Scope *scope, const JsonItem *item, AdjValue *out, GError **error)
{
  const JsonItem *real = json_get (item, "real"), *imaginary = json_get (item, "imag");
  AdjValue *parts = adj_arena_new0 (scope->arena, AdjValue, 2);

  if (real == NULL || imaginary == NULL)
    return bad (scope, item, "expected a complex number", error);
  *out = (AdjValue){ .kind = ADJ_VALUE_COMPLEX, .n = 2, .items = parts };
  return read_float (scope, real, &parts[0], error) &&
         read_float (scope, imaginary, &parts[1], error);
}

static gboolean
read_scalar_type (const Pt2Scope *scope, const JsonItem *item, AdjValue *out, GError **error)
{
  *out = (AdjValue){ .kind = ADJ_VALUE_DTYPE };
  return read_dtype (scope, item, &out->dtype, error);
}

static gboolean
read_device_value (const Pt2Scope *scope, const JsonItem *item, AdjValue *out, GError **error)
{
  *out = (AdjValue){ .kind = ADJ_VALUE_DEVICE };
  return read_device (scope, item, &out->device, error);
}

static gboolean
read_layout (const Pt2Scope *scope, const JsonItem *item, AdjValue *out, GError **error)
{
  *out = (AdjValue){ .kind = ADJ_VALUE_LAYOUT, .layout = layout_of (item) };
  return out->layout != ADJ_N_LAYOUTS || bad (scope, item, "a layout that is not known", error);
}

static gboolean
read_memory_format (const Pt2Scope *scope, const JsonItem *item, AdjValue *out, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (memory_formats); i++)
    if (item->kind == JSON_INT && item->integer == memory_formats[i].number)
      {
        *out = (AdjValue){ .kind = ADJ_VALUE_MEMORY_FORMAT, .format = memory_formats[i].format };
        return TRUE;
      }
  return bad (scope, item, "a memory format that is not known", error);
}

static gboolean
read_operator (const Pt2Scope *scope, const JsonItem *item, AdjValue *out, GError **error)
{
  if (!read_string (scope, item, out, error))
    return FALSE;
  out->kind = ADJ_VALUE_OP;
  return TRUE;
}

typedef gboolean (*ReadConstant) (const Pt2Scope *scope,
                                  const JsonItem *item,
                                  AdjValue *out,
                                  GError **error);

/* @depth: how many lists are nested around each constant. */
static const struct
{
  const char *kind;
  ReadConstant read;
  guint depth;
} constants[] = {
  { "as_none", read_none, 0 },
  { "as_int", read_int, 0 },
  { "as_ints", read_int, 1 },
  { "as_int_lists", read_int, 2 },
  { "as_float", read_float, 0 },
  { "as_floats", read_float, 1 },
  { "as_float_lists", read_float, 2 },
  { "as_bool", read_bool, 0 },
  { "as_bools", read_bool, 1 },
  { "as_string", read_string, 0 },
  { "as_strings", read_string, 1 },
  { "as_complex", read_complex, 0 },
  { "as_scalar_type", read_scalar_type, 0 },
  { "as_memory_format", read_memory_format, 0 },
  { "as_layout", read_layout, 0 },
  { "as_device", read_device_value, 0 },
  { "as_operator", read_operator, 0 },
};

static gboolean
read_nested (const Pt2Scope *scope,
             ReadConstant read,
             guint depth,
             const JsonItem *item,
             AdjValue *out,
             GError **error)
{
  AdjValue *items;

  if (depth == 0)
    return read (scope, item, out, error);
  if (item->kind != JSON_ARRAY)
    return bad (scope, item, "expected a list", error);
  items = adj_arena_new0 (scope->arena, AdjValue, item->n + 1);
  for (guint i = 0; i < item->n; i++)
    if (!read_nested (scope, read, depth - 1, &item->items[i], &items[i], error))
      return FALSE;
  *out = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = item->n, .items = items };
  return TRUE;
}

gboolean
pt2_read_constant (
    const Pt2Scope *scope, const char *kind, const JsonItem *item, AdjValue *out, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (constants); i++)
    if (strcmp (constants[i].kind, kind) == 0)
      return read_nested (scope, constants[i].read, constants[i].depth, item, out, error);
  return FALSE;
}
