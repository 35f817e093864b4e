/* SPDX-License-Identifier: MIT */
/* Eigenvalues, singular values, and functions of them. */

#include <float.h>
#include <math.h>
#include <string.h>

#include "ops/spectral-private.h"
#include "ops/table-private.h"

/* -- shapes -- */

gboolean
op_read_sides (const AdjOpCall *call, guint arg, OpSides *out)
{
  out->meta = op_matrix_meta (call, arg, 2);
  if (out->meta == NULL)
    return FALSE;
  out->batch = out->meta->shape.rank - 2;
  out->m = out->meta->shape.size[out->batch];
  out->n = out->meta->shape.size[out->batch + 1];
  out->k = adj_size_apply (op_symbols (call), ADJ_SIZE_MIN, out->m, out->n);
  return TRUE;
}

void
op_add_sides (AdjOpCall *call, const OpSides *s, AdjSize rows, AdjSize columns)
{
  op_add_matrices (call, s->meta->dtype, &s->meta->shape, s->batch, rows, columns, TRUE);
}

static gboolean
eigh_meta (AdjOpCall *call)
{
  const AdjTensorMeta *a = op_square_meta (call, 0);
  const char *uplo = adj_op_call_string (call, 1, "L");
  OpSides s;

  if (a == NULL || !op_read_sides (call, 0, &s))
    return FALSE;
  if (strchr ("LUlu", *uplo) == NULL || *uplo == '\0' || uplo[1] != '\0')
    return adj_op_call_fail (call, "Expected UPLO argument to be 'L' or 'U', but got %s", uplo);
  op_add_vectors (call, adj_dtype_get_real (a->dtype), &a->shape, s.batch, s.n);
  if (adj_op_call_bool (call, 2))
    op_add_sides (call, &s, s.n, s.n);
  else
    op_add_nothing (call, a->dtype);
  return TRUE;
}

static gboolean
svd_meta (AdjOpCall *call)
{
  gboolean full = adj_op_call_bool (call, 1), vectors = adj_op_call_bool (call, 2);
  OpSides s;

  if (!op_read_sides (call, 0, &s))
    return FALSE;
  if (call->args[3].kind != ADJ_VALUE_NONE)
    return adj_op_call_fail (call, "keyword argument `driver=` is only supported on CUDA inputs");
  if (vectors)
    op_add_sides (call, &s, s.m, full ? s.m : s.k);
  else
    op_add_nothing (call, s.meta->dtype);
  op_add_vectors (call, adj_dtype_get_real (s.meta->dtype), &s.meta->shape, s.batch, s.k);
  if (vectors)
    op_add_sides (call, &s, full ? s.n : s.k, s.n);
  else
    op_add_nothing (call, s.meta->dtype);
  return TRUE;
}

static AdjDType
complex_of (AdjDType dtype)
{
  return adj_dtype_get_real (dtype) == ADJ_DTYPE_F64 ? ADJ_DTYPE_C128 : ADJ_DTYPE_C64;
}

static gboolean
eigvals_meta (AdjOpCall *call)
{
  const AdjTensorMeta *a = op_square_meta (call, 0);
  OpSides s;

  if (a == NULL || !op_read_sides (call, 0, &s))
    return FALSE;
  op_add_vectors (call, complex_of (a->dtype), &a->shape, s.batch, s.n);
  return TRUE;
}

static gboolean
eig_meta (AdjOpCall *call)
{
  OpSides s;

  if (!eigvals_meta (call) || !op_read_sides (call, 0, &s))
    return FALSE;
  op_add_matrices (call, complex_of (s.meta->dtype), &s.meta->shape, s.batch, s.n, s.n, TRUE);
  return TRUE;
}

static void
eig_traced (AdjOpCall *call)
{
  AdjShape *shape = &call->results[1].meta.shape;

  adj_shape_init (shape, op_symbols (call), shape->rank, shape->size);
}

static gboolean
pinv_meta (AdjOpCall *call)
{
  OpSides s;

  if (!op_read_sides (call, 0, &s))
    return FALSE;
  op_add_matrices (call, s.meta->dtype, &s.meta->shape, s.batch, s.n, s.m, FALSE);
  return !adj_op_call_bool (call, 3) || op_square_meta (call, 0) != NULL;
}

