/* SPDX-License-Identifier: MIT */
/* Pack and unpack hooks of a single saved tensor; values and texts are those of eager PyTorch
 * 2.6. */

#include <math.h>

#include "support/tape.h"

static const double one_two[] = { 1, 2 }, three_four[] = { 3, 4 };

typedef struct
{
  guint n_packs, n_unpacks, n_frees, n_ends;
} Counts;

static gpointer
pack (AdjContext *cx, AdjTensor *tensor, gpointer data)
{
  ((Counts *) data)->n_packs++;
  return adj_keep (tensor);
}

static AdjTensor *
unpack_twice (AdjContext *cx, gpointer packed, gpointer data)
{
  ((Counts *) data)->n_unpacks++;
  return CALL (cx, "mul.Scalar", T (packed), ADJ_INT (2));
}

static void
end (gpointer data)
{
  ((Counts *) data)->n_ends++;
}

#define TWICE(counts)                                                                              \
  (&(AdjSavedHooks){ .pack = pack,                                                                 \
                     .unpack = unpack_twice,                                                       \
                     .free_packed = (GDestroyNotify) adj_tensor_unref,                             \
                     .data = (counts),                                                             \
                     .destroy = end })

static void
packs_one (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_leaf (cx, 2, one_two), *y = tape_leaf (cx, 2, three_four);
  AdjTensor *z = CALL (cx, "mul.Tensor", T (x), T (y));
  AdjGradNode *node = adj_tensor_get_grad_node (z);
  Counts counts = { 0 };

  g_assert_cmpuint (adj_grad_node_get_n_saved (node), ==, 2);
  g_assert_true (adj_grad_node_set_saved_hooks (cx, node, 0, TWICE (&counts)));
  g_assert_cmpuint (counts.n_packs, ==, 1);
  tape_backward (cx, CALL (cx, "sum", T (z)), 0);
  g_assert_cmpfloat (tape_at (adj_tensor_get_grad (x), 1), ==, 4);
  g_assert_cmpfloat (tape_at (adj_tensor_get_grad (y), 1), ==, 4);
  g_assert_cmpfloat (tape_at (adj_tensor_get_grad (y), 0), ==, 2);
  g_assert_cmpuint (counts.n_unpacks, ==, 1);
  g_assert_cmpuint (counts.n_ends, ==, 1);
}

static void
packs_a_result (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_leaf (cx, 2, one_two);
  AdjTensor *y = CALL (cx, "exp", T (x)), *sum = CALL (cx, "sum", T (y)), *grad;
  Counts counts = { 0 };

  g_assert_true (
      adj_grad_node_set_saved_hooks (cx, adj_tensor_get_grad_node (y), 0, TWICE (&counts)));
  g_assert_true (adj_grad (cx, &(AdjGradRoots){ .tensors = &sum, .n = 1 }, &x, 1,
                           ADJ_BACKWARD_CREATE_GRAPH, &grad));
  g_assert_cmpfloat_with_epsilon (tape_at (grad, 0), 2 * exp (1), 1e-12);
  g_assert_true (adj_tensor_get_requires_grad (grad));
  g_assert_cmpuint (counts.n_unpacks, ==, 1);
}

static void
refuses (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_leaf (cx, 2, one_two), *y = tape_leaf (cx, 2, three_four);
  AdjTensor *z = CALL (cx, "mul.Tensor", T (x), T (y));
  AdjGradNode *node = adj_tensor_get_grad_node (z);
  Counts counts = { 0 };

  g_assert_true (adj_grad_node_set_saved_hooks (cx, node, 0, TWICE (&counts)));
  g_assert_false (adj_grad_node_set_saved_hooks (cx, node, 0, TWICE (&counts)));
  tape_assert_error (cx, ADJ_ERROR_SHAPE,
                     "MulBackward: Calling register_hooks on a saved tensor whose hooks have "
                     "already been set. Hint: only one pair of hooks is allowed at a time.");
  tape_backward (cx, CALL (cx, "sum", T (z)), 0);
  g_assert_cmpuint (adj_grad_node_get_n_saved (node), ==, 0);
  g_assert_false (adj_grad_node_set_saved_hooks (cx, node, 1, TWICE (&counts)));
  tape_assert_error (cx, ADJ_ERROR_SHAPE, "MulBackward: there is no saved tensor 1");
  g_assert_cmpuint (counts.n_packs, ==, 1);
  g_assert_cmpuint (counts.n_ends, ==, 3);
}

static gpointer
pack_and_write (AdjContext *cx, AdjTensor *tensor, gpointer data)
{
  CALL (cx, "mul_.Scalar", T (tensor), ADJ_INT (2));
  return adj_keep (tensor);
}

static void
refuses_writing (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_leaf (cx, 2, one_two);
  AdjTensor *y = CALL (cx, "exp", T (x));
  Counts counts = { 0 };
  AdjSavedHooks hooks = *TWICE (&counts);

  hooks.pack = pack_and_write;
  g_assert_false (adj_grad_node_set_saved_hooks (cx, adj_tensor_get_grad_node (y), 0, &hooks));
  tape_assert_error (cx, ADJ_ERROR_SHAPE, "pack hook is modifying its input in place");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/autograd/saved-hooks/packs-one", packs_one);
  g_test_add_func ("/autograd/saved-hooks/packs-a-result", packs_a_result);
  g_test_add_func ("/autograd/saved-hooks/refuses", refuses);
  g_test_add_func ("/autograd/saved-hooks/refuses-writing", refuses_writing);
  return g_test_run ();
}
