/* SPDX-License-Identifier: MIT */
/* Loads and stores single elements of every dtype, small floats bit by bit. */

#include "tensor/adj-element.h"

#include <math.h>
#include <string.h>

/* -- Small floats -------------------------------------------------------------------------- */

typedef struct
{
  guint n_mantissa;
  guint n_exponent;
  gint bias;
  gboolean has_infinity; /* else the top exponent holds numbers */
  gboolean fnuz;         /* no negative zero: its bits are the only NaN */
} MiniFloat;

static const MiniFloat f16 = { 10, 5, 15, TRUE, FALSE };
static const MiniFloat f8e4m3fn = { 3, 4, 7, FALSE, FALSE };
static const MiniFloat f8e5m2 = { 2, 5, 15, TRUE, FALSE };
static const MiniFloat f8e4m3fnuz = { 3, 4, 8, FALSE, TRUE };
static const MiniFloat f8e5m2fnuz = { 2, 5, 16, FALSE, TRUE };

static double
decode (const MiniFloat *format, guint bits)
{
  guint n = format->n_mantissa;
  guint top = (1u << format->n_exponent) - 1;
  guint mantissa = bits & ((1u << n) - 1);
  guint exponent = (bits >> n) & top;
  gboolean negative = (bits >> (n + format->n_exponent)) & 1;
  double value;

  if (format->fnuz && negative && exponent == 0 && mantissa == 0)
    return NAN;
  if (!format->fnuz && exponent == top && (format->has_infinity || mantissa == (1u << n) - 1))
    value = format->has_infinity && mantissa == 0 ? INFINITY : NAN;
  else if (exponent == 0)
    value = ldexp (mantissa, 1 - format->bias - (int) n);
  else
    value = ldexp ((1u << n) + mantissa, (int) exponent - format->bias - (int) n);
  return negative ? -value : value;
}

static guint
encode_special (const MiniFloat *format, guint sign, gboolean nan)
{
  guint n = format->n_mantissa;
  guint top = ((1u << format->n_exponent) - 1) << n;

  if (format->fnuz)
    return 1u << (n + format->n_exponent);
  if (!format->has_infinity)
    return sign | top | ((1u << n) - 1);
  return sign | top | (nan ? 1u << (n - 1) : 0);
}

static guint
encode (const MiniFloat *format, double value)
{
  guint n = format->n_mantissa;
  guint sign = signbit (value) ? 1u << (n + format->n_exponent) : 0;
  guint largest = (((1u << format->n_exponent) - 1) << n) | ((1u << n) - 1);
  double magnitude = fabs ((double) (float) value);
  int exponent;
  guint bits;

  if (isnan (value))
    return encode_special (format, sign, TRUE);
  if (isinf (magnitude))
    return encode_special (format, sign, FALSE);
  if (magnitude == 0.0)
    return format->fnuz ? 0 : sign;

  exponent = MAX (ilogb (magnitude), 1 - format->bias);
  if (exponent + format->bias >= 1 << format->n_exponent)
    return encode_special (format, sign, FALSE);

  /* A mantissa that rounds up to the next power of two carries into the exponent by itself. */
  bits = (guint) rint (ldexp (magnitude, (int) n - exponent));
  bits += (guint) (exponent + format->bias - 1) << n;

  if (format->has_infinity)
    largest = (((1u << format->n_exponent) - 1) << n) - 1;
  else if (!format->fnuz)
    largest--;
  if (bits > largest)
    return encode_special (format, sign, FALSE);
  return bits == 0 && format->fnuz ? 0 : sign | bits;
}

