/* SPDX-License-Identifier: MIT */
/* Arrays for tests of kernels: random contents, scrambled strides, comparison. */

#include "kernel-test.h"

#include <math.h>
#include <string.h>

static AdjKView
array_new (AdjKType type, int rank, va_list sizes)
{
  AdjKView view = { .type = type, .rank = rank };
  gint64 n = 1;

  for (int d = 0; d < rank; d++)
    view.size[d] = va_arg (sizes, int);
  for (int d = rank; d-- > 0; n *= view.size[d])
    view.stride[d] = n;
  view.data = g_malloc0 ((gsize) (n + 1) * adj_k_type_get_size (type));
  g_test_queue_free (view.data);
  return view;
}

AdjKView
kernel_array (AdjKType type, int rank, ...)
{
  va_list sizes;
  AdjKView view;

  va_start (sizes, rank);
  view = array_new (type, rank, sizes);
  va_end (sizes);
  return view;
}

AdjKView
kernel_array_of (AdjKType type, const double *values, int rank, ...)
{
  va_list sizes;
  AdjKView view;

  va_start (sizes, rank);
  view = array_new (type, rank, sizes);
  va_end (sizes);
  for (gint64 i = 0; i < adj_k_view_count (&view); i++)
    kernel_array_set (&view, i, values[i]);
  return view;
}

AdjKView
kernel_array_like (AdjKType type, const AdjKView *like)
{
  AdjKView view = *like;
  gint64 n = 1;

  view.type = type;
  for (int d = view.rank; d-- > 0; n *= view.size[d])
    view.stride[d] = n;
  view.data = g_malloc0 ((gsize) (n + 1) * adj_k_type_get_size (type));
  g_test_queue_free (view.data);
  return view;
}

AdjKView
kernel_array_scramble (const AdjKView *view)
{
  AdjKView copy = *view;
  gint64 n = 3;

  for (int d = 0; d < view->rank; d++)
    {
      copy.stride[d] = n;
      n = n * copy.size[d] + 2;
    }
  copy.data = g_malloc0 ((gsize) (n + 1) * adj_k_type_get_size (view->type));
  g_test_queue_free (copy.data);
  for (gint64 i = 0; i < adj_k_view_count (view); i++)
    kernel_array_set (&copy, i, kernel_array_get (view, i));
  return copy;
}

void
kernel_array_randomize (const AdjKView *view, guint32 seed, double low, double high)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);

  for (gint64 i = 0; i < adj_k_view_count (view); i++)
    kernel_array_set (view, i, g_rand_double_range (rand, low, high));
}

static char *
address_of (const AdjKView *view, gint64 index)
{
  gint64 offset = 0;

  for (int d = view->rank; d-- > 0; index /= view->size[d])
    offset += index % view->size[d] * view->stride[d];
  return (char *) view->data + offset * (gint64) adj_k_type_get_size (view->type);
}

