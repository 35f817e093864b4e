/* SPDX-License-Identifier: MIT */
/* Hooks of modules (autograd/SPEC.md §5); orders, values and texts are those of eager PyTorch
 * 2.6 for x * w. */

#include "autograd/adj-module-hooks.h"
#include "support/tape.h"

static const double one_two[] = { 1, 2 }, two_three[] = { 2, 3 };

/* -- modules -- */

/* A module that computes x * weight, or calls the @inner modules one after the other. */
typedef struct
{
  AdjFunction parent;
  AdjTensor *weight;     /* (unowned) */
  AdjFunction *inner[2]; /* (unowned) */
  AdjModuleHooks *hooks[2];
} Module;

static gboolean
module_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const Module *module = (Module *) function;
  g_auto (AdjValue) between = ADJ_NONE;
  AdjValue product;

  if (module->weight == NULL)
    return adj_module_hooks_call (module->hooks[0], cx, module->inner[0], args, 1, &between) &&
           adj_module_hooks_call (module->hooks[1], cx, module->inner[1], &between, 1, result);
  product = T (CALL (cx, "mul.Tensor", args[0], T (module->weight)));
  *result = adj_value_copy (&product);
  return TRUE;
}

static const AdjFunctionClass module_class = { .name = "module", .call = module_call };

static AdjFunction *
module_new (AdjTensor *weight)
{
  AdjFunction *function = adj_function_new (&module_class, sizeof (Module));

  ((Module *) function)->weight = weight;
  return function;
}

/* Returns a tensor borrowed from the context. */
static AdjTensor *
call (AdjContext *cx, AdjModuleHooks *hooks, AdjFunction *module, AdjTensor *x)
{
  AdjValue result;
  AdjTensor *tensor;

  g_assert_true (adj_module_hooks_call (hooks, cx, module, &T (x), 1, &result));
  tensor = adj_scope_add (cx, adj_keep (result.tensor));
  adj_value_clear (&result);
  return tensor;
}

/* -- hooks -- */

typedef struct
{
  GString *log;
  const char *name;
} Note;

static void
note (gpointer data, const char *prefix)
{
  const Note *entry = data;

  g_string_append_printf (entry->log, "%s%s%s", entry->log->len > 0 ? "," : "", prefix,
                          entry->name);
}

static AdjTensor *
on_tensor (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  note (data, "");
  return NULL;
}

static void
before (AdjContext *cx, AdjTensor **grads, guint n_grads, gpointer data)
{
  note (data, "pre ");
}

static void
after (AdjContext *cx,
       AdjTensor **grad_inputs,
       guint n_inputs,
       AdjTensor *const *grad_outputs,
       guint n_outputs,
       gpointer data)
{
  note (data, "");
}

static void
add_notes (AdjModuleHooks *hooks, Note *entry)
{
  g_autoptr (AdjHook) pre = adj_module_hooks_add_pre (hooks, before, entry);
  g_autoptr (AdjHook) post = adj_module_hooks_add (hooks, after, entry);
}

/* Sequential (a, b). */
static void
check_order (gboolean requires_grad, const char *expected)
{
  g_autoptr (AdjContext) cx = tape_new ();
  g_autoptr (GString) log = g_string_new (NULL);
  Note notes[] = { { log, "a" },   { log, "b" },   { log, "s" },
                   { log, "a.w" }, { log, "b.w" }, { log, "x" } };
  g_autoptr (AdjFunction) a = module_new (tape_leaf (cx, 2, two_three));
  g_autoptr (AdjFunction) b = module_new (tape_leaf (cx, 2, two_three));
  g_autoptr (AdjFunction) s = module_new (NULL);
  g_autoptr (AdjModuleHooks) of_a = adj_module_hooks_new ();
  g_autoptr (AdjModuleHooks) of_b = adj_module_hooks_new ();
  g_autoptr (AdjModuleHooks) of_s = adj_module_hooks_new ();
  g_autoptr (AdjHook) a_w = adj_tensor_add_hook (cx, ((Module *) a)->weight, on_tensor, &notes[3]);
  g_autoptr (AdjHook) b_w = adj_tensor_add_hook (cx, ((Module *) b)->weight, on_tensor, &notes[4]);
  g_autoptr (AdjHook) on_x = NULL;
  AdjTensor *x = tape_tensor (cx, 2, one_two);

  *(Module *) s = (Module){ *s, NULL, { a, b }, { of_a, of_b } };
  add_notes (of_a, &notes[0]);
  add_notes (of_b, &notes[1]);
  add_notes (of_s, &notes[2]);
  if (requires_grad)
    {
      adj_tensor_set_requires_grad (cx, x, TRUE);
      on_x = adj_tensor_add_hook (cx, x, on_tensor, &notes[5]);
    }
  tape_backward (cx, CALL (cx, "sum", T (call (cx, of_s, s, x))), 0);
  g_assert_cmpstr (log->str, ==, expected);
}

static void
order (void)
{
  check_order (TRUE, "pre s,pre b,b.w,b,pre a,a.w,a,s,x");
}