static guint
encode_bf16 (double value)
{
  float single = (float) value;
  guint32 bits;

  if (isnan (single))
    return 0x7fc0;
  memcpy (&bits, &single, sizeof bits);
  return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

static double
decode_bf16 (guint bits)
{
  guint32 wide = bits << 16;
  float single;

  memcpy (&single, &wide, sizeof single);
  return single;
}

/* -- One pair of functions per dtype ------------------------------------------------------- */

static AdjElement
from_integer (gint64 integer)
{
  return (AdjElement){ (double) integer, 0.0, integer, TRUE };
}

static AdjElement
from_complex (double real, double imaginary)
{
  return (AdjElement){ real, imaginary, 0, FALSE };
}

static gint64
to_integer (AdjElement element)
{
  if (element.is_integer)
    return element.integer;
  /* 2^63 and NaN fail the comparison. */
  if (!(element.real >= -0x1p63 && element.real < 0x1p63))
    return G_MININT64;
  return (gint64) element.real;
}

#define INTEGER(id, type)                                                                          \
  static AdjElement load_##id (const guint8 *at)                                                   \
  {                                                                                                \
    type value;                                                                                    \
                                                                                                   \
    memcpy (&value, at, sizeof value);                                                             \
    return from_integer ((gint64) value);                                                          \
  }                                                                                                \
                                                                                                   \
  static void store_##id (guint8 *at, AdjElement element)                                          \
  {                                                                                                \
    type value = (type) (guint64) to_integer (element);                                            \
                                                                                                   \
    memcpy (at, &value, sizeof value);                                                             \
  }

#define COMPLEX(id, type, from, to)                                                                \
  static AdjElement load_##id (const guint8 *at)                                                   \
  {                                                                                                \
    type parts[2];                                                                                 \
                                                                                                   \
    memcpy (parts, at, sizeof parts);                                                              \
    return from_complex (from (parts[0]), from (parts[1]));                                        \
  }                                                                                                \
                                                                                                   \
  static void store_##id (guint8 *at, AdjElement element)                                          \
  {                                                                                                \
    type parts[2] = { (type) to (element.real), (type) to (element.imaginary) };                   \
                                                                                                   \
    memcpy (at, parts, sizeof parts);                                                              \
  }

#define FLOAT(id, type, from, to)                                                                  \
  static AdjElement load_##id (const guint8 *at)                                                   \
  {                                                                                                \
    type value;                                                                                    \
                                                                                                   \
    memcpy (&value, at, sizeof value);                                                             \
    return from_complex (from (value), 0.0);                                                       \
  }                                                                                                \
                                                                                                   \
  static void store_##id (guint8 *at, AdjElement element)                                          \
  {                                                                                                \
    type value = (type) to (element.real);                                                         \
                                                                                                   \
    memcpy (at, &value, sizeof value);                                                             \
  }

#define SAME(x) (x)
#define DECODE_F16(bits) decode (&f16, (bits))
#define ENCODE_F16(value) encode (&f16, (value))
#define DECODE_F8E4M3FN(bits) decode (&f8e4m3fn, (bits))
#define ENCODE_F8E4M3FN(value) encode (&f8e4m3fn, (value))
#define DECODE_F8E5M2(bits) decode (&f8e5m2, (bits))
#define ENCODE_F8E5M2(value) encode (&f8e5m2, (value))
#define DECODE_F8E4M3FNUZ(bits) decode (&f8e4m3fnuz, (bits))
#define ENCODE_F8E4M3FNUZ(value) encode (&f8e4m3fnuz, (value))
#define DECODE_F8E5M2FNUZ(bits) decode (&f8e5m2fnuz, (bits))
#define ENCODE_F8E5M2FNUZ(value) encode (&f8e5m2fnuz, (value))

/* A power of two and nothing else. */
static double
decode_f8e8m0fnu (guint8 bits)
{
  return bits == 0xff ? NAN : ldexp (1.0, (int) bits - 127);
}

static guint8
encode_f8e8m0fnu (double value)
{
  int exponent;
  double fraction;

  if (!isfinite (value) || value < 0)
    return 0xff;
  fraction = frexp (value, &exponent);
  exponent += 126 + (fraction > 0.75 || (fraction == 0.75 && exponent % 2 == 0));
  return (guint8) CLAMP (value == 0 ? 0 : exponent, 0, 254);
}

INTEGER (U8, guint8)
INTEGER (I8, gint8)
INTEGER (I16, gint16)
INTEGER (I32, gint32)
INTEGER (I64, gint64)
INTEGER (U16, guint16)
INTEGER (U32, guint32)
INTEGER (U64, guint64)
INTEGER (B16, guint16)
INTEGER (B1X8, guint8)
FLOAT (F16, guint16, DECODE_F16, ENCODE_F16)
FLOAT (BF16, guint16, decode_bf16, encode_bf16)
FLOAT (F32, float, SAME, SAME)
FLOAT (F64, double, SAME, SAME)
FLOAT (F8E4M3FN, guint8, DECODE_F8E4M3FN, ENCODE_F8E4M3FN)
FLOAT (F8E5M2, guint8, DECODE_F8E5M2, ENCODE_F8E5M2)
FLOAT (F8E4M3FNUZ, guint8, DECODE_F8E4M3FNUZ, ENCODE_F8E4M3FNUZ)
FLOAT (F8E5M2FNUZ, guint8, DECODE_F8E5M2FNUZ, ENCODE_F8E5M2FNUZ)
FLOAT (F8E8M0FNU, guint8, decode_f8e8m0fnu, encode_f8e8m0fnu)
COMPLEX (C32, guint16, DECODE_F16, ENCODE_F16)
COMPLEX (C64, float, SAME, SAME)
COMPLEX (C128, double, SAME, SAME)

static AdjElement
load_BOOL (const guint8 *at)
{
  return from_integer (*at != 0);
}

static void
store_BOOL (guint8 *at, AdjElement element)
{
  *at = element.is_integer ? element.integer != 0 : element.real != 0.0 || element.imaginary != 0.0;
}

/* Two numbers in a byte: loaded and stored as the byte, never computed with. */
#define load_F4E2M1FNX2 load_U8
#define store_F4E2M1FNX2 store_U8

static const struct
{
  AdjElement (*load) (const guint8 *at);
  void (*store) (guint8 *at, AdjElement element);
} codecs[ADJ_N_DTYPES] = {
#define DTYPE(id, ...) [ADJ_DTYPE_##id] = { load_##id, store_##id },
#include "tensor/dtypes.inc"
#undef DTYPE
};

AdjElement
adj_element_load (AdjDType dtype, const guint8 *at)
{
  g_assert (dtype < ADJ_N_DTYPES);
  return codecs[dtype].load (at);
}

void
adj_element_store (AdjDType dtype, guint8 *at, AdjElement element)
{
  g_assert (dtype < ADJ_N_DTYPES);
  codecs[dtype].store (at, element);
}
