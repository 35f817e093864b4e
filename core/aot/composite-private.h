/* SPDX-License-Identifier: MIT */
#pragma once

#include "aot/aot-private.h"
#include "trace/adj-composite.h"

G_BEGIN_DECLS

/* How a value is composed of dense ones (aot/SPEC.md §7).  Counted, immutable. */
struct _AotComposite
{
  gatomicrefcount ref_count;
  const AdjCompositeClass *klass; /* (nullable): %NULL: the value is dense */
  AdjValue constant;              /* (owned) */
  AdjTensorMeta meta;             /* of a tensor */
  gboolean is_tensor;
  guint n_leaves;                     /* number of dense values in it */
  AotComposite *inner[ADJ_MAX_INNER]; /* (owned) */
};

AotComposite *aot_composite_describe (const AdjValue *value); /* (transfer full) */
/* Describes a gradient of @tensor: contiguous, with contiguous parts. (transfer full) */
AotComposite *aot_composite_describe_tangent (AdjTensor *tensor, AdjSymbols *symbols);
AotComposite *aot_composite_ref (AotComposite *composite);
void aot_composite_unref (AotComposite *composite);
/* Describes all of @values: AotComposite. (transfer full) */
GPtrArray *aot_composite_describe_all (const AdjValue *values, guint n);

/* Builds the value from @leaves, starting at @at, which advances. @out (transfer full). %FALSE: the
 * context is in error. */
gboolean aot_composite_wrap (AdjContext *cx,
                             const AotComposite *composite,
                             const AdjValue *leaves,
                             guint *at,
                             AdjValue *out);
/* Appends the dense parts of @value to @leaves, borrowed. */
void aot_composite_unwrap (const AdjValue *value, GArray *leaves);
/* Zeros, borrowed from the scope. */
AdjTensor *aot_composite_zeros (AdjContext *cx, const AotComposite *composite);

/* Makes the program's function one of dense tensors. */
gboolean aot_desugar (AotProgram *program, GError **error);
/* Fails where composite tensors are combined with something unsupported. Also sets whether there
 * are any. */
gboolean aot_check_composites (AotProgram *program, GError **error);

gboolean aot_stage_is_desugar (const AotStage *stage);
/* (transfer full): the compiled backward @dense, called with composite tangents. */
AdjFunction *aot_desugar_wrap_backward (AotStage *stage, AdjFunction *dense);

G_END_DECLS
