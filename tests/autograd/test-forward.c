/* SPDX-License-Identifier: MIT */
/* Tangents against gradients in float64: for each recorded case whose operator has both, Σ
 * tangent · cotangent over the results equals Σ direction · gradient over the arguments. */

#include <math.h>
#include <string.h>

#include "autograd/case.h"
#include "ops/adj-op-id.h"
#include "ops/adj-op-table.h"
#include "rules/adj-operators.h"
#include "support/tape.h"

#define RTOL 1e-7
/* Least number of operators whose tangents are right; fewer means that one lost its rule. */
#define FEWEST 305

/* Sums of products, and of their absolute values. */
typedef struct
{
  double sum, scale;
  gboolean unlike; /* two tensors had different numbers of elements */
} Dot;

typedef struct
{
  AdjContext *cx;
  GPtrArray *leaves;     /* of AdjTensor (owned): arguments that have a gradient */
  GPtrArray *directions; /* of AdjTensor (owned): the direction of each leaf */
  guint next;
  guint32 seed;
  gboolean dual; /* leaves are passed with their directions as tangents */
} Placing;

static void
add_dot (Dot *dot, AdjTensor *a, AdjTensor *b)
{
  gint64 n, n_b;
  g_autofree double *x = case_read (a, &n);
  g_autofree double *y = case_read (b, &n_b);

  dot->unlike |= n != n_b;
  for (gint64 i = 0; i < MIN (n, n_b); i++)
    {
      dot->sum += x[i] * y[i];
      dot->scale += fabs (x[i] * y[i]);
    }
}

static AdjTensor *
random_like (Placing *placing, AdjTensor *tensor)
{
  g_autoptr (AdjTensorData) data = adj_tensor_snapshot (tensor);
  const gsize n = g_bytes_get_size (adj_tensor_data_get_bytes (data)) / sizeof (double);
  double *numbers = g_new (double, n + 1);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AdjTensorData) made = NULL;

  for (gsize i = 0; i < n; i++)
    numbers[i] = case_random (&placing->seed);
  bytes = g_bytes_new_take (numbers, n * sizeof *numbers);
  made = adj_tensor_data_new (adj_tensor_get_meta (tensor), bytes, NULL);
  return adj_tensor_new_from_data (made);
}

static gboolean
place (const AdjValue *value, AdjValue *out, gpointer data)
{
  Placing *placing = data;
  AdjTensor *leaf;

  if (!case_is_differentiable (value))
    {
      *out = adj_value_copy (value);
      return TRUE;
    }
  if (placing->dual)
    {
      const guint i = placing->next++;
      const AdjValue args[] = { T (placing->leaves->pdata[i]), T (placing->directions->pdata[i]) };

      adj_tensor_set_requires_grad (placing->cx, args[0].tensor, FALSE);
      return case_step (placing->cx, ADJ_TRANSFORM_MAKE_DUAL, args, 2, out);
    }
  leaf =
      case_cast (value->tensor, adj_dtype_get_widest (adj_tensor_get_meta (value->tensor)->dtype));
  adj_tensor_set_requires_grad (placing->cx, leaf, TRUE);
  g_ptr_array_add (placing->leaves, leaf);
  g_ptr_array_add (placing->directions, random_like (placing, leaf));
  *out = T (adj_tensor_ref (leaf));
  return TRUE;
}

static gboolean
append_leaf (const AdjValue *leaf, gpointer data)
{
  if (leaf->kind == ADJ_VALUE_TENSOR)
    g_ptr_array_add (data, leaf->tensor);
  return TRUE;
}

static gboolean
call (Placing *placing, const OracleCase *c, GPtrArray *results)
{
  AdjValue written = ADJ_NONE, result;

  adj_generator_seed (adj_context_get_generator (placing->cx), 1);
  if (!case_call (placing->cx, c, place, placing, &written, &result))
    return FALSE;
  adj_value_foreach (&result, append_leaf, results);
  return TRUE;
}

