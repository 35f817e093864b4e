/* SPDX-License-Identifier: MIT */
/* Dtypes and devices: names, sizes, and PyTorch's rules of type promotion. */

#include "tensor/adj-dtype.h"

#include <string.h>

#include "adj-kernels.h"
#include "tensor/adj-dtype-internal.h"
#include "tensor/adj-promotion.h"

/* ORDER DTYPE */
#define SAME_AS_KERNELS(id) G_STATIC_ASSERT ((int) ADJ_DTYPE_##id == (int) ADJ_K_##id)
SAME_AS_KERNELS (BOOL);
SAME_AS_KERNELS (U8);
SAME_AS_KERNELS (I8);
SAME_AS_KERNELS (I16);
SAME_AS_KERNELS (I32);
SAME_AS_KERNELS (I64);
SAME_AS_KERNELS (F16);
SAME_AS_KERNELS (BF16);
SAME_AS_KERNELS (F32);
SAME_AS_KERNELS (F64);
#undef SAME_AS_KERNELS

static const AdjDTypeInfo infos[] = {
#define DTYPE(id, code, torch_name, safetensors, n_bytes, category)                                \
  { code, torch_name, safetensors, n_bytes, ADJ_CATEGORY_##category },
#include "tensor/dtypes.inc"
#undef DTYPE
};

static const struct
{
  const char *name;
  AdjDType dtype;
} aliases[] = {
  { "float", ADJ_DTYPE_F32 },  { "half", ADJ_DTYPE_F16 },     { "double", ADJ_DTYPE_F64 },
  { "long", ADJ_DTYPE_I64 },   { "int", ADJ_DTYPE_I32 },      { "short", ADJ_DTYPE_I16 },
  { "cfloat", ADJ_DTYPE_C64 }, { "cdouble", ADJ_DTYPE_C128 }, { "chalf", ADJ_DTYPE_C32 },
};

const AdjDTypeInfo *
adj_dtype_info (AdjDType dtype)
{
  g_return_val_if_fail (dtype < ADJ_N_DTYPES, &infos[0]);

  return &infos[dtype];
}

AdjDType
adj_dtype_from_code (const char *code, gssize length)
{
  gsize n = length < 0 ? strlen (code) : (gsize) length;

  for (guint i = 0; i < ADJ_N_DTYPES; i++)
    if (strlen (infos[i].code) == n && memcmp (infos[i].code, code, n) == 0)
      return (AdjDType) i;
  return ADJ_DTYPE_NONE;
}

AdjDType
adj_dtype_from_torch_name (const char *name)
{
  if (g_str_has_prefix (name, "torch."))
    name += strlen ("torch.");

  for (guint i = 0; i < ADJ_N_DTYPES; i++)
    if (strcmp (infos[i].torch_name, name) == 0)
      return (AdjDType) i;
  for (guint i = 0; i < G_N_ELEMENTS (aliases); i++)
    if (strcmp (aliases[i].name, name) == 0)
      return aliases[i].dtype;
  return ADJ_DTYPE_NONE;
}

AdjDType
adj_dtype_from_scalar_type (gint64 number)
{
  static const AdjDType dtypes[] = {
    ADJ_DTYPE_U8,  ADJ_DTYPE_I8,  ADJ_DTYPE_I16, ADJ_DTYPE_I32, ADJ_DTYPE_I64,  ADJ_DTYPE_F16,
    ADJ_DTYPE_F32, ADJ_DTYPE_F64, ADJ_DTYPE_C32, ADJ_DTYPE_C64, ADJ_DTYPE_C128, ADJ_DTYPE_BOOL,
  };

  if (number == 15)
    return ADJ_DTYPE_BF16;
  return number >= 0 && number < (gint64) G_N_ELEMENTS (dtypes) ? dtypes[number] : ADJ_DTYPE_NONE;
}

gint
adj_dtype_get_scalar_type (AdjDType dtype)
{
  for (gint i = 0; i <= 15; i++)
    if (adj_dtype_from_scalar_type (i) == dtype)
      return i;
  return -1;
}

AdjDType
adj_dtype_from_safetensors (const char *name)
{
  for (guint i = 0; i < ADJ_N_DTYPES; i++)
    if (g_strcmp0 (infos[i].safetensors, name) == 0)
      return (AdjDType) i;
  return ADJ_DTYPE_NONE;
}

/* -- Promotion ----------------------------------------------------------------------------- */

/* Dtypes that PyTorch refuses to promote: each is compatible only with itself. */
static gboolean
is_exotic (AdjDType dtype)
{
  return infos[dtype].n_bytes == 0 || dtype >= ADJ_DTYPE_F8E4M3FN;
}

static gboolean
is_wide_unsigned (AdjDType dtype)
{
  return dtype == ADJ_DTYPE_U16 || dtype == ADJ_DTYPE_U32 || dtype == ADJ_DTYPE_U64;
}

/* The complex type whose parts hold @dtype. */
static AdjDType
to_complex (AdjDType dtype)
{
  if (infos[dtype].category == ADJ_CATEGORY_COMPLEX)
    return dtype;
  if (is_exotic (dtype))
    return ADJ_DTYPE_NONE;
  if (dtype == ADJ_DTYPE_F64)
    return ADJ_DTYPE_C128;
  return dtype == ADJ_DTYPE_F16 ? ADJ_DTYPE_C32 : ADJ_DTYPE_C64;
}

AdjDType
adj_dtype_get_real (AdjDType dtype)
{
  if (dtype == ADJ_DTYPE_C128)
    return ADJ_DTYPE_F64;
  if (dtype == ADJ_DTYPE_C64)
    return ADJ_DTYPE_F32;
  return dtype == ADJ_DTYPE_C32 ? ADJ_DTYPE_F16 : dtype;
}

AdjDType
adj_dtype_get_widest (AdjDType dtype)
{
  if (!adj_dtype_is_differentiable (dtype))
    return dtype;
  return infos[dtype].category == ADJ_CATEGORY_COMPLEX ? ADJ_DTYPE_C128 : ADJ_DTYPE_F64;
}

static AdjDType
wider (AdjDType a, AdjDType b)
{
  return infos[a].n_bytes >= infos[b].n_bytes ? a : b;
}

static AdjDType
promote_integers (AdjDType a, AdjDType b)
{
  if (is_wide_unsigned (a) || is_wide_unsigned (b))
    return ADJ_DTYPE_NONE;
  if ((a == ADJ_DTYPE_U8 && b == ADJ_DTYPE_I8) || (a == ADJ_DTYPE_I8 && b == ADJ_DTYPE_U8))
    return ADJ_DTYPE_I16;
  return wider (a, b);
}

/* At least one of the two is complex. */
static AdjDType
promote_complex (AdjDType a, AdjDType b)
{
  AdjDType number = infos[a].category == ADJ_CATEGORY_COMPLEX ? b : a;
  AdjDType other = number == a ? b : a;

  if (is_wide_unsigned (number))
    return ADJ_DTYPE_NONE;
  if (infos[number].category < ADJ_CATEGORY_FLOAT)
    return other;
  return wider (other, to_complex (number));
}

AdjDType
adj_dtype_promote (AdjDType a, AdjDType b)
{
  AdjDTypeCategory ca;
  AdjDTypeCategory cb;

  if (a >= ADJ_N_DTYPES || a == b)
    return b;
  if (b >= ADJ_N_DTYPES)
    return a;
  if (is_exotic (a) || is_exotic (b))
    return ADJ_DTYPE_NONE;

  ca = infos[a].category;
  cb = infos[b].category;
  if (ca == ADJ_CATEGORY_COMPLEX || cb == ADJ_CATEGORY_COMPLEX)
    return promote_complex (a, b);
  if (ca == ADJ_CATEGORY_FLOAT && cb == ADJ_CATEGORY_FLOAT)
    return infos[a].n_bytes == 2 && infos[b].n_bytes == 2 ? ADJ_DTYPE_F32 : wider (a, b);
  if (ca == ADJ_CATEGORY_INTEGER && cb == ADJ_CATEGORY_INTEGER)
    return promote_integers (a, b);
  if ((ca == ADJ_CATEGORY_BOOL && is_wide_unsigned (b)) ||
      (cb == ADJ_CATEGORY_BOOL && is_wide_unsigned (a)))
    return ADJ_DTYPE_NONE;
  return ca > cb ? a : b;
}

void
adj_promotion_add_tensor (AdjPromotion *promotion, AdjDType dtype, guint rank)
{
  AdjDType *slot = rank > 0 ? &promotion->dimensioned : &promotion->zero_dim;

  *slot = adj_dtype_promote (*slot, dtype);
}

void
adj_promotion_add_number (AdjPromotion *promotion,
                          AdjDTypeCategory category,
                          AdjDType default_float)
{
  const AdjDType dtypes[] = {
    [ADJ_CATEGORY_BOOL] = ADJ_DTYPE_BOOL,
    [ADJ_CATEGORY_INTEGER] = ADJ_DTYPE_I64,
    [ADJ_CATEGORY_FLOAT] = default_float,
    [ADJ_CATEGORY_COMPLEX] = to_complex (default_float),
  };

  promotion->number = adj_dtype_promote (promotion->number, dtypes[category]);
}

/* @high decides unless @low is of a higher category (tensor/SPEC.md §2.2). */
static AdjDType
combine (AdjDType high, AdjDType low)
{
  AdjDTypeCategory ch;
  AdjDTypeCategory cl;

  if (high >= ADJ_N_DTYPES)
    return low;
  if (low >= ADJ_N_DTYPES)
    return high;

  ch = infos[high].category;
  cl = infos[low].category;
  if (ch == ADJ_CATEGORY_COMPLEX)
    return high;
  if (ch == ADJ_CATEGORY_FLOAT)
    return cl == ADJ_CATEGORY_COMPLEX ? to_complex (high) : high;
  if (cl == ADJ_CATEGORY_COMPLEX)
    return low;
  if (ch == ADJ_CATEGORY_BOOL || cl >= ADJ_CATEGORY_FLOAT)
    return adj_dtype_promote (high, low);
  return high;
}

AdjDType
adj_promotion_result (const AdjPromotion *promotion)
{
  return combine (promotion->dimensioned, combine (promotion->zero_dim, promotion->number));
}

gboolean
adj_dtype_can_cast (AdjDType from, AdjDType to)
{
  return from < ADJ_N_DTYPES && to < ADJ_N_DTYPES && infos[from].category <= infos[to].category;
}

/* -- Devices, layouts, memory formats ------------------------------------------------------ */

static const char *const device_names[ADJ_N_DEVICE_TYPES] = {
  [ADJ_DEVICE_CPU] = "cpu", [ADJ_DEVICE_CUDA] = "cuda", [ADJ_DEVICE_META] = "meta",
  [ADJ_DEVICE_XPU] = "xpu", [ADJ_DEVICE_MPS] = "mps",   [ADJ_DEVICE_HPU] = "hpu",
  [ADJ_DEVICE_XLA] = "xla",
};

static gboolean
parse_device_index (const char *text, gsize length, gint8 *out)
{
  gint value = 0;

  if (length == 0 || length > 3)
    return FALSE;
  for (gsize i = 0; i < length; i++)
    {
      if (!g_ascii_isdigit (text[i]))
        return FALSE;
      value = value * 10 + (text[i] - '0');
    }
  if (value > G_MAXINT8)
    return FALSE;
  *out = (gint8) value;
  return TRUE;
}

gboolean
adj_device_parse (const char *text, gssize length, AdjDevice *out)
{
  gsize n = length < 0 ? strlen (text) : (gsize) length;

  for (guint i = 0; i < ADJ_N_DEVICE_TYPES; i++)
    {
      gsize n_name = strlen (device_names[i]);
      gint8 index = -1;

      if (n < n_name || memcmp (text, device_names[i], n_name) != 0)
        continue;
      if (n > n_name &&
          (text[n_name] != ':' || !parse_device_index (text + n_name + 1, n - n_name - 1, &index)))
        continue;
      *out = (AdjDevice){ (guint8) i, index };
      return TRUE;
    }
  return FALSE;
}

void
adj_device_print (AdjDevice device, GString *out)
{
  if (device.type >= ADJ_N_DEVICE_TYPES)
    return;

  g_string_append (out, device_names[device.type]);
  if (device.index >= 0)
    g_string_append_printf (out, ":%d", device.index);
}

static const char *const layout_names[ADJ_N_LAYOUTS] = {
  [ADJ_LAYOUT_STRIDED] = "strided",
  [ADJ_LAYOUT_SPARSE_COO] = "sparse_coo",
  [ADJ_LAYOUT_SPARSE_CSR] = "sparse_csr",
  [ADJ_LAYOUT_JAGGED] = "jagged",
};

static const char *const format_names[ADJ_N_MEMORY_FORMATS] = {
  [ADJ_MEMORY_FORMAT_CONTIGUOUS] = "contiguous_format",
  [ADJ_MEMORY_FORMAT_PRESERVE] = "preserve_format",
  [ADJ_MEMORY_FORMAT_CHANNELS_LAST] = "channels_last",
  [ADJ_MEMORY_FORMAT_CHANNELS_LAST_3D] = "channels_last_3d",
};

/* The index of @name, or @n. */
static guint
find_name (const char *const *names, guint n, const char *name)
{
  guint i = 0;

  while (i < n && strcmp (names[i], name) != 0)
    i++;
  return i;
}

const char *
adj_layout_name (AdjLayout layout)
{
  g_return_val_if_fail (layout < ADJ_N_LAYOUTS, NULL);

  return layout_names[layout];
}

AdjLayout
adj_layout_from_name (const char *name)
{
  return (AdjLayout) find_name (layout_names, ADJ_N_LAYOUTS, name);
}

const char *
adj_memory_format_name (AdjMemoryFormat format)
{
  g_return_val_if_fail (format < ADJ_N_MEMORY_FORMATS, NULL);

  return format_names[format];
}

AdjMemoryFormat
adj_memory_format_from_name (const char *name)
{
  return (AdjMemoryFormat) find_name (format_names, ADJ_N_MEMORY_FORMATS, name);
}