static gboolean
matrix_exp_meta (AdjOpCall *call)
{
  const AdjTensorMeta *a = adj_op_call_meta (call, 0);
  guint rank = a->shape.rank;

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (rank < 2 || !adj_dtype_is_differentiable (a->dtype) ||
      !adj_size_test (op_symbols (call), ADJ_SIZE_EQ, a->shape.size[rank - 1],
                      a->shape.size[rank - 2]))
    return adj_op_call_fail (call, "needs square matrices of floating point or complex numbers");
  op_add_contiguous (call, a->dtype, rank, a->shape.size);
  return TRUE;
}

/* -- eigenvalues -- */

static gboolean
eigh_kernel (AdjOpCall *call)
{
  gboolean vectors = adj_op_call_bool (call, 2);
  char uplo = *adj_op_call_string (call, 1, "L") % 32 == 'U' % 32 ? 'U' : 'L';
  g_auto (OpMatrices) a = { 0 };
  g_auto (OpMatrices) w = { 0 };

  if (!op_open_lapack (call) || !op_matrices_load (call, 0, NULL, 2, FALSE, &a) ||
      !op_matrices_new (call, FALSE, a.n, a.rows, 1, &w))
    return FALSE;
  for (gint64 i = 0; i < a.n; i++)
    {
      gint info =
          adj_lapack_syevd (a.z, vectors, uplo, a.rows, op_matrix (&a, i), op_matrix (&w, i));

      if (info != 0)
        return op_lapack_failed (call, i, info);
    }
  return op_matrices_store (call, 0, 1, &w) && (!vectors || op_matrices_store (call, 1, 2, &a));
}

static gboolean
eig_kernel (AdjOpCall *call)
{
  gboolean vectors = call->n_results > 1;
  g_auto (OpMatrices) a = { 0 };
  g_auto (OpMatrices) w = { 0 };
  g_auto (OpMatrices) v = { 0 };

  if (!op_open_lapack (call) || !op_matrices_load (call, 0, NULL, 2, FALSE, &a) ||
      !op_matrices_new (call, TRUE, a.n, a.rows, 1, &w) ||
      !op_matrices_new (call, TRUE, a.n, a.rows, a.rows, &v))
    return FALSE;
  for (gint64 i = 0; i < a.n; i++)
    {
      gint info = adj_lapack_geev (a.z, a.rows, op_matrix (&a, i), op_matrix (&w, i),
                                   vectors ? op_matrix (&v, i) : NULL);

      if (info != 0)
        return op_lapack_failed (call, i, info);
    }
  return op_matrices_store (call, 0, 1, &w) && (!vectors || op_matrices_store (call, 1, 2, &v));
}

/* -- singular values -- */

typedef struct
{
  OpMatrices u, s, vh;
} Singular;

static void
singular_clear (Singular *singular)
{
  op_matrices_clear (&singular->u);
  op_matrices_clear (&singular->s);
  op_matrices_clear (&singular->vh);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Singular, singular_clear)

/* Fills the upper triangles from the lower ones; only those and the real parts of diagonals are
 * read. */
static void
mirror (const OpMatrices *m)
{
  for (gint64 i = 0; i < m->n; i++)
    for (gint column = 0; column < m->columns; column++)
      {
        for (gint row = 0; row < column; row++)
          {
            const double *from = op_matrix_at (m, op_matrix (m, i), column, row);
            double *to = op_matrix_at (m, op_matrix (m, i), row, column);

            to[0] = from[0];
            if (m->z)
              to[1] = -from[1];
          }
        if (m->z && column < m->rows)
          op_matrix_at (m, op_matrix (m, i), column, column)[1] = 0;
      }
}