/* Decodes sign, exponent and mantissa as IEEE 754 defines them. */
static double
decode_16 (guint16 bits, int mantissa_bits, int bias)
{
  int exponent = (bits & 0x7fff) >> mantissa_bits;
  int mantissa = bits & ((1 << mantissa_bits) - 1);
  int top = 0x7fff >> mantissa_bits;
  double x;

  if (exponent == top)
    x = mantissa ? NAN : INFINITY;
  else if (exponent == 0)
    x = ldexp (mantissa, 1 - bias - mantissa_bits);
  else
    x = ldexp (mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
  return bits & 0x8000 ? -x : x;
}

/* Rounds to nearest, ties to even, by scaling the number to integers. */
static guint16
encode_16 (double x, int mantissa_bits, int bias)
{
  guint16 sign = signbit (x) ? 0x8000 : 0;
  guint16 infinity = (guint16) (0x7fff >> mantissa_bits << mantissa_bits);
  int exponent;
  double scaled;

  if (isnan (x))
    return infinity | 1;
  x = fabs (x);
  if (isinf (x))
    return sign | infinity;
  exponent = x > 0 ? MAX (ilogb (x), 1 - bias) : 1 - bias;
  scaled = rint (ldexp (x, mantissa_bits - exponent));
  scaled += ldexp (exponent + bias - 1, mantissa_bits);
  return sign | (guint16) MIN (scaled, infinity);
}

#define EACH_INTEGER(X)                                                                            \
  X (ADJ_K_U8, guint8)                                                                             \
  X (ADJ_K_I8, gint8) X (ADJ_K_I16, gint16) X (ADJ_K_I32, gint32) X (ADJ_K_I64, gint64)

double
kernel_array_get (const AdjKView *view, gint64 index)
{
  const void *at = address_of (view, index);

#define GET(TYPE, C)                                                                               \
  if (view->type == TYPE)                                                                          \
    return (double) *(const C *) at;
  EACH_INTEGER (GET)
  GET (ADJ_K_F32, float)
  GET (ADJ_K_F64, double)
#undef GET
  if (view->type == ADJ_K_F16)
    return decode_16 (*(const guint16 *) at, 10, 15);
  if (view->type == ADJ_K_BF16)
    return decode_16 (*(const guint16 *) at, 7, 127);
  return *(const guint8 *) at;
}

void
kernel_array_set (const AdjKView *view, gint64 index, double value)
{
  void *at = address_of (view, index);

#define SET(TYPE, C)                                                                               \
  if (view->type == TYPE)                                                                          \
    *(C *) at = (C) value;
  EACH_INTEGER (SET)
  SET (ADJ_K_F32, float)
  SET (ADJ_K_F64, double)
#undef SET
  if (view->type == ADJ_K_F16)
    *(guint16 *) at = encode_16 (value, 10, 15);
  if (view->type == ADJ_K_BF16)
    *(guint16 *) at = encode_16 (value, 7, 127);
  if (view->type == ADJ_K_BOOL)
    *(guint8 *) at = value != 0;
}

void
kernel_assert_equal (const AdjKView *got, const double *expected)
{
  for (gint64 i = 0; i < adj_k_view_count (got); i++)
    {
      double x = kernel_array_get (got, i);

      if (!(isnan (x) && isnan (expected[i])) && x != expected[i])
        g_error ("element %" G_GINT64_FORMAT " is %.9g, not %.9g", i, x, expected[i]);
    }
}

void
kernel_assert_same (const AdjKView *a, const AdjKView *b)
{
  gsize size = adj_k_type_get_size (a->type);

  g_assert_cmpint (adj_k_view_count (a), ==, adj_k_view_count (b));
  for (gint64 i = 0; i < adj_k_view_count (a); i++)
    g_assert_cmpmem (address_of (a, i), size, address_of (b, i), size);
}

void
kernel_assert_near (double got, double expected, double tolerance)
{
  if (!(fabs (got - expected) <= tolerance))
    g_error ("%.17g is farther than %.3g from %.17g", got, tolerance, expected);
}

double
kernel_ulps (float got, long double expected)
{
  float rounded = (float) expected;
  int exponent = fabsl (expected) < 0x1p-126L ? -126 : ilogbl (expected);

  if (isnan (rounded) || isnan (got))
    return isnan (rounded) && isnan (got) ? 0 : INFINITY;
  if (isinf (rounded) || isinf (got))
    return rounded == got ? 0 : INFINITY;
  return (double) fabsl (ldexpl (got - expected, 23 - exponent));
}

void
kernel_add_for_floats (const char *path, GTestDataFunc func)
{
  const struct
  {
    const char *name;
    AdjKType type;
  } floats[] = {
    { "f16", ADJ_K_F16 }, { "bf16", ADJ_K_BF16 }, { "f32", ADJ_K_F32 }, { "f64", ADJ_K_F64 }
  };

  for (guint i = 0; i < G_N_ELEMENTS (floats); i++)
    {
      g_autofree char *full = g_strdup_printf ("%s/%s", path, floats[i].name);

      g_test_add_data_func (full, GUINT_TO_POINTER (floats[i].type), func);
    }
}