static void
order_without_grad (void)
{
  check_order (FALSE, "pre s,s,pre b,b.w,b,pre a,a,a.w");
}

/* -- values -- */

static void
ten_times (AdjContext *cx, AdjTensor **grads, guint n_grads, gpointer data)
{
  grads[0] = CALL (cx, "mul.Scalar", T (grads[0]), ADJ_INT (10));
}

static void
hundred_times (AdjContext *cx,
               AdjTensor **grad_inputs,
               guint n_inputs,
               AdjTensor *const *grad_outputs,
               guint n_outputs,
               gpointer data)
{
  g_assert_cmpfloat (tape_at (grad_outputs[0], 0), ==, 10);
  g_assert_cmpfloat (tape_at (grad_inputs[0], 1), ==, 30);
  grad_inputs[0] = CALL (cx, "mul.Scalar", T (grad_inputs[0]), ADJ_INT (100));
}

static void
see_3000 (AdjContext *cx,
          AdjTensor **grad_inputs,
          guint n_inputs,
          AdjTensor *const *grad_outputs,
          guint n_outputs,
          gpointer data)
{
  g_assert_cmpuint (n_inputs, ==, 1);
  g_assert_cmpfloat (tape_at (grad_inputs[0], 1), ==, 3000);
  ++*(guint *) data;
}

static void
replaces (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_leaf (cx, 2, one_two), *w = tape_leaf (cx, 2, two_three);
  g_autoptr (AdjFunction) module = module_new (w);
  g_autoptr (AdjModuleHooks) hooks = adj_module_hooks_new ();
  guint n = 0;
  g_autoptr (AdjHook) pre = adj_module_hooks_add_pre (hooks, ten_times, NULL);
  g_autoptr (AdjHook) one = adj_module_hooks_add (hooks, hundred_times, NULL);
  g_autoptr (AdjHook) two = adj_module_hooks_add (hooks, see_3000, &n);

  tape_backward (cx, CALL (cx, "sum", T (call (cx, hooks, module, x))), 0);
  g_assert_cmpuint (n, ==, 1);
  g_assert_cmpfloat (tape_at (adj_tensor_get_grad (x), 0), ==, 2000);
  g_assert_cmpfloat (tape_at (adj_tensor_get_grad (w), 1), ==, 20);
}

/* (x, 3, y) -> (x * 3, 7, x + y), where y requires no gradient. */
static gboolean
mixed_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjValue items[] = { T (CALL (cx, "mul.Scalar", args[0], args[1])), ADJ_INT (7),
                       T (CALL (cx, "add.Tensor", args[0], args[2])) };

  *result = adj_value_copy (&(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 3, .items = items });
  return TRUE;
}

static const AdjFunctionClass mixed_class = { .name = "mixed", .call = mixed_call };

static void
see_mixed (AdjContext *cx,
           AdjTensor **grad_inputs,
           guint n_inputs,
           AdjTensor *const *grad_outputs,
           guint n_outputs,
           gpointer data)
{
  g_assert_cmpuint (n_inputs, ==, 3);
  g_assert_cmpuint (n_outputs, ==, 3);
  g_assert_cmpfloat (tape_at (grad_outputs[0], 0), ==, 1);
  g_assert_null (grad_outputs[1]);
  g_assert_null (grad_outputs[2]);
  g_assert_cmpfloat (tape_at (grad_inputs[0], 0), ==, 3);
  g_assert_null (grad_inputs[1]);
  g_assert_cmpfloat (tape_at (grad_inputs[2], 0), ==, 0);
  ++*(guint *) data;
}

static void
passes_others_by (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  g_autoptr (AdjFunction) module = adj_function_new (&mixed_class, sizeof (AdjFunction));
  g_autoptr (AdjModuleHooks) hooks = adj_module_hooks_new ();
  AdjTensor *x = tape_leaf (cx, 2, one_two);
  const AdjValue args[] = { T (x), ADJ_FLOAT (3), T (tape_tensor (cx, 2, one_two)) };
  guint n = 0;
  g_autoptr (AdjHook) hook = adj_module_hooks_add (hooks, see_mixed, &n);
  g_auto (AdjValue) result = ADJ_NONE;

  g_assert_true (adj_module_hooks_call (hooks, cx, module, args, 3, &result));
  g_assert_cmpint (result.items[1].integer, ==, 7);
  g_assert_true (adj_tensor_get_requires_grad (result.items[2].tensor));
  tape_backward (cx, CALL (cx, "sum", result.items[0]), 0);
  g_assert_cmpuint (n, ==, 1);
  g_assert_cmpfloat (tape_at (adj_tensor_get_grad (x), 0), ==, 3);
}

