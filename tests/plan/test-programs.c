/* SPDX-License-Identifier: MIT */
/* Random programs with views and in-place writes, also through views: traced with their writes
 * and run by a plan. */

#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "plan-check.h"
#include "rules/adj-operators.h"
#include "support/programs.h"
#include "trace/adj-trace.h"

static guint n_planned, n_refused;

/* Copies the data of @tensors; tensors with one storage share bytes. */
static void
take_data (AdjTensor **tensors, guint n, AdjValue *out)
{
  g_autoptr (GHashTable) bytes =
      g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_bytes_unref);

  for (guint i = 0; i < n; i++)
    {
      AdjStorage *storage = adj_tensor_get_storage (tensors[i]);
      GBytes *of_storage = g_hash_table_lookup (bytes, storage);

      if (of_storage == NULL)
        {
          of_storage = adj_storage_snapshot (storage);
          g_hash_table_insert (bytes, storage, of_storage);
        }
      out[i] = ADJ_DATA (adj_tensor_data_new (adj_tensor_get_meta (tensors[i]), of_storage, NULL));
    }
}

static AdjGraph *
trace (const Program *program, AdjTensor **inputs, guint n)
{
  g_autofree AdjValue *args = g_new0 (AdjValue, n + 1);
  AdjFunction *function = program_function_new (program);
  AdjGraph *graph;

  for (guint i = 0; i < n; i++)
    args[i] = ADJ_TENSOR (inputs[i]);
  graph = adj_trace (function, args, n, NULL, NULL);
  adj_function_unref (function);
  return graph;
}

static gboolean
check_planned (const Program *program, GString *why)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  guint n = program_get_n_inputs (program);
  g_autofree AdjTensor **inputs = g_new0 (AdjTensor *, n + 1);
  g_autofree AdjValue *data = g_new0 (AdjValue, n + 1);
  g_autoptr (AdjGraph) graph = NULL;
  g_autoptr (AdjPlan) plan = NULL;
  AdjRunRequest request = { .inputs = data, .n_inputs = n };
  gboolean same;

  g_assert_true (program_make_inputs (program, cx, inputs, NULL));
  graph = trace (program, inputs, n);
  if (graph == NULL)
    return TRUE;
  take_data (inputs, n, data);
  request.graph = graph;
  plan = adj_plan_new (graph, data, n, 0, NULL);
  n_planned++;
  n_refused += adj_plan_get_refusal (plan) != NULL;
  if (adj_plan_get_refusal (plan) != NULL)
    g_test_message ("%s", adj_plan_get_refusal (plan));
  same = plan_agrees (&request, why);
  for (guint i = 0; i < n; i++)
    {
      adj_value_clear (&data[i]);
      adj_tensor_unref (inputs[i]);
    }
  if (!same)
    {
      g_autofree char *text = adj_graph_print (graph, ADJ_PRINT_NO_METADATA, NULL);

      g_string_append_printf (why, "\n%s", text);
    }
  return same;
}

static void
test_programs (gconstpointer flags)
{
  n_planned = n_refused = 0;
  program_check_all (300, GPOINTER_TO_INT (flags), check_planned);
  g_test_message ("%u programs, of which the interpreter runs %u", n_planned, n_refused);
  g_assert_cmpuint (2 * n_refused, <, n_planned);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_data_func ("/plan/programs/writes-and-views", GINT_TO_POINTER (0), test_programs);
  g_test_add_data_func ("/plan/programs/aliased-inputs", GINT_TO_POINTER (PROGRAM_ALIASED_INPUTS),
                        test_programs);

  return g_test_run ();
}
