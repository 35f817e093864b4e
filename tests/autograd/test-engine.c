/* SPDX-License-Identifier: MIT */
/* The tape and the engine: order of nodes, accumulation, saved values, errors. */

#include "call/adj-mode.h"
#include "ops/adj-op-table.h"
#include "support/tape.h"

static const double one_two[] = { 1, 2 };

/* Collects the names of the nodes in the order in which they run, by a post hook on each. */
typedef struct
{
  GString *log;
  const AdjGradNode *node;
  const char *suffix;
} Entry;

static void
note_node (AdjContext *cx,
           AdjTensor **grads,
           guint n_grads,
           AdjTensor *const *results,
           guint n_results,
           gpointer data)
{
  const Entry *entry = data;

  g_string_append_printf (entry->log, "%s%s%s", entry->log->len > 0 ? " " : "",
                          adj_grad_node_get_name (entry->node), entry->suffix);
}

static void
watch (Entry *entry, GString *log, AdjContext *cx, AdjTensor *tensor, const char *suffix)
{
  g_autoptr (AdjGradNode) node = adj_tensor_get_grad_edge (cx, tensor, NULL);
  g_autoptr (AdjHook) hook = NULL;

  *entry = (Entry){ log, node, suffix };
  hook = adj_grad_node_add_post_hook (node, note_node, entry);
}

static void
e9 (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  g_autoptr (GString) log = g_string_new (NULL);
  const AdjValue square[] = { ADJ_INT (2), ADJ_INT (2) };
  const double values[] = { 1, 2, 3, 4 };
  AdjValue size = { .kind = ADJ_VALUE_LIST, .n = 2, .items = (AdjValue *) square };
  AdjTensor *x = CALL (cx, "view", T (tape_tensor (cx, 4, values)), size);
  AdjTensor *leaves[4], *out[7];
  Entry entries[11];
  guint n = 0;

  for (guint i = 0; i < 2; i++)
    {
      AdjTensor *flat = CALL (cx, "view", T (tape_tensor (cx, 4, values)), size);
      AdjTensor *w = adj_scope_add (cx, adj_keep (CALL (cx, "clone", T (flat))));
      AdjTensor *b = tape_leaf (cx, 2, one_two);

      g_assert_true (adj_tensor_set_requires_grad (cx, w, TRUE));
      leaves[2 * i] = w;
      leaves[2 * i + 1] = b;
      out[3 * i] = CALL (cx, "t", T (w));
      out[3 * i + 1] = CALL (cx, "addmm", T (b), T (x), T (out[3 * i]));
      out[3 * i + 2] = x = CALL (cx, "relu", T (out[3 * i + 1]));
    }
  out[6] = CALL (cx, "sum", T (x));
  for (guint i = 0; i < 7; i++)
    watch (&entries[n++], log, cx, out[i], "");
  {
    static const char *const names[] = { "(w0)", "(b0)", "(w2)", "(b2)" };
    g_autoptr (GPtrArray) held =
        g_ptr_array_new_with_free_func ((GDestroyNotify) adj_grad_node_unref);

    for (guint i = 0; i < 4; i++)
      {
        g_ptr_array_add (held, adj_tensor_get_grad_edge (cx, leaves[i], NULL));
        watch (&entries[n++], log, cx, leaves[i], names[i]);
      }
    tape_backward (cx, out[6], 0);
  }
  g_assert_cmpstr (log->str, ==,
                   "SumBackward ReluBackward AddmmBackward AccumulateGrad(b2) TBackward "
                   "AccumulateGrad(w2) ReluBackward AddmmBackward AccumulateGrad(b0) TBackward "
                   "AccumulateGrad(w0)");
}

