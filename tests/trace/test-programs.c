/* SPDX-License-Identifier: MIT */

/* Random programs compute the same eagerly, functionalized, and as a traced graph without writes:
 * bit for bit, what they return and what becomes of their inputs. */

#include <glib.h>

#include "adjoint.h"
#include "ir/adj-target.h"
#include "support/programs.h"
#include "trace/adj-functional.h"

#define MAX_INPUTS 4
#define MAX_OUTPUTS 4

/* What a run left behind. */
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
  program_make_inputs (program, run->cx, run->inputs);
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
  AdjTensor *wrapped[MAX_INPUTS];
  guint n = program_get_n_inputs (program);
  AdjValue values = ADJ_NONE;

  run->cx = adj_context_new ();
  program_make_inputs (program, run->cx, run->inputs);
  adj_context_push_mode (run->cx, adj_functional_mode_new ());
  for (guint i = 0; i < n; i++)
    wrapped[i] = adj_functional_wrap (run->cx, run->inputs[i]);
  call (run, function, wrapped, n);
  if (adj_value_map (&run->result, unwrap, run->cx, &values))
    {
      adj_value_clear (&run->result);
      run->result = values;
    }
  /* What is turned in place stays as it is outside: only elements are looked at. */
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

static guint n_checked, n_refused;

/* A write through as_strided of a view is refused, as is growth; else both runs agree. */
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
  return g_test_run ();
}
