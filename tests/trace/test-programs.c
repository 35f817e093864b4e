/* SPDX-License-Identifier: MIT */

/* Random programs compute the same in eager mode, functionalized, and as a traced graph without
 * writes: results and final inputs are equal bit for bit. */

#include <glib.h>

#include "adjoint.h"
#include "call/adj-mode.h"
#include "call/adj-op.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "support/programs.h"
#include "trace/adj-functional.h"

#define MAX_INPUTS 4
#define MAX_OUTPUTS 4

/* The results of a run. */
typedef struct
{
  AdjContext *cx;
  AdjTensor *inputs[MAX_INPUTS];
  AdjValue result;
  GError *error;
} Run;

static void
run_clear (Run *run)
{
  adj_value_clear (&run->result);
  for (guint i = 0; i < MAX_INPUTS; i++)
    g_clear_pointer (&run->inputs[i], adj_tensor_unref);
  g_clear_pointer (&run->cx, adj_context_free);
  g_clear_error (&run->error);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Run, run_clear)

static void
call (Run *run, AdjFunction *function, AdjTensor *const *args, guint n)
{
  AdjValue values[MAX_INPUTS];

  for (guint i = 0; i < n; i++)
    values[i] = ADJ_TENSOR (args[i]);
  adj_function_call (function, run->cx, values, n, &run->result);
}

static void
run_eagerly (Run *run, const Program *program)
{
  g_autoptr (AdjFunction) function = program_function_new (program);

  run->cx = adj_context_new ();
  program_make_inputs (program, run->cx, run->inputs, NULL);
  call (run, function, run->inputs, program_get_n_inputs (program));
  adj_context_take_error (run->cx, &run->error);
}

static gboolean
unwrap (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  AdjTensor *value =
      leaf->kind == ADJ_VALUE_TENSOR ? adj_functional_get_value (data, leaf->tensor) : NULL;

  if (value != NULL)
    *out = adj_value_copy (&ADJ_TENSOR (value));
  return value != NULL;
}

static void
run_functionalized (Run *run, const Program *program)
{
  g_autoptr (AdjFunction) function = program_function_new (program);
  AdjTensor *wrapped[MAX_INPUTS] = { NULL };
  guint n = program_get_n_inputs (program);
  AdjValue values = ADJ_NONE;

  run->cx = adj_context_new ();
  program_make_inputs (program, run->cx, run->inputs, NULL);
  adj_context_push_mode (run->cx, adj_functional_mode_new ());
  for (guint i = 0; i < n; i++)
    wrapped[i] = adj_functional_wrap (run->cx, run->inputs[i]);
  call (run, function, wrapped, n);
  if (adj_value_map (&run->result, unwrap, run->cx, &values))
    {
      adj_value_clear (&run->result);
      run->result = values;
    }
  /* In-place view operators do not change the geometry of the outer tensor, so only elements are
   * compared. */
  for (guint i = 0; i < n; i++)
    {
      AdjTensor *value = adj_functional_get_value (run->cx, wrapped[i]);

      if (value == NULL)
        break;
      adj_tensor_unref (run->inputs[i]);
      run->inputs[i] = adj_keep (value);
    }
  adj_context_take_error (run->cx, &run->error);
}

/* Traces on tensors without data and runs the graph in the interpreter. */
static void
run_traced (Run *run, const Program *program, AdjGraph **graph)
{
  g_autoptr (AdjFunction) function = program_function_new (program);
  g_autoptr (AdjFunction) traced = NULL;
  const AdjTraceOptions options = { .functionalize = TRUE };
  guint n = program_get_n_inputs (program);
  AdjValue examples[MAX_INPUTS];

  run->cx = adj_context_new ();
  program_make_inputs (program, run->cx, run->inputs, NULL);
  for (guint i = 0; i < n; i++)
    examples[i] = ADJ_TENSOR (run->inputs[i]);
  *graph = adj_trace (function, examples, n, &options, &run->error);
  if (*graph == NULL)
    return;
  traced = adj_graph_function_new (*graph);
  call (run, traced, run->inputs, n);
  adj_context_take_error (run->cx, &run->error);
}

static gboolean
same (const Program *program, const Run *a, const Run *b, GString *why)
{
  gboolean equal = TRUE;

  for (guint i = 0; i < a->result.n; i++)
    {
      g_autofree char *what = g_strdup_printf ("output %u", i);

      equal = equal && program_same_values (a->cx, a->result.items[i].tensor,
                                            b->result.items[i].tensor, what, why);
    }
  for (guint i = 0; i < program_get_n_inputs (program); i++)
    {
      g_autofree char *what = g_strdup_printf ("input %u", i);

      equal = equal && program_same_values (a->cx, a->inputs[i], b->inputs[i], what, why);
    }
  return equal;
}