static void
e12 (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  g_autoptr (GString) log = g_string_new (NULL);
  AdjTensor *x = tape_tensor (cx, 2, one_two);
  AdjTensor *y = tape_leaf (cx, 2, one_two), *z = tape_leaf (cx, 2, one_two);
  AdjTensor *m = CALL (cx, "mul.Tensor", T (x), T (z));
  AdjTensor *s = CALL (cx, "sin", T (y));
  AdjTensor *a1 = CALL (cx, "add.Tensor", T (m), T (s));
  AdjTensor *c = CALL (cx, "cos", T (y));
  AdjTensor *a2 = CALL (cx, "add.Tensor", T (a1), T (c));
  AdjTensor *sig = CALL (cx, "sigmoid", T (a2));
  AdjTensor *all[] = { m, s, a1, c, a2, sig, CALL (cx, "sum", T (sig)), y, z };
  Entry entries[9];

  for (guint i = 0; i < 9; i++)
    watch (&entries[i], log, cx, all[i], i < 7 ? "" : i == 7 ? "(y)" : "(z)");
  tape_backward (cx, all[6], 0);
  g_assert_cmpstr (log->str, ==,
                   "SumBackward SigmoidBackward AddBackward CosBackward AddBackward SinBackward "
                   "AccumulateGrad(y) MulBackward AccumulateGrad(z)");
}

static void
e19 (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_scalar (cx, 3);
  AdjTensor *y = CALL (cx, "mul.Scalar", T (x), ADJ_INT (2));
  const double one = 1, ten = 10;
  AdjTensor *tensors[] = { y, y };
  AdjTensor *grads[] = { tape_tensor (cx, 0, &one), tape_tensor (cx, 0, &ten) };

  g_assert_true (adj_backward (cx, &(AdjGradRoots){ tensors, grads, 2 }, NULL, 0, 0));
  g_assert_cmpfloat (tape_at (adj_tensor_get_grad (x), 0), ==, 22);
}

/* -- accumulation -- */

static void
accumulates_in_place (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_leaf (cx, 2, one_two);
  AdjTensor *grad;

  tape_backward (cx, CALL (cx, "sum", T (CALL (cx, "mul.Tensor", T (x), T (x)))), 0);
  grad = adj_tensor_get_grad (x);
  g_assert_cmpfloat (tape_at (grad, 1), ==, 4);
  tape_backward (cx, CALL (cx, "sum", T (CALL (cx, "mul.Tensor", T (x), T (x)))), 0);
  g_assert_true (adj_tensor_get_grad (x) == grad);
  g_assert_cmpfloat (tape_at (grad, 1), ==, 8);
}

/* With create_graph the accumulated gradient is a new tensor that has a history. */
static void
accumulates_with_history (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_scalar (cx, 3);
  g_autoptr (AdjTensor) first = NULL;

  tape_backward (cx, CALL (cx, "mul.Tensor", T (x), T (x)), ADJ_BACKWARD_CREATE_GRAPH);
  first = adj_keep (adj_tensor_get_grad (x));
  tape_backward (cx, CALL (cx, "mul.Tensor", T (x), T (x)), ADJ_BACKWARD_CREATE_GRAPH);
  g_assert_true (adj_tensor_get_grad (x) != first);
  g_assert_cmpfloat (tape_at (first, 0), ==, 6);
  g_assert_cmpfloat (tape_at (adj_tensor_get_grad (x), 0), ==, 12);
  g_assert_true (adj_tensor_get_requires_grad (adj_tensor_get_grad (x)));
  /* Clears the gradient: a leaf whose gradient's history leads back to it would own itself. */
  g_assert_true (adj_tensor_set_grad (cx, x, NULL));
}

/* (x + y).backward (g): neither leaf shares its gradient with g or the other leaf. */
static void
leaves_share_no_gradient (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_leaf (cx, 2, one_two), *y = tape_leaf (cx, 2, one_two);
  AdjTensor *sum = CALL (cx, "add.Tensor", T (x), T (y));
  AdjTensor *g = tape_tensor (cx, 2, one_two);
  AdjTensor *tensors[3] = { g };

  g_assert_true (adj_backward (cx, &(AdjGradRoots){ &sum, &g, 1 }, NULL, 0, 0));
  tensors[1] = adj_tensor_get_grad (x);
  tensors[2] = adj_tensor_get_grad (y);
  for (guint i = 0; i < 3; i++)
    for (guint k = 0; k < i; k++)
      g_assert_true (adj_tensor_get_storage (tensors[i]) != adj_tensor_get_storage (tensors[k]));
}

