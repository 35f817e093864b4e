/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/adj-autograd.h"

G_BEGIN_DECLS

/* Short helpers for programs over tensors in tests of the tape.  Tensors are borrowed from the
 * context. */

/* Makes a context with an autograd mode above the kernels. */
AdjContext *tape_new (void);
/* Whether backwards of the context are captured: tests/compiled_autograd/captured-tape.c. */
gboolean tape_is_captured (void);

/* Makes a float64 tensor of one dimension, or of rank 0 if @n is 0. */
AdjTensor *tape_tensor (AdjContext *cx, guint n, const double *values);
AdjTensor *tape_leaf (AdjContext *cx, guint n, const double *values);
AdjTensor *tape_scalar (AdjContext *cx, double value); /* Makes a leaf of rank 0. */

/* Calls an aten operator such as "mul.Tensor" with positional arguments; an error fails the
 * test. */
AdjTensor *tape_call (AdjContext *cx, const char *name, guint n, const AdjValue *args);
#define CALL(cx, name, ...)                                                                        \
  tape_call ((cx), (name), G_N_ELEMENTS (((const AdjValue[]){ __VA_ARGS__ })),                     \
             (const AdjValue[]){ __VA_ARGS__ })
/* Like tape_call(); returns %FALSE on an error. */
gboolean tape_try (AdjContext *cx, const char *name, guint n, const AdjValue *args);
#define T(t) ADJ_TENSOR (t)
#define LIST(...)                                                                                  \
  ((AdjValue){ .kind = ADJ_VALUE_LIST,                                                             \
               .n = G_N_ELEMENTS (((AdjValue[]){ __VA_ARGS__ })),                                  \
               .items = (AdjValue[]){ __VA_ARGS__ } })

/* Runs backward from one tensor with gradient 1. */
void tape_backward (AdjContext *cx, AdjTensor *root, AdjBackwardFlags flags);

double tape_at (AdjTensor *tensor, gint64 index);
void tape_assert_error (AdjContext *cx, AdjError code, const char *text);

G_END_DECLS
