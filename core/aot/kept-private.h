/* SPDX-License-Identifier: MIT */
#pragma once

#include "aot/boundary-private.h"
#include "autograd/adj-engine-internal.h"

G_BEGIN_DECLS

/* Values that a call of a compiled forward keeps for its backward. */

typedef struct
{
  AdjValue value; /* (owned): TENSOR, or an object as it is */
  guint32 version;
} AotSavedValue;

typedef struct
{
  AotBoundary *boundary; /* (owned) */
  guint n_inputs;        /* of the forward */
  gint *input_of;        /* by edge: index of its input */
  guint n_edges;
  guint n_returns;      /* number of forward returns */
  gint *grad_of;        /* by return: index of its gradient; -1: it has none */
  AdjTensorMeta *metas; /* by return */
  GArray *values;       /* AotSavedValue */
  AdjValue *sizes;
  guint n_sizes;
} AotKept;

/* (transfer full) */
AotKept *aot_kept_new (AotBoundary *boundary, guint n_args);
void aot_kept_free (gpointer kept);

/* The backward of an AdjCustomGrad: runs the compiled backward with the kept values and the
 * gradients. @data: an AotKept */
gboolean aot_kept_run_backward (AdjContext *cx,
                                AdjTensor *const *grads,
                                guint n_grads,
                                AdjTensor **grad_inputs,
                                guint n_inputs,
                                gpointer data);
/* Visits the values that the backward reads.  @data: an AotKept */
gboolean aot_kept_visit (gpointer data, GradVisitor *visitor);

G_END_DECLS
