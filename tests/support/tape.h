/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/adj-autograd.h"

G_BEGIN_DECLS

/* Small programs over tensors, for tests of the tape.  Tensors are borrowed from the context. */

/* Records on top of the kernels. */
AdjContext *tape_new (void);
/* Whether its backwards are captured: tests/compiled_autograd/captured-tape.c. */
gboolean tape_is_captured (void);

/* float64 of one dimension; rank 0 when @n is 0. */
AdjTensor *tape_tensor (AdjContext *cx, guint n, const double *values);
AdjTensor *tape_leaf (AdjContext *cx, guint n, const double *values);
AdjTensor *tape_scalar (AdjContext *cx, double value); /* a leaf without dimensions */

/* Calls "mul.Tensor" of aten with positional arguments; fails the test when it fails. */
AdjTensor *tape_call (AdjContext *cx, const char *name, guint n, const AdjValue *args);
#define CALL(cx, name, ...)                                                                        \
  tape_call ((cx), (name), G_N_ELEMENTS (((const AdjValue[]){ __VA_ARGS__ })),                     \
             (const AdjValue[]){ __VA_ARGS__ })
/* The same, where it may fail. */
gboolean tape_try (AdjContext *cx, const char *name, guint n, const AdjValue *args);
#define T(t) ADJ_TENSOR (t)
#define LIST(...)                                                                                  \
  ((AdjValue){ .kind = ADJ_VALUE_LIST,                                                             \
               .n = G_N_ELEMENTS (((AdjValue[]){ __VA_ARGS__ })),                                  \
               .items = (AdjValue[]){ __VA_ARGS__ } })

/* Backward from one tensor with gradient 1. */
void tape_backward (AdjContext *cx, AdjTensor *root, AdjBackwardFlags flags);

double tape_at (AdjTensor *tensor, gint64 index);
void tape_assert_error (AdjContext *cx, AdjError code, const char *text);

G_END_DECLS
