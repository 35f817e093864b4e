/* SPDX-License-Identifier: MIT */
/* Derivatives along a direction: by autograd, and by finite differences, which also reveal
 * kinks, jumps and infinite values of the function. */

#include "autograd/directional.h"

#include <math.h>
#include <string.h>

#include "call/adj-mode.h"
#include "ops/adj-op-id.h"
#include "ops/adj-op-table.h"
#include "rules/adj-operators.h"
#include "support/tape.h"

/* -- leaves -- */

typedef struct
{
  AdjTensorMeta meta; /* float64, strides as recorded */
  gsize n;            /* number of elements in the storage */
  double *base;
  double *direction;  /* of each element, for the step */
  double *direction2; /* of each element, for the second derivative */
  AdjTensor *tensor;  /* (owned) (nullable): at the point that was evaluated last */
  gboolean moves;
} Leaf;

static void
leaf_clear (gpointer data)
{
  Leaf *leaf = data;

  g_free (leaf->base);
  g_free (leaf->direction);
  g_free (leaf->direction2);
  g_clear_pointer (&leaf->tensor, adj_tensor_unref);
}

static double *
random_numbers (Function *f, gsize n)
{
  double *numbers = g_new (double, n + 1);

  for (gsize i = 0; i < n; i++)
    numbers[i] = case_random (&f->seed);
  return numbers;
}

/* Whether the operator reads one triangle of a symmetric matrix; its gradient is symmetric too. */
static gboolean
takes_symmetric (const OracleCase *c)
{
  static const AdjOpId ops[] = { ADJ_OP__linalg_eigh, ADJ_OP_linalg_cholesky_ex, ADJ_OP_cholesky };

  for (guint i = 0; i < G_N_ELEMENTS (ops); i++)
    if (c->op == adj_op (ops[i]))
      return TRUE;
  return c->op == adj_op (ADJ_OP_linalg_pinv_atol_rtol_tensor) && c->n_kwargs > 0 &&
         g_str_equal (c->kwargs[0].text, "hermitian");
}

/* Changes the parts of an element below the diagonal and of the mirrored one; on the diagonal
 * both are the same. */
typedef void (*Pair) (double *lower, double *upper, gsize width);

/* Applies @pair to matrices with the strides of a dense batch. */
static void
foreach_pair (const Leaf *leaf, double *direction, Pair pair)
{
  const AdjShape *shape = &leaf->meta.shape;
  guint rank = shape->rank;
  gint64 n, rows, columns;
  gsize width;

  if (rank < 2 || adj_shape_numel (shape, NULL).word == 0)
    return;
  n = shape->size[rank - 1].word;
  rows = shape->stride[rank - 2].word;
  columns = shape->stride[rank - 1].word;
  width = leaf->meta.dtype == ADJ_DTYPE_C128 ? 2 : 1;
  for (gsize at = (gsize) shape->offset.word;
       width * (at + (gsize) ((n - 1) * (rows + columns))) < leaf->n;
       at += (gsize) (n * MAX (rows, columns)))
    for (gint64 i = 0; i < n; i++)
      for (gint64 j = 0; j <= i; j++)
        pair (direction + width * (at + (gsize) (i * rows + j * columns)),
              direction + width * (at + (gsize) (j * rows + i * columns)), width);
}

/* Copies the lower triangle to the upper, and makes diagonals real. */
static void
mirror (double *lower, double *upper, gsize width)
{
  if (lower != upper)
    upper[0] = lower[0];
  if (width == 2)
    upper[1] = lower == upper ? 0 : -lower[1];
}

/* Fixes the triangle, and keeps diagonals real. */
static void
hold (double *triangle, gboolean is_diagonal, gsize width)
{
  for (gsize part = is_diagonal ? 1 : 0; part < width; part++)
    triangle[part] = 0;
}

static void
hold_lower (double *lower, double *upper, gsize width)
{
  hold (lower, lower == upper, width);
}

static void
hold_upper (double *lower, double *upper, gsize width)
{
  hold (upper, lower == upper, width);
}

