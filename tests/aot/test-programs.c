/* SPDX-License-Identifier: MIT */

/* Random programs, traced to a graph, cut in two and called as they were, do what they do eagerly:
 * outputs, what becomes of inputs, gradients; inputs may be one tensor or views of one. */

#include <glib.h>
#include <string.h>

#include "aot/compile.h"
#include "autograd/adj-autograd.h"
#include "rules/adj-apply.h"
#include "support/programs.h"

#define MAX_INPUTS 4
#define MAX_OUTPUTS 4

/* What a run left behind. */
typedef struct
{
  AdjContext *cx;
  guint n;
  AdjTensor *inputs[MAX_INPUTS];
  AdjTensor *leaves[MAX_INPUTS]; /* (nullable) */
  AdjTensor *grads[MAX_INPUTS];  /* (nullable) */
  gboolean has_gradients;
  AdjValue result;
  GError *error;
} Run;

static void
run_clear (Run *run)
{
  adj_value_clear (&run->result);
  for (guint i = 0; i < MAX_INPUTS; i++)
    {
      g_clear_pointer (&run->inputs[i], adj_tensor_unref);
      g_clear_pointer (&run->leaves[i], adj_tensor_unref);
      g_clear_pointer (&run->grads[i], adj_tensor_unref);
    }
  g_clear_pointer (&run->cx, adj_context_free);
  g_clear_error (&run->error);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Run, run_clear)

static void
run_init (Run *run, const Program *program)
{
  run->cx = adj_context_new ();
  run->n = program_get_n_inputs (program);
  adj_context_push_mode (run->cx, adj_autograd_mode_new ());
  program_make_inputs (program, run->cx, run->inputs, run->leaves);
  for (guint i = 0; i < run->n; i++)
    run->has_gradients |= run->leaves[i] != NULL;
}

/* Ones for those outputs that have a gradient. */
static gboolean
differentiate (Run *run)
{
  AdjTensor *roots[MAX_OUTPUTS], *ones[MAX_OUTPUTS], *leaves[MAX_INPUTS], *found[MAX_INPUTS];
  AdjGradRoots from = { .tensors = roots, .grads = ones };
  guint n_leaves = 0;

  for (guint i = 0; i < run->result.n; i++)
    if (adj_tensor_get_requires_grad (run->result.items[i].tensor))
      {
        roots[from.n] = run->result.items[i].tensor;
        ones[from.n] = ADJ_APPLY (run->cx, ADJ_OP_ones_like, run->result.items[i]);
        if (ones[from.n++] == NULL)
          return FALSE;
      }
  for (guint i = 0; i < run->n; i++)
    if (run->leaves[i] != NULL)
      leaves[n_leaves++] = run->leaves[i];
  if (from.n == 0 || n_leaves == 0)
    return TRUE;
  if (!adj_grad (run->cx, &from, leaves, n_leaves, ADJ_BACKWARD_ALLOW_UNUSED, found))
    return FALSE;
  for (guint i = 0; i < n_leaves; i++)
    run->grads[i] = adj_keep (found[i]);
  return TRUE;
}

static void
call (Run *run, AdjFunction *function)
{
  AdjValue values[MAX_INPUTS];

  for (guint i = 0; i < run->n; i++)
    values[i] = ADJ_TENSOR (run->inputs[i]);
  if (adj_function_call (function, run->cx, values, run->n, &run->result))
    differentiate (run);
  adj_context_take_error (run->cx, &run->error);
}

static void
run_compiled (Run *run, const Program *program)
{
  g_autoptr (AdjFunction) function = program_function_new (program);
  g_autoptr (AdjFunction) compiled = NULL;
  g_autoptr (AdjAotGraph) aot = NULL;
  const AdjAotOptions options = { .keep_input_mutations = TRUE };
  AdjValue examples[MAX_INPUTS];

  run_init (run, program);
  for (guint i = 0; i < run->n; i++)
    examples[i] = ADJ_TENSOR (run->inputs[i]);
  aot = adj_aot_trace (function, examples, run->n, &options, NULL, &run->error);
  if (aot == NULL)
    return;
  compiled = compile_by_default (aot);
  call (run, compiled);
}

