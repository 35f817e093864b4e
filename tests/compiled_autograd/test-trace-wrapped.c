/* SPDX-License-Identifier: MIT */
/* trace_wrapped (call/SPEC.md §8): how each mode handles the call, and which rules the function
 * must keep. */

#include "adjoint.h"
#include "call/adj-mode.h"
#include "call/adj-trace-wrapped.h"
#include "compiled_autograd/capture.h"
#include "ir/adj-opaque.h"
#include "support/adj-test.h"
#include "trace/adj-functional.h"

static guint n_called;

static AdjTensor *
mul_self (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  n_called++;
  return CALL (cx, "mul.Tensor", T (grad), T (grad));
}

static AdjTensor *
wrap_square (AdjContext *cx, AdjTensor *grad, gpointer square)
{
  AdjValue result;

  return adj_trace_wrapped (cx, square, &T (grad), 1, NULL, &result)
             ? adj_scope_add (cx, result.tensor)
             : NULL;
}

static AdjOpaque *
square_new (void)
{
  return adj_wrapped_function_new ("mul_self", mul_self, NULL, NULL);
}

typedef struct
{
  AdjFunction parent;
  AdjOpaque *object;
} Wrapping;

static gboolean
wrapping_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  return adj_trace_wrapped (cx, ((Wrapping *) function)->object, args, n_args, NULL, result);
}

static void
wrapping_finalize (AdjFunction *function)
{
  adj_opaque_unref (((Wrapping *) function)->object);
}

static const AdjFunctionClass wrapping_class = {
  .name = "wrapping",
  .call = wrapping_call,
  .finalize = wrapping_finalize,
};

static AdjFunction *
wrapping_new (void)
{
  Wrapping *self = (Wrapping *) adj_function_new (&wrapping_class, sizeof (Wrapping));

  self->object = square_new ();
  return &self->parent;
}

static AdjGraph *
trace_square (gboolean functionalize)
{
  static const char *const parameters[] = { "grad" };
  g_autoptr (AdjFunction) function = wrapping_new ();
  g_autoptr (GError) error = NULL;
  AdjTensorMeta meta = {
    .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE, .storage = -1
  };
  AdjTraceOptions options = { .parameters = parameters, .functionalize = functionalize };
  AdjGraph *graph;

  adj_shape_init_ints (&meta.shape, 1, (const gint64[]){ 3 });
  graph = adj_trace (function, &(AdjValue){ .kind = ADJ_VALUE_META, .meta = &meta }, 1, &options,
                     &error);
  g_assert_no_error (error);
  return graph;
}

/* W1: a trace keeps the call; the function is not called by the trace but when the graph runs. */
static void
w1 (gconstpointer functionalize)
{
  g_autoptr (AdjGraph) graph = trace_square (GPOINTER_TO_INT (functionalize));
  g_autofree char *text = graph_describe (graph);
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_auto (AdjValue) result = ADJ_NONE;
  const double values[] = { 1, 2, 3 };
  const AdjNode *node;

  g_assert_cmpuint (n_called, ==, 0);
  node = adj_graph_get_node (graph, adj_graph_find_node (graph, "trace_wrapped").index);
  g_assert_true (g_str_has_suffix (node->target, ".self_invoke"));
  g_assert_cmpint (node->val.meta->shape.size[0].word, ==, 3);
  g_assert_nonnull (strstr (text, "trace_wrapped = "));
  adj_scope_begin (cx);
  g_assert_true (adj_interpret (cx, graph, &T (tape_tensor (cx, 3, values)), 1, NULL, &result));
  g_assert_cmpfloat (tape_at (result.tensor, 2), ==, 9);
  g_assert_cmpuint (n_called, ==, 1);
  adj_scope_end (cx);
  n_called = 0;
}

/* W2: a hook that makes such a call, under capture: the function is called once in each
 * backward. */
static void
w2 (void)
{
  g_autoptr (AdjCompiledAutograd) compiler =
      adj_compiled_autograd_new (&(AdjCompiledOptions){ .order = ADJ_CAPTURE_ORDER_2_6 });
  g_autoptr (AdjOpaque) square = square_new ();
  const float values[] = { 1, 2, 3 };
  Program p;
  AdjTensor *x, *y, *root, *grad;
  g_autoptr (AdjHook) hook = NULL;

  program_init (&p);
  x = program_vector (&p, 3, values);
  y = program_vector (&p, 3, values);
  hook = adj_tensor_add_hook (p.cx, x, wrap_square, square);
  grad = adj_from_array (p.cx, ADJ_DTYPE_F32, (const gint64[]){ 3 }, 1, values);
  root = CALL (p.cx, "add.Tensor", T (x), T (y));
  g_assert_true (adj_compiled_autograd_enable (compiler, p.cx));
  g_assert_true (
      adj_backward (p.cx, &(AdjGradRoots){ .tensors = &root, .grads = &grad, .n = 1 }, NULL, 0, 0));
  adj_compiled_autograd_restore (p.cx);
  g_assert_cmpuint (n_called, ==, 1);
  g_assert_cmpfloat (tape_at (adj_tensor_get_grad (x), 2), ==, 9);
  g_assert_cmpfloat (tape_at (adj_tensor_get_grad (y), 2), ==, 3);
  assert_golden (adj_capture_get_graph (adj_compiled_autograd_get_capture (compiler, 0)), "w2");
  n_called = 0;
  program_clear (&p);
}

