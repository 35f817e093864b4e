/* SPDX-License-Identifier: MIT */
/* Every gradient rule against directional differences in float64, at the arguments of each
 * recorded case, which supply shapes, strides and broadcasting. */

#include <math.h>
#include <string.h>

#include "autograd/directional.h"
#include "call/adj-mode.h"
#include "ops/adj-op-id.h"
#include "ops/adj-op-table.h"
#include "rules/adj-operators.h"
#include "support/tape.h"

typedef struct
{
  GHashTable *first;     /* operators whose gradient was right, with the number of cases */
  GHashTable *second;    /* the same for second derivatives */
  GHashTable *elsewhere; /* operators that cannot run here */
  GHashTable *lacking;   /* operators that should have a rule and have none */
  guint n_right[2], n_rough[2], n_unsupported, n_refused, n_newest;
  guint n_wrong;
} Sweep;

static void
count (GHashTable *table, const AdjOp *op)
{
  g_hash_table_insert (table, (gpointer) op,
                       GUINT_TO_POINTER (GPOINTER_TO_UINT (g_hash_table_lookup (table, op)) + 1));
}

static void
check_order (Sweep *sweep, Function *f, const Point *point, gboolean curve)
{
  double error = 0;
  Verdict verdict = function_check (f, point, curve, &error);

  if (verdict == VERDICT_ROUGH)
    sweep->n_rough[curve]++;
  if (verdict == VERDICT_RIGHT)
    {
      sweep->n_right[curve]++;
      count (curve ? sweep->second : sweep->first, f->c->op);
    }
  if (verdict != VERDICT_WRONG)
    return;
  sweep->n_wrong++;
  g_test_message ("%s:%u, %s: %s derivative is wrong by %.3g (%.9g)", f->c->file, f->c->line,
                  f->c->target, curve ? "second" : "first", error,
                  curve ? point->curve : point->slope);
}

/* Greatest number of refused cases; more means that a gradient was lost. */
#define MOST_REFUSED 221

/* Whether @error says that the rule has no gradient for this form. */
static gboolean
is_refused (const GError *error)
{
  return g_error_matches (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED) &&
         strstr (error->message, "the gradient of ") != NULL;
}

/* Whether the result is not unique: singular vectors beyond the rank may be rotated, complex
 * ones multiplied by a phase.  A random output gradient then has no defined derivative. */
static gboolean
gives_any_vectors (const OracleCase *c)
{
  gboolean complex = c->args[0].kind == ADJ_VALUE_TENSOR &&
                     adj_tensor_get_meta (c->args[0].tensor)->dtype >= ADJ_DTYPE_C32;

  if (c->op == adj_op (ADJ_OP__linalg_svd) && c->n_args > 1 && c->args[1].integer != 0)
    return TRUE;
  return (c->op->flags & ADJ_OP_GAUGE) != 0 && (complex || c->op == adj_op (ADJ_OP_linalg_eig));
}

/* Whether as_strided reads storage elements that its argument does not contain, or contains
 * twice; these have no gradient to compare. */
static gboolean
reads_beyond (const OracleCase *c)
{
  const AdjShape *shape;

  if (c->op != adj_op (ADJ_OP_as_strided) || c->args[0].kind != ADJ_VALUE_TENSOR)
    return FALSE;
  shape = &adj_tensor_get_meta (c->args[0].tensor)->shape;
  return !adj_shape_is_dense (shape, NULL) || shape->offset.word != 0 ||
         adj_shape_numel (shape, NULL).word == 0;
}

/* These backward operators take statistics as independent arguments, but their gradients assume
 * that they were computed from the input: only second derivatives of the forward operators test
 * them. */
static const struct
{
  const char *backward, *forward;
} through_forward[] = {
  { "torch.ops.aten.native_layer_norm_backward.default",
    "torch.ops.aten.native_layer_norm.default" },
  { "torch.ops.aten.native_group_norm_backward.default",
    "torch.ops.aten.native_group_norm.default" },
  { "torch.ops.aten.native_batch_norm_backward.default",
    "torch.ops.aten._native_batch_norm_legit_functional.default" },
  { "torch.ops.aten.batch_norm_backward.default",
    "torch.ops.aten._batch_norm_with_update_functional.default" },
};

