/* SPDX-License-Identifier: MIT */
/* A backward that cannot be captured runs eagerly, or is refused if that was requested; an error
 * is the same as in eager mode, keeps what was accumulated and does not affect the next
 * backward. */

#include <string.h>

#include "compiled_autograd/capture.h"
#include "interpreter/adj-interpreter.h"

#define OP(name, ...) CALL (p->cx, name, __VA_ARGS__)

typedef struct
{
  Program program;
  AdjCompiledAutograd *compiler; /* (nullable): %NULL: eagerly */
} Fixture;

static void
setup (Fixture *f, const AdjCompiledOptions *options, gboolean captures)
{
  program_init (&f->program);
  f->compiler = captures ? adj_compiled_autograd_new (options) : NULL;
  if (captures)
    g_assert_true (adj_compiled_autograd_enable (f->compiler, f->program.cx));
}

static void
teardown (Fixture *f)
{
  if (f->compiler != NULL)
    adj_compiled_autograd_restore (f->program.cx);
  program_clear (&f->program);
  g_clear_pointer (&f->compiler, adj_compiled_autograd_free);
}

static AdjTensor *
vector (Program *p)
{
  return program_vector (p, 3, (const float[]){ 0.5, 0.25, -1 });
}

static gboolean
backward (Program *p, AdjTensor *tensor, AdjBackwardFlags flags)
{
  AdjTensor *sum = OP ("sum", T (tensor));

  return adj_backward (p->cx, &(AdjGradRoots){ .tensors = &sum, .n = 1 }, NULL, 0, flags);
}

static void
assert_counts (const Fixture *f, guint captures, guint hits, guint fallbacks)
{
  const AdjCompiledCounters counters = adj_compiled_autograd_get_counters (f->compiler);

  g_assert_cmpuint (counters.captures, ==, captures);
  g_assert_cmpuint (counters.hits, ==, hits);
  g_assert_cmpuint (counters.fallbacks, ==, fallbacks);
}

/* Runs a backward that can be captured. */
static void
assert_works (Fixture *f)
{
  Program *p = &f->program;
  AdjTensor *x = vector (p);

  g_assert_true (backward (p, OP ("sin", T (x)), 0));
  g_assert_nonnull (adj_tensor_get_grad (x));
  g_assert_false (adj_compiled_autograd_is_running (f->compiler));
}

/* -- what is not captured -- */

typedef void (*ArrangeFunc) (Program *p);

static void
arrange_nothing (Program *p)
{
}

static void
arrange_anomaly (Program *p)
{
  adj_autograd_set_flags (p->cx, ADJ_AUTOGRAD_ANOMALY);
}

static void
arrange_autocast (Program *p)
{
  adj_context_set_autocast (p->cx, 0, (AdjAutocast){ .on = TRUE, .dtype = ADJ_DTYPE_BF16 });
}

static const struct
{
  const char *name;
  ArrangeFunc arrange;
  AdjBackwardFlags flags;
  const char *reason;
} uncaptured[] = {
  { "create-graph", arrange_nothing, ADJ_BACKWARD_CREATE_GRAPH,
    "compiled_autograd does not support create_graph" },
  { "anomaly", arrange_anomaly, 0, "compiled_autograd does not support AnomalyMode" },
  { "autocast", arrange_autocast, 0,
    "compiled_autograd does not support autocast in the backward" },
};

static void
is_not_captured (gconstpointer data)
{
  const guint row = GPOINTER_TO_UINT (data);

  for (gint strict = 0; strict < 2; strict++)
    {
      Fixture f;
      Program *p = &f.program;
      AdjTensor *x;

      setup (&f, &(AdjCompiledOptions){ .strict = strict }, TRUE);
      x = vector (p);
      uncaptured[row].arrange (p);
      g_assert_cmpint (backward (p, OP ("sin", T (x)), uncaptured[row].flags), ==, !strict);
      if (strict)
        tape_assert_error (p->cx, ADJ_ERROR_UNSUPPORTED, uncaptured[row].reason);
      g_assert_true ((adj_tensor_get_grad (x) != NULL) == !strict);
      assert_counts (&f, 0, 0, 1);
      g_assert_cmpstr (adj_compiled_autograd_get_counters (f.compiler).fallback_reason, ==,
                       uncaptured[row].reason);
      /* Clears the gradient: one with a history keeps its own tensor alive. */
      g_assert_true (adj_tensor_set_grad (p->cx, x, NULL));
      teardown (&f);
    }
}