/* Whether @graph writes only its inputs. */
static gboolean
writes_inputs_only (const AdjGraph *graph, GString *why)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);
      const AdjOp *op =
          node->opcode == ADJ_OPCODE_CALL_FUNCTION ? adj_op_find (node->target) : NULL;
      guint32 first = op != NULL && node->args.n > 0 ? node->args.items[0].node.index : 0;

      if (op == NULL || !adj_schema_mutates (adj_op_get_schema (op)) ||
          adj_graph_get_node (graph, first)->opcode == ADJ_OPCODE_PLACEHOLDER)
        continue;
      g_string_append_printf (why, "%s is left\n", node->target);
      return FALSE;
    }
  return TRUE;
}

static guint n_checked, n_refused;

/* A write through as_strided of a view is refused, as is growth; otherwise both runs agree. */
static gboolean
check_functionalized (const Program *program, GString *why)
{
  g_auto (Run) eager = { .cx = NULL };
  g_auto (Run) functional = { .cx = NULL };

  run_eagerly (&eager, program);
  if (eager.error != NULL)
    return TRUE;
  n_checked++;
  run_functionalized (&functional, program);
  if (g_error_matches (functional.error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED))
    {
      n_refused++;
      return TRUE;
    }
  if (functional.error != NULL)
    {
      g_string_append_printf (why, "functionalized: %s\n", functional.error->message);
      return FALSE;
    }
  return same (program, &eager, &functional, why);
}

static gboolean
check_traced (const Program *program, GString *why)
{
  g_auto (Run) eager = { .cx = NULL };
  g_auto (Run) traced = { .cx = NULL };
  g_autoptr (AdjGraph) graph = NULL;
  g_autofree char *text = NULL;

  run_eagerly (&eager, program);
  if (eager.error != NULL)
    return TRUE;
  run_traced (&traced, program, &graph);
  if (g_error_matches (traced.error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED))
    return TRUE;
  if (traced.error != NULL)
    {
      g_string_append_printf (why, "traced: %s\n", traced.error->message);
      return FALSE;
    }
  if (writes_inputs_only (graph, why) && same (program, &eager, &traced, why))
    return TRUE;
  text = adj_graph_print (graph, ADJ_PRINT_NO_METADATA, NULL);
  g_string_append (why, text);
  return FALSE;
}

static void
traced_is_eager (void)
{
  program_check_all (500, 0, check_traced);
}

/* Written inputs that alias others are refused; one tensor given twice is accepted. */
static void
traced_with_aliases (void)
{
  program_check_all (500, PROGRAM_ALIASED_INPUTS, check_traced);
}

/* -- gradients ---- */

typedef struct
{
  AdjContext *cx;
  AdjTensor *grads[MAX_INPUTS]; /* (nullable): values */
  GError *error;
} Gradients;

static void
gradients_clear (Gradients *gradients)
{
  for (guint i = 0; i < MAX_INPUTS; i++)
    g_clear_pointer (&gradients->grads[i], adj_tensor_unref);
  g_clear_pointer (&gradients->cx, adj_context_free);
  g_clear_error (&gradients->error);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Gradients, gradients_clear)

/* Runs backward with ones for each output that has a gradient. */
static gboolean
differentiate (AdjContext *cx, const AdjValue *outputs, AdjTensor *const *inputs, AdjTensor **grads)
{
  AdjTensor *roots[MAX_OUTPUTS], *ones[MAX_OUTPUTS], *leaves[MAX_INPUTS], *found[MAX_INPUTS];
  AdjGradRoots from = { .tensors = roots, .grads = ones };
  guint n_leaves = 0;

  for (guint i = 0; i < outputs->n; i++)
    if (adj_tensor_get_requires_grad (outputs->items[i].tensor))
      {
        roots[from.n] = outputs->items[i].tensor;
        ones[from.n] = ADJ_APPLY (cx, ADJ_OP_ones_like, outputs->items[i]);
        if (ones[from.n++] == NULL)
          return FALSE;
      }
  for (guint i = 0; i < MAX_INPUTS; i++)
    if (inputs[i] != NULL)
      leaves[n_leaves++] = inputs[i];
  if (from.n == 0 || n_leaves == 0)
    return TRUE;
  if (!adj_grad (cx, &from, leaves, n_leaves, ADJ_BACKWARD_ALLOW_UNUSED, found))
    return FALSE;
  for (guint i = 0; i < n_leaves; i++)
    if (found[i] != NULL)
      {
        found[i] = adj_functional_get_value (cx, found[i]);
        if (found[i] == NULL)
          return FALSE;
        grads[i] = adj_tensor_ref (found[i]);
      }
  return TRUE;
}

