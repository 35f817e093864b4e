/* SPDX-License-Identifier: MIT */
#pragma once

/* The operations of the classes: X (NAME, name).  Every class has those of OF_ALL. */
/* clang-format off */

#define OPS_OF_ALL(X)                                                                              \
  X (COPY, copy) X (ADD, add) X (SUB, sub) X (MUL, mul) X (FMA, fma) X (NEG, neg) X (ABS, abs)     \
  X (SIGN, sign) X (MIN, min) X (MAX, max) X (FMOD, fmod) X (REMAINDER, remainder)                 \
  X (FLOORDIV, floordiv) X (TRUNCDIV, truncdiv) X (FLOOR, floor) X (CEIL, ceil)                    \
  X (ROUND, round) X (TRUNC, trunc) X (EQ, eq) X (NE, ne) X (LT, lt) X (LE, le) X (GT, gt)         \
  X (GE, ge) X (AND, and) X (OR, or) X (XOR, xor) X (NOT, not) X (SELECT, select)                  \
  X (ISNAN, isnan) X (ISINF, isinf) X (POW, pow) X (COPYSIGN, copysign)

#define OPS_OF_FLOATS(X)                                                                           \
  X (DIV, div) X (SQRT, sqrt) X (RSQRT, rsqrt) X (RECIPROCAL, reciprocal) X (EXP, exp)             \
  X (EXPM1, expm1) X (EXP2, exp2) X (LOG, log) X (LOG1P, log1p) X (LOG2, log2) X (LOG10, log10)    \
  X (SIN, sin) X (COS, cos) X (TAN, tan) X (ASIN, asin) X (ACOS, acos) X (ATAN, atan)              \
  X (ATAN2, atan2) X (SINH, sinh) X (COSH, cosh) X (TANH, tanh) X (SIGMOID, sigmoid)               \
  X (ASINH, asinh) X (ACOSH, acosh) X (ATANH, atanh) X (ERF, erf) X (ERFC, erfc)                   \
  X (LGAMMA, lgamma) X (DIGAMMA, digamma) X (POLYGAMMA, polygamma) X (HYPOT, hypot)                \
  X (ERFINV, erfinv) X (ERFCX, erfcx) X (NDTRI, ndtri) X (I0, i0) X (I1, i1) X (I0E, i0e)          \
  X (I1E, i1e) X (K0, k0) X (K1, k1) X (K0E, k0e) X (K1E, k1e) X (J0, j0) X (J1, j1) X (Y0, y0)    \
  X (Y1, y1) X (ZETA, zeta) X (IGAMMA, igamma) X (IGAMMAC, igammac) X (CHEBYSHEV_T, chebyshev_t)   \
  X (CHEBYSHEV_U, chebyshev_u) X (CHEBYSHEV_V, chebyshev_v) X (CHEBYSHEV_W, chebyshev_w)           \
  X (HERMITE_H, hermite_h) X (HERMITE_HE, hermite_he) X (LAGUERRE, laguerre)                       \
  X (LEGENDRE, legendre) X (MVLGAMMA, mvlgamma)

#define OPS_OF_I64(X)                                                                              \
  X (BITAND, bitand) X (BITOR, bitor) X (BITXOR, bitxor) X (BITNOT, bitnot) X (SHL, shl)           \
  X (SHR, shr) X (GCD, gcd)

/* clang-format on */