/* -- backwards in backwards -- */

typedef struct
{
  Fixture *f;
  AdjTensor *other; /* a leaf */
  gboolean done;
} Inside;

static AdjTensor *
run_backward (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  Inside *inside = data;
  gboolean enabled = adj_context_set_grad_enabled (cx, TRUE);
  AdjTensor *sum = CALL (cx, "sum", T (CALL (cx, "exp", T (inside->other))));

  g_assert_true (adj_compiled_autograd_is_running (inside->f->compiler));
  inside->done = adj_tensor_backward (cx, sum);
  adj_context_set_grad_enabled (cx, enabled);
  return NULL;
}

static void
backward_in_a_hook (void)
{
  for (gint strict = 0; strict < 2; strict++)
    {
      Fixture f;
      Program *p = &f.program;
      Inside inside = { .f = &f };
      g_autoptr (AdjHook) hook = NULL;
      AdjTensor *x;

      setup (&f, &(AdjCompiledOptions){ .strict = strict }, TRUE);
      x = vector (p);
      inside.other = vector (p);
      hook = adj_tensor_add_hook (p->cx, x, run_backward, &inside);
      g_assert_cmpint (backward (p, OP ("sin", T (x)), 0), ==, !strict);
      g_assert_cmpint (inside.done, ==, !strict);
      g_assert_true ((adj_tensor_get_grad (inside.other) != NULL) == !strict);
      if (strict)
        tape_assert_error (p->cx, ADJ_ERROR_UNSUPPORTED,
                           "Trying to run compiled autograd within another compiled autograd call "
                           "(e.g. reentrant checkpointing), this is not supported yet.");
      assert_counts (&f, 1, 0, (guint) strict);
      assert_works (&f);
      teardown (&f);
    }
}

static AdjTensor *
enable_another (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  g_autoptr (AdjCompiledAutograd) another = adj_compiled_autograd_new (NULL);
  Inside *inside = data;

  inside->done = adj_compiled_autograd_enable (another, cx);
  tape_assert_error (cx, ADJ_ERROR_SHAPE,
                     "compiled_autograd._enable() requires no threads in backwards()");
  return NULL;
}

static AdjTensor *
reset_it (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  Inside *inside = data;
  g_autoptr (GError) error = NULL;

  inside->done = adj_compiled_autograd_reset (inside->f->compiler, &error);
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED);
  g_assert_cmpstr (error->message, ==,
                   "compiled autograd cannot be reset while one of its backwards runs");
  return NULL;
}

static void
check_refused_inside (AdjTensorHookFunc func)
{
  Fixture f;
  Program *p = &f.program;
  Inside inside = { .f = &f, .done = TRUE };
  g_autoptr (AdjHook) hook = NULL;
  AdjTensor *x;

  setup (&f, NULL, TRUE);
  x = vector (p);
  hook = adj_tensor_add_hook (p->cx, x, func, &inside);
  g_assert_true (backward (p, OP ("sin", T (x)), 0));
  g_assert_false (inside.done);
  g_assert_nonnull (adj_tensor_get_grad (x));
  assert_counts (&f, 1, 0, 0);
  assert_works (&f);
  teardown (&f);
}

static void
enabled_inside (void)
{
  check_refused_inside (enable_another);
}

static void
reset_inside (void)
{
  check_refused_inside (reset_it);
}

static void
enabled_for_nobody (void)
{
  Fixture f;

  setup (&f, NULL, TRUE);
  g_assert_true (adj_compiled_autograd_enable (NULL, f.program.cx));
  g_assert_false (adj_compiled_autograd_is_enabled (f.program.cx));
  assert_works (&f);
  adj_compiled_autograd_restore (f.program.cx);
  g_assert_true (adj_compiled_autograd_is_enabled (f.program.cx));
  assert_counts (&f, 0, 0, 0);
  assert_works (&f);
  assert_counts (&f, 1, 0, 0);
  teardown (&f);
}

/* -- errors are the engine's -- */

typedef AdjTensor *(*BuildFunc) (Program *p);

static AdjTensor *
make_shorter (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  return CALL (cx, "slice.Tensor", T (grad), ADJ_INT (0), ADJ_INT (1));
}

static AdjTensor *
make_double (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  return tape_tensor (cx, 3, (const double[]){ 1, 2, 3 });
}

static void
shorten_all (AdjContext *cx,
             AdjTensor **grads,
             guint n_grads,
             AdjTensor *const *results,
             guint n_results,
             gpointer data)
{
  for (guint i = 0; i < n_grads; i++)
    grads[i] = make_shorter (cx, grads[i], NULL);
}

