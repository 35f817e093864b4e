/* SPDX-License-Identifier: MIT */
/* Determinants and their logarithms, by LU factors. */

#include <math.h>

#include "ops/lu-private.h"
#include "ops/table-private.h"

/* -- shapes -- */

static gboolean
add_determinants (AdjOpCall *call, guint n)
{
  const AdjTensorMeta *a = op_square_meta (call, 0);
  guint batch;

  if (a == NULL)
    return FALSE;
  batch = a->shape.rank - 2;
  op_add_numbers (call, a->dtype, &a->shape, batch);
  if (n > 1)
    op_add_numbers (call, adj_dtype_get_real (a->dtype), &a->shape, batch);
  op_add_square (call, a);
  op_add_pivots (call, a);
  return TRUE;
}

static gboolean
det_meta (AdjOpCall *call)
{
  return add_determinants (call, 1);
}

static gboolean
slogdet_meta (AdjOpCall *call)
{
  return add_determinants (call, 2);
}

/* -- values -- */

/* The sign of each (a number or a pair of absolute value 1, or 0) and the logarithm of the absolute
 * value; with @whole the determinant as product. */
static void
take_determinants (const OpLu *f, gboolean whole, OpMatrices *sign, OpMatrices *logarithm)
{
  const OpMatrices *lu = &f->lu;

  for (gint64 i = 0; i < lu->n; i++)
    {
      double re = 1, im = 0, sum = 0;

      for (gint k = 0; k < lu->rows; k++)
        {
          const double *u = op_matrix_at (lu, op_matrix (lu, i), k, k);
          double x = u[0], y = lu->z ? u[1] : 0, size = hypot (x, y), turned;

          if (f->pivots[i * lu->rows + k] != k + 1)
            {
              re = -re;
              im = -im;
            }
          sum += log (size);
          if (!whole)
            {
              x = size > 0 ? x / size : 0;
              y = size > 0 ? y / size : 0;
            }
          turned = lu->z ? re * y + im * x : 0;
          re = lu->z ? re * x - im * y : re * x;
          im = turned;
        }
      op_matrix (sign, i)[0] = re;
      if (lu->z)
        op_matrix (sign, i)[1] = im;
      if (logarithm != NULL)
        op_matrix (logarithm, i)[0] = sum;
    }
}

static gboolean
det_kernel (AdjOpCall *call)
{
  g_auto (OpLu) f = { 0 };
  g_auto (OpMatrices) d = { 0 };

  if (!op_lu_factorize (call, 0, op_lu_takes_transposes (call), &f) ||
      !op_matrices_new (call, f.lu.z, f.lu.n, 1, 1, &d))
    return FALSE;
  take_determinants (&f, TRUE, &d, NULL);
  return op_matrices_store (call, 0, 0, &d) && op_matrices_store (call, 1, 2, &f.lu) &&
         op_integers_store (call, 2, f.pivots);
}

static gboolean
slogdet_kernel (AdjOpCall *call)
{
  g_auto (OpLu) f = { 0 };
  g_auto (OpMatrices) sign = { 0 };
  g_auto (OpMatrices) logarithm = { 0 };

  if (!op_lu_factorize (call, 0, op_lu_takes_transposes (call), &f) ||
      !op_matrices_new (call, f.lu.z, f.lu.n, 1, 1, &sign) ||
      !op_matrices_new (call, FALSE, f.lu.n, 1, 1, &logarithm))
    return FALSE;
  take_determinants (&f, FALSE, &sign, &logarithm);
  return op_matrices_store (call, 0, 0, &sign) && op_matrices_store (call, 1, 0, &logarithm) &&
         op_matrices_store (call, 2, 2, &f.lu) && op_integers_store (call, 3, f.pivots);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/determinant.inc"
};

const OpFamily adj_family_determinant = { ops, G_N_ELEMENTS (ops) };
