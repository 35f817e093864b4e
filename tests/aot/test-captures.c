/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "aot/adj-aot.h"
#include "aot/modulo.h"
#include "formats/adj-format.h"
#include "ir/adj-builder.h"
#include "support/adj-test.h"

/* The forward part of each captured joint graph, traced to a joint graph, is PyTorch's; and so is
 * what becomes of the captured Dynamo graph. */

typedef struct
{
  AdjBundle *bundle;
  const AdjBundleGraph *joint;
  const AdjRegion *region;
} Capture;

static void
capture_open (Capture *capture, const char *name)
{
  g_autofree char *file = g_strdup_printf ("graphs/%s.adjoint", name);
  g_autofree char *path = adj_test_data_path (file);
  g_autoptr (GError) error = NULL;

  capture->bundle = adj_bundle_load (path, NULL, &error);
  g_assert_no_error (error);
  capture->joint = adj_bundle_find_graph (capture->bundle, "joint", &error);
  g_assert_no_error (error);
  capture->region = adj_bundle_find_region (capture->bundle, capture->joint);
}

/* Writes to inputs stand after the backward. */
static gboolean
is_forward (const AdjGraph *joint, guint index)
{
  const AdjNode *node = adj_graph_get_node (joint, index);

  if (node->opcode == ADJ_OPCODE_OUTPUT || g_str_has_prefix (node->name, "tangents_"))
    return FALSE;
  return !adj_graph_is_backward (joint, index) || g_str_has_prefix (node->name, "copy_");
}

/* Nodes that are not of the backward, without tangents; the first outputs. */
static AdjGraph *
forward_part (const AdjGraph *joint, guint n_outputs)
{
  g_autoptr (AdjBuilder) builder = adj_builder_new (adj_graph_get_name (joint), NULL);
  guint n = adj_graph_get_n_nodes (joint);
  g_autofree AdjNodeId *map = g_new (AdjNodeId, n);
  g_autofree AdjValue *kept = g_new0 (AdjValue, n_outputs);
  g_autoptr (GError) error = NULL;
  const AdjValue *outputs;
  AdjGraph *graph;

  for (guint i = 0; i < n; i++)
    {
      map[i] = ADJ_NO_NODE;
      if (is_forward (joint, i))
        adj_builder_copy (builder, joint, i, map);
    }
  outputs = &adj_graph_get_node (joint, adj_graph_get_output (joint).index)->args.items[0];
  for (guint i = 0; i < n_outputs; i++)
    {
      kept[i] = outputs->items[i];
      if (kept[i].kind == ADJ_VALUE_NODE)
        kept[i].node = map[kept[i].node.index];
    }
  adj_builder_output (builder,
                      &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = n_outputs, .items = kept });
  graph = adj_builder_seal (builder, &error);
  g_assert_no_error (error);
  return graph;
}

static void
forward_becomes_joint (gconstpointer name)
{
  g_autoptr (AdjGraph) forward = NULL;
  g_autoptr (AdjAotGraph) aot = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) text = g_string_new (NULL);
  Capture capture;
  guint n;

  capture_open (&capture, name);
  forward = forward_part (capture.joint->graph, (guint) capture.region->num_fwd_outputs);
  aot =
      adj_aot_trace_graph (forward, &(AdjAotOptions){ .keep_input_mutations = TRUE }, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (adj_aot_graph_is_joint (aot));
  n = modulo_count_differences (adj_aot_graph_get_graph (aot), capture.joint->graph);
  g_test_message ("%s: %u nodes differ", (const char *) name, n);
  g_assert_cmpuint (n, ==, 0);
  adj_bundle_unref (capture.bundle);
}

int
main (int argc, char **argv)
{
  static const char *const names[] = {
    "mlp",
    "gpt2",
    "sac",
  };

  g_test_init (&argc, &argv, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_strdup_printf ("/aot/captures/%s/forward", names[i]);

      g_test_add_data_func (path, names[i], forward_becomes_joint);
    }
  return g_test_run ();
}
