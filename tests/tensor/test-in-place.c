/* SPDX-License-Identifier: MIT */
/* Changes of a tensor without computation: in-place views, set_, resize_, and version counts.
 * Expected values are PyTorch 2.6's. */

#include "call/adj-mode.h"
#include "rules/adj-operators.h"
#include "support/tape.h"

static const double values[] = { 0, 1, 2, 3, 4, 5 };

static AdjTensor *
matrix (AdjContext *cx)
{
  AdjValue sizes[] = { ADJ_INT (2), ADJ_INT (3) };

  return CALL (cx, "view", T (CALL (cx, "clone", T (tape_tensor (cx, 6, values)))),
               ((AdjValue){ .kind = ADJ_VALUE_LIST, .n = 2, .items = sizes }));
}

static void
assert_shows (AdjTensor *tensor, const char *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);

  adj_tensor_meta_print (adj_tensor_get_meta (tensor), NULL, text);
  g_assert_cmpstr (text->str, ==, expected);
}

/* -- views in place -- */

static void
turns (void)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  AdjValue sizes[] = { ADJ_INT (2), ADJ_INT (2) }, strides[] = { ADJ_INT (3), ADJ_INT (1) };
  AdjTensor *x = matrix (cx);

  g_assert_true (CALL (cx, "t_", T (x)) == x);
  assert_shows (x, "f64[3, 2][1, 3]cpu");
  g_assert_cmpfloat (tape_at (x, 1), ==, 3);
  CALL (cx, "transpose_", T (x), ADJ_INT (0), ADJ_INT (1));
  assert_shows (x, "f64[2, 3][3, 1]cpu");
  CALL (cx, "unsqueeze_", T (x), ADJ_INT (0));
  assert_shows (x, "f64[1, 2, 3][6, 3, 1]cpu");
  CALL (cx, "squeeze_.dim", T (x), ADJ_INT (0));
  assert_shows (x, "f64[2, 3][3, 1]cpu");
  CALL (cx, "as_strided_", T (x), ((AdjValue){ .kind = ADJ_VALUE_LIST, .n = 2, .items = sizes }),
        ((AdjValue){ .kind = ADJ_VALUE_LIST, .n = 2, .items = strides }), ADJ_INT (1));
  g_assert_cmpfloat (tape_at (x, 3), ==, 5);
}

static void
refuses_to_reach_outside (void)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  AdjValue size = ADJ_INT (7), stride = ADJ_INT (1);
  AdjTensor *x = matrix (cx);
  AdjValue items[] = { T (x),
                       { .kind = ADJ_VALUE_LIST, .n = 1, .items = &size },
                       { .kind = ADJ_VALUE_LIST, .n = 1, .items = &stride } };

  g_assert_false (tape_try (cx, "as_strided_", 3, items));
  tape_assert_error (cx, ADJ_ERROR_SHAPE, "aten::as_strided_: the view reaches outside");
  assert_shows (x, "f64[2, 3][3, 1]cpu");
}

static void
fakes_turn_too (void)
{
  g_autoptr (AdjContext) cx = adj_context_new_empty (NULL);
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE };
  const gint64 sizes[] = { 2, 3 };
  AdjTensor *x;

  adj_context_push_mode (cx, adj_fake_mode_new ());
  adj_shape_init_ints (&meta.shape, 2, sizes);
  x = adj_scope_add (cx, adj_tensor_new_empty (&meta, NULL, TRUE));
  CALL (cx, "t_", T (x));
  assert_shows (x, "f32[3, 2][1, 3]cpu");
}

/* -- storage -- */

static void
sets (void)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  AdjTensor *x = matrix (cx), *y = CALL (cx, "clone", T (x));
  AdjTensor *column = CALL (cx, "select.int", T (y), ADJ_INT (1), ADJ_INT (1));
  AdjTensor *other;
  AdjValue items[2];

  CALL (cx, "set_.source_Tensor", T (x), T (column));
  assert_shows (x, "f64[2][3]cpu");
  g_assert_true (adj_tensor_get_storage (x) == adj_tensor_get_storage (y));
  CALL (cx, "mul_.Scalar", T (y), ADJ_INT (2));
  g_assert_cmpfloat (tape_at (x, 1), ==, 8);

  other = CALL (cx, "lt.Scalar", T (y), ADJ_INT (0));
  items[0] = T (x);
  items[1] = T (other);
  g_assert_false (tape_try (cx, "set_.source_Tensor", 2, items));
  tape_assert_error (cx, ADJ_ERROR_SHAPE, "aten::set_.source_Tensor: source is bool");
}

