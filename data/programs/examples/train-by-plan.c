/* SPDX-License-Identifier: MIT */

/* Trains a captured MLP for 1,000 steps by one plan of its joint graph, in memory of its own. */

#include <adjoint.h>
#include <stdio.h>
#include <string.h>

/* Updates the inputs: the gradient of input k is result k + 1, or None. */
static void
descend (const AdjPlan *plan, const AdjNode *returned, float **inputs, float **outputs)
{
  const AdjValue *results = &returned->args.items[0];

  for (guint k = 0, next = 1; k + 1 < results->n; k++)
    if (results->items[k + 1].kind != ADJ_VALUE_NONE)
      {
        gsize n = adj_tensor_meta_bytes (adj_plan_get_input (plan, k), NULL) / sizeof (float);

        for (gsize i = 0; i < n; i++)
          inputs[k][i] -= 0.1f * outputs[next][i];
        next++;
      }
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_bundle_load (argv[1], NULL, &error);
  const AdjBundleGraph *joint = bundle ? adj_bundle_find_graph (bundle, "joint", &error) : NULL;
  const AdjRecordedCall *call = joint ? adj_bundle_find_call (bundle, joint, 0) : NULL;
  g_autoptr (AdjPlan) plan =
      call ? adj_plan_new (joint->graph, call->inputs, call->n_inputs, 0, &error) : NULL;
  g_autoptr (AdjPlanSpace) space = plan ? adj_plan_space_new (plan) : NULL;
  float *inputs[16] = { NULL }, *outputs[16] = { NULL };

  for (guint i = 0; plan && i < adj_plan_get_n_inputs (plan); i++)
    {
      GBytes *bytes = adj_tensor_data_get_bytes (call->inputs[i].data);

      inputs[i] = g_aligned_alloc (g_bytes_get_size (bytes), 1, 64);
      memcpy (inputs[i], g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
    }
  for (guint i = 0; plan && i < adj_plan_get_n_outputs (plan); i++)
    outputs[i] =
        g_aligned_alloc (adj_tensor_meta_bytes (adj_plan_get_output (plan, i), NULL), 1, 64);

  for (guint step = 1; plan && step <= 1000; step++)
    if (adj_plan_space_run_into (space, (gpointer *) inputs, (gpointer *) outputs))
      {
        if (step == 1 || step == 10 || step == 100 || step == 1000)
          printf ("step %4u: loss %.4f\n", step, (double) *outputs[0]);
        descend (plan, adj_graph_get_node (joint->graph, adj_graph_get_output (joint->graph).index),
                 inputs, outputs);
      }
  for (guint i = 0; i < 16; i++)
    g_aligned_free (inputs[i]), g_aligned_free (outputs[i]);
  return plan ? 0 : (fprintf (stderr, "%s\n", error ? error->message : "nothing recorded"), 1);
}
