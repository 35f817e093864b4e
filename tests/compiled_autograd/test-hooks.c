/* SPDX-License-Identifier: MIT */
/* Hooks that change the remaining part of the backward in which they run. */

#include "call/adj-mode.h"
#include "compiled_autograd/capture.h"
#include "rules/adj-operators.h"

#define OP(name, ...) CALL (p->cx, name, __VA_ARGS__)

typedef void (*ProgramStep) (Program *p);

/* (transfer full): the state after two rounds. */
static char *
describe (ProgramStep step, gboolean captures)
{
  g_autoptr (AdjCompiledAutograd) compiler =
      adj_compiled_autograd_new (&(AdjCompiledOptions){ .strict = TRUE });
  Program program;
  char *text;

  program_init (&program);
  if (captures)
    g_assert_true (adj_compiled_autograd_enable (compiler, program.cx));
  for (guint i = 0; i < 2; i++)
    step (&program);
  if (captures)
    adj_compiled_autograd_restore (program.cx);
  text = program_describe (&program);
  program_clear (&program);
  return text;
}

static void
check_same (gconstpointer data)
{
  ProgramStep step = (ProgramStep) data;
  g_autofree char *eager = describe (step, FALSE);
  g_autofree char *captured = describe (step, TRUE);

  g_assert_cmpstr (captured, ==, eager);
}

static AdjTensor *
vector (Program *p)
{
  return program_vector (p, 3, (const float[]){ 0.5, 0.25, -1 });
}

/* -- hooks that others remove -- */

typedef struct
{
  AdjHook *victim;
  AdjTensor *leaf;
} Action;

static AdjTensor *
remove_victim (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  adj_hook_remove (((Action *) data)->victim);
  return NULL;
}

static AdjTensor *
triple (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  return CALL (cx, "mul.Scalar", T (grad), ADJ_INT (3));
}

static void
triple_all (AdjContext *cx,
            AdjTensor **grads,
            guint n_grads,
            AdjTensor *const *results,
            guint n_results,
            gpointer data)
{
  for (guint i = 0; i < n_grads; i++)
    grads[i] = CALL (cx, "mul.Scalar", T (grads[i]), ADJ_INT (3));
}

static void
triple_leaf (AdjContext *cx, AdjTensor *leaf, gpointer data)
{
  CALL (cx, "mul_.Scalar", T (adj_tensor_get_grad (leaf)), ADJ_INT (3));
}

/* Runs a backward in which a hook of @y removes @victim, a hook that is reached later. */
static void
run_removing (Program *p, AdjTensor *x, AdjTensor *y, AdjHook *victim)
{
  Action action = { .victim = victim };
  g_autoptr (AdjHook) hook = adj_tensor_add_hook (p->cx, y, remove_victim, &action);

  program_hook_tensor (p, x, "x", 2);
  program_backward (p, OP ("sum", T (OP ("exp", T (y)))));
  adj_hook_unref (victim);
}

static void
removes_tensor_hook (Program *p)
{
  AdjTensor *x = vector (p), *y = OP ("sin", T (x));

  run_removing (p, x, y, adj_tensor_add_hook (p->cx, x, triple, NULL));
}

static void
removes_pre_hook (Program *p)
{
  AdjTensor *x = vector (p), *y = OP ("sin", T (x));

  run_removing (p, x, y,
                adj_grad_node_add_pre_hook (adj_tensor_get_grad_node (y), triple_all, NULL));
}

static void
removes_post_hook (Program *p)
{
  AdjTensor *x = vector (p), *y = OP ("sin", T (x));

  run_removing (p, x, y,
                adj_grad_node_add_post_hook (adj_tensor_get_grad_node (y), triple_all, NULL));
}

static void
removes_leaf_hook (Program *p)
{
  AdjTensor *x = vector (p), *y = OP ("sin", T (x));

  run_removing (p, x, y, adj_tensor_add_leaf_hook (p->cx, x, triple_leaf, NULL));
}

/* The set of hooks that run for a gradient is fixed before the first of them runs. */
static void
removes_next_of_its_turn (Program *p)
{
  AdjTensor *x = vector (p), *y = OP ("sin", T (x));
  Action action = { NULL, NULL };
  g_autoptr (AdjHook) hook = adj_tensor_add_hook (p->cx, x, remove_victim, &action);
  g_autoptr (AdjHook) victim = adj_tensor_add_hook (p->cx, x, triple, NULL);

  action.victim = victim;
  for (guint i = 0; i < 2; i++)
    tape_backward (p->cx, OP ("sum", T (y)), ADJ_BACKWARD_RETAIN_GRAPH);
}