/* The gradient of sum () has stride 0; the leaf gets one with dense strides. */
static void
gradients_are_dense (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_leaf (cx, 2, one_two);

  tape_backward (cx, CALL (cx, "sum", T (x)), 0);
  g_assert_true (
      adj_shape_is_contiguous (&adj_tensor_get_meta (adj_tensor_get_grad (x))->shape, NULL));
}

/* -- double backward -- */

/* x³: derivatives 3x², 6x, 6. */
static void
differentiates_again (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_scalar (cx, 2);
  AdjTensor *y = CALL (cx, "pow.Tensor_Scalar", T (x), ADJ_INT (3));
  const double expected[] = { 12, 12, 6 };

  for (guint i = 0; i < 3; i++)
    {
      AdjTensor *grad;

      g_assert_true (adj_grad (cx, &(AdjGradRoots){ .tensors = &y, .n = 1 }, &x, 1,
                               ADJ_BACKWARD_CREATE_GRAPH, &grad));
      g_assert_cmpfloat_with_epsilon (tape_at (grad, 0), expected[i], 1e-12);
      y = grad;
    }
}

/* exp saves its result, which is connected to the graph again when it is unpacked. */
static void
results_come_back_into_the_graph (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_scalar (cx, 1.5);
  AdjTensor *y = CALL (cx, "exp", T (x));

  for (guint i = 0; i < 3; i++)
    {
      AdjTensor *grad;

      g_assert_true (adj_grad (cx, &(AdjGradRoots){ .tensors = &y, .n = 1 }, &x, 1,
                               ADJ_BACKWARD_CREATE_GRAPH, &grad));
      g_assert_cmpfloat_with_epsilon (tape_at (grad, 0), 4.4816890703380645, 1e-12);
      y = grad;
    }
}

/* -- errors: the context is usable afterwards -- */

static gboolean
try_backward (AdjContext *cx, AdjTensor *root)
{
  return adj_backward (cx, &(AdjGradRoots){ .tensors = &root, .n = 1 }, NULL, 0, 0);
}

static void
refuses_a_second_backward (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_scalar (cx, 2);
  AdjTensor *y = CALL (cx, "exp", T (x));

  tape_backward (cx, y, ADJ_BACKWARD_RETAIN_GRAPH);
  tape_backward (cx, y, 0);
  g_assert_false (try_backward (cx, y));
  tape_assert_error (cx, ADJ_ERROR_SHAPE,
                     "ExpBackward: trying to backward through the graph a "
                     "second time");
  tape_backward (cx, CALL (cx, "exp", T (x)), 0);
}

static void
refuses_modified_saved_values (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_leaf (cx, 2, one_two);
  AdjTensor *y = CALL (cx, "exp", T (x));
  const AdjPlace place = { .file = "model.py", .line = 7 };
  AdjTensor *z;

  adj_context_set_place (cx, &place);
  z = CALL (cx, "sin", T (y));
  adj_context_set_place (cx, NULL);
  CALL (cx, "mul_.Scalar", T (y), ADJ_INT (2));
  g_assert_false (try_backward (cx, CALL (cx, "sum", T (z))));
  tape_assert_error (cx, ADJ_ERROR_SHAPE,
                     "SinBackward: one of the variables needed for gradient computation has been "
                     "modified by an inplace operation: argument 'self' of "
                     "torch.ops.aten.sin.default, f64[2][1]cpu, which is output 0 of MulBackward, "
                     "is at version 1; expected version 0 instead (model.py:7)");
}