/* The operator through which @target is tested; %NULL when it is called directly. */
static const char *
find_forward (const char *target)
{
  for (guint i = 0; i < G_N_ELEMENTS (through_forward); i++)
    if (g_str_equal (target, through_forward[i].backward))
      return through_forward[i].forward;
  return NULL;
}

static gboolean
is_not_floating (const AdjValue *value, gpointer data)
{
  return !case_is_differentiable (value);
}

/* Whether floating-point results depend on floating-point arguments and the operator is not
 * marked as having no gradient. */
static gboolean
lacks_rule (const OracleCase *c)
{
  const AdjOpFlags without = ADJ_OP_NO_GRADIENT | ADJ_OP_NO_DERIVATIVE | ADJ_OP_COMPOSITE |
                             ADJ_OP_METADATA | ADJ_OP_NO_COMPARE;
  gboolean takes = FALSE, gives = FALSE;

  if (adj_op_get_base (c->op) != NULL || (c->op->flags & without) != 0)
    return FALSE;
  for (guint i = 0; i < c->n_args; i++)
    takes |= !adj_value_foreach (&c->args[i], is_not_floating, NULL);
  for (guint i = 0; i < c->results->len; i++)
    gives |= g_str_has_prefix (c->results->pdata[i], "t f") ||
             g_str_has_prefix (c->results->pdata[i], "t bf");
  return takes && gives;
}

/* Whether @op draws from a distribution given by tensors; PyTorch defines no gradient of the
 * drawn numbers. */
static gboolean
is_drawn_around (const AdjOp *op)
{
  return g_str_equal (adj_op_get_schema (op)->name, "normal");
}

static void
check_rule (Sweep *sweep, OracleCase *c, const AdjRule *rule, const char *release)
{
  Function f;
  Point point, curved;

  function_init (&f, c, rule, release);
  if (function_evaluate (&f, 0, 0, FALSE, &point))
    {
      check_order (sweep, &f, &point, FALSE);
      if (function_evaluate (&f, 0, 0, TRUE, &curved) && curved.has_curve)
        check_order (sweep, &f, &curved, TRUE);
      else if (f.error != NULL && g_error_matches (f.error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED))
        {
          sweep->n_unsupported++;
          g_test_message ("%s:%u, %s: second: %s", c->file, c->line, c->target, f.error->message);
        }
      else if (f.error != NULL)
        {
          sweep->n_wrong++;
          g_test_message ("%s:%u, %s: second: %s", c->file, c->line, c->target, f.error->message);
        }
    }
  else if (f.error != NULL && is_refused (f.error))
    sweep->n_refused++;
  else if (f.error != NULL)
    {
      sweep->n_wrong++;
      g_test_message ("%s:%u, %s: %s", c->file, c->line, c->target, f.error->message);
    }
  function_clear (&f);
}

static void
check_case (OracleCase *c, gpointer data)
{
  Sweep *sweep = data;
  const AdjRule *rule = adj_rule_find (c->op, ADJ_RULE_GRAD, NULL);
  const AdjRule *newest = adj_rule_find (c->op, ADJ_RULE_GRAD, "2.15");

  if (c->needs_cuda || is_drawn_around (c->op))
    g_hash_table_add (sweep->elsewhere, (gpointer) c->op);
  if (rule == NULL && lacks_rule (c))
    g_hash_table_add (sweep->lacking, (gpointer) c->op);
  if (c->needs_cuda || is_drawn_around (c->op) || reads_beyond (c) || gives_any_vectors (c) ||
      find_forward (c->target) != NULL)
    return;
  if (rule != NULL)
    check_rule (sweep, c, rule, NULL);
  /* nextafter has two slopes where its arguments are equal. */
  if (newest != rule && c->op != adj_op (ADJ_OP_nextafter))
    {
      check_rule (sweep, c, newest, "2.15");
      sweep->n_newest++;
    }
}

