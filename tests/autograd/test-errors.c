/* SPDX-License-Identifier: MIT */
/* Common mistakes of programs: each error names the operator, the argument, its shape and the
 * line of the program, and leaves the context usable. */

#include <string.h>

#include "adjoint.h"
#include "call/adj-mode.h"
#include "wrappers/adj-wrappers.h"

static const double one_two[] = { 1, 2 }, one_two_three[] = { 1, 2, 3 };

static AdjTensor *
tensor (AdjContext *cx, guint n, const double *values)
{
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_F64, .device = ADJ_CPU, .has_strides = TRUE };
  g_autoptr (GBytes) bytes = g_bytes_new (values, n * sizeof *values);
  g_autoptr (AdjTensorData) data = NULL;

  adj_shape_init_ints (&meta.shape, 1, (gint64[]){ n });
  meta.storage = -1;
  data = adj_tensor_data_new (&meta, bytes, NULL);
  return adj_scope_add (cx, adj_tensor_new_from_data (data));
}

static AdjTensor *
leaf (AdjContext *cx)
{
  AdjTensor *x = tensor (cx, 2, one_two);

  adj_tensor_set_requires_grad (cx, x, TRUE);
  return x;
}

static gboolean
backward (AdjContext *cx, AdjTensor *root)
{
  return adj_backward (cx, &(AdjGradRoots){ .tensors = &root, .n = 1 }, NULL, 0, 0);
}

/* -- mistakes; each says in which line it was made -- */

static guint
shape_mismatch (AdjContext *cx)
{
  AdjTensor *x = tensor (cx, 2, one_two), *y = tensor (cx, 3, one_two_three);

  adj_add (cx, x, y);
  return __LINE__ - 1;
}

static guint
wrong_dtype (AdjContext *cx)
{
  AdjTensor *x = adj_gt_scalar (cx, tensor (cx, 2, one_two), ADJ_INT (1));

  adj_mean (cx, x);
  return __LINE__ - 1;
}

static guint
wrong_kind (AdjContext *cx)
{
  adj_sum_dim (cx, tensor (cx, 2, one_two), (const gint64[]){ 3 }, 1, FALSE);
  return __LINE__ - 1;
}

static guint
missing_tensor (AdjContext *cx)
{
  adj_mul (cx, tensor (cx, 2, one_two), NULL);
  return __LINE__ - 1;
}

static guint
in_place_on_a_leaf (AdjContext *cx)
{
  AdjTensor *x = leaf (cx), *y = tensor (cx, 2, one_two);

  adj_mul_ (cx, x, y);
  return __LINE__ - 1;
}

static guint
backward_twice (AdjContext *cx)
{
  AdjTensor *x = leaf (cx);
  AdjTensor *y = adj_exp (cx, x);
  guint line = __LINE__ - 1;
  AdjTensor *sum = adj_sum (cx, y);

  g_assert_true (backward (cx, sum));
  backward (cx, sum);
  return line;
}

static guint
modified_saved_tensor (AdjContext *cx)
{
  AdjTensor *x = adj_clone (cx, leaf (cx)), *y = leaf (cx);
  AdjTensor *z = adj_mul (cx, x, y);
  guint line = __LINE__ - 1;

  adj_add_ (cx, x, y);
  backward (cx, adj_sum (cx, z));
  return line;
}

static AdjTensor *
give_a_sum (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  return adj_sum (cx, grad);
}

static guint
bad_hook_return (AdjContext *cx)
{
  AdjTensor *x = leaf (cx);
  AdjTensor *y = adj_exp (cx, x);
  guint line = __LINE__ - 1;
  g_autoptr (AdjHook) hook = adj_tensor_add_hook (cx, y, give_a_sum, NULL);

  adj_hook_set_name (hook, "give_a_sum");
  backward (cx, adj_sum (cx, y));
  return line;
}

static guint
no_implicit_gradient (AdjContext *cx)
{
  AdjTensor *x = leaf (cx);
  AdjTensor *y = adj_exp (cx, x);

  backward (ADJ_HERE (cx), y);
  return __LINE__ - 1;
}

typedef struct
{
  const char *name;
  guint (*make) (AdjContext *cx);
  const char *words[6];
} Mistake;

static const Mistake mistakes[] = {
  { "shape-mismatch", shape_mismatch, { "aten::add.Tensor", "self: f64[2]", "other: f64[3]" } },
  { "wrong-dtype", wrong_dtype, { "aten::mean", "floating", "self: b8[2]" } },
  { "wrong-dimension", wrong_kind, { "aten::sum.dim_IntList", "dimension 3", "self: f64[2]" } },
  { "missing-tensor", missing_tensor, { "aten::mul.Tensor", "'other'", "None", "self: f64[2]" } },
  { "in-place-on-a-leaf",
    in_place_on_a_leaf,
    { "aten::mul_.Tensor", "'self'", "f64[2]", "leaf", "in-place operation" } },
  { "backward-twice", backward_twice, { "ExpBackward", "second time", "f64[2]" } },
  { "modified-saved-tensor",
    modified_saved_tensor,
    { "MulBackward", "argument 'self' of torch.ops.aten.mul.Tensor", "f64[2]", "version 1",
      "expected version 0" } },
  { "bad-hook-return",
    bad_hook_return,
    { "ExpBackward", "hook 'give_a_sum'", "size of value (was [2] got [])" } },
  { "no-implicit-gradient", no_implicit_gradient, { "only for scalar outputs", "f64[2]" } },
};

static void
test_mistake (gconstpointer data)
{
  const Mistake *mistake = data;
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (GError) error = NULL;
  g_autofree char *place = NULL;
  AdjTensor *x;

  adj_context_push_mode (cx, adj_autograd_mode_new ());
  place = g_strdup_printf ("test-errors.c:%u)", mistake->make (cx));
  g_assert_true (adj_context_take_error (cx, &error));
  g_test_message ("%s", error->message);
  if (!g_str_has_suffix (error->message, place))
    g_test_fail_printf ("'%s' does not end in '%s'", error->message, place);
  for (guint i = 0; i < G_N_ELEMENTS (mistake->words) && mistake->words[i] != NULL; i++)
    if (strstr (error->message, mistake->words[i]) == NULL)
      g_test_fail_printf ("'%s' does not say '%s'", error->message, mistake->words[i]);

  x = leaf (cx);
  g_assert_true (backward (cx, adj_sum (cx, adj_mul (cx, x, x))));
  g_assert_cmpfloat (adj_item (cx, adj_select (cx, adj_tensor_get_grad (x), 0, 1)), ==, 4);
}

/* A case that a rule refuses still requires a gradient; the error comes in the backward. */
static void
test_refused (void)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (GError) error = NULL;
  AdjTensor *q;

  adj_context_push_mode (cx, adj_autograd_mode_new ());
  q = adj_linalg_householder_product (cx, adj_view (cx, leaf (cx), (const gint64[]){ 2, 1 }, 2),
                                      tensor (cx, 1, one_two));
  g_assert_nonnull (q);
  g_assert_true (adj_tensor_get_requires_grad (q));
  g_assert_false (backward (cx, adj_sum (cx, q)));
  g_assert_true (adj_context_take_error (cx, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "householder_product"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (mistakes); i++)
    {
      g_autofree char *path = g_strdup_printf ("/autograd/errors/%s", mistakes[i].name);

      g_test_add_data_func (path, &mistakes[i], test_mistake);
    }
  g_test_add_func ("/autograd/errors/refused", test_refused);
  return g_test_run ();
}