static void
refuses_writing_to_a_leaf (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_leaf (cx, 2, one_two);
  AdjValue items[] = { T (x), ADJ_INT (2) };
  AdjValue args = { .kind = ADJ_VALUE_TUPLE, .n = 2, .items = items };
  AdjValue result;
  const AdjOp *op = adj_op_find ("torch.ops.aten.mul_.Scalar");

  g_assert_false (adj_call (cx, op, &args, NULL, &result));
  tape_assert_error (
      cx, ADJ_ERROR_SHAPE,
      "aten::mul_.Scalar: argument 'self', f64[2][1]cpu: a leaf Variable that requires "
      "grad is being used in an in-place operation.");
  adj_context_set_grad_enabled (cx, FALSE);
  g_assert_true (adj_call (cx, op, &args, NULL, &result));
}

static gboolean
try_call (AdjContext *cx, const char *target, AdjTensor *a, AdjTensor *b, const char *keyword)
{
  AdjValue items[] = { T (a), T (b) };
  AdjValue named[] = { adj_value_new_string (keyword != NULL ? keyword : ""), T (b) };
  AdjValue args = { .kind = ADJ_VALUE_TUPLE, .n = keyword != NULL ? 1 : 2, .items = items };
  AdjValue kwargs = { .kind = ADJ_VALUE_DICT, .n = keyword != NULL ? 2 : 0, .items = named };
  AdjValue result;
  gboolean done = adj_call (cx, adj_op_find (target), &args, &kwargs, &result);

  adj_value_clear (&named[0]);
  return done;
}

static void
refuses_out_arguments (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_leaf (cx, 2, one_two);

  g_assert_false (try_call (cx, "torch.ops.aten.exp.out", x, tape_tensor (cx, 2, one_two), "out"));
  tape_assert_error (cx, ADJ_ERROR_UNSUPPORTED, "one of the arguments requires grad");
}

static void
refuses_bad_roots (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_leaf (cx, 2, one_two), *unused = tape_leaf (cx, 2, one_two);
  AdjTensor *y = CALL (cx, "exp", T (x)), *grads[1];
  const double three = 3;
  AdjTensor *bad = tape_tensor (cx, 0, &three);

  g_assert_false (try_backward (cx, y));
  tape_assert_error (cx, ADJ_ERROR_SHAPE, "only for scalar outputs");
  g_assert_false (try_backward (cx, bad));
  tape_assert_error (cx, ADJ_ERROR_SHAPE, "does not require grad and does not have a grad_fn");
  g_assert_false (adj_backward (cx, &(AdjGradRoots){ &y, &bad, 1 }, NULL, 0, 0));
  tape_assert_error (cx, ADJ_ERROR_SHAPE,
                     "grad_output[0] has a shape of [] and output[0] has a shape of [2]");
  g_assert_false (adj_grad (cx, &(AdjGradRoots){ &y, &x, 1 }, &unused, 1, 0, grads));
  tape_assert_error (cx, ADJ_ERROR_SHAPE, "appears to not have been used in the graph");
  y = CALL (cx, "exp", T (x));
  g_assert_true (
      adj_grad (cx, &(AdjGradRoots){ &y, &x, 1 }, &unused, 1, ADJ_BACKWARD_ALLOW_UNUSED, grads));
  g_assert_null (grads[0]);
}

/* A chain of 200,000 nodes is freed without deep recursion. */
static void
frees_long_chains (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_scalar (cx, 1);
  AdjTensor *y = adj_keep (x);

  for (guint i = 0; i < 200000; i++)
    {
      AdjTensor *next;

      adj_scope_begin (cx);
      next = adj_keep (CALL (cx, "neg", T (y)));
      adj_scope_end (cx);
      adj_tensor_unref (y);
      y = next;
    }
  tape_backward (cx, y, 0);
  g_assert_cmpfloat (tape_at (adj_tensor_get_grad (x), 0), ==, 1);
  adj_tensor_unref (y);
}

static void
run_backward (AdjContext *cx,
              AdjTensor **grads,
              guint n_grads,
              AdjTensor *const *results,
              guint n_results,
              gpointer tensor)
{
  tape_backward (cx, tensor, ADJ_BACKWARD_RETAIN_GRAPH);
}