static AdjTensor *
hook_result (Program *p, AdjTensorHookFunc func)
{
  AdjTensor *y = OP ("sin", T (vector (p)));
  g_autoptr (AdjHook) hook = adj_tensor_add_hook (p->cx, y, func, NULL);

  adj_hook_set_name (hook, "shrink");
  return OP ("exp", T (y));
}

static AdjTensor *
shorter_by_tensor_hook (Program *p)
{
  return hook_result (p, make_shorter);
}

static AdjTensor *
other_dtype (Program *p)
{
  return hook_result (p, make_double);
}

static AdjTensor *
hook_node (Program *p, gboolean before)
{
  AdjTensor *y = OP ("sin", T (vector (p)));
  AdjGradNode *node = adj_tensor_get_grad_node (y);
  g_autoptr (AdjHook) hook = before ? adj_grad_node_add_pre_hook (node, shorten_all, NULL)
                                    : adj_grad_node_add_post_hook (node, shorten_all, NULL);

  return OP ("exp", T (y));
}

static AdjTensor *
shorter_by_pre_hook (Program *p)
{
  return hook_node (p, TRUE);
}

static AdjTensor *
shorter_by_post_hook (Program *p)
{
  return hook_node (p, FALSE);
}

static AdjTensor *
conjure (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  return tape_tensor (cx, 3, (const double[]){ 1, 2, 3 });
}

static gboolean
same_forward (AdjCustomCall *call, AdjTensor *const *in, guint n_in, AdjTensor **out, guint n)
{
  out[0] = CALL (adj_custom_call_get_context (call), "clone", T (in[0]));
  return TRUE;
}

static gboolean
nothing_backward (
    AdjCustomCall *call, AdjTensor *const *grads, guint n, AdjTensor **out, guint n_in)
{
  return TRUE;
}

static gboolean
failing_backward (
    AdjCustomCall *call, AdjTensor *const *grads, guint n, AdjTensor **out, guint n_in)
{
  adj_context_fail (adj_custom_call_get_context (call), ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                    "as planned");
  return FALSE;
}

static gboolean
shorter_backward (
    AdjCustomCall *call, AdjTensor *const *grads, guint n, AdjTensor **out, guint n_in)
{
  out[0] = make_shorter (adj_custom_call_get_context (call), grads[0], NULL);
  return TRUE;
}

static const AdjCustomClass nothing = { "Nothing", same_forward, nothing_backward, FALSE };
static const AdjCustomClass failing = { "Failing", same_forward, failing_backward, FALSE };
static const AdjCustomClass shorter = { "Shorter", same_forward, shorter_backward, FALSE };

static AdjTensor *
apply (Program *p, const AdjCustomClass *klass, AdjTensor *x)
{
  AdjTensor *out;

  g_assert_true (adj_custom_apply (p->cx, klass, NULL, NULL, &x, 1, &out, 1));
  return out;
}

static AdjTensor *
something_for_nothing (Program *p)
{
  AdjTensor *y = OP ("sin", T (vector (p)));
  g_autoptr (AdjHook) hook = adj_tensor_add_hook (p->cx, y, conjure, NULL);

  return apply (p, &nothing, y);
}

static AdjTensor *
failing_function (Program *p)
{
  return apply (p, &failing, OP ("sin", T (vector (p))));
}

static AdjTensor *
shorter_gradient (Program *p)
{
  return apply (p, &shorter, OP ("sin", T (vector (p))));
}

static AdjTensor *
written_since (Program *p)
{
  AdjTensor *y = OP ("clone", T (vector (p)));
  AdjTensor *z = OP ("mul.Tensor", T (y), T (y));

  OP ("add_.Scalar", T (y), ADJ_INT (1));
  return z;
}

static AdjTensor *
run_before (Program *p)
{
  AdjTensor *y = OP ("exp", T (vector (p)));

  g_assert_true (backward (p, y, 0));
  return y;
}

static AdjTensor *
unpack_nothing (AdjContext *cx, gpointer packed, gpointer data)
{
  return NULL;
}

static gpointer
pack (AdjContext *cx, AdjTensor *tensor, gpointer data)
{
  return NULL;
}