/* Computes Σ direction · gradient; @cotangents: of the results, %NULL where one has no gradient. */
static gboolean
go_back (Placing *placing, GPtrArray *results, GPtrArray *cotangents, Dot *dot)
{
  g_autoptr (GPtrArray) roots = g_ptr_array_new ();
  g_autoptr (GPtrArray) grads = g_ptr_array_new ();
  g_autofree AdjTensor **found = g_new0 (AdjTensor *, placing->leaves->len + 1);

  for (guint i = 0; i < results->len; i++)
    {
      const AdjValue result = T (results->pdata[i]);
      const guint before = roots->len;

      case_collect_roots (placing->cx, &result, ADJ_DTYPE_NONE, roots, grads);
      g_ptr_array_add (cotangents, roots->len > before ? grads->pdata[before] : NULL);
    }
  if (roots->len == 0 ||
      !adj_grad (placing->cx,
                 &(AdjGradRoots){ (AdjTensor *const *) roots->pdata,
                                  (AdjTensor *const *) grads->pdata, roots->len },
                 (AdjTensor *const *) placing->leaves->pdata, placing->leaves->len,
                 ADJ_BACKWARD_ALLOW_UNUSED, found))
    return FALSE;
  for (guint i = 0; i < placing->leaves->len; i++)
    if (found[i] != NULL)
      add_dot (dot, found[i], placing->directions->pdata[i]);
  return TRUE;
}

/* Computes Σ tangent · cotangent. */
static gboolean
go_forward (Placing *placing, const OracleCase *c, const GPtrArray *cotangents, Dot *dot)
{
  g_autoptr (GPtrArray) results = g_ptr_array_new ();
  AdjValue unused;

  placing->dual = TRUE;
  if (!case_step (placing->cx, ADJ_TRANSFORM_BEGIN_FORWARD, NULL, 0, &unused) ||
      !call (placing, c, results))
    return FALSE;
  g_assert_cmpuint (results->len, ==, cotangents->len);
  for (guint i = 0; i < results->len; i++)
    {
      const AdjValue result = T (results->pdata[i]);
      AdjValue parts = ADJ_NONE;

      g_assert_true (case_step (placing->cx, ADJ_TRANSFORM_UNPACK_DUAL, &result, 1, &parts));
      if (cotangents->pdata[i] != NULL && parts.items[1].kind == ADJ_VALUE_TENSOR)
        add_dot (dot, parts.items[1].tensor, cotangents->pdata[i]);
      adj_value_clear (&parts);
    }
  return TRUE;
}

/* -- the sweep -- */

typedef struct
{
  GHashTable *right, *lacking; /* of AdjOp */
  guint n_right, n_wrong;
} Sweep;

static void
judge (Sweep *sweep, const OracleCase *c, const Dot *back, const Dot *forward)
{
  const double error = fabs (back->sum - forward->sum);

  if (!isfinite (back->sum) || !isfinite (forward->sum))
    return;
  if (!forward->unlike && error <= RTOL * fmax (fmax (back->scale, forward->scale), 1e-6))
    {
      g_hash_table_add (sweep->right, (gpointer) c->op);
      sweep->n_right++;
      return;
    }
  sweep->n_wrong++;
  g_test_message ("%s:%u, %s: forward %.9g, backward %.9g", c->file, c->line, c->target,
                  forward->sum, back->sum);
}

/* There is no derivative at infinity and at NaN. */
static gboolean
is_finite (const GPtrArray *leaves)
{
  for (guint i = 0; i < leaves->len; i++)
    {
      gint64 n;
      g_autofree double *numbers = case_read (leaves->pdata[i], &n);

      for (gint64 k = 0; k < n; k++)
        if (!isfinite (numbers[k]))
          return FALSE;
    }
  return TRUE;
}

