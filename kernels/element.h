/* SPDX-License-Identifier: MIT */
#pragma once

/* The compute classes as functions of one element, made from the rows that the loops of the CPU
 * use: for devices, and for code that is compiled at run time.  For class f32: f32_load (data,
 * type, i), f32_store (data, type, i, x), f32_op (op, x, y, z), f32_sum (x, y), f32_prod, f32_max,
 * f32_min, f32_identity (kind) …, and f32_load_bf16, f32_read_bf16 (element), f32_written_bf16 (x)
 * of each type; the same for f64 and i64.  DEVICE is the storage class of its functions, which the
 * includer may define. */

#include "adj-kernels.h"
#include "cpu/class-ops.h"
#include "cpu/vector-math.h"

#ifndef DEVICE
#define DEVICE static inline __attribute__ ((always_inline, unused))
#endif

/* X (TYPE, name) */
#define KERNEL_TYPES(X)                                                                            \
  X (BOOL, bool)                                                                                   \
  X (U8, u8)                                                                                       \
  X (I8, i8)                                                                                       \
  X (I16, i16) X (I32, i32) X (I64, i64) X (F16, f16) X (BF16, bf16) X (F32, f32) X (F64, f64)

#define CLASS f32
#define T float
#define U float
#define OF_FLOAT(x) (x)
#define OF_DOUBLE(x) (x)
#define TO_I32(x) i32_of_f32 (x)
#define TO_I64(x) i64_of_f32 (x)
#define LOWEST (-INFINITY)
#define HIGHEST INFINITY
#define ABOVE(x, y) (((x) > (y)) | ((x) != (x)))
#define BELOW(x, y) (((x) < (y)) | ((x) != (x)))
#define CLASS_ROWS "cpu/loops-float.inc"
#define CLASS_OPS OPS_OF_FLOATS
#include "element-class.inc"

#define CLASS f64
#define T double
#define U double
#define OF_FLOAT(x) (x)
#define OF_DOUBLE(x) (x)
#define TO_I32(x) i32_of_f64 (x)
#define TO_I64(x) i64_of_f64 (x)
#define LOWEST (-(double) INFINITY)
#define HIGHEST ((double) INFINITY)
#define ABOVE(x, y) (((x) > (y)) | ((x) != (x)))
#define BELOW(x, y) (((x) < (y)) | ((x) != (x)))
#define CLASS_ROWS "cpu/loops-float.inc"
#define CLASS_OPS OPS_OF_FLOATS
#include "element-class.inc"

#define CLASS i64
#define T int64_t
#define U uint64_t
#define OF_FLOAT(x) i64_of_f32 (x)
#define OF_DOUBLE(x) i64_of_f64 (x)
#define TO_I32(x) (x)
#define TO_I64(x) (x)
#define LOWEST INT64_MIN
#define HIGHEST INT64_MAX
#define ABOVE(x, y) ((x) > (y))
#define BELOW(x, y) ((x) < (y))
#define CLASS_ROWS "cpu/loops-int.inc"
#define CLASS_OPS OPS_OF_I64
#include "element-class.inc"