static AdjTensor *
unpacked_to_nothing (Program *p)
{
  static const AdjSavedHooks hooks = { .pack = pack, .unpack = unpack_nothing };
  AdjTensor *y;

  g_assert_true (adj_autograd_push_saved_hooks (p->cx, &hooks));
  y = OP ("exp", T (vector (p)));
  adj_autograd_pop_saved_hooks (p->cx);
  return y;
}

static AdjTensor *
unpack_flat (AdjContext *cx, gpointer packed, gpointer data)
{
  return CALL (cx, "view", T (packed), LIST (ADJ_INT (1), ADJ_INT (-1)));
}

static gpointer
keep (AdjContext *cx, AdjTensor *tensor, gpointer data)
{
  return adj_keep (tensor);
}

static void
free_kept (gpointer packed)
{
  adj_tensor_unref (packed);
}

/* The engine accepts this. */
static void
unpacked_to_another_size (void)
{
  static const AdjSavedHooks hooks = { .pack = keep,
                                       .unpack = unpack_flat,
                                       .free_packed = free_kept };
  Fixture f;
  Program *p = &f.program;
  AdjTensor *y;

  setup (&f, NULL, TRUE);
  g_assert_true (adj_autograd_push_saved_hooks (p->cx, &hooks));
  y = OP ("sin", T (vector (p)));
  adj_autograd_pop_saved_hooks (p->cx);
  g_assert_false (backward (p, y, 0));
  tape_assert_error (p->cx, ADJ_ERROR_SHAPE,
                     "SinBackward: an unpack hook has changed the size or type of a saved tensor: "
                     "it was f32[3][1]cpu, is f32[1, 3][3, 1]cpu");
  assert_works (&f);
  teardown (&f);
}

static const struct
{
  const char *name;
  BuildFunc build;
  const char *says; /* part of the message */
} failures[] = {
  { "size-by-tensor-hook", shorter_by_tensor_hook, "has changed the size of value (was " },
  { "size-by-pre-hook", shorter_by_pre_hook, "has changed the size of value (was " },
  { "size-by-post-hook", shorter_by_post_hook, "has changed the size of value (was " },
  { "dtype-by-tensor-hook", other_dtype, "has changed the type of value (was " },
  { "something-for-nothing", something_for_nothing,
    "can't replace a None gradient with a non-None value" },
  { "custom-function", failing_function, "as planned" },
  { "size-by-custom-function", shorter_gradient, "invalid gradient at index 0" },
  { "written-since", written_since,
    "one of the variables needed for gradient computation has been modified by an inplace "
    "operation" },
  { "second-backward", run_before, "trying to backward through the graph a second time" },
  { "unpack-hook", unpacked_to_nothing, "an unpack hook returned no tensor" },
};

/* (transfer full): the error of the engine, or of the captured run. */
static char *
fail (Fixture *f, BuildFunc build)
{
  Program *p = &f->program;
  g_autoptr (GError) error = NULL;
  AdjTensor *before = vector (p);
  AdjTensor *bad = build (p);

  /* A node that is ready before the one that fails. */
  g_assert_false (backward (p, OP ("add.Tensor", T (before), T (bad)), 0));
  g_assert_true (adj_context_take_error (p->cx, &error));
  g_assert_nonnull (adj_tensor_get_grad (before));
  return g_strdup (error->message);
}

static void
fails_as_eager (gconstpointer data)
{
  const guint row = GPOINTER_TO_UINT (data);
  g_autofree char *expected = NULL, *got = NULL, *again = NULL;
  Fixture f;

  setup (&f, NULL, FALSE);
  expected = fail (&f, failures[row].build);
  g_assert_nonnull (strstr (expected, failures[row].says));
  teardown (&f);

  setup (&f, NULL, TRUE);
  got = fail (&f, failures[row].build);
  if (!g_str_has_prefix (got, expected))
    g_assert_cmpstr (got, ==, expected);
  assert_works (&f);
  again = fail (&f, failures[row].build);
  g_assert_cmpstr (again, ==, got);
  assert_works (&f);
  g_assert_cmpuint (adj_compiled_autograd_get_counters (f.compiler).hits, >=, 1);
  teardown (&f);
}

/* -- compilers -- */

typedef struct
{
  gboolean fails, fails_later;
  guint n_calls;
} Compiler;

static gboolean
function_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "compiled in vain");
  return FALSE;
}

static AdjFunction *
compile (AdjGraph *graph, gpointer data, GError **error)
{
  static const AdjFunctionClass klass = { .name = "in vain", .call = function_call };
  Compiler *compiler = data;

  compiler->n_calls++;
  if (compiler->fails_later)
    return adj_function_new (&klass, sizeof (AdjFunction));
  if (!compiler->fails)
    return adj_graph_function_new (graph);
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "no compiler today");
  return NULL;
}