static void
test_fake (void)
{
  g_autoptr (AdjContext) cx = adj_context_new_empty (NULL);
  g_autoptr (AdjOpaque) square = square_new ();
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE };
  g_autoptr (AdjTensor) fake = adj_tensor_new_empty (&meta, NULL, TRUE);
  AdjValue result;

  adj_context_push_mode (cx, adj_fake_mode_new ());
  g_assert_false (adj_trace_wrapped (cx, square, &T (fake), 1, NULL, &result));
  tape_assert_error (cx, ADJ_ERROR_UNSUPPORTED,
                     "trace_wrapped: This op should never be invoked here");
}

/* If grad mode is unchanged, the result cannot be differentiated; through the public entry point
 * it need not be. */
static void
test_autograd (void)
{
  AdjContext *cx = tape_new ();
  g_autoptr (AdjOpaque) square = square_new ();
  const double values[] = { 1, 2, 3 };
  g_auto (AdjValue) raw = ADJ_NONE;
  g_auto (AdjValue) wrapped = ADJ_NONE;
  AdjTensor *leaf, *root;

  adj_scope_begin (cx);
  leaf = tape_leaf (cx, 3, values);
  g_assert_true (adj_trace_wrapped (cx, square, &T (leaf), 1, NULL, &wrapped));
  g_assert_false (adj_tensor_get_requires_grad (wrapped.tensor));
  g_assert_true (adj_call_wrapped (cx, square, &T (leaf), 1, NULL, &raw));
  g_assert_true (adj_tensor_get_requires_grad (raw.tensor));
  root = CALL (cx, "sum", T (raw.tensor));
  g_assert_false (adj_tensor_backward (cx, root));
  tape_assert_error (cx, ADJ_ERROR_UNSUPPORTED, "Autograd not implemented for trace_wrapped");
  n_called = 0;
  adj_scope_end (cx);
  adj_context_free (cx);
}

/* -- what the function must do -- */

static AdjTensor *
give_sum (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  return CALL (cx, "sum", T (grad));
}

static AdjTensor *
give_strided (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  return CALL (cx, "expand", T (CALL (cx, "sum", T (grad))), LIST (ADJ_INT (3)));
}

static AdjTensor *
give_narrow (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  return CALL (cx, "gt.Scalar", T (grad), ADJ_INT (0));
}

static AdjTensor *
give_itself (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  return grad;
}

static AdjTensor *
give_nothing (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  return NULL;
}

static AdjTensor *
reshape_argument (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  AdjTensor *copy = CALL (cx, "clone", T (grad));

  CALL (cx, "unsqueeze_", T (grad), ADJ_INT (0));
  return copy;
}

static const struct
{
  const char *name;
  AdjWrappedFunc func;
  const char *message;
} wrongs[] = {
  { "size", give_sum, "size mismatch: 'f' was given, gave f64[3][1]cpu, f64[][]cpu" },
  { "stride", give_strided, "stride mismatch: 'f' was given, gave f64[3][1]cpu, f64[3][0]cpu" },
  { "dtype", give_narrow, "dtype mismatch: 'f' was given, gave f64[3][1]cpu, b8[3][1]cpu" },
  { "itself", give_itself,
    "trace_wrapped: 'f' gives its argument itself: it must give a new tensor" },
  { "nothing", give_nothing, "trace_wrapped: 'f' was given Tensor and gives None" },
  { "argument", reshape_argument,
    "'f' changed its argument, it was, is f64[3][1]cpu, f64[1, 3][3, 1]cpu" },
};

/* An error does not persist: the same call works with a function that keeps the rules. */
static void
assert_goes_on (AdjContext *cx, AdjTensor *tensor)
{
  g_autoptr (AdjOpaque) square = square_new ();
  g_auto (AdjValue) result = ADJ_NONE;

  g_assert_true (adj_trace_wrapped (cx, square, &T (tensor), 1, NULL, &result));
  for (gint64 i = 0; i < 3; i++)
    g_assert_cmpfloat (tape_at (result.tensor, i), ==, tape_at (tensor, i) * tape_at (tensor, i));
  n_called = 0;
}

