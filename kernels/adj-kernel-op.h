/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* The operations of the pointwise register machine (adj_k_pointwise()). */

typedef enum
{
  ADJ_K_CLASS_F32,
  ADJ_K_CLASS_F64,
  ADJ_K_CLASS_I64,
  ADJ_K_CLASS_N
} AdjKClass;

/* X (NAME, name, arity): arity counts register operands.  Operands are a, b, c in this order.
 *
 *   const       dst = imm (imm.i in class I64, else imm.f)       load     dst = input number imm.i
 *   fma         a * b + c, rounded once                          select   a != 0 ? b : c
 *   min max     NaN if either is NaN                             and or xor not   logical, 1 or 0
 *   fmod        sign of a         remainder   sign of b          round    half to even
 *   floordiv    Python's //       truncdiv    toward zero        sign     0 for NaN
 *   comparisons, isnan, isinf: 1 or 0        bit*, shl, shr, gcd: class I64 only
 *
 *   polygamma   the derivative of order a of digamma, at b
 *   mvlgamma    ln Γ of a dimensions, at b
 *   erfcx       e^(x²) erfc x         ndtri    inverse of the normal distribution
 *   i0 … k1     modified Bessel functions, i0e … k1e without their e^±x; j0 … y1 the plain ones
 *   zeta        Hurwitz' Σ (b + k)^−a
 *   igamma, igammac   the lower and the upper part of Γ (a) at b
 *   chebyshev_t … legendre            orthogonal polynomials at a, of degree b
 *   laguerre, legendre, mvlgamma      NaN of degrees above 65,536
 *
 * Class I64 has no div (use floordiv, truncdiv, or a float class) and no transcendental functions;
 * floor, ceil, round, trunc are the identity there. */
/* clang-format off */
#define ADJ_K_OPS(X)                                                                               \
  X (CONST, const, 0) X (LOAD, load, 0) X (COPY, copy, 1)                                          \
  X (ADD, add, 2) X (SUB, sub, 2) X (MUL, mul, 2) X (DIV, div, 2) X (FMA, fma, 3)                  \
  X (NEG, neg, 1) X (ABS, abs, 1) X (SIGN, sign, 1) X (MIN, min, 2) X (MAX, max, 2)                \
  X (FMOD, fmod, 2) X (REMAINDER, remainder, 2)                                                    \
  X (FLOORDIV, floordiv, 2) X (TRUNCDIV, truncdiv, 2)                                              \
  X (FLOOR, floor, 1) X (CEIL, ceil, 1) X (ROUND, round, 1) X (TRUNC, trunc, 1)                    \
  X (EQ, eq, 2) X (NE, ne, 2) X (LT, lt, 2) X (LE, le, 2) X (GT, gt, 2) X (GE, ge, 2)              \
  X (AND, and, 2) X (OR, or, 2) X (XOR, xor, 2) X (NOT, not, 1) X (SELECT, select, 3)              \
  X (ISNAN, isnan, 1) X (ISINF, isinf, 1)                                                          \
  X (BITAND, bitand, 2) X (BITOR, bitor, 2) X (BITXOR, bitxor, 2) X (BITNOT, bitnot, 1)            \
  X (SHL, shl, 2) X (SHR, shr, 2) X (GCD, gcd, 2)                                                  \
  X (SQRT, sqrt, 1) X (RSQRT, rsqrt, 1) X (RECIPROCAL, reciprocal, 1)                              \
  X (EXP, exp, 1) X (EXPM1, expm1, 1) X (EXP2, exp2, 1)                                            \
  X (LOG, log, 1) X (LOG1P, log1p, 1) X (LOG2, log2, 1) X (LOG10, log10, 1) X (POW, pow, 2)        \
  X (SIN, sin, 1) X (COS, cos, 1) X (TAN, tan, 1)                                                  \
  X (ASIN, asin, 1) X (ACOS, acos, 1) X (ATAN, atan, 1) X (ATAN2, atan2, 2)                        \
  X (SINH, sinh, 1) X (COSH, cosh, 1) X (TANH, tanh, 1) X (SIGMOID, sigmoid, 1)                    \
  X (ASINH, asinh, 1) X (ACOSH, acosh, 1) X (ATANH, atanh, 1)                                      \
  X (ERF, erf, 1) X (ERFC, erfc, 1) X (LGAMMA, lgamma, 1) X (DIGAMMA, digamma, 1)                  \
  X (ERFINV, erfinv, 1) X (ERFCX, erfcx, 1) X (NDTRI, ndtri, 1) X (I0, i0, 1) X (I1, i1, 1)        \
  X (I0E, i0e, 1) X (I1E, i1e, 1) X (K0, k0, 1) X (K1, k1, 1) X (K0E, k0e, 1) X (K1E, k1e, 1)      \
  X (J0, j0, 1) X (J1, j1, 1) X (Y0, y0, 1) X (Y1, y1, 1) X (ZETA, zeta, 2)                        \
  X (IGAMMA, igamma, 2) X (IGAMMAC, igammac, 2) X (CHEBYSHEV_T, chebyshev_t, 2)                    \
  X (CHEBYSHEV_U, chebyshev_u, 2) X (CHEBYSHEV_V, chebyshev_v, 2)                                  \
  X (CHEBYSHEV_W, chebyshev_w, 2) X (HERMITE_H, hermite_h, 2) X (HERMITE_HE, hermite_he, 2)        \
  X (LAGUERRE, laguerre, 2) X (LEGENDRE, legendre, 2)                                              \
  X (MVLGAMMA, mvlgamma, 2) X (POLYGAMMA, polygamma, 2) X (HYPOT, hypot, 2) X (COPYSIGN, copysign, 2)
/* clang-format on */

typedef enum
{
#define ADJ_K_OP_ENUM(NAME, name, arity) ADJ_K_OP_##NAME,
  ADJ_K_OPS (ADJ_K_OP_ENUM)
#undef ADJ_K_OP_ENUM
      ADJ_K_OP_N
} AdjKOp;

const char *adj_k_op_get_name (AdjKOp op);
int adj_k_op_get_arity (AdjKOp op);
bool adj_k_op_has_class (AdjKOp op, AdjKClass klass);

/* The op called @name, or ADJ_K_OP_N. */
AdjKOp adj_k_op_find (const char *name);