/* Decomposes argument 0; @job as in LAPACK. */
static gboolean
decompose (AdjOpCall *call, char job, gboolean hermitian, Singular *out)
{
  g_auto (OpMatrices) a = { 0 };
  gint k;

  if (!op_open_lapack (call) || !op_matrices_load (call, 0, NULL, 2, FALSE, &a))
    return FALSE;
  if (hermitian)
    mirror (&a);
  k = MIN (a.rows, a.columns);
  if (!op_matrices_new (call, FALSE, a.n, k, 1, &out->s) ||
      !op_matrices_new (call, a.z, a.n, a.rows, job == 'A' ? a.rows : k, &out->u) ||
      !op_matrices_new (call, a.z, a.n, job == 'A' ? a.columns : k, a.columns, &out->vh))
    return FALSE;
  for (gint64 i = 0; i < a.n; i++)
    {
      gint info =
          adj_lapack_gesdd (a.z, job, a.rows, a.columns, op_matrix (&a, i), op_matrix (&out->s, i),
                            op_matrix (&out->u, i), op_matrix (&out->vh, i));

      if (info != 0)
        return op_lapack_failed (call, i, info);
    }
  return TRUE;
}

static gboolean
svd_kernel (AdjOpCall *call)
{
  gboolean vectors = adj_op_call_bool (call, 2);
  g_auto (Singular) f = { 0 };

  return decompose (call,
                    !vectors                     ? 'N'
                    : adj_op_call_bool (call, 1) ? 'A'
                                                 : 'S',
                    FALSE, &f) &&
         op_matrices_store (call, 1, 1, &f.s) &&
         (!vectors ||
          (op_matrices_store (call, 0, 2, &f.u) && op_matrices_store (call, 2, 2, &f.vh)));
}

/* Reads one tolerance per matrix; the default is @if_none. */
static gboolean
load_tolerance (AdjOpCall *call, guint arg, gint64 n, double if_none, double *out)
{
  AdjShape batch = adj_op_call_meta (call, 0)->shape;
  g_auto (OpMatrices) given = { 0 };

  batch.rank -= 2;
  if (call->args[arg].kind == ADJ_VALUE_NONE)
    {
      for (gint64 i = 0; i < n; i++)
        out[i] = if_none;
      return TRUE;
    }
  if (!op_matrices_load (call, arg, &batch, 0, FALSE, &given))
    return FALSE;
  for (gint64 i = 0; i < n; i++)
    out[i] = op_matrix (&given, i)[0];
  return TRUE;
}

/* V diag (1 / s) Uᴴ over the singular values larger than @least. */
static void
invert (const Singular *f, gint64 i, double least, OpMatrices *out)
{
  gint width = f->u.z ? 2 : 1;

  for (gint k = 0; k < f->s.rows; k++)
    {
      double s = op_matrix (&f->s, i)[k];

      for (gint column = 0; s > least && column < f->u.rows; column++)
        for (gint row = 0; row < f->vh.columns; row++)
          {
            const double *u = op_matrix_at (&f->u, op_matrix (&f->u, i), column, k);
            const double *v = op_matrix_at (&f->vh, op_matrix (&f->vh, i), k, row);
            double *to = op_matrix_at (out, op_matrix (out, i), row, column);

            to[0] += (v[0] * u[0] - (width > 1 ? v[1] * u[1] : 0)) / s;
            if (width > 1)
              to[1] -= (v[0] * u[1] + v[1] * u[0]) / s;
          }
    }
}

/* Singular values of a symmetric matrix are the absolute values of its eigenvalues, so that
 * `hermitian` only means that one triangle is read. */
static gboolean
pinv_kernel (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  double epsilon = adj_dtype_get_real (self->dtype) == ADJ_DTYPE_F64 ? DBL_EPSILON : FLT_EPSILON;
  g_autofree double *atol = NULL, *rtol = NULL;
  g_auto (Singular) f = { 0 };
  g_auto (OpMatrices) x = { 0 };

  if (!decompose (call, 'S', adj_op_call_bool (call, 3), &f) ||
      !op_matrices_new (call, f.u.z, f.u.n, f.vh.columns, f.u.rows, &x))
    return FALSE;
  atol = g_new (double, f.u.n + 1);
  rtol = g_new (double, f.u.n + 1);
  if (!load_tolerance (call, 1, f.u.n, 0, atol) ||
      !load_tolerance (call, 2, f.u.n,
                       call->args[1].kind != ADJ_VALUE_NONE
                           ? 0
                           : epsilon * (double) MAX (f.u.rows, f.vh.columns),
                       rtol))
    return FALSE;
  for (gint64 i = 0; i < x.n; i++)
    if (f.s.rows > 0)
      invert (&f, i, MAX (atol[i], rtol[i] * op_matrix (&f.s, i)[0]), &x);
  return op_matrices_store (call, 0, 2, &x);
}

