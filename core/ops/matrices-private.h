/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-lapack.h"

#include "ops/kernel-private.h"

G_BEGIN_DECLS

/* Shared by operators of linear algebra.  LAPACK gets f64, column-major, matrix by matrix; results
 * are rounded once. */

/* -- for meta functions -- */

/* Argument @arg, a floating or complex tensor of at least @rank dimensions; fails the call. */
const AdjTensorMeta *op_matrix_meta (const AdjOpCall *call, guint arg, guint rank);
/* The same, and square. */
const AdjTensorMeta *op_square_meta (const AdjOpCall *call, guint arg);

/* A result with the leading @n_batch sizes of @batch and matrices of these sizes; column-major if
 * @by_columns. */
AdjOpResult *op_add_matrices (AdjOpCall *call,
                              AdjDType dtype,
                              const AdjShape *batch,
                              guint n_batch,
                              AdjSize rows,
                              AdjSize columns,
                              gboolean by_columns);
/* As many vectors of @size elements, or scalars. */
AdjOpResult *op_add_vectors (
    AdjOpCall *call, AdjDType dtype, const AdjShape *batch, guint n_batch, AdjSize size);
AdjOpResult *op_add_numbers (AdjOpCall *call, AdjDType dtype, const AdjShape *batch, guint n_batch);
/* Results for the square matrices @a: one like them, column-major; a pivot for each row; and
 * LAPACK's info, one integer for each. */
void op_add_square (AdjOpCall *call, const AdjTensorMeta *a);
void op_add_pivots (AdjOpCall *call, const AdjTensorMeta *a);
void op_add_info (AdjOpCall *call, const AdjTensorMeta *a);
/* An empty result. */
AdjOpResult *op_add_nothing (AdjOpCall *call, AdjDType dtype);

/* The leading sizes of two shapes of matrices, broadcast; those of @out are all of @out. */
gboolean op_broadcast_batches (const AdjOpCall *call,
                               const AdjShape *a,
                               guint n_a,
                               const AdjShape *b,
                               guint n_b,
                               AdjShape *out);

/* -- for kernels -- */

typedef struct
{
  gboolean z; /* complex numbers, as pairs */
  gint64 n;   /* number of matrices */
  gint rows, columns;
  double *data; /* (owned) */
} OpMatrices;

/* Fails the call if LAPACK is not available. */
gboolean op_open_lapack (const AdjOpCall *call);

/* Zeros; fails the call if they do not fit in memory. */
gboolean op_matrices_new (
    const AdjOpCall *call, gboolean z, gint64 n, gint64 rows, gint64 columns, OpMatrices *out);
/* Loads argument @arg, its leading sizes expanded to those of @batch (nullable); as pairs if @z.
 * With @n_dims 1 its vectors, as columns. */
gboolean op_matrices_load (
    AdjOpCall *call, guint arg, const AdjShape *batch, guint n_dims, gboolean z, OpMatrices *out);
/* Stores into result @result, which may have fewer rows and columns; with @n_dims 1 vectors, with 0
 * scalars. */
gboolean op_matrices_store (AdjOpCall *call, guint result, guint n_dims, const OpMatrices *from);
void op_matrices_clear (OpMatrices *matrices);

/* Clears each matrix below (above) the diagonal. */
void op_matrices_keep_triangle (const OpMatrices *m, gboolean upper);
/* @m transposed; fails the call if that does not fit in memory. */
gboolean op_matrices_transpose (const AdjOpCall *call,
                                const OpMatrices *m,
                                gboolean conjugate,
                                OpMatrices *out);

static inline gsize
op_matrices_step (const OpMatrices *m)
{
  return (gsize) m->rows * (gsize) m->columns * (m->z ? 2 : 1);
}

/* Matrix @i. */
static inline double *
op_matrix (const OpMatrices *m, gint64 i)
{
  return m->data + (gsize) i * op_matrices_step (m);
}

static inline double *
op_matrix_at (const OpMatrices *m, double *matrix, gint row, gint column)
{
  return matrix + ((gsize) column * (gsize) m->rows + (gsize) row) * (m->z ? 2 : 1);
}

/* Integers (pivots, LAPACK's info), one row for each matrix. */
gint *op_integers_load (const AdjOpCall *call, guint arg, const AdjShape *batch, guint n_dims);
gboolean op_integers_store (const AdjOpCall *call, guint result, const gint *integers);

/* Whether argument @arg is complex. */
gboolean op_argument_is_paired (const AdjOpCall *call, guint arg);

/* Fails the call with LAPACK's error @info for matrix @i. */
gboolean op_lapack_failed (const AdjOpCall *call, gint64 i, gint info);

/* The number of matrices in @shape; with @n_dims 1, of vectors. */
gint64 op_count_batch (const AdjShape *shape, guint n_dims);

/* LAPACK's letter for a triangle. */
static inline char
op_triangle (gboolean upper)
{
  return upper ? 'U' : 'L';
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (OpMatrices, op_matrices_clear)

/* -- systems and factors (linear-system.c) -- */

/* Adds X with the shape of argument @b, whose rows (columns if not @left) must match argument @a.
 */
gboolean op_solution_meta (AdjOpCall *call, guint a, guint b, gboolean left, gboolean by_columns);
/* A factor or inverse of argument 0, and LAPACK's info. */
gboolean op_square_with_info_meta (AdjOpCall *call);

/* Loads both arguments, expanded to the leading sizes of result 0; fails the call without LAPACK.
 */
gboolean op_load_system (AdjOpCall *call, guint a_arg, guint b_arg, OpMatrices *a, OpMatrices *b);

/* The pivots in argument @arg of each matrix; %NULL: the call failed. */
gint *op_load_pivots (const AdjOpCall *call, guint arg);

/* The order of the matrices of argument 0. */
double op_order_reduction (const AdjOpCall *call);
double op_factor_flops (const AdjOpCall *call);
double op_solve_flops (const AdjOpCall *call);

G_END_DECLS