/* -- leaves that change -- */

static AdjTensor *
let_leaf_go (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  g_assert_true (adj_tensor_set_requires_grad (cx, ((Action *) data)->leaf, FALSE));
  return NULL;
}

static void
leaf_needs_no_gradient (Program *p)
{
  AdjTensor *x = vector (p), *y = OP ("sin", T (x));
  Action action = { NULL, x };
  g_autoptr (AdjHook) hook = adj_tensor_add_hook (p->cx, y, let_leaf_go, &action);

  program_hook_leaf (p, x, "leaf");
  program_backward (p, OP ("sum", T (y)));
  g_assert_null (adj_tensor_get_grad (x));
}

static AdjTensor *
preset (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  AdjTensor *leaf = ((Action *) data)->leaf;

  g_assert_true (adj_tensor_set_grad (cx, leaf, CALL (cx, "ones_like", T (leaf))));
  return NULL;
}

static void
gradient_appears (Program *p)
{
  AdjTensor *x = vector (p), *y = OP ("sin", T (x));
  Action action = { NULL, x };
  g_autoptr (AdjHook) hook = adj_tensor_add_hook (p->cx, y, preset, &action);

  program_backward (p, OP ("sum", T (y)));
}

/* -- strides, which nothing is captured for -- */

static AdjTensor *
turned (Program *p, gint64 a, gint64 b)
{
  AdjTensor *tensor = program_leaf (p, NULL, 2, (const gint64[]){ b, a });

  g_assert_true (adj_tensor_set_requires_grad (p->cx, tensor, FALSE));
  return OP ("t", T (tensor));
}

static void
give (Program *p, AdjTensor *root, gboolean turns)
{
  AdjTensor *grad = turned (p, 2, 3);

  if (!turns)
    grad = OP ("mul.Scalar", T (OP ("t", T (turned (p, 3, 2)))), ADJ_INT (2));
  g_assert_true (adj_backward (p->cx, &(AdjGradRoots){ .tensors = &root, .grads = &grad, .n = 1 },
                               NULL, 0, 0));
}

static void
gradient_of_other_strides (Program *p)
{
  for (guint i = 0; i < 4; i++)
    {
      AdjTensor *x = program_leaf (p, NULL, 1, (const gint64[]){ 6 });

      give (p, OP ("view", T (x), LIST (ADJ_INT (2), ADJ_INT (3))), i % 2 == 1);
    }
}

static void
gradient_of_written_view_of_other_strides (Program *p)
{
  for (guint i = 0; i < 4; i++)
    {
      AdjTensor *x = program_leaf (p, NULL, 2, (const gint64[]){ 2, 3 });
      AdjTensor *y = OP ("clone", T (x));

      OP ("mul_.Scalar", T (OP ("select.int", T (y), ADJ_INT (0), ADJ_INT (1))), ADJ_INT (2));
      OP ("mul_.Scalar",
          T (OP ("as_strided", T (y), LIST (ADJ_INT (2)), LIST (ADJ_INT (2)), ADJ_INT (1))),
          ADJ_INT (5));
      give (p, y, i % 2 == 1);
    }
}

static void
saved_of_other_strides (Program *p)
{
  for (guint i = 0; i < 4; i++)
    {
      AdjTensor *x = program_leaf (p, NULL, 2, (const gint64[]){ 2, 3 });
      AdjTensor *y = turned (p, 2, 3);

      if (i % 2 == 0)
        y = OP ("mul.Scalar", T (OP ("t", T (turned (p, 3, 2)))), ADJ_INT (2));
      y = OP ("reshape", T (OP ("mul.Tensor", T (x), T (y))), LIST (ADJ_INT (6)));
      program_backward (p, OP ("sum", T (OP ("sin", T (y)))));
    }
}

/* -- what is another here -- */

typedef struct
{
  AdjTensor *tensor;
  guint n_calls;
  AdjHook *hook;
} Adding;

static AdjTensor *
count (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  ++*(guint *) data;
  return NULL;
}

static AdjTensor *
add_hook (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  Adding *adding = data;

  if (adding->hook == NULL)
    adding->hook = adj_tensor_add_hook (cx, adding->tensor, count, &adding->n_calls);
  return NULL;
}

