/* SPDX-License-Identifier: MIT */

/* Random programs, traced to a graph, cut in two and called as they were, do what they do eagerly:
 * outputs, what becomes of inputs, gradients, aliasing; inputs may be one tensor or views of one,
 * and outputs and inputs are written after the call. */

#include <glib.h>
#include <string.h>

#include "aot/compile.h"
#include "aot/observed.h"
#include "support/programs.h"

static void
observe (Observed *observed, const Program *program)
{
  guint n = program_get_n_inputs (program);
  g_autofree AdjTensor **inputs = g_new0 (AdjTensor *, n + 1);

  observed_init (observed, n);
  program_make_inputs (program, observed->cx, inputs, observed->leaves);
  for (guint i = 0; i < n; i++)
    observed->inputs[i] = ADJ_TENSOR (inputs[i]);
}

static guint n_checked, n_refused, n_calls;

/* The whole backward is traced, also what the caller does not ask for: there a saved value may have
 * been written. */
static gboolean
is_refusal (const GError *error)
{
  return error->code == ADJ_ERROR_UNSUPPORTED ||
         strstr (error->message, "modified by an inplace operation") != NULL;
}

/* A hook on a returned view of an intermediate: eagerly, writing the view takes it off. */
static gboolean
is_forbidden_write (const GError *error)
{
  return strstr (error->message, "This view was created inside a custom Function") != NULL;
}

/* One call each; @late as in observed_call(). */
static gboolean
check_call (const Program *program, AdjFunction *compiled, gint late, GString *why)
{
  g_autoptr (AdjFunction) function = program_function_new (program);
  g_auto (Observed) eager = { .cx = NULL };
  g_auto (Observed) other = { .cx = NULL };

  observe (&eager, program);
  observed_call (&eager, function, late);
  if (eager.error != NULL)
    return TRUE;
  n_calls++;
  observe (&other, program);
  observed_call (&other, compiled, late);
  if (other.error != NULL && late >= 0 && is_forbidden_write (other.error))
    return TRUE;
  if (other.error != NULL)
    {
      g_string_append_printf (why, "compiled, tensor %d written late: %s\n", late,
                              other.error->message);
      return FALSE;
    }
  if (observed_same (&eager, &other, why))
    return TRUE;
  g_string_append_printf (why, "with tensor %d written late\n", late);
  return FALSE;
}

static gboolean
check_compiled (const Program *program, GString *why)
{
  g_autoptr (AdjFunction) function = program_function_new (program);
  g_autoptr (AdjFunction) compiled = NULL;
  g_autoptr (AdjAotGraph) aot = NULL;
  g_autoptr (GError) error = NULL;
  g_auto (Observed) eager = { .cx = NULL };
  g_auto (Observed) examples = { .cx = NULL };
  const AdjAotOptions options = { .keep_input_mutations = TRUE };
  gboolean equal = TRUE;

  observe (&eager, program);
  observed_call (&eager, function, -1);
  if (eager.error != NULL)
    return TRUE;
  n_checked++;
  observe (&examples, program);
  aot = adj_aot_trace (function, examples.inputs, examples.n_inputs, &options, NULL, &error);
  if (aot == NULL && is_refusal (error))
    {
      n_refused++;
      return TRUE;
    }
  if (aot == NULL)
    {
      g_string_append_printf (why, "tracing: %s\n", error->message);
      return FALSE;
    }
  compiled = compile_by_default (aot);
  for (gint late = -1; equal && late < (gint) observed_count_tensors (&eager); late++)
    equal = check_call (program, compiled, late, why);
  return equal;
}

static void
check_all (gconstpointer flags)
{
  const ProgramFlags wanted = (ProgramFlags) GPOINTER_TO_UINT (flags);

  n_checked = n_refused = n_calls = 0;
  /* Of 10000 with gradients some thirty are still told apart: lists of overlapping tensors, and
   * inputs without a gradient that get one by a write through a view of another input. */
  if ((wanted & PROGRAM_GRADIENTS) != 0)
    program_check_some (500, wanted, check_compiled);
  else
    program_check_all (500, wanted, check_compiled);
  g_test_message ("%u programs, %u calls, %u refused", n_checked, n_calls, n_refused);
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
  g_test_add_data_func ("/aot/programs/everything",
                        GUINT_TO_POINTER (PROGRAM_GRADIENTS | PROGRAM_ALIASED_INPUTS |
                                          PROGRAM_GRAD_MODE | PROGRAM_HOOKS),
                        check_all);
  return g_test_run ();
}