/* A backward that runs within another uses the same nodes with its own dependency counts. */
static void
backwards_within_others_share_nodes (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_leaf (cx, 2, one_two);
  AdjTensor *y = CALL (cx, "sum", T (CALL (cx, "mul.Tensor", T (x), T (x))));
  AdjTensor *z = CALL (cx, "mul.Tensor", T (y), ADJ_INT (3));
  g_autoptr (AdjGradNode) node = adj_tensor_get_grad_edge (cx, z, NULL);
  g_autoptr (AdjHook) hook = adj_grad_node_add_post_hook (node, run_backward, y);

  tape_backward (cx, z, ADJ_BACKWARD_RETAIN_GRAPH);
  g_assert_cmpfloat (tape_at (adj_tensor_get_grad (x), 0), ==, 8);
  g_assert_cmpfloat (tape_at (adj_tensor_get_grad (x), 1), ==, 16);
}

/* _unsafe_view is a view for functionalization and no view for autograd. */
static void
an_unsafe_view_is_no_view (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_leaf (cx, 4, (double[]){ 1, 2, 3, 4 });
  AdjTensor *y =
      CALL (cx, "_unsafe_view", T (CALL (cx, "neg", T (x))), LIST (ADJ_INT (2), ADJ_INT (2)));

  g_assert_null (adj_tensor_get_base (y));
  CALL (cx, "add_.Scalar", T (y), ADJ_INT (1));
  g_assert_cmpstr (adj_grad_node_get_name (adj_tensor_get_grad_node (y)), ==, "AddBackward");
}

/* mean and std get gradients of zero, although drawn numbers depend on them. */
static void
drawn_numbers (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *mean = tape_scalar (cx, 2), *std = tape_scalar (cx, 3);

  tape_backward (cx, CALL (cx, "normal.Tensor_Tensor", T (mean), T (std)), 0);
  g_assert_cmpfloat (tape_at (adj_tensor_get_grad (mean), 0), ==, 0);
  g_assert_cmpfloat (tape_at (adj_tensor_get_grad (std), 0), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/compiled-autograd/6.1/E9-mlp", e9);
  g_test_add_func ("/compiled-autograd/6.1/E12-accumulators-overtake", e12);
  g_test_add_func ("/compiled-autograd/6.1/E19-one-root-twice", e19);
  g_test_add_func ("/autograd/engine/accumulates-in-place", accumulates_in_place);
  g_test_add_func ("/autograd/engine/accumulates-with-history", accumulates_with_history);
  g_test_add_func ("/autograd/engine/leaves-share-no-gradient", leaves_share_no_gradient);
  g_test_add_func ("/autograd/engine/gradients-are-dense", gradients_are_dense);
  g_test_add_func ("/autograd/engine/differentiates-again", differentiates_again);
  g_test_add_func ("/autograd/engine/results-come-back", results_come_back_into_the_graph);
  g_test_add_func ("/autograd/engine/refuses-a-second-backward", refuses_a_second_backward);
  g_test_add_func ("/autograd/engine/refuses-modified-saved-values", refuses_modified_saved_values);
  g_test_add_func ("/autograd/engine/refuses-writing-to-a-leaf", refuses_writing_to_a_leaf);
  g_test_add_func ("/autograd/engine/refuses-out-arguments", refuses_out_arguments);
  g_test_add_func ("/autograd/engine/refuses-bad-roots", refuses_bad_roots);
  g_test_add_func ("/autograd/engine/an-unsafe-view-is-no-view", an_unsafe_view_is_no_view);
  g_test_add_func ("/autograd/engine/frees-long-chains", frees_long_chains);
  g_test_add_func ("/autograd/engine/backwards-within-others-share-nodes",
                   backwards_within_others_share_nodes);
  g_test_add_func ("/autograd/engine/drawn-numbers", drawn_numbers);

  return g_test_run ();
}