static void
compiler_fails (void)
{
  Compiler compiler = { .fails = TRUE };
  Fixture f;

  setup (&f, &(AdjCompiledOptions){ .compile = compile, .data = &compiler }, TRUE);
  assert_works (&f);
  assert_counts (&f, 0, 0, 1);
  g_assert_cmpuint (adj_compiled_autograd_get_n_captures (f.compiler), ==, 0);
  g_assert_cmpstr (adj_compiled_autograd_get_counters (f.compiler).fallback_reason, ==,
                   "no compiler today");
  compiler.fails = FALSE;
  assert_works (&f);
  assert_works (&f);
  assert_counts (&f, 1, 1, 1);
  g_assert_cmpuint (compiler.n_calls, ==, 2);
  teardown (&f);
}

static void
compiled_function_fails (void)
{
  Compiler compiler = { .fails_later = TRUE };
  Fixture f;
  Program *p = &f.program;

  setup (&f, &(AdjCompiledOptions){ .compile = compile, .data = &compiler }, TRUE);
  g_assert_false (backward (p, OP ("sin", T (vector (p))), 0));
  tape_assert_error (p->cx, ADJ_ERROR_UNSUPPORTED, "compiled in vain");
  compiler.fails_later = FALSE;
  g_assert_true (adj_compiled_autograd_reset (f.compiler, NULL));
  assert_works (&f);
  teardown (&f);
}

/* -- a compiled graph that gives less than is wanted -- */

static gboolean
give_nothing (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  *result = (AdjValue){ .kind = ADJ_VALUE_LIST };
  return TRUE;
}

static AdjFunction *
compile_to_nothing (AdjGraph *graph, gpointer data, GError **error)
{
  static const AdjFunctionClass klass = { .name = "nothing", .call = give_nothing };
  const gboolean *fails = data;

  return *fails ? adj_function_new (&klass, sizeof (AdjFunction)) : adj_graph_function_new (graph);
}

static gboolean
want_gradient (Program *p, AdjTensor **grad)
{
  AdjTensor *x = vector (p), *sum = OP ("sum", T (OP ("sin", T (x))));
  const AdjGradRoots roots = { (AdjTensor *const[]){ sum }, NULL, 1 };

  return adj_grad (p->cx, &roots, &x, 1, 0, grad);
}

static void
compiled_function_gives_too_little (void)
{
  gboolean fails = TRUE;
  AdjTensor *grad = NULL;
  Fixture f;
  Program *p = &f.program;

  setup (&f, &(AdjCompiledOptions){ .compile = compile_to_nothing, .data = &fails }, TRUE);
  g_assert_false (want_gradient (p, &grad));
  tape_assert_error (p->cx, ADJ_ERROR_SHAPE,
                     "compiled autograd: the compiled graph gives 0 gradients, but 1 are wanted");
  fails = FALSE;
  g_assert_true (adj_compiled_autograd_reset (f.compiler, NULL));
  g_assert_true (want_gradient (p, &grad));
  g_assert_nonnull (grad);
  assert_works (&f);
  teardown (&f);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (uncaptured); i++)
    {
      g_autofree char *path = g_strdup_printf ("/compiled-autograd/errors/%s", uncaptured[i].name);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), is_not_captured);
    }
  g_test_add_func ("/compiled-autograd/errors/backward-in-a-hook", backward_in_a_hook);
  g_test_add_func ("/compiled-autograd/errors/enabled-inside", enabled_inside);
  g_test_add_func ("/compiled-autograd/errors/reset-inside", reset_inside);
  g_test_add_func ("/compiled-autograd/errors/enabled-for-nobody", enabled_for_nobody);
  for (guint i = 0; i < G_N_ELEMENTS (failures); i++)
    {
      g_autofree char *path = g_strdup_printf ("/compiled-autograd/errors/%s", failures[i].name);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), fails_as_eager);
    }
  g_test_add_func ("/compiled-autograd/errors/unpacked-size", unpacked_to_another_size);
  g_test_add_func ("/compiled-autograd/errors/compiler", compiler_fails);
  g_test_add_func ("/compiled-autograd/errors/compiled-function", compiled_function_fails);
  g_test_add_func ("/compiled-autograd/errors/too-few-gradients",
                   compiled_function_gives_too_little);

  return g_test_run ();
}
