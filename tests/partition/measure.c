/* SPDX-License-Identifier: MIT */
/* Measures the peak memory of running a partition. */

#include "high-water.h"
#include "ir/adj-graph.h"
#include "partition-test.h"
#include "rules/adj-operators.h"

static gboolean
import_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  if (leaf->kind == ADJ_VALUE_DATA)
    {
      *out = ADJ_TENSOR (adj_tensor_new_from_data (leaf->data));
      /* Copy now rather than at the first write. */
      adj_storage_write (adj_tensor_get_storage (out->tensor));
    }
  else
    *out = adj_value_copy (leaf);
  return TRUE;
}

static void
restore_generator (AdjContext *cx, const AdjValue *rng)
{
  GBytes *state;

  if (rng == NULL || rng->n < 2 || rng->items[1].kind != ADJ_VALUE_DATA)
    return;
  state = adj_tensor_data_get_bytes (rng->items[1].data);
  adj_generator_set_state (adj_context_get_generator (cx), g_bytes_get_data (state, NULL),
                           g_bytes_get_size (state), NULL);
}

guint64
partition_measure_peak (const AdjPartition *partition,
                        const AdjValue *inputs,
                        guint n_inputs,
                        const AdjValue *rng)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) whole = adj_graph_compose (partition->forward, partition->backward,
                                                  partition->num_fwd_outputs, &error);
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autofree AdjValue *args = g_new0 (AdjValue, n_inputs + 1);
  g_auto (AdjValue) out = ADJ_NONE;
  gsize peak;

  g_assert_no_error (error);
  restore_generator (cx, rng);
  for (guint i = 0; i < n_inputs; i++)
    adj_value_map (&inputs[i], import_leaf, NULL, &args[i]);
  high_water_start ();
  adj_interpret (cx, whole, args, n_inputs, NULL, &out);
  peak = high_water_stop ();
  adj_context_take_error (cx, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < n_inputs; i++)
    adj_value_clear (&args[i]);
  return peak;
}