/* Wraps the inputs for the program; a copy of a leaf is wrapped already. */
static void
wrap_leaves (AdjContext *cx, AdjTensor **inputs, AdjTensor **leaves, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      AdjTensor *outer;

      if (adj_functional_is_wrapped (inputs[i]))
        continue;
      outer = adj_functional_wrap (cx, inputs[i]);
      adj_tensor_unref (inputs[i]);
      inputs[i] = adj_tensor_ref (outer);
      if (leaves[i] == NULL)
        continue;
      adj_tensor_set_requires_grad (cx, outer, TRUE);
      adj_tensor_unref (leaves[i]);
      leaves[i] = adj_tensor_ref (outer);
    }
}

static void
run_backward (Gradients *gradients, const Program *program, gboolean functionalize)
{
  g_autoptr (AdjFunction) function = program_function_new (program);
  Run run = { .cx = NULL };
  AdjTensor *leaves[MAX_INPUTS] = { NULL };
  guint n = program_get_n_inputs (program);

  run.cx = gradients->cx = adj_context_new ();
  if (functionalize)
    adj_context_push_mode (run.cx, adj_functional_mode_new ());
  adj_context_push_mode (run.cx, adj_autograd_mode_new ());
  program_make_inputs (program, run.cx, run.inputs, leaves);
  if (functionalize)
    wrap_leaves (run.cx, run.inputs, leaves, n);
  call (&run, function, run.inputs, n);
  if (!adj_context_has_error (run.cx))
    differentiate (run.cx, &run.result, leaves, gradients->grads);
  adj_context_take_error (run.cx, &gradients->error);
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&leaves[i], adj_tensor_unref);
  run.cx = NULL;
  run_clear (&run);
}

/* Both runs fail, or both give equal gradients. */
static gboolean
check_gradients (const Program *program, GString *why)
{
  g_auto (Gradients) eager = { .cx = NULL };
  g_auto (Gradients) functional = { .cx = NULL };
  gboolean equal = TRUE;

  run_backward (&eager, program, FALSE);
  n_checked++;
  n_refused++;
  if (g_error_matches (eager.error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED))
    return TRUE;
  run_backward (&functional, program, TRUE);
  if (g_error_matches (functional.error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED))
    return TRUE;
  if ((eager.error == NULL) != (functional.error == NULL))
    {
      g_string_append_printf (why, "eager: %s, functionalized: %s\n",
                              eager.error != NULL ? eager.error->message : "fine",
                              functional.error != NULL ? functional.error->message : "fine");
      return FALSE;
    }
  n_refused--;
  for (guint i = 0; i < MAX_INPUTS && equal; i++)
    {
      g_autofree char *what = g_strdup_printf ("gradient %u", i);

      equal = (eager.grads[i] == NULL) == (functional.grads[i] == NULL);
      if (!equal)
        g_string_append_printf (why, "%s is defined in one only\n", what);
      else if (eager.grads[i] != NULL)
        equal = program_same_values (eager.cx, eager.grads[i], functional.grads[i], what, why);
    }
  return equal;
}

static void
gradients_are_eager (void)
{
  n_checked = n_refused = 0;
  program_check_all (500, PROGRAM_GRADIENTS | PROGRAM_GRAD_MODE | PROGRAM_HOOKS, check_gradients);
  g_test_message ("%u programs, %u refused", n_checked, n_refused);
  g_assert_cmpuint (n_refused * 10, <, n_checked);
}

static void
functionalized_is_eager (void)
{
  program_check_all (500, 0, check_functionalized);
  g_test_message ("%u programs, %u refused", n_checked, n_refused);
  g_assert_cmpuint (n_refused * 20, <, n_checked);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/trace/programs/functionalized", functionalized_is_eager);
  g_test_add_func ("/trace/programs/traced", traced_is_eager);
  g_test_add_func ("/trace/programs/aliases", traced_with_aliases);
  g_test_add_func ("/trace/programs/gradients", gradients_are_eager);
  return g_test_run ();
}