static void
check_case (OracleCase *c, gpointer data)
{
  Sweep *sweep = data;
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (GPtrArray) leaves = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_tensor_unref);
  g_autoptr (GPtrArray) directions =
      g_ptr_array_new_with_free_func ((GDestroyNotify) adj_tensor_unref);
  g_autoptr (GPtrArray) results = g_ptr_array_new ();
  g_autoptr (GPtrArray) cotangents = g_ptr_array_new ();
  Placing placing = { cx, leaves, directions, .seed = 1 };
  g_autoptr (GError) error = NULL;
  Dot back = { 0 }, forward = { 0 };

  /* Elements that share memory share their gradient in as_strided. */
  if (c->op == adj_op (ADJ_OP_as_strided) || c->needs_cuda ||
      adj_schema_mutates (adj_op_get_schema (c->op)) ||
      adj_rule_find (c->op, ADJ_RULE_GRAD, NULL) == NULL)
    return;
  adj_context_push_mode (cx, adj_float64_mode_new ());
  adj_context_push_mode (cx, adj_autograd_mode_new ());
  if (!call (&placing, c, results) || !is_finite (leaves) ||
      !go_back (&placing, results, cotangents, &back))
    return;
  if (go_forward (&placing, c, cotangents, &forward))
    judge (sweep, c, &back, &forward);
  else if (adj_context_take_error (cx, &error))
    {
      g_hash_table_add (sweep->lacking, (gpointer) c->op);
      if (strstr (error->message, "has no derivative in forward mode") != NULL)
        return;
      sweep->n_wrong++;
      g_test_message ("%s:%u, %s: %s", c->file, c->line, c->target, error->message);
    }
}

static void
tangents_agree_with_gradients (void)
{
  Sweep sweep = { .right = g_hash_table_new (NULL, NULL),
                  .lacking = g_hash_table_new (NULL, NULL) };
  GHashTableIter iter;
  gpointer op;

  oracle_foreach (check_case, &sweep);
  g_test_message ("%u operators, %u cases; %u operators have no tangent",
                  g_hash_table_size (sweep.right), sweep.n_right,
                  g_hash_table_size (sweep.lacking));
  g_hash_table_iter_init (&iter, sweep.lacking);
  while (g_hash_table_iter_next (&iter, &op, NULL))
    g_test_message ("no tangent: %s", adj_op_get_schema (op)->target);
  g_assert_cmpuint (sweep.n_wrong, ==, 0);
  g_assert_cmpuint (g_hash_table_size (sweep.right), >=, FEWEST);
  g_hash_table_unref (sweep.right);
  g_hash_table_unref (sweep.lacking);
}

/* ∂ igamma (a, x) / ∂ a is unknown: a tangent of x alone is accepted, a tangent of a is refused. */
static void
unknown_derivatives_are_refused (void)
{
  for (guint both = 0; both < 2; both++)
    {
      g_autoptr (AdjContext) cx = tape_new ();
      AdjTensor *x = tape_scalar (cx, 2), *plain = tape_scalar (cx, 3);
      const AdjValue given[] = { T (x), T (tape_scalar (cx, 1)) };
      g_auto (AdjValue) dual = ADJ_NONE;
      AdjValue level;

      g_assert_true (case_step (cx, ADJ_TRANSFORM_BEGIN_FORWARD, NULL, 0, &level));
      g_assert_true (case_step (cx, ADJ_TRANSFORM_MAKE_DUAL, given, 2, &dual));
      g_assert_true (tape_try (cx, "igamma", 2, (AdjValue[]){ T (plain), dual }));
      g_assert_false (tape_try (cx, "igamma", 2, (AdjValue[]){ dual, both ? dual : T (plain) }));
      tape_assert_error (cx, ADJ_ERROR_UNSUPPORTED, "has no derivative in forward mode");
    }
}

static void
tangents_are_like_primals (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_tensor (cx, 2, (double[]){ 1, 2 });
  AdjTensor *narrow = CALL (cx, "to.dtype", T (x), ADJ_DTYPE (ADJ_DTYPE_F32));
  AdjTensor *const others[] = { tape_tensor (cx, 1, (double[]){ 1 }), narrow };
  AdjValue level, dual;

  g_assert_true (case_step (cx, ADJ_TRANSFORM_BEGIN_FORWARD, NULL, 0, &level));
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    {
      const AdjValue given[] = { T (x), T (others[i]) };

      g_assert_false (case_step (cx, ADJ_TRANSFORM_MAKE_DUAL, given, 2, &dual));
      tape_assert_error (cx, ADJ_ERROR_UNSUPPORTED, "the sizes and the dtype of its primal");
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/autograd/forward/tangents-agree-with-gradients",
                   tangents_agree_with_gradients);
  g_test_add_func ("/autograd/forward/unknown-derivatives-are-refused",
                   unknown_derivatives_are_refused);
  g_test_add_func ("/autograd/forward/tangents-are-like-primals", tangents_are_like_primals);

  return g_test_run ();
}