/* No recorded case covers these; they have their own tests below. */
static const char *const unrecorded[] = {
  "torch.ops.prims.convert_element_type.default",
  "torch.ops.prims.fma.default",
  "torch.ops.aten.copy_.default",
  /* of complex eigenvectors */
  "torch.ops.aten.linalg_eig.default",
  /* every gradient with respect to the reflectors is refused */
  "torch.ops.aten.linalg_householder_product.default",
  "torch.ops.aten.ormqr.default",
};

static void
equal_directional_differences (void)
{
  Sweep sweep = { .first = g_hash_table_new (NULL, NULL),
                  .second = g_hash_table_new (NULL, NULL),
                  .elsewhere = g_hash_table_new (NULL, NULL),
                  .lacking = g_hash_table_new (NULL, NULL) };
  guint n_missing = 0;

  oracle_foreach (check_case, &sweep);
  g_test_message ("first derivatives: %u operators, %u cases, %u at kinks",
                  g_hash_table_size (sweep.first), sweep.n_right[0], sweep.n_rough[0]);
  g_test_message (
      "second derivatives: %u operators, %u cases, %u at kinks, %u where PyTorch has none either",
      g_hash_table_size (sweep.second), sweep.n_right[1], sweep.n_rough[1], sweep.n_unsupported);
  for (guint i = 0; i < adj_ops_get_n (); i++)
    {
      const AdjOp *op = adj_ops_get (i);
      gboolean expected = adj_rule_find (op, ADJ_RULE_GRAD, NULL) != NULL &&
                          (adj_op_get_base (op) == NULL || adj_op_get_schema (op)->n_returns == 0);

      for (guint k = 0; k < G_N_ELEMENTS (unrecorded); k++)
        expected &= !g_str_equal (adj_op_get_schema (op)->target, unrecorded[k]);
      if (expected && find_forward (adj_op_get_schema (op)->target) != NULL)
        {
          const AdjOp *forward = adj_op_find (find_forward (adj_op_get_schema (op)->target));

          g_assert_true (g_hash_table_contains (sweep.second, forward));
          continue;
        }
      if (!expected || g_hash_table_contains (sweep.first, op) ||
          g_hash_table_contains (sweep.elsewhere, op))
        continue;
      g_test_message ("no case tests the gradient of %s", adj_op_get_schema (op)->target);
      n_missing++;
    }
  for (guint i = 0; i < adj_ops_get_n (); i++)
    if (g_hash_table_contains (sweep.lacking, adj_ops_get (i)))
      g_test_message ("neither a gradient nor a word that there is none: %s",
                      adj_ops_get (i)->schema);
  g_test_message ("%u cases whose gradient is refused", sweep.n_refused);
  g_test_message ("%u cases of gradients that another release has", sweep.n_newest);
  g_assert_cmpuint (sweep.n_newest, >, 150);
  g_assert_cmpuint (sweep.n_refused, <=, MOST_REFUSED);
  g_assert_cmpuint (sweep.n_wrong, ==, 0);
  g_assert_cmpuint (n_missing, ==, 0);
  g_assert_cmpuint (g_hash_table_size (sweep.lacking), ==, 0);
  g_hash_table_unref (sweep.first);
  g_hash_table_unref (sweep.second);
  g_hash_table_unref (sweep.elsewhere);
  g_hash_table_unref (sweep.lacking);
}

/* The gradient has the dtype of the tensor before the cast. */
static void
casts (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  const double values[] = { 1, 2 };
  AdjTensor *x = tape_leaf (cx, 2, values);
  AdjValue args[] = { T (x), ADJ_DTYPE (ADJ_DTYPE_F32) };
  AdjValue result;

  g_assert_true (adj_call (cx, adj_op (ADJ_OP_prims_convert_element_type),
                           &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 2, .items = args }, NULL,
                           &result));
  tape_backward (cx, CALL (cx, "sum", T (CALL (cx, "mul.Scalar", T (result.tensor), ADJ_INT (3)))),
                 0);
  g_assert_cmpint (adj_tensor_get_meta (adj_tensor_get_grad (x))->dtype, ==, ADJ_DTYPE_F64);
  g_assert_cmpfloat (tape_at (adj_tensor_get_grad (x), 1), ==, 3);
}