/* -- exponential -- */

/* out = a · b, n × n. */
static void
multiply (const OpMatrices *m, const double *a, const double *b, double *out)
{
  gint n = m->rows, width = m->z ? 2 : 1;

  memset (out, 0, op_matrices_step (m) * sizeof *out);
  for (gint column = 0; column < n; column++)
    for (gint k = 0; k < n; k++)
      for (gint row = 0; row < n; row++)
        {
          const double *x = a + (k * n + row) * width, *y = b + (column * n + k) * width;
          double *to = out + (column * n + row) * width;

          to[0] += x[0] * y[0] - (width > 1 ? x[1] * y[1] : 0);
          if (width > 1)
            to[1] += x[0] * y[1] + x[1] * y[0];
        }
}

static double
norm_1 (const OpMatrices *m, const double *a)
{
  double norm = 0;

  for (gint column = 0; column < m->columns; column++)
    {
      double sum = 0;

      for (gint row = 0; row < m->rows; row++)
        {
          const double *x = op_matrix_at (m, (double *) a, row, column);

          sum += hypot (x[0], m->z ? x[1] : 0);
        }
      norm = MAX (norm, sum);
    }
  return norm;
}

#define N_TERMS 20

/* Taylor series of A / 2ˢ, whose norm is below a half, squared s times. */
static void
exponentiate (const OpMatrices *m, double *a, double *term, double *next, double *sum)
{
  gsize step = op_matrices_step (m);
  double norm = norm_1 (m, a), factor = 1;
  guint squarings = 0;

  for (; norm * factor > 0.5 && squarings < 1100; squarings++)
    factor /= 2;
  for (gsize i = 0; i < step; i++)
    a[i] *= factor;
  memset (term, 0, step * sizeof *term);
  for (gint i = 0; i < m->rows; i++)
    *op_matrix_at (m, term, i, i) = 1;
  memcpy (sum, term, step * sizeof *sum);
  for (guint k = 1; k <= N_TERMS; k++)
    {
      multiply (m, term, a, next);
      for (gsize i = 0; i < step; i++)
        sum[i] += term[i] = next[i] / k;
    }
  while (squarings-- > 0)
    {
      multiply (m, sum, sum, next);
      memcpy (sum, next, step * sizeof *sum);
    }
}

static gboolean
matrix_exp_kernel (AdjOpCall *call)
{
  g_auto (OpMatrices) a = { 0 };
  g_autofree double *work = NULL;
  gsize step;

  if (!op_matrices_load (call, 0, NULL, 2, FALSE, &a))
    return FALSE;
  step = op_matrices_step (&a);
  work = g_new (double, 3 * step + 1);
  for (gint64 i = 0; i < a.n; i++)
    {
      exponentiate (&a, op_matrix (&a, i), work, work + step, work + 2 * step);
      memcpy (op_matrix (&a, i), work + 2 * step, step * sizeof *work);
    }
  return op_matrices_store (call, 0, 2, &a);
}

/* -- costs -- */

double
op_side_reduction (const AdjOpCall *call)
{
  const AdjShape *shape = &adj_op_call_meta (call, 0)->shape;
  gint64 m = 1, n = 1;

  if (shape->rank < 2)
    return 1;
  adj_size_get_hint (op_symbols (call), shape->size[shape->rank - 2], &m);
  adj_size_get_hint (op_symbols (call), shape->size[shape->rank - 1], &n);
  return (double) MAX (m, n);
}

double
op_spectral_flops (const AdjOpCall *call)
{
  return 4 * op_count (call, &adj_op_call_meta (call, 0)->shape) * op_side_reduction (call);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/linalg-spectral.inc"
};

const OpFamily adj_family_linalg_spectral = { ops, G_N_ELEMENTS (ops) };
