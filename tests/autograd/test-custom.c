/* SPDX-License-Identifier: MIT */
/* Custom functions and anomaly mode, as specified in autograd/SPEC.md §6 and autograd/SPEC.md
 * §3.7. */

#include <math.h>

#include "autograd/adj-custom.h"
#include "call/adj-mode.h"
#include "ops/adj-ops.h"
#include "rules/adj-apply.h"
#include "support/tape.h"

static const double one_two[] = { 1, 2 };

static gboolean
try_backward (AdjContext *cx, AdjTensor *root, AdjBackwardFlags flags)
{
  return adj_backward (cx, &(AdjGradRoots){ .tensors = &root, .n = 1 }, NULL, 0, flags);
}

static AdjTensor *
custom (AdjContext *cx, const AdjCustomClass *klass, AdjTensor *x)
{
  AdjTensor *y = NULL;

  return adj_custom_apply (cx, klass, NULL, NULL, &x, 1, &y, 1) ? y : NULL;
}

/* -- sin, saving its input -- */

static gboolean
sin_forward (
    AdjCustomCall *call, AdjTensor *const *inputs, guint n, AdjTensor **outputs, guint n_out)
{
  g_assert_false (adj_context_get_grad_enabled (adj_custom_call_get_context (call)));
  g_assert_true (adj_custom_call_needs_input_grad (call, 0));
  adj_custom_call_save (call, inputs, 1);
  outputs[0] = CALL (adj_custom_call_get_context (call), "sin", T (inputs[0]));
  return TRUE;
}

static gboolean
sin_backward (AdjCustomCall *call, AdjTensor *const *grads, guint n, AdjTensor **out, guint n_out)
{
  AdjContext *cx = adj_custom_call_get_context (call);
  AdjTensor *x = adj_custom_call_get_saved (call, 0);

  if (x == NULL)
    return FALSE;
  out[0] = CALL (cx, "mul.Tensor", T (grads[0]), T (CALL (cx, "cos", T (x))));
  return TRUE;
}

static const AdjCustomClass my_sin = { "MySin", sin_forward, sin_backward, FALSE };
static const AdjCustomClass once_sin = { "OnceSin", sin_forward, sin_backward, TRUE };

/* The second derivative is -sin: a function can be differentiated as often as its backward can. */
static void
differentiates_twice (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_scalar (cx, 0.5);
  AdjTensor *y = custom (cx, &my_sin, x);
  const double expected[] = { cos (0.5), -sin (0.5) };

  g_assert_cmpstr (adj_grad_node_get_name (adj_tensor_get_grad_node (y)), ==, "MySinBackward");
  for (guint i = 0; i < 2; i++)
    {
      AdjTensor *grad;

      g_assert_true (adj_grad (cx, &(AdjGradRoots){ .tensors = &y, .n = 1 }, &x, 1,
                               ADJ_BACKWARD_CREATE_GRAPH, &grad));
      g_assert_cmpfloat_with_epsilon (tape_at (grad, 0), expected[i], 1e-12);
      y = grad;
    }
}

static void
checks_what_was_saved (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = CALL (cx, "exp", T (tape_leaf (cx, 2, one_two)));
  AdjTensor *y = CALL (cx, "sum", T (custom (cx, &my_sin, x)));

  tape_backward (cx, y, 0);
  g_assert_false (try_backward (cx, y, 0));
  tape_assert_error (cx, ADJ_ERROR_SHAPE, "a second time");
  x = CALL (cx, "exp", T (tape_leaf (cx, 2, one_two)));
  y = CALL (cx, "sum", T (custom (cx, &my_sin, x)));
  CALL (cx, "mul_.Scalar", T (x), ADJ_INT (2));
  g_assert_false (try_backward (cx, y, 0));
  tape_assert_error (cx, ADJ_ERROR_SHAPE, "MySinBackward: one of the variables needed");
}

static void
refuses_twice_where_it_is_once (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_scalar (cx, 0.5), *g = tape_scalar (cx, 1);
  AdjTensor *y = custom (cx, &once_sin, x), *grad;

  g_assert_true (
      adj_grad (cx, &(AdjGradRoots){ &y, &g, 1 }, &x, 1, ADJ_BACKWARD_CREATE_GRAPH, &grad));
  g_assert_false (try_backward (cx, grad, 0));
  tape_assert_error (cx, ADJ_ERROR_UNSUPPORTED, "@once_differentiable");
}