static void
fused_products (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x[] = { tape_scalar (cx, 2), tape_scalar (cx, 3), tape_scalar (cx, 5) };
  AdjValue args[] = { T (x[0]), T (x[1]), T (x[2]) };
  const double expected[] = { 3, 2, 1 };
  AdjValue result;

  g_assert_true (adj_call (cx, adj_op (ADJ_OP_prims_fma),
                           &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 3, .items = args }, NULL,
                           &result));
  tape_backward (cx, result.tensor, 0);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpfloat (tape_at (adj_tensor_get_grad (x[i]), 0), ==, expected[i]);
}

/* An overwritten tensor gets gradient 0; the copied source gets the gradient of the copy. */
static void
copies_into (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  const double values[] = { 1, 2 };
  AdjTensor *x = tape_leaf (cx, 2, values), *y = tape_leaf (cx, 2, values);
  AdjTensor *z = CALL (cx, "sin", T (x));

  CALL (cx, "copy_", T (z), T (y));
  tape_backward (cx, CALL (cx, "sum", T (CALL (cx, "mul.Scalar", T (z), ADJ_INT (3)))), 0);
  g_assert_cmpfloat (tape_at (adj_tensor_get_grad (y), 1), ==, 3);
  tape_backward (cx, CALL (cx, "sum", T (CALL (cx, "clone", T (y)))), 0);
  g_assert_cmpfloat (tape_at (adj_tensor_get_grad (y), 1), ==, 4);
}

/* Each written tensor of a list gets its own history, as if it were written alone; one that
 * depends on no leaf gets none, and a leaf is refused. */
static void
lists_in_place (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  const double values[] = { 1, 2 };
  AdjTensor *x = tape_leaf (cx, 2, values), *plain = CALL (cx, "detach", T (x));
  AdjTensor *y = CALL (cx, "sin", T (x)), *z = CALL (cx, "clone", T (plain));
  AdjValue items[] = { T (y), T (z), T (x) }, result;
  AdjValue args[] = { { .kind = ADJ_VALUE_LIST, .n = 2, .items = items }, ADJ_INT (3) };
  const AdjValue tuple = { .kind = ADJ_VALUE_TUPLE, .n = 2, .items = args };
  const AdjOp *op = adj_op_find ("torch.ops.aten._foreach_mul_.Scalar");
  g_autoptr (GError) error = NULL;

  g_assert_true (adj_call (cx, op, &tuple, NULL, &result));
  g_assert_cmpstr (adj_grad_node_get_name (adj_tensor_get_grad_node (y)), ==, "MulBackward");
  g_assert_false (adj_tensor_get_requires_grad (z));
  g_assert_cmpfloat (tape_at (z, 1), ==, 6);
  tape_backward (cx, CALL (cx, "sum", T (y)), 0);
  g_assert_cmpfloat (tape_at (adj_tensor_get_grad (x), 0), ==, 3 * cos (1));

  args[0].n = 3;
  g_assert_false (adj_call (cx, op, &tuple, NULL, &result));
  g_assert_true (adj_context_take_error (cx, &error));
  g_assert_nonnull (strstr (error->message, "aten::_foreach_mul_"));
  g_assert_nonnull (strstr (error->message, "argument 'self', tensor 2: a leaf"));
}

/* Overlapping elements of a list are written one after the other, as by PyTorch's kernels, and
 * the gradient is that of all writes; PyTorch's is that of only some of them. */
