/* SPDX-License-Identifier: MIT */
#pragma once

#include "ops/matrices-private.h"

G_BEGIN_DECLS

/* LU factors P L U of matrices, stored in their place (lu.c). */
typedef struct
{
  OpMatrices lu;
  gint *pivots, *info; /* (owned): op_n_pivots() for each matrix, and one */
} OpLu;

static inline gint
op_n_pivots (const OpMatrices *m)
{
  return MIN (m->rows, m->columns);
}

/* Factorizes argument @arg, or its transposes, as PyTorch's kernels do if that needs no copy. */
gboolean op_lu_factorize (AdjOpCall *call, guint arg, gboolean transposed, OpLu *out);
void op_lu_clear (OpLu *factors);

/* Whether PyTorch factorizes the transposes of argument 0. */
gboolean op_lu_takes_transposes (const AdjOpCall *call);

/* Replaces @b by the X with A X = B, or X A = B, which is Aᵀ Xᵀ = Bᵀ; A or its transpose is given
 * by its factors, of which there are @n_lu. */
gboolean op_lu_solve (const AdjOpCall *call,
                      const OpMatrices *lu,
                      const gint *pivots,
                      gint64 n_lu,
                      OpMatrices *b,
                      gboolean left,
                      gboolean adjoint);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (OpLu, op_lu_clear)

G_END_DECLS