/* Adds the whole storage of @tensor as doubles with unchanged strides. */
static void
add_leaf (Function *f, AdjTensor *tensor, gboolean moves)
{
  g_autoptr (AdjTensor) wide =
      case_cast (tensor, adj_dtype_get_widest (adj_tensor_get_meta (tensor)->dtype));
  g_autoptr (AdjTensorData) data = adj_tensor_snapshot (wide);
  GBytes *bytes = adj_tensor_data_get_bytes (data);
  Leaf leaf = { .meta = *adj_tensor_get_meta (wide),
                .n = g_bytes_get_size (bytes) / sizeof (double),
                .moves = moves };

  leaf.base = g_memdup2 (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  leaf.direction = random_numbers (f, leaf.n);
  leaf.direction2 = random_numbers (f, leaf.n);
  if (takes_symmetric (f->c))
    {
      foreach_pair (&leaf, leaf.direction, mirror);
      foreach_pair (&leaf, leaf.direction2, mirror);
    }
  g_array_append_val (f->leaves, leaf);
}

static AdjTensorData *
data_of (const Leaf *leaf, const double *numbers)
{
  g_autoptr (GBytes) bytes = g_bytes_new (numbers, leaf->n * sizeof *numbers);

  return adj_tensor_data_new (&leaf->meta, bytes, NULL);
}

/* Whether the argument is a Cholesky factor, of which one triangle is read. */
static gboolean
is_triangle (const OracleCase *c, guint arg)
{
  return (c->op == adj_op (ADJ_OP_cholesky_inverse) && arg == 0) ||
         (c->op == adj_op (ADJ_OP_cholesky_solve) && arg == 1);
}

typedef struct
{
  Function *f;
  gboolean moves;
} Collecting;

static gboolean
collect_leaf (const AdjValue *value, gpointer data)
{
  const Collecting *collecting = data;

  if (case_is_differentiable (value))
    add_leaf (collecting->f, value->tensor, collecting->moves);
  return TRUE;
}

static void
collect_leaves (Function *f)
{
  for (guint i = 0; i < adj_op_get_schema (f->c->op)->n_arguments; i++)
    {
      const AdjValue *value = case_argument (f->c, i);
      Collecting collecting = { f, case_has_gradient (f->rule, i) };

      if (value != NULL)
        adj_value_foreach (value, collect_leaf, &collecting);
      if (value != NULL && is_triangle (f->c, i))
        {
          const Leaf *leaf = &g_array_index (f->leaves, Leaf, f->leaves->len - 1);
          const AdjValue *upper = case_argument (f->c, i + 1);
          Pair unread = upper != NULL && upper->integer != 0 ? hold_lower : hold_upper;

          foreach_pair (leaf, leaf->direction, unread);
          foreach_pair (leaf, leaf->direction2, unread);
        }
    }
}

/* -- calling -- */

typedef struct
{
  Function *f;
  AdjContext *cx;
  double step, step2;
} Placing;

static gboolean
place_leaf (const AdjValue *value, AdjValue *out, gpointer data)
{
  Placing *placing = data;
  Leaf *leaf;
  g_autofree double *numbers = NULL;
  g_autoptr (AdjTensorData) at = NULL;

  if (!case_is_differentiable (value))
    {
      *out = adj_value_copy (value);
      return TRUE;
    }
  leaf = &g_array_index (placing->f->leaves, Leaf, placing->f->next_leaf++);
  numbers = g_new (double, leaf->n + 1);
  for (gsize i = 0; i < leaf->n; i++)
    numbers[i] = leaf->base[i] + (leaf->moves ? placing->step * leaf->direction[i] +
                                                    placing->step2 * leaf->direction2[i]
                                              : 0);
  at = data_of (leaf, numbers);
  g_clear_pointer (&leaf->tensor, adj_tensor_unref);
  leaf->tensor = adj_tensor_new_from_data (at);
  if (leaf->moves)
    adj_tensor_set_requires_grad (placing->cx, leaf->tensor, TRUE);
  *out = ADJ_TENSOR (adj_tensor_ref (leaf->tensor));
  return TRUE;
}

static double
dot (AdjTensor *a, AdjTensor *b, double *scale)
{
  gint64 n, n_b;
  g_autofree double *x = case_read (a, &n);
  g_autofree double *y = case_read (b, &n_b);
  double sum = 0;

  g_assert_cmpint (n, ==, n_b);
  for (gint64 i = 0; i < n; i++)
    {
      sum += x[i] * y[i];
      *scale += fabs (x[i] * y[i]);
    }
  return sum;
}

/* The results of one evaluation: the value, its derivative along the direction, and the
 * derivative of that along the second direction; scales are sums of absolute values. */
static AdjTensor *
direction_tensor (AdjContext *cx, const Leaf *leaf, const double *direction)
{
  g_autoptr (AdjTensorData) data = data_of (leaf, direction);

  return adj_scope_add (cx, adj_tensor_new_from_data (data));
}

/* Returns the parts of complex numbers as real numbers. */
static AdjTensor *
parts_of (AdjContext *cx, AdjTensor *tensor)
{
  AdjDType dtype = adj_tensor_get_meta (tensor)->dtype;

  if (adj_dtype_get_real (dtype) == dtype)
    return tensor;
  return CALL (cx, "view_as_real", T (CALL (cx, "resolve_conj", T (tensor))));
}

/* Returns Σ direction · gradient as a tensor, so that it can be differentiated again. */
static AdjTensor *
slope_tensor (Function *f, AdjContext *cx, AdjTensor **grads)
{
  AdjTensor *sum = NULL;
  guint k = 0;

  for (guint i = 0; i < f->leaves->len; i++)
    {
      const Leaf *leaf = &g_array_index (f->leaves, Leaf, i);
      AdjTensor *term, *grad, *direction;

      if (!leaf->moves || grads[k++] == NULL)
        continue;
      grad = parts_of (cx, grads[k - 1]);
      direction = parts_of (cx, direction_tensor (cx, leaf, leaf->direction));
      term = CALL (cx, "sum", T (CALL (cx, "mul.Tensor", T (grad), T (direction))));
      sum = sum != NULL ? CALL (cx, "add.Tensor", T (sum), T (term)) : term;
    }
  return sum;
}

static gboolean
second (Function *f, AdjContext *cx, AdjTensor **grads, AdjTensor **inputs, guint n, Point *out)
{
  g_autofree AdjTensor **curves = g_new0 (AdjTensor *, n + 1);
  AdjTensor *slope = slope_tensor (f, cx, grads);
  guint k = 0;

  out->has_curve = slope != NULL && adj_tensor_get_requires_grad (slope);
  if (!out->has_curve)
    return TRUE;
  if (!adj_grad (cx, &(AdjGradRoots){ .tensors = &slope, .n = 1 }, inputs, n,
                 ADJ_BACKWARD_ALLOW_UNUSED, curves))
    return FALSE;
  for (guint i = 0; i < f->leaves->len; i++)
    {
      const Leaf *leaf = &g_array_index (f->leaves, Leaf, i);

      if (leaf->moves && curves[k++] != NULL)
        out->curve +=
            dot (curves[k - 1], direction_tensor (cx, leaf, leaf->direction2), &out->curve_scale);
    }
  return TRUE;
}

static gboolean
evaluate_in (Function *f, AdjContext *cx, double step, double step2, gboolean curve, Point *out)
{
  g_autoptr (GPtrArray) roots = g_ptr_array_new ();
  g_autoptr (GPtrArray) cotangents = g_ptr_array_new ();
  g_autoptr (GPtrArray) inputs = g_ptr_array_new ();
  g_autofree AdjTensor **grads = g_new0 (AdjTensor *, f->leaves->len + 1);
  AdjValue result;
  double unused = 0;
  guint k = 0;

  adj_generator_seed (adj_context_get_generator (cx), 1);
  f->next_leaf = 0;
  if (!case_call (cx, f->c, place_leaf, &(Placing){ f, cx, step, step2 }, &f->written, &result))
    return FALSE;
  case_collect_roots (cx, &result, ADJ_DTYPE_NONE, roots, cotangents);
  for (guint i = 0; i < roots->len; i++)
    out->value += dot (roots->pdata[i], cotangents->pdata[i], &unused);
  for (guint i = 0; i < f->leaves->len; i++)
    if (g_array_index (f->leaves, Leaf, i).moves)
      g_ptr_array_add (inputs, g_array_index (f->leaves, Leaf, i).tensor);
  if (roots->len == 0 ||
      !adj_grad (cx,
                 &(AdjGradRoots){ (AdjTensor *const *) roots->pdata,
                                  (AdjTensor *const *) cotangents->pdata, roots->len },
                 (AdjTensor *const *) inputs->pdata, inputs->len,
                 ADJ_BACKWARD_ALLOW_UNUSED | (curve ? ADJ_BACKWARD_CREATE_GRAPH : 0), grads))
    return FALSE;
  for (guint i = 0; i < f->leaves->len; i++)
    {
      const Leaf *leaf = &g_array_index (f->leaves, Leaf, i);

      if (leaf->moves && grads[k++] != NULL)
        out->slope +=
            dot (grads[k - 1], direction_tensor (cx, leaf, leaf->direction), &out->slope_scale);
    }
  return !curve || second (f, cx, grads, (AdjTensor **) inputs->pdata, inputs->len, out);
}

gboolean
function_evaluate (Function *f, double step, double step2, gboolean curve, Point *out)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  gboolean done;

  *out = (Point){ 0 };
  adj_context_push_mode (cx, adj_float64_mode_new ());
  adj_context_push_mode (cx, adj_autograd_mode_new ());
  adj_context_set_release (cx, f->release);
  done = evaluate_in (f, cx, step, step2, curve, out);
  g_clear_error (&f->error);
  adj_context_take_error (cx, &f->error);
  for (guint i = 0; i < f->leaves->len; i++)
    g_clear_pointer (&g_array_index (f->leaves, Leaf, i).tensor, adj_tensor_unref);
  return done;
}

