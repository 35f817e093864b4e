/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-error.h"

G_BEGIN_DECLS

typedef enum
{
#define DTYPE(id, ...) ADJ_DTYPE_##id,
#include "tensor/dtypes.inc"
#undef DTYPE
  ADJ_N_DTYPES,
  ADJ_DTYPE_NONE = ADJ_N_DTYPES, /* "not given" in arguments and annotations */
} AdjDType;

/* Ordered: a higher category decides the result of a promotion (tensor/SPEC.md §2). */
typedef enum
{
  ADJ_CATEGORY_BOOL,
  ADJ_CATEGORY_INTEGER,
  ADJ_CATEGORY_FLOAT,
  ADJ_CATEGORY_COMPLEX,
} AdjDTypeCategory;

typedef struct
{
  const char *code;        /* "f32" */
  const char *torch_name;  /* "float32" */
  const char *safetensors; /* (nullable) "F32" */
  guint n_bytes;           /* 0: smaller than a byte */
  AdjDTypeCategory category;
} AdjDTypeInfo;

/* The row of @dtype, which is not ADJ_DTYPE_NONE. */
ADJ_PUBLIC const AdjDTypeInfo *adj_dtype_info (AdjDType dtype);

/* ADJ_DTYPE_NONE when unknown.  The torch name may begin with "torch.", aliases (float, half,
 * double, long, int, short, bool) included. */
ADJ_PUBLIC AdjDType adj_dtype_from_code (const char *code, gssize length);
ADJ_PUBLIC AdjDType adj_dtype_from_torch_name (const char *name);

static inline gboolean
adj_dtype_is_floating (AdjDType dtype)
{
  return dtype < ADJ_N_DTYPES && adj_dtype_info (dtype)->category == ADJ_CATEGORY_FLOAT;
}

/* Whether tensors of @dtype can have gradients. */
static inline gboolean
adj_dtype_is_differentiable (AdjDType dtype)
{
  return dtype < ADJ_N_DTYPES && adj_dtype_info (dtype)->category >= ADJ_CATEGORY_FLOAT;
}

/* The dtype of the parts of complex @dtype; @dtype itself if it is not complex. */
ADJ_PUBLIC AdjDType adj_dtype_get_real (AdjDType dtype);

/* float64 for a float, complex128 for a complex dtype; any other unchanged. */
ADJ_PUBLIC AdjDType adj_dtype_get_widest (AdjDType dtype);

/* The table of tensor/SPEC.md §2.1; ADJ_DTYPE_NONE is neutral. */
ADJ_PUBLIC AdjDType adj_dtype_promote (AdjDType a, AdjDType b);

/* Whether a value of @from may be written into @to in place (float → int may not). */
ADJ_PUBLIC gboolean adj_dtype_can_cast (AdjDType from, AdjDType to);

typedef enum
{
  ADJ_DEVICE_CPU,
  ADJ_DEVICE_CUDA,
  ADJ_DEVICE_META,
  ADJ_DEVICE_XPU,
  ADJ_DEVICE_MPS,
  ADJ_DEVICE_HPU,
  ADJ_DEVICE_XLA,
  ADJ_N_DEVICE_TYPES,
} AdjDeviceType;

typedef struct
{
  guint8 type; /* AdjDeviceType; ADJ_N_DEVICE_TYPES: not given */
  gint8 index; /* -1: the current one */
} AdjDevice;

#define ADJ_DEVICE_NONE ((AdjDevice){ ADJ_N_DEVICE_TYPES, -1 })
#define ADJ_CPU ((AdjDevice){ ADJ_DEVICE_CPU, -1 })

/* "cpu", "cuda:0", "cuda".  @length: in bytes, -1: to the end.  %FALSE: @text names no device. */
ADJ_PUBLIC gboolean adj_device_parse (const char *text, gssize length, AdjDevice *out);
ADJ_PUBLIC void adj_device_print (AdjDevice device, GString *out);

static inline gboolean
adj_device_equal (AdjDevice a, AdjDevice b)
{
  return a.type == b.type && a.index == b.index;
}

typedef enum
{
  ADJ_LAYOUT_STRIDED,
  ADJ_LAYOUT_SPARSE_COO,
  ADJ_LAYOUT_SPARSE_CSR,
  ADJ_LAYOUT_JAGGED,
  ADJ_N_LAYOUTS,
} AdjLayout;

typedef enum
{
  ADJ_MEMORY_FORMAT_CONTIGUOUS,
  ADJ_MEMORY_FORMAT_PRESERVE,
  ADJ_MEMORY_FORMAT_CHANNELS_LAST,
  ADJ_MEMORY_FORMAT_CHANNELS_LAST_3D,
  ADJ_N_MEMORY_FORMATS,
} AdjMemoryFormat;

/* Names without "torch.": "strided", "contiguous_format"; the _from_ functions return the N_
 * value when unknown. */
ADJ_PUBLIC const char *adj_layout_name (AdjLayout layout);
ADJ_PUBLIC AdjLayout adj_layout_from_name (const char *name);
ADJ_PUBLIC const char *adj_memory_format_name (AdjMemoryFormat format);
ADJ_PUBLIC AdjMemoryFormat adj_memory_format_from_name (const char *name);

G_END_DECLS