/* Hooks are collected before any of them runs: one added then waits for the next backward, on
 * any tensor. */
static void
added_hook_waits (void)
{
  g_autoptr (AdjCompiledAutograd) compiler = adj_compiled_autograd_new (NULL);

  for (guint captures = 0; captures < 2; captures++)
    {
      Program program, *p = &program;
      Adding adding = { 0 };
      AdjTensor *y;
      AdjHook *hook;

      program_init (p);
      if (captures)
        g_assert_true (adj_compiled_autograd_enable (compiler, p->cx));
      adding.tensor = vector (p);
      y = OP ("sin", T (adding.tensor));
      hook = adj_tensor_add_hook (p->cx, y, add_hook, &adding);
      tape_backward (p->cx, OP ("sum", T (y)), ADJ_BACKWARD_RETAIN_GRAPH);
      g_assert_cmpuint (adding.n_calls, ==, captures ? 0 : 1);
      tape_backward (p->cx, OP ("sum", T (y)), 0);
      g_assert_cmpuint (adding.n_calls, ==, captures ? 1 : 2);
      if (captures)
        adj_compiled_autograd_restore (p->cx);
      program_clear (p);
      adj_hook_unref (hook);
      adj_hook_unref (adding.hook);
    }
}

/* -- tensors without bytes -- */

static AdjTensor *
expect_fake (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  g_assert_true (adj_storage_is_fake (adj_tensor_get_storage (grad)));
  ++*(guint *) data;
  return NULL;
}

/* A backward of fake tensors is captured and runs as any other; its hooks get tensors without
 * data. */
static void
fake_tensors (void)
{
  g_autoptr (AdjContext) cx = adj_context_new_empty (NULL);
  g_autoptr (AdjCompiledAutograd) compiler =
      adj_compiled_autograd_new (&(AdjCompiledOptions){ .strict = TRUE });
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .storage = -1 };
  guint n_calls = 0;

  meta.has_strides = TRUE;
  adj_shape_init_ints (&meta.shape, 1, (const gint64[]){ 3 });
  adj_context_push_mode (cx, adj_fake_mode_new ());
  adj_context_push_mode (cx, adj_autograd_mode_new ());
  g_assert_true (adj_compiled_autograd_enable (compiler, cx));
  for (guint i = 0; i < 2; i++)
    {
      AdjTensor *x = adj_scope_add (cx, adj_tensor_new_empty (&meta, NULL, TRUE)), *y;
      g_autoptr (AdjHook) hook = NULL;

      g_assert_true (adj_tensor_set_requires_grad (cx, x, TRUE));
      y = CALL (cx, "sin", T (x));
      hook = adj_tensor_add_hook (cx, y, expect_fake, &n_calls);
      g_assert_true (adj_tensor_backward (cx, CALL (cx, "sum", T (y))));
      g_assert_true (adj_storage_is_fake (adj_tensor_get_storage (adj_tensor_get_grad (x))));
    }
  g_assert_cmpuint (n_calls, ==, 2);
  g_assert_cmpuint (adj_compiled_autograd_get_counters (compiler).hits, ==, 1);
  adj_compiled_autograd_restore (cx);
}

static const struct
{
  const char *name;
  ProgramStep step;
} same[] = {
  { "removes-tensor-hook", removes_tensor_hook },
  { "removes-pre-hook", removes_pre_hook },
  { "removes-post-hook", removes_post_hook },
  { "removes-leaf-hook", removes_leaf_hook },
  { "removes-next", removes_next_of_its_turn },
  { "leaf-needs-no-gradient", leaf_needs_no_gradient },
  { "gradient-appears", gradient_appears },
  { "gradient-of-other-strides", gradient_of_other_strides },
  { "written-view-of-other-strides", gradient_of_written_view_of_other_strides },
  { "saved-of-other-strides", saved_of_other_strides },
};

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (same); i++)
    {
      g_autofree char *path = g_strdup_printf ("/compiled-autograd/hooks/%s", same[i].name);

      g_test_add_data_func (path, same[i].step, check_same);
    }
  g_test_add_func ("/compiled-autograd/hooks/added-hook-waits", added_hook_waits);
  g_test_add_func ("/compiled-autograd/hooks/fake-tensors", fake_tensors);

  return g_test_run ();
}