static void
test_wrong (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data);
  AdjContext *cx = tape_new ();
  g_autoptr (AdjOpaque) function = adj_wrapped_function_new ("f", wrongs[i].func, NULL, NULL);
  const double values[] = { 1, 2, 3 };
  g_auto (AdjValue) result = ADJ_NONE;

  adj_scope_begin (cx);
  g_assert_false (
      adj_trace_wrapped (cx, function, &T (tape_tensor (cx, 3, values)), 1, NULL, &result));
  tape_assert_error (cx, ADJ_ERROR_SHAPE, wrongs[i].message);
  assert_goes_on (cx, tape_tensor (cx, 3, values));
  adj_scope_end (cx);
  adj_context_free (cx);
}

static void
test_arguments (void)
{
  AdjContext *cx = tape_new ();
  g_autoptr (AdjOpaque) square = square_new ();
  const double values[] = { 1, 2, 3 };
  g_auto (AdjValue) result = ADJ_NONE;
  AdjValue two[2];

  adj_scope_begin (cx);
  two[0] = two[1] = T (tape_tensor (cx, 3, values));
  g_assert_false (adj_trace_wrapped (cx, square, two, 2, NULL, &result));
  tape_assert_error (cx, ADJ_ERROR_SHAPE, "'mul_self' takes one tensor, but got 2 arguments");
  assert_goes_on (cx, two[0].tensor);
  adj_scope_end (cx);
  adj_context_free (cx);
}

/* -- hooks of a compiled function -- */

typedef struct
{
  AdjFunction parent;
  guint n_hooked;
} Hooked;

static AdjTensor *
triple (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  (*(guint *) data)++;
  return CALL (cx, "mul.Scalar", T (grad), ADJ_INT (3));
}

static gboolean
hooked_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjTensor *y = CALL (cx, "sin", args[0]);
  g_autoptr (AdjHook) hook = adj_tensor_add_hook (cx, y, triple, &((Hooked *) function)->n_hooked);

  *result = adj_value_copy (&T (CALL (cx, "mul.Tensor", T (y), T (y))));
  return TRUE;
}

static const AdjFunctionClass hooked_class = { .name = "hooked", .call = hooked_call };

/* The joint graph keeps the call made by the hook; the function runs with the graph, once in
 * each backward. */
static void
test_deferred (void)
{
  Hooked *function = (Hooked *) adj_function_new (&hooked_class, sizeof (Hooked));
  AdjContext *cx = tape_new ();
  const double values[] = { 1, 2, 3 };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjAotGraph) aot = NULL;
  AdjGraph *joint;
  AdjValue x, args[2];
  g_auto (AdjValue) result = ADJ_NONE;

  adj_scope_begin (cx);
  x = T (tape_leaf (cx, 3, values));
  aot = adj_aot_trace (&function->parent, &x, 1, &(AdjAotOptions){ .defer_hooks = TRUE }, NULL,
                       &error);
  g_assert_no_error (error);
  joint = adj_aot_graph_get_graph (aot);
  g_assert_true (adj_node_id_is_valid (adj_graph_find_node (joint, "trace_wrapped")));
  g_assert_cmpuint (function->n_hooked, ==, 0);
  args[0] = T (tape_tensor (cx, 3, values));
  args[1] = T (CALL (cx, "ones_like", args[0]));
  g_assert_true (adj_interpret (cx, joint, args, 2, NULL, &result));
  g_assert_cmpuint (function->n_hooked, ==, 1);
  adj_scope_end (cx);
  adj_context_free (cx);
  adj_function_unref (&function->parent);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/compiled-autograd/6.4/W1", GINT_TO_POINTER (FALSE), w1);
  g_test_add_data_func ("/compiled-autograd/6.4/W1-functionalized", GINT_TO_POINTER (TRUE), w1);
  g_test_add_func ("/compiled-autograd/6.4/W2", w2);
  g_test_add_func ("/compiled-autograd/4/fake", test_fake);
  g_test_add_func ("/compiled-autograd/4/autograd", test_autograd);
  g_test_add_func ("/compiled-autograd/4/arguments", test_arguments);
  g_test_add_func ("/compiled-autograd/4/hooks-of-a-compiled-function", test_deferred);
  for (guint i = 0; i < G_N_ELEMENTS (wrongs); i++)
    {
      g_autofree char *path = g_strdup_printf ("/compiled-autograd/4/wrong/%s", wrongs[i].name);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_wrong);
    }
  return g_test_run ();
}
