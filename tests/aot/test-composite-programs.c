/* SPDX-License-Identifier: MIT */

/* Random programs over composite tensors, traced to a graph over what these are made of, cut in two
 * and called as they were, do what they do eagerly. */

#include <string.h>

#include "aot/compile.h"
#include "aot/observed.h"
#include "autograd/adj-autograd.h"
#include "rules/adj-apply.h"
#include "support/programs.h"
#include "support/two-tensor.h"

/* Small integers, as in all inputs of these programs. */
static AdjTensor *
make_pair (AdjContext *cx, AdjTensor *input)
{
  AdjTensor *plain = ADJ_APPLY (cx, ADJ_OP_detach, ADJ_TENSOR (input));
  AdjTensor *a = ADJ_APPLY (cx, ADJ_OP_clone, ADJ_TENSOR (plain));

  return two_tensor_new (cx, a, ADJ_APPLY (cx, ADJ_OP_add_Tensor, ADJ_TENSOR (plain), ADJ_INT (1)));
}

/* Every input is composite, but the second, which stays dense where it needs no gradient. */
static void
observe (Observed *observed, const Program *program)
{
  guint n = program_get_n_inputs (program);
  g_autofree AdjTensor **inputs = g_new0 (AdjTensor *, n + 1);
  g_autofree AdjTensor **leaves = g_new0 (AdjTensor *, n + 1);

  observed_init (observed, n);
  program_make_inputs (program, observed->cx, inputs, leaves);
  for (guint i = 0; i < n; i++)
    {
      AdjTensor *tensor = adj_scope_add (observed->cx, inputs[i]);

      if (i != 1 || leaves[i] != NULL)
        tensor = make_pair (observed->cx, tensor);
      if (leaves[i] != NULL)
        {
          adj_tensor_set_requires_grad (observed->cx, tensor, TRUE);
          observed->leaves[i] = adj_keep (tensor);
          tensor = ADJ_APPLY (observed->cx, ADJ_OP_clone, ADJ_TENSOR (tensor));
          adj_tensor_unref (leaves[i]);
        }
      observed->inputs[i] = ADJ_TENSOR (adj_keep (tensor));
    }
}

static guint n_checked, n_refused;

static gboolean
is_refusal (const GError *error)
{
  return error->code == ADJ_ERROR_UNSUPPORTED ||
         strstr (error->message, "modified by an inplace operation") != NULL;
}

static gboolean
same_call (const Program *program, AdjFunction *compiled, gint late, GString *why)
{
  g_autoptr (AdjFunction) function = program_function_new (program);
  g_auto (Observed) eager = { .cx = NULL };
  g_auto (Observed) other = { .cx = NULL };

  observe (&eager, program);
  observed_call (&eager, function, late);
  if (eager.error != NULL)
    return TRUE;
  observe (&other, program);
  observed_call (&other, compiled, late);
  if (other.error == NULL && observed_same (&eager, &other, why))
    return TRUE;
  g_string_append_printf (why, "tensor %d written late%s%s\n", late,
                          other.error != NULL ? ", compiled: " : "",
                          other.error != NULL ? other.error->message : "");
  return FALSE;
}

static gboolean
check_compiled (const Program *program, GString *why)
{
  g_autoptr (AdjFunction) function = program_function_new (program);
  const AdjAotOptions options = { .keep_input_mutations = TRUE };
  g_autoptr (AdjFunction) compiled = NULL;
  g_autoptr (AdjAotGraph) aot = NULL;
  g_autoptr (GError) error = NULL;
  g_auto (Observed) eager = { .cx = NULL };
  g_auto (Observed) examples = { .cx = NULL };
  gboolean same = TRUE;

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
  for (gint late = -1; same && late < (gint) observed_count_tensors (&eager); late++)
    same = same_call (program, compiled, late, why);
  return same;
}

static void
check_all (gconstpointer flags)
{
  n_checked = n_refused = 0;
  program_check_all (200, (ProgramFlags) GPOINTER_TO_UINT (flags), check_compiled);
  g_test_message ("%u programs, %u refused", n_checked, n_refused);
  g_assert_cmpuint (n_refused * 5, <, n_checked);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/aot/composite-programs/inference", NULL, check_all);
  g_test_add_data_func ("/aot/composite-programs/gradients", GUINT_TO_POINTER (PROGRAM_GRADIENTS),
                        check_all);
  return g_test_run ();
}