static void
lists_that_overlap (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  const double values[] = { 1, 2, 3 };
  AdjTensor *x = tape_leaf (cx, 3, values), *y = CALL (cx, "mul.Scalar", T (x), ADJ_INT (1));
  AdjTensor *u = CALL (cx, "slice.Tensor", T (y), ADJ_INT (0), ADJ_INT (0), ADJ_INT (2));
  AdjTensor *v = CALL (cx, "slice.Tensor", T (y), ADJ_INT (0), ADJ_INT (1), ADJ_INT (3));
  AdjValue items[] = { T (u), T (v) }, result;
  AdjValue args[] = { { .kind = ADJ_VALUE_LIST, .n = 2, .items = items }, ADJ_INT (3) };
  const AdjValue tuple = { .kind = ADJ_VALUE_TUPLE, .n = 2, .items = args };
  const AdjOp *op = adj_op_find ("torch.ops.aten._foreach_mul_.Scalar");
  const double factors[] = { 3, 9, 3 };
  g_autoptr (GError) error = NULL;

  g_assert_true (adj_call (cx, op, &tuple, NULL, &result));
  tape_backward (cx, CALL (cx, "sum", T (y)), 0);
  for (guint i = 0; i < 3; i++)
    {
      g_assert_cmpfloat (tape_at (y, i), ==, factors[i] * values[i]);
      g_assert_cmpfloat (tape_at (adj_tensor_get_grad (x), i), ==, factors[i]);
    }

  items[0] = items[1] = T (x);
  g_assert_false (adj_call (cx, op, &tuple, NULL, &result));
  g_assert_true (adj_context_take_error (cx, &error));
  g_assert_nonnull (strstr (error->message, "aten::_foreach_mul_: "));
  g_assert_nonnull (strstr (error->message, "a leaf"));
}

/* resize_ is refused as in PyTorch, for all sizes and in every grad mode. */
static void
resize_is_refused (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  const double values[] = { 1, 2, 3 };
  const gint64 size = 2;
  AdjTensor *x = tape_leaf (cx, 3, values);
  AdjValue items[] = { ADJ_INT (size) }, result;
  AdjValue args[] = { T (x), { .kind = ADJ_VALUE_LIST, .n = 1, .items = items } };
  g_autoptr (GError) error = NULL;

  adj_context_set_grad_enabled (cx, FALSE);
  g_assert_false (adj_call (cx, adj_op_find ("torch.ops.aten.resize_.default"),
                            &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 2, .items = args }, NULL,
                            &result));
  g_assert_true (adj_context_take_error (cx, &error));
  g_assert_nonnull (strstr (error->message, "aten::resize_"));
  g_assert_nonnull (strstr (error->message, "variables that require grad"));
}

/* A saved view is given another storage, and its base is freed first. */
static void
saved_view_leaves_its_base (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  const double values[] = { 1, 2, 3 };
  AdjTensor *x = tape_leaf (cx, 3, values), *other = tape_leaf (cx, 3, values);
  AdjTensor *plain, *view, *product;

  adj_scope_begin (cx);
  plain = CALL (cx, "clone", T (CALL (cx, "detach", T (other))));
  view = adj_keep (CALL (cx, "alias", T (plain)));
  product = adj_keep (CALL (cx, "mul.Tensor", T (x), T (view)));
  CALL (cx, "set_.source_Tensor", T (view), T (CALL (cx, "detach", T (other))));
  adj_scope_end (cx);
  adj_tensor_unref (view);
  adj_tensor_unref (product);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/autograd/gradients/equal-directional-differences",
                   equal_directional_differences);
  g_test_add_func ("/autograd/gradients/casts", casts);
  g_test_add_func ("/autograd/gradients/fused-products", fused_products);
  g_test_add_func ("/autograd/gradients/copies-into", copies_into);
  g_test_add_func ("/autograd/gradients/lists-in-place", lists_in_place);
  g_test_add_func ("/autograd/gradients/lists-that-overlap", lists_that_overlap);
  g_test_add_func ("/autograd/gradients/resize-is-refused", resize_is_refused);
  g_test_add_func ("/autograd/gradients/saved-view-leaves-its-base", saved_view_leaves_its_base);

  return g_test_run ();
}