/* -- writing in place -- */

static gboolean
double_forward (
    AdjCustomCall *call, AdjTensor *const *inputs, guint n, AdjTensor **outputs, guint n_out)
{
  CALL (adj_custom_call_get_context (call), "mul_.Scalar", T (inputs[0]), ADJ_INT (2));
  adj_custom_call_mark_dirty (call, inputs[0]);
  outputs[0] = inputs[0];
  return TRUE;
}

static gboolean
double_backward (
    AdjCustomCall *call, AdjTensor *const *grads, guint n, AdjTensor **out, guint n_out)
{
  out[0] = CALL (adj_custom_call_get_context (call), "mul.Scalar", T (grads[0]), ADJ_INT (2));
  return TRUE;
}

static gboolean
forget_forward (
    AdjCustomCall *call, AdjTensor *const *inputs, guint n, AdjTensor **outputs, guint n_out)
{
  adj_custom_call_mark_dirty (call, inputs[0]);
  outputs[0] = CALL (adj_custom_call_get_context (call), "clone", T (inputs[0]));
  return TRUE;
}

static const AdjCustomClass doubles = { "Doubles", double_forward, double_backward, FALSE };
static const AdjCustomClass forgets = { "Forgets", forget_forward, double_backward, FALSE };

/* A write by the user and one declared by mark_dirty: the version rises by two. */
static void
writes_in_place (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *leaf = tape_leaf (cx, 2, one_two), *view;
  AdjTensor *x = CALL (cx, "mul.Scalar", T (leaf), ADJ_INT (3));

  g_assert_true (custom (cx, &doubles, x) == x);
  g_assert_cmpuint (adj_tensor_get_version (x), ==, 2);
  view = CALL (cx, "select.int", T (x), ADJ_INT (0), ADJ_INT (1));
  g_assert_true (custom (cx, &doubles, view) == view);
  tape_backward (cx, CALL (cx, "sum", T (x)), 0);
  g_assert_cmpfloat (tape_at (adj_tensor_get_grad (leaf), 0), ==, 6);
  g_assert_cmpfloat (tape_at (adj_tensor_get_grad (leaf), 1), ==, 12);
}

static void
refuses_bad_writes (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *leaf = tape_leaf (cx, 2, one_two);

  g_assert_null (custom (cx, &doubles, leaf));
  tape_assert_error (cx, ADJ_ERROR_SHAPE, "a leaf Variable that requires grad");
  g_assert_null (custom (cx, &forgets, CALL (cx, "exp", T (leaf))));
  tape_assert_error (cx, ADJ_ERROR_SHAPE, "Some elements marked as dirty");
}

/* -- undefined gradients -- */

typedef struct
{
  gboolean keeps;
  gboolean was_null;
  double value;
} Seen;

static gboolean
pair_forward (
    AdjCustomCall *call, AdjTensor *const *inputs, guint n, AdjTensor **outputs, guint n_out)
{
  const Seen *seen = adj_custom_call_get_data (call);

  adj_custom_call_set_materialize_grads (call, !seen->keeps);
  outputs[0] = CALL (adj_custom_call_get_context (call), "clone", T (inputs[0]));
  outputs[1] = CALL (adj_custom_call_get_context (call), "clone", T (inputs[0]));
  return TRUE;
}

static gboolean
pair_backward (AdjCustomCall *call, AdjTensor *const *grads, guint n, AdjTensor **out, guint n_out)
{
  Seen *seen = adj_custom_call_get_data (call);

  seen->was_null = grads[1] == NULL;
  seen->value = grads[1] != NULL ? tape_at (grads[1], 1) : -1;
  out[0] = grads[0];
  return TRUE;
}

static void
makes_zeros_or_not (void)
{
  static const AdjCustomClass pair = { "Pair", pair_forward, pair_backward, FALSE };

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (AdjContext) cx = tape_new ();
      AdjTensor *x = tape_leaf (cx, 2, one_two), *outputs[2];
      Seen seen = { .keeps = i == 1 };

      g_assert_true (adj_custom_apply (cx, &pair, &seen, NULL, &x, 1, outputs, 2));
      tape_backward (cx, CALL (cx, "sum", T (outputs[0])), 0);
      g_assert_cmpint (seen.was_null, ==, i == 1);
      g_assert_cmpfloat (seen.value, ==, i == 1 ? -1 : 0);
    }
}