/* -0 is 0: sums of gradients come in another order.  One that is not defined is 0 (§9.3). */
static AdjTensor *
normal_gradient (AdjContext *cx, AdjTensor *gradient, AdjTensor *other)
{
  if (gradient != NULL)
    return ADJ_APPLY (cx, ADJ_OP_add_Tensor, ADJ_TENSOR (gradient), ADJ_INT (0));
  return other != NULL ? ADJ_APPLY (cx, ADJ_OP_zeros_like, ADJ_TENSOR (other)) : NULL;
}

static gboolean
same_if_any (AdjContext *cx, AdjTensor *a, AdjTensor *b, const char *kind, guint i, GString *why)
{
  g_autofree char *what = g_strdup_printf ("%s %u", kind, i);

  if (a != NULL && b != NULL)
    return program_same_values (cx, a, b, what, why);
  if (a == b)
    return TRUE;
  g_string_append_printf (why, "%s is defined %s only\n", what, a != NULL ? "eagerly" : "compiled");
  return FALSE;
}

/* A view made while grad mode is off requires a gradient and has no history; compiled it has one,
 * as in PyTorch. */
static gboolean
returns_view_without_history (const Run *eager)
{
  for (guint i = 0; i < eager->result.n; i++)
    {
      AdjTensor *tensor = eager->result.items[i].tensor;

      if (adj_tensor_get_requires_grad (tensor) && adj_tensor_get_grad_node (tensor) == NULL &&
          adj_tensor_get_base (tensor) != NULL)
        return TRUE;
    }
  return FALSE;
}

/* A write through detach () changes a tensor behind the back of autograd: compiled, what is
 * returned has a history of its own. */
static gboolean
detaches (const Program *program)
{
  g_autoptr (GString) text = g_string_new (NULL);

  program_print (program, text);
  return strstr (text->str, "detach") != NULL;
}

static guint n_checked, n_refused;

/* The whole backward is traced, also what the caller does not ask for: there a saved value may have
 * been written. */
static gboolean
check_compiled (const Program *program, GString *why)
{
  g_autoptr (AdjFunction) function = program_function_new (program);
  g_auto (Run) eager = { .cx = NULL };
  g_auto (Run) compiled = { .cx = NULL };
  gboolean equal = TRUE;

  run_init (&eager, program);
  call (&eager, function);
  if (eager.error != NULL || returns_view_without_history (&eager) ||
      (eager.has_gradients && detaches (program)))
    return TRUE;
  n_checked++;
  run_compiled (&compiled, program);
  if (compiled.error != NULL &&
      (compiled.error->code == ADJ_ERROR_UNSUPPORTED ||
       strstr (compiled.error->message, "modified by an inplace operation") != NULL))
    {
      n_refused++;
      return TRUE;
    }
  if (compiled.error != NULL)
    {
      g_string_append_printf (why, "compiled: %s\n", compiled.error->message);
      return FALSE;
    }
  for (guint i = 0; i < eager.result.n && equal; i++)
    equal = same_if_any (eager.cx, eager.result.items[i].tensor, compiled.result.items[i].tensor,
                         "output", i, why);
  for (guint i = 0; i < eager.n && equal; i++)
    equal = same_if_any (eager.cx, eager.inputs[i], compiled.inputs[i], "input", i, why) &&
            same_if_any (eager.cx, normal_gradient (eager.cx, eager.grads[i], compiled.grads[i]),
                         normal_gradient (eager.cx, compiled.grads[i], eager.grads[i]), "gradient",
                         i, why);
  return equal;
}

static void
check_all (gconstpointer flags)
{
  n_checked = n_refused = 0;
  program_check_some (300, (ProgramFlags) GPOINTER_TO_UINT (flags), check_compiled);
  g_test_message ("%u programs, %u refused", n_checked, n_refused);
  g_assert_cmpuint (n_refused * 10, <, n_checked);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/aot/programs/inference", NULL, check_all);
  g_test_add_data_func ("/aot/programs/aliases", GUINT_TO_POINTER (PROGRAM_ALIASED_INPUTS),
                        check_all);
  g_test_add_data_func ("/aot/programs/gradients", GUINT_TO_POINTER (PROGRAM_GRADIENTS), check_all);
  g_test_add_data_func ("/aot/programs/gradients-and-aliases",
                        GUINT_TO_POINTER (PROGRAM_GRADIENTS | PROGRAM_ALIASED_INPUTS), check_all);
  return g_test_run ();
}