/* A call runs the hooks that were registered when it began. */
static void
removes (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  g_autoptr (GString) log = g_string_new (NULL);
  Note entry = { log, "m" };
  AdjTensor *x = tape_leaf (cx, 2, one_two);
  g_autoptr (AdjFunction) module = module_new (tape_leaf (cx, 2, two_three));
  g_autoptr (AdjModuleHooks) hooks = adj_module_hooks_new ();
  g_autoptr (AdjHook) hook = adj_module_hooks_add (hooks, after, &entry);
  AdjTensor *y = call (cx, hooks, module, x);

  adj_hook_remove (hook);
  tape_backward (cx, CALL (cx, "sum", T (y)), 0);
  g_assert_cmpstr (log->str, ==, "m");
  tape_backward (cx, CALL (cx, "sum", T (call (cx, hooks, module, x))), 0);
  g_assert_cmpstr (log->str, ==, "m");
}

/* -- what is refused -- */

static void
bad_size (AdjContext *cx,
          AdjTensor **grad_inputs,
          guint n_inputs,
          AdjTensor *const *grad_outputs,
          guint n_outputs,
          gpointer data)
{
  grad_inputs[0] = CALL (cx, "sum", T (grad_outputs[0]));
}

static void
bad_dtype (AdjContext *cx,
           AdjTensor **grad_inputs,
           guint n_inputs,
           AdjTensor *const *grad_outputs,
           guint n_outputs,
           gpointer data)
{
  grad_inputs[0] = CALL (cx, "to.dtype", T (grad_inputs[0]), ADJ_DTYPE (ADJ_DTYPE_F32));
}

static void
bad_pre_size (AdjContext *cx, AdjTensor **grads, guint n_grads, gpointer data)
{
  grads[0] = CALL (cx, "sum", T (grads[0]));
}

static void
check_refused (AdjModuleHookFunc post,
               AdjModulePreHookFunc pre,
               gboolean requires_grad,
               const char *expected)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_tensor (cx, 2, one_two), *w = tape_leaf (cx, 2, two_three), *sum;
  g_autoptr (AdjFunction) module = module_new (w);
  g_autoptr (AdjModuleHooks) hooks = adj_module_hooks_new ();
  g_autoptr (AdjHook) hook = post != NULL ? adj_module_hooks_add (hooks, post, NULL)
                                          : adj_module_hooks_add_pre (hooks, pre, NULL);

  adj_hook_set_name (hook, "mine");
  adj_tensor_set_requires_grad (cx, x, requires_grad);
  ADJ_HERE (cx);
  sum = CALL (cx, "sum", T (call (cx, hooks, module, x)));
  g_assert_false (adj_backward (cx, &(AdjGradRoots){ .tensors = &sum, .n = 1 }, NULL, 0, 0));
  tape_assert_error (cx, ADJ_ERROR_SHAPE, expected);
  adj_hook_remove (hook);
  if (adj_tensor_get_grad (w) != NULL)
    adj_tensor_set_grad (cx, w, NULL);
  tape_backward (cx, CALL (cx, "sum", T (call (cx, hooks, module, x))), 0);
  g_assert_cmpfloat (tape_at (adj_tensor_get_grad (w), 1), ==, 2);
}

#define FILE_NAME "test-module-hooks.c:"

static void
refuses_bad_returns (void)
{
  check_refused (bad_size, NULL, TRUE,
                 "hook 'mine' has changed the size of value (was [2] got [])");
  check_refused (NULL, bad_pre_size, TRUE,
                 "hook 'mine' has changed the size of value (was [2] got [])");
  check_refused (bad_dtype, NULL, TRUE,
                 "hook 'mine' has changed the type of value (was float64 got float32)");
  check_refused (bad_size, NULL, FALSE,
                 "hook 'mine': Backward hook for Modules where no input requires gradient should "
                 "always return None or None for all gradients.");
  check_refused (bad_size, NULL, TRUE, FILE_NAME);
}

static void
refuses_writing (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  g_autoptr (GString) log = g_string_new (NULL);
  Note entry = { log, "m" };
  g_autoptr (AdjFunction) module = module_new (tape_leaf (cx, 2, two_three));
  g_autoptr (AdjModuleHooks) hooks = adj_module_hooks_new ();
  AdjTensor *y;

  add_notes (hooks, &entry);
  y = call (cx, hooks, module, tape_leaf (cx, 2, one_two));
  g_assert_false (tape_try (cx, "mul_.Scalar", 2, (const AdjValue[]){ T (y), ADJ_INT (2) }));
  tape_assert_error (cx, ADJ_ERROR_SHAPE, "inside a custom Function");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/compiled-autograd/1.10/order", order);
  g_test_add_func ("/compiled-autograd/1.10/order-without-grad", order_without_grad);
  g_test_add_func ("/compiled-autograd/1.10/replaces", replaces);
  g_test_add_func ("/compiled-autograd/1.10/passes-others-by", passes_others_by);
  g_test_add_func ("/compiled-autograd/1.10/removes", removes);
  g_test_add_func ("/compiled-autograd/1.10/refuses-bad-returns", refuses_bad_returns);
  g_test_add_func ("/compiled-autograd/1.10/refuses-writing", refuses_writing);
  return g_test_run ();
}