/* -- differences -- */

#define RTOL 1e-6

/* Near a pole or a kink a smaller step does not cross it. */
static const double steps[] = { 0x1p-9, 0x1p-15, 0x1p-20 };

/* Values at ±step, ±step/2, ±step/4 (minus first) and 0. */
typedef struct
{
  double step;
  double at[3][2];
  double middle;
} Samples;

static gboolean
take_samples (Function *f, gboolean curve, double largest, Samples *out)
{
  Point point;

  out->step = largest;
  if (!function_evaluate (f, 0, 0, FALSE, &point))
    return FALSE;
  out->middle = curve ? point.slope : point.value;
  for (guint i = 0; i < 3; i++)
    for (guint k = 0; k < 2; k++)
      {
        double step = (k == 0 ? -1 : 1) * largest / (1 << i);

        if (!function_evaluate (f, curve ? 0 : step, curve ? step : 0, FALSE, &point))
          return FALSE;
        out->at[i][k] = curve ? point.slope : point.value;
      }
  return TRUE;
}

static Verdict
find_verdict (const Samples *s, double slope, double scale, double *error)
{
  double central[3], bend[3], first[2], best;

  for (guint i = 0; i < 3; i++)
    {
      double step = s->step / (1 << i);

      central[i] = (s->at[i][1] - s->at[i][0]) / (2 * step);
      bend[i] = fabs (s->at[i][1] - 2 * s->middle + s->at[i][0]) / step;
    }
  first[0] = (4 * central[1] - central[0]) / 3;
  first[1] = (4 * central[2] - central[1]) / 3;
  best = (16 * first[1] - first[0]) / 15;
  scale = fmax (scale, fabs (best));
  *error = fabs (best - slope) / fmax (scale, 1e-6);
  if (!isfinite (best) || !isfinite (slope))
    return VERDICT_ROUGH;
  if (*error <= RTOL)
    return VERDICT_RIGHT;
  /* At a kink the bend does not shrink with the step; at a jump the extrapolations do not agree. */
  if (bend[2] > 0.75 * bend[1] && bend[2] > RTOL * fmax (scale, 1e-6))
    return VERDICT_ROUGH;
  return fabs (first[1] - first[0]) > 1e-3 * fmax (scale, 1e-6) ? VERDICT_ROUGH : VERDICT_WRONG;
}

void
function_init (Function *f, OracleCase *c, const AdjRule *rule, const char *release)
{
  *f = (Function){ .c = c, .rule = rule, .release = release, .seed = c->line };
  f->leaves = g_array_new (FALSE, FALSE, sizeof (Leaf));
  g_array_set_clear_func (f->leaves, leaf_clear);
  collect_leaves (f);
}

void
function_clear (Function *f)
{
  g_clear_error (&f->error);
  adj_value_clear (&f->written);
  g_array_unref (f->leaves);
}

Verdict
function_check (Function *f, const Point *point, gboolean curve, double *error)
{
  Samples samples;
  Verdict verdict = VERDICT_ROUGH;

  for (guint i = 0; i < G_N_ELEMENTS (steps) && verdict != VERDICT_RIGHT; i++)
    if (take_samples (f, curve, steps[i], &samples))
      verdict = find_verdict (&samples, curve ? point->curve : point->slope,
                              curve ? point->curve_scale : point->slope_scale, error);
  return verdict;
}
