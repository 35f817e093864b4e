/* SPDX-License-Identifier: MIT */

/* Random programs, traced, partitioned and called with the same inputs, behave as in eager mode:
 * outputs, final inputs, gradients, aliasing.  Inputs may be repeated tensors, views of one
 * storage or composite; outputs and inputs are also written after the call. */

#include <glib.h>
#include <string.h>

#include "aot/compile.h"
#include "aot/observed.h"
#include "autograd/adj-autograd.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "support/programs.h"
#include "support/two-tensor.h"

typedef struct
{
  const char *name;
  ProgramFlags flags;
  ObserveFunc observe;
  guint max_refused; /* percentage of the programs */
} Property;

/* -- inputs -- */

static void
observe_dense (Observed *observed, gconstpointer program)
{
  guint n = program_get_n_inputs (program);
  g_autofree AdjTensor **inputs = g_new0 (AdjTensor *, n + 1);

  observed_init (observed, n);
  program_make_inputs (program, observed->cx, inputs, observed->leaves);
  for (guint i = 0; i < n; i++)
    observed->inputs[i] = ADJ_TENSOR (inputs[i]);
}

/* Small integers, as in all inputs of these programs, so that sums are exact. */
static AdjTensor *
make_pair (AdjContext *cx, AdjTensor *input)
{
  AdjTensor *plain = ADJ_APPLY (cx, ADJ_OP_detach, ADJ_TENSOR (input));
  AdjTensor *a = ADJ_APPLY (cx, ADJ_OP_clone, ADJ_TENSOR (plain));

  return two_tensor_new (cx, a, ADJ_APPLY (cx, ADJ_OP_add_Tensor, ADJ_TENSOR (plain), ADJ_INT (1)));
}

/* Makes every input composite except the second, which stays dense if it needs no gradient. */
static void
observe_composite (Observed *observed, gconstpointer program)
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

/* -- the property -- */

static const Property *property;
static guint n_checked, n_refused;
static SameCalls counts;

/* Tracing covers the whole backward, also parts that the caller does not ask for; one of those
 * may read a saved value that was overwritten, which is an error. */
static gboolean
is_refusal (const GError *error)
{
  return error->code == ADJ_ERROR_UNSUPPORTED ||
         strstr (error->message, "modified by an inplace operation") != NULL;
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

  property->observe (&eager, program);
  observed_call (&eager, function, -1);
  if (eager.error != NULL)
    return TRUE;
  n_checked++;
  property->observe (&examples, program);
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
  return observed_same_calls (property->observe, program, function, compiled, &counts, why);
}

static void
holds (gconstpointer data)
{
  property = data;
  n_checked = n_refused = 0;
  counts = (SameCalls){ 0 };
  program_check_all (500, property->flags, check_compiled);
  g_test_message ("%u programs, %u calls, %u refused", n_checked, counts.n_calls, n_refused);
  if (!g_test_failed ())
    g_assert_cmpuint (n_refused * 100, <=, n_checked * property->max_refused);
}

/* ORDER PROPERTIES meson.build */
static const Property properties[] = {
  { "inference", 0, observe_dense, 10 },
  { "aliases", PROGRAM_ALIASED_INPUTS, observe_dense, 10 },
  { "gradients", PROGRAM_GRADIENTS, observe_dense, 10 },
  { "gradients-and-aliases", PROGRAM_GRADIENTS | PROGRAM_ALIASED_INPUTS, observe_dense, 10 },
  { "everything", PROGRAM_GRADIENTS | PROGRAM_ALIASED_INPUTS | PROGRAM_GRAD_MODE | PROGRAM_HOOKS,
    observe_dense, 10 },
  { "composite-inference", 0, observe_composite, 20 },
  { "composite-gradients", PROGRAM_GRADIENTS, observe_composite, 20 },
};

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (properties); i++)
    {
      g_autofree char *path = g_strconcat ("/aot/programs/", properties[i].name, NULL);

      g_test_add_data_func (path, &properties[i], holds);
    }
  return g_test_run ();
}