/* -- anomaly mode -- */

static void
names_the_forward (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  const AdjPlace place = { .file = "model.py", .line = 12 };
  AdjTensor *x = tape_scalar (cx, 0), *y;

  adj_autograd_set_flags (cx, ADJ_AUTOGRAD_ANOMALY);
  adj_context_set_place (cx, &place);
  y = CALL (cx, "sqrt", T (CALL (cx, "mul.Scalar", T (x), ADJ_INT (1))));
  adj_context_set_place (cx, NULL);
  y = CALL (cx, "mul.Scalar", T (y), ADJ_INT (0));
  /* 0 / 0: the gradient of sqrt at 0 is g / (2 · 0). */
  g_assert_false (try_backward (cx, y, ADJ_BACKWARD_RETAIN_GRAPH));
  tape_assert_error (cx, ADJ_ERROR_SHAPE,
                     "Function 'SqrtBackward' returned nan values in its 0th output. "
                     "(model.py:12)\nError detected in SqrtBackward. Traceback of forward call "
                     "that caused the error:\nmodel.py:12");
  adj_autograd_set_flags (cx, ADJ_AUTOGRAD_ANOMALY | ADJ_AUTOGRAD_NO_NAN_CHECK);
  g_assert_true (try_backward (cx, y, 0));
}

/* -- one hook on several tensors -- */

typedef struct
{
  guint n_calls;
  guint n_defined;
} Heard;

static void
hear (AdjContext *cx, AdjTensor *const *grads, guint n, gpointer data)
{
  Heard *heard = data;

  heard->n_calls++;
  heard->n_defined = 0;
  for (guint i = 0; i < n; i++)
    heard->n_defined += grads[i] != NULL;
}

/* A hook on two tensors runs once, with the gradients of both, or with one if the backward
 * reaches only one of them; a hook on the first of them to get a gradient runs with that. */
static void
hears_several (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_leaf (cx, 2, one_two), *y = tape_leaf (cx, 2, one_two);
  AdjTensor *tensors[] = { CALL (cx, "sin", T (x)), y };
  AdjTensor *both = CALL (cx, "sum", T (CALL (cx, "mul.Tensor", T (tensors[0]), T (y))));
  AdjTensor *one = CALL (cx, "sum", T (tensors[0]));
  Heard all = { 0 }, first = { 0 };
  g_autoptr (AdjHook) on_all = adj_autograd_add_multi_hook (cx, tensors, 2, FALSE, hear, &all);
  g_autoptr (AdjHook) on_first = adj_autograd_add_multi_hook (cx, tensors, 2, TRUE, hear, &first);

  tape_backward (cx, both, ADJ_BACKWARD_RETAIN_GRAPH);
  g_assert_cmpuint (all.n_calls, ==, 1);
  g_assert_cmpuint (all.n_defined, ==, 2);
  g_assert_cmpuint (first.n_calls, ==, 1);
  g_assert_cmpuint (first.n_defined, ==, 1);
  tape_backward (cx, one, ADJ_BACKWARD_RETAIN_GRAPH);
  g_assert_cmpuint (all.n_calls, ==, 2);
  g_assert_cmpuint (all.n_defined, ==, 1);
  adj_hook_remove (on_all);
  tape_backward (cx, both, 0);
  g_assert_cmpuint (all.n_calls, ==, 2);
  g_assert_cmpuint (first.n_calls, ==, 3);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/autograd/custom/differentiates-twice", differentiates_twice);
  g_test_add_func ("/autograd/custom/checks-what-was-saved", checks_what_was_saved);
  g_test_add_func ("/autograd/custom/refuses-twice-where-it-is-once",
                   refuses_twice_where_it_is_once);
  g_test_add_func ("/autograd/custom/writes-in-place", writes_in_place);
  g_test_add_func ("/autograd/custom/refuses-bad-writes", refuses_bad_writes);
  g_test_add_func ("/autograd/custom/makes-zeros-or-not", makes_zeros_or_not);
  g_test_add_func ("/autograd/custom/names-the-forward", names_the_forward);

  g_test_add_func ("/autograd/custom/hears-several", hears_several);

  return g_test_run ();
}
