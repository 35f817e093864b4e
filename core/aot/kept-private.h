/* SPDX-License-Identifier: MIT */
#pragma once

#include "aot/boundary-private.h"
#include "autograd/adj-engine-internal.h"

G_BEGIN_DECLS

/* What a call of a compiled forward keeps for its backward. */

typedef struct
{
  AdjValue value; /* (owned): TENSOR, or an object as it is */
  guint32 version;
} AotSavedValue;

typedef struct
{
  AotBoundary *boundary; /* (owned) */
  guint n_inputs;        /* of the function */
  gint *input_of;        /* by edge: the input it belongs to */
  guint n_edges;
  guint n_returns;      /* forward returns */
  gint *grad_of;        /* by return: which gradient arrives for it; -1: none does */
  AdjTensorMeta *metas; /* by return */
  GArray *values;       /* AotSavedValue */
  AdjValue *sizes;
  guint n_sizes;
} AotKept;

/* (transfer full) */
AotKept *aot_kept_new (AotBoundary *boundary, guint n_args);
void aot_kept_free (gpointer kept);

/* The backward of an AdjCustomGrad: runs the compiled one on what was kept and what comes in.
 * @data: an AotKept */
gboolean aot_kept_run_backward (AdjContext *cx,
                                AdjTensor *const *grads,
                                guint n_grads,
                                AdjTensor **grad_inputs,
                                guint n_inputs,
                                gpointer data);
/* What the backward computes with.  @data: an AotKept */
gboolean aot_kept_visit (gpointer data, GradVisitor *visitor);

G_END_DECLS