static void
resizes (void)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  AdjTensor *x = matrix (cx), *first = CALL (cx, "select.int", T (x), ADJ_INT (0), ADJ_INT (0));
  AdjValue sizes[] = { ADJ_INT (2), ADJ_INT (2) };
  AdjValue huge[] = { ADJ_INT (G_MAXINT32), ADJ_INT (G_MAXINT32) };
  AdjValue items[] = { T (x), { .kind = ADJ_VALUE_LIST, .n = 2, .items = huge } };

  CALL (cx, "resize_", T (x), ((AdjValue){ .kind = ADJ_VALUE_LIST, .n = 2, .items = sizes }));
  assert_shows (x, "f64[2, 2][2, 1]cpu");
  g_assert_cmpfloat (tape_at (x, 3), ==, 3);
  sizes[0] = ADJ_INT (4);
  CALL (cx, "resize_", T (x), ((AdjValue){ .kind = ADJ_VALUE_LIST, .n = 2, .items = sizes }));
  assert_shows (x, "f64[4, 2][2, 1]cpu");
  g_assert_cmpfloat (tape_at (x, 5), ==, 5);
  g_assert_cmpuint (adj_storage_get_n_bytes (adj_tensor_get_storage (first)), ==, 64);
  g_assert_false (tape_try (cx, "resize_", 2, items));
  tape_assert_error (cx, ADJ_ERROR_MEMORY, " bytes");
}

/* -- counts of writes -- */

static void
views_count_together (void)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  AdjTensor *x = matrix (cx);
  AdjTensor *row = CALL (cx, "select.int", T (x), ADJ_INT (0), ADJ_INT (0));
  AdjTensor *same = CALL (cx, "detach", T (row));

  CALL (cx, "mul_.Scalar", T (row), ADJ_INT (2));
  g_assert_cmpuint (adj_tensor_get_version (x), ==, 1);
  CALL (cx, "t_", T (x));
  g_assert_cmpuint (adj_tensor_get_version (same), ==, 2);
}

/* x.data: shares the elements, but its writes do not raise the version of x. */
static void
shallow_copies_count_apart (void)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  AdjTensor *x = matrix (cx);
  AdjTensor *data = adj_scope_add (cx, adj_tensor_shallow_copy (x));
  AdjTensor *row = CALL (cx, "select.int", T (data), ADJ_INT (0), ADJ_INT (1));

  CALL (cx, "mul_.Scalar", T (row), ADJ_INT (2));
  g_assert_cmpfloat (tape_at (x, 4), ==, 8);
  g_assert_cmpuint (adj_tensor_get_version (x), ==, 0);
  g_assert_cmpuint (adj_tensor_get_version (data), ==, 1);
  CALL (cx, "mul_.Scalar", T (x), ADJ_INT (2));
  g_assert_cmpuint (adj_tensor_get_version (x), ==, 1);
  g_assert_cmpuint (adj_tensor_get_version (row), ==, 1);
}

/* x.set_(y): the version of x rises by one and is independent of y's afterwards. */
static void
set_counts_apart (void)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  AdjTensor *x = matrix (cx), *y = CALL (cx, "clone", T (x));

  CALL (cx, "mul_.Scalar", T (y), ADJ_INT (2));
  CALL (cx, "set_.source_Tensor", T (x), T (y));
  g_assert_cmpuint (adj_tensor_get_version (x), ==, 1);
  CALL (cx, "mul_.Scalar", T (y), ADJ_INT (2));
  CALL (cx, "mul_.Scalar", T (y), ADJ_INT (2));
  g_assert_cmpuint (adj_tensor_get_version (x), ==, 1);
  g_assert_cmpuint (adj_tensor_get_version (y), ==, 3);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/tensor/in-place/turns", turns);
  g_test_add_func ("/tensor/in-place/refuses-to-reach-outside", refuses_to_reach_outside);
  g_test_add_func ("/tensor/in-place/fakes-turn-too", fakes_turn_too);
  g_test_add_func ("/tensor/in-place/sets", sets);
  g_test_add_func ("/tensor/in-place/resizes", resizes);
  g_test_add_func ("/tensor/in-place/views-count-together", views_count_together);
  g_test_add_func ("/tensor/in-place/shallow-copies-count-apart", shallow_copies_count_apart);
  g_test_add_func ("/tensor/in-place/set-counts-apart", set_counts_apart);

  return g_test_run ();
}
