/* SPDX-License-Identifier: MIT */
/* Runs captures of real PyTorch training steps: every node agrees with the value PyTorch
 * recorded, and a fault planted at a node is found there. */

#include <gio/gio.h>
#include <glib.h>
#include <math.h>

#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-table.h"
#include "planted.h"
#include "support/adj-test.h"
#include "support/graphs.h"

#define N_DRAWN 100
#define N_TO_FIND 98
#define N_WHOLE 6 /* number of faults that are also searched by running the whole graph */

static const char *const captures[] = {
  "mlp", "gpt2", "resnet-block", "llama", "lstm", "sac", "unet", "gpt2-inductor", "dropout",
};
static const char *const agreeing[] = { "dynamo", "joint", "forward", "backward" };
/* Roles of graphs with recorded node values. */
static const char *const roles[] = { "joint", "forward", "backward" };

static AdjComparison *
compare (AdjBundle *bundle, const char *role, PlantedFault *fault, gboolean nodes)
{
  g_autoptr (GError) error = NULL;
  AdjSessionRun run = {
    .bundle = bundle,
    .graph = adj_bundle_find_graph (bundle, role, &error),
    .replace = fault != NULL ? planted_fault_replace : NULL,
    .data = fault,
  };
  AdjComparison *comparison;

  g_assert_no_error (error);
  comparison = adj_session_compare_recorded (&run, nodes, NAN, NAN, NULL, &error);
  g_assert_no_error (error);
  return comparison;
}

static void
test_agrees (gconstpointer name)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture (name);

  for (guint i = 0; i < G_N_ELEMENTS (agreeing); i++)
    {
      g_autoptr (AdjComparison) comparison = compare (bundle, agreeing[i], NULL, TRUE);

      g_test_message ("%s#%s: %u outputs, %u nodes, %s", (const char *) name, agreeing[i],
                      comparison->n_outputs, comparison->n_nodes,
                      adj_verdict_name (comparison->verdict));
      g_assert_cmpuint (comparison->n_outputs, >, 0);
      g_assert_cmpint (comparison->first, ==, -1);
      g_assert_cmpint (comparison->verdict, !=, ADJ_VERDICT_DIFFERS);
    }
}

static GHashTable *
clean_values (AdjBundle *bundle, const char *role)
{
  GHashTable *values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                              (GDestroyNotify) adj_tensor_data_unref);
  g_autoptr (GError) error = NULL;
  AdjSessionRun run = { .bundle = bundle, .graph = adj_bundle_find_graph (bundle, role, &error) };
  AdjRunResult result = { 0 };

  adj_session_run (&run, &result, values, NULL, &error);
  g_assert_no_error (error);
  adj_run_result_clear (&result);
  return values;
}

typedef struct
{
  AdjBundle *bundle;
  const AdjRecordedCall *call;
  const AdjGraph *graph;     /* graph that runs; node names are those of the recording */
  const PlantedFault *fault; /* (nullable) */
  AdjNodeId planted;         /* the faulty node in @graph */
} Recorded;

static AdjTensorData *
recorded_node (AdjNodeId id, gboolean float64, gpointer data)
{
  const Recorded *recorded = data;
  const AdjNode *node = adj_graph_get_node (recorded->graph, id.index);

  return adj_bundle_get_tap (recorded->bundle, recorded->call, node->name, float64);
}

static gboolean
replace_planted (AdjNodeId id, const AdjValue *value, AdjValue *out, gpointer data)
{
  const Recorded *recorded = data;

  if (recorded->fault == NULL || id.index != recorded->planted.index)
    return FALSE;
  *out = ADJ_DATA (adj_tensor_data_ref (recorded->fault->value));
  return TRUE;
}

/* Compares every node of @graph, which is derived from the recorded graph; %NULL with @error
 * when it cannot run. */
static AdjComparison *
compare_nodes (Recorded *recorded, AdjGraph *graph, GError **error)
{
  const AdjRecordedCall *call = recorded->call;
  AdjComparisonRequest request = {
    .graph = graph,
    .inputs = call->inputs,
    .n_inputs = call->n_inputs,
    .rng = call->rng,
    .expected_node = recorded_node,
    .nodes = TRUE,
    .rtol = NAN,
    .atol = NAN,
    .replace = replace_planted,
    .data = recorded,
  };

  recorded->graph = graph;
  return adj_comparison_run (&request, NULL, error);
}

/* Reduces @graph to the nodes that node @index needs, and returns that node and its items: a
 * fault there does not change earlier nodes, and later ones cannot be the first to differ.
 * Nodes with effects or random numbers stay. */
static AdjGraph *
cut_at (const AdjGraph *graph, guint index)
{
  g_autofree AdjNodeId *map = g_new0 (AdjNodeId, adj_graph_get_n_nodes (graph));
  g_autoptr (AdjBuilder) builder =
      adj_builder_new (adj_graph_get_name (graph), adj_graph_get_symbols (graph), adj_op_find);
  g_autoptr (AdjGraph) all_above = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) kept = adj_value_array_new ();
  g_auto (AdjValue) returned = ADJ_NONE;
  AdjPassResult result = { 0 };
  AdjGraph *cut;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);
      gboolean is_item = i > index && node->n_inputs > 0 && node->inputs[0].index == index &&
                         g_str_equal (node->target, "operator.getitem");
      AdjValue value;

      if (i > index && !is_item)
        continue;
      adj_builder_copy (builder, graph, i, map);
      value = ADJ_NODE (map[i]);
      if (i >= index)
        g_array_append_val (kept, value);
    }
  returned = adj_value_array_end (kept, ADJ_VALUE_TUPLE);
  adj_builder_output (builder, &returned);
  all_above = adj_builder_seal (builder, &error);
  g_assert_no_error (error);
  adj_pass_run (adj_pass_find ("dce", NULL), NULL, all_above, &result, &error);
  g_assert_no_error (error);
  cut = adj_graph_ref (result.graph);
  adj_pass_result_clear (&result);
  return cut;
}

/* Whether the first differing value is the planted one when the whole graph runs. */
static gboolean
found_in_whole (AdjBundle *bundle, const char *role, PlantedFault *fault)
{
  g_autoptr (AdjComparison) comparison = compare (bundle, role, fault, TRUE);

  return comparison->first >= 0 &&
         comparison->nodes[comparison->first].node.index == fault->node.index;
}

/* Like found_in_whole(), running only the nodes that the faulty one needs. */
static gboolean
found (Recorded *recorded, const AdjGraph *whole, PlantedFault *fault)
{
  const char *name = adj_graph_get_node (whole, fault->node.index)->name;
  g_autoptr (AdjGraph) graph = cut_at (whole, fault->node.index);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjComparison) comparison = NULL;
  AdjNodeId first = ADJ_NO_NODE;

  recorded->fault = fault;
  recorded->planted = adj_graph_find_node (graph, name);
  comparison = compare_nodes (recorded, graph, &error);
  g_assert_no_error (error);
  if (comparison->first >= 0)
    first = comparison->nodes[comparison->first].node;
  if (first.index == recorded->planted.index)
    return TRUE;
  g_test_message ("missed: '%s' at '%s', found '%s'", fault->kind, name,
                  comparison->first < 0 ? "nothing"
                                        : adj_graph_get_node (graph, first.index)->name);
  return FALSE;
}

static void
test_finds_planted (gconstpointer name)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture (name);
  g_autoptr (GRand) rand = g_rand_new_with_seed (20);
  GHashTable *values[G_N_ELEMENTS (roles)];
  guint n_found = 0;

  for (guint i = 0; i < G_N_ELEMENTS (roles); i++)
    values[i] = clean_values (bundle, roles[i]);
  for (guint i = 0; i < N_DRAWN; i++)
    {
      guint r = i % G_N_ELEMENTS (roles);
      const AdjBundleGraph *entry = adj_bundle_find_graph (bundle, roles[r], NULL);
      Recorded recorded = { .bundle = bundle, .call = adj_bundle_find_call (bundle, entry, 0) };
      g_autoptr (PlantedFault) fault = planted_fault_draw (rand, entry->graph, values[r], 100);
      gboolean is_found = found (&recorded, entry->graph, fault);

      n_found += is_found;
      if (i < N_WHOLE)
        g_assert_true (found_in_whole (bundle, roles[r], fault) == is_found);
    }
  for (guint i = 0; i < G_N_ELEMENTS (roles); i++)
    g_hash_table_unref (values[i]);
  g_test_message ("%s: %u of %u planted faults found at their node", (const char *) name, n_found,
                  N_DRAWN);
  g_assert_cmpuint (n_found, >=, N_TO_FIND);
}

/* Faults in the graph itself rather than in a kernel: a changed number or operator. */

static gboolean
change_number (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  guint *left = data;

  *out = adj_value_copy (leaf);
  if (leaf->kind == ADJ_VALUE_FLOAT && isfinite (leaf->number) && *left > 0)
    {
      out->number = leaf->number * 1.25 + 0.5;
      (*left)--;
    }
  return TRUE;
}

static const struct
{
  const char *from, *to;
} siblings[] = {
  { "torch.ops.aten.add.Tensor", "torch.ops.aten.sub.Tensor" },
  { "torch.ops.aten.relu.default", "torch.ops.aten.tanh.default" },
  { "torch.ops.aten.tanh.default", "torch.ops.aten.relu.default" },
  { "torch.ops.aten.mul.Tensor", "torch.ops.aten.add.Tensor" },
  { "torch.ops.aten.div.Tensor", "torch.ops.aten.mul.Tensor" },
};

static const char *
sibling (const char *target)
{
  for (guint i = 0; i < G_N_ELEMENTS (siblings); i++)
    if (g_str_equal (siblings[i].from, target))
      return siblings[i].to;
  return target;
}

/* Returns the graph down to node @index with one change in that node, or %NULL if it contains
 * nothing to change. */
static AdjGraph *
edited (const AdjGraph *graph, guint index)
{
  guint n = adj_graph_get_n_nodes (graph), left = 1;
  g_autofree AdjNodeId *map = g_new0 (AdjNodeId, n);
  g_autoptr (AdjBuilder) builder =
      adj_builder_new (adj_graph_get_name (graph), adj_graph_get_symbols (graph), adj_op_find);
  const AdjNode *node = adj_graph_get_node (graph, index);
  g_autoptr (GError) error = NULL;
  g_auto (AdjValue) args = ADJ_NONE;
  g_autoptr (AdjGraph) whole = NULL;
  AdjNodeSpec spec = {
    .name = node->name,
    .opcode = node->opcode,
    .target = sibling (node->target),
    .val = node->val,
    .meta = &node->meta,
    .kwargs = node->kwargs,
    .origin = { index },
  };

  adj_value_map (&node->args, change_number, &left, &args);
  if (left > 0 && g_str_equal (spec.target, node->target))
    return NULL;
  spec.args = args;
  for (guint i = 0; i < n; i++)
    if (i == index)
      map[i] = adj_builder_add (builder, &spec);
    else
      adj_builder_copy (builder, graph, i, map);
  whole = adj_builder_seal (builder, &error);
  g_assert_no_error (error);
  return cut_at (whole, index);
}

/* Returns the comparison of the node with this name. */
static const AdjValueComparison *
judged (const AdjComparison *comparison, const AdjGraph *graph, const char *name)
{
  AdjNodeId id = adj_graph_find_node (graph, name);

  for (guint i = 0; i < comparison->n_nodes; i++)
    if (comparison->nodes[i].node.index == id.index)
      return &comparison->nodes[i];
  return NULL;
}

/* Whether the change had no effect: subtracting a bias of zeros equals adding it. */
static gboolean
has_no_effect (const AdjValueComparison *a, const AdjValueComparison *b)
{
  return a != NULL && b != NULL && a->difference.rel_l2 == b->difference.rel_l2 &&
         a->difference.mean_abs == b->difference.mean_abs &&
         a->difference.max_abs == b->difference.max_abs;
}

/* Whether the change of node @name is found, as a difference there or as an error that names it. */
static gboolean
edit_is_found (const AdjComparison *comparison,
               const GError *error,
               const AdjGraph *graph,
               const char *name)
{
  g_autofree char *quoted = g_strdup_printf ("'%s'", name);

  if (comparison == NULL)
    return strstr (error->message, quoted) != NULL;
  return comparison->first >= 0 &&
         &comparison->nodes[comparison->first] == judged (comparison, graph, name);
}

static void
test_finds_edits (gconstpointer name)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture (name);
  const AdjBundleGraph *entry = adj_bundle_find_graph (bundle, "joint", NULL);
  Recorded recorded = { .bundle = bundle, .call = adj_bundle_find_call (bundle, entry, 0) };
  guint n_edited = 0, n_found = 0, n_without_effect = 0;
  g_autoptr (GError) clean_error = NULL;
  g_autoptr (AdjComparison) clean = compare_nodes (&recorded, entry->graph, &clean_error);

  g_assert_no_error (clean_error);
  for (guint i = 0; i < adj_graph_get_n_nodes (entry->graph); i++)
    {
      const char *node = adj_graph_get_node (entry->graph, i)->name;
      g_autoptr (AdjGraph) graph = edited (entry->graph, i);
      g_autoptr (AdjComparison) comparison = NULL;
      g_autoptr (GError) error = NULL;

      if (graph == NULL)
        continue;
      comparison = compare_nodes (&recorded, graph, &error);
      n_edited++;
      if (edit_is_found (comparison, error, graph, node))
        n_found++;
      else if (comparison != NULL &&
               has_no_effect (judged (comparison, graph, node), judged (clean, entry->graph, node)))
        n_without_effect++;
      else
        g_test_message ("missed the edit of '%s'", node);
    }
  g_test_message ("%s: %u of %u edited nodes found, %u edits without effect on these inputs",
                  (const char *) name, n_found, n_edited, n_without_effect);
  g_assert_cmpuint (n_found, >=, n_edited / 2);
  g_assert_cmpuint (n_found, ==, n_edited - n_without_effect);
}

static void
test_shape_names_node (void)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture ("mlp");
  const AdjBundleGraph *entry = adj_bundle_find_graph (bundle, "forward", NULL);
  g_autoptr (GError) error = NULL;
  AdjSessionRun run = { .bundle = bundle, .graph = entry };
  AdjRunResult result = { 0 };
  const AdjRecordedCall *call = adj_bundle_find_call (bundle, entry, 0);
  g_autofree AdjValue *inputs = g_memdup2 (call->inputs, sizeof (AdjValue) * call->n_inputs);

  inputs[0] = inputs[1];
  run.inputs = inputs;
  run.n_inputs = call->n_inputs;
  g_assert_false (adj_session_run (&run, &result, NULL, NULL, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE);
  g_assert_nonnull (strstr (error->message, "primals_1"));
}

static void
test_refuses_memory (void)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture ("gpt2");
  g_autoptr (GError) error = NULL;
  AdjSessionRun run = {
    .bundle = bundle,
    .graph = adj_bundle_find_graph (bundle, "joint", NULL),
    .memory_limit = 4096,
  };
  AdjRunResult result = { 0 };

  g_assert_false (adj_session_run (&run, &result, NULL, NULL, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_MEMORY);
  g_assert_nonnull (strstr (error->message, "4 KiB are allowed"));
}

static void
cancel_midway (guint done, guint total, gpointer data)
{
  if (done == total / 2)
    g_cancellable_cancel (data);
}

static void
test_cancels (void)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture ("gpt2");
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  AdjSessionRun run = {
    .bundle = bundle,
    .graph = adj_bundle_find_graph (bundle, "joint", NULL),
    .progress = cancel_midway,
    .data = cancellable,
  };
  AdjRunResult result = { 0 };

  g_assert_false (adj_session_run (&run, &result, NULL, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

typedef struct
{
  GCancellable *cancellable;
  guint n;
} Calls;

static void
cancel_at_third (guint done, guint total, gpointer data)
{
  Calls *calls = data;

  if (++calls->n == 3)
    g_cancellable_cancel (calls->cancellable);
}

/* One side has failed behind its second node, and the run in float64 is cancelled at its first. */
static void
test_cancels_after_failure (void)
{
  static const char text[] = "class G(torch.nn.Module):\n"
                             "    def forward(self, x: \"f32[2][1]cpu\"):\n"
                             "        exp = torch.ops.aten.exp.default(x)\n"
                             "        view = torch.ops.aten.view.default(exp, [3])\n"
                             "        return (view,)\n";
  const float x[] = { 1, 2 };
  const gint64 size = 2;
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  g_autoptr (AdjTensorData) input =
      adj_tensor_data_new_from_array (ADJ_DTYPE_F32, &size, 1, x, NULL);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  AdjValue argument = ADJ_DATA (input);
  Calls calls = { cancellable, 0 };
  const AdjComparisonRequest request = { .graph = graph,
                                         .inputs = &argument,
                                         .n_inputs = 1,
                                         .nodes = TRUE,
                                         .rtol = NAN,
                                         .atol = NAN,
                                         .progress = cancel_at_third,
                                         .data = &calls };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjComparison) comparison = adj_comparison_run (&request, cancellable, &error);

  g_assert_null (comparison);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
test_peak_within_estimate (void)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture ("gpt2");
  g_autoptr (GError) error = NULL;
  const AdjBundleGraph *entry = adj_bundle_find_graph (bundle, "joint", NULL);
  AdjSessionRun run = { .bundle = bundle, .graph = entry };
  AdjRunResult result = { 0 };

  adj_session_run (&run, &result, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (result.peak_bytes, >, 0);
  g_assert_cmpuint (result.peak_bytes, <=, adj_graph_estimate_memory (entry->graph, FALSE));
  adj_run_result_clear (&result);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (captures); i++)
    {
      g_autofree char *agrees =
          g_strdup_printf ("/exec/captures/%s/agrees-with-pytorch", captures[i]);
      g_autofree char *planted =
          g_strdup_printf ("/exec/captures/%s/finds-planted-faults", captures[i]);
      g_autofree char *edits =
          g_strdup_printf ("/exec/captures/%s/finds-edited-nodes", captures[i]);

      g_test_add_data_func (agrees, captures[i], test_agrees);
      g_test_add_data_func (planted, captures[i], test_finds_planted);
      g_test_add_data_func (edits, captures[i], test_finds_edits);
    }
  g_test_add_func ("/exec/captures/wrong-input-is-named", test_shape_names_node);
  g_test_add_func ("/exec/captures/refuses-what-does-not-fit", test_refuses_memory);
  g_test_add_func ("/exec/captures/cancels", test_cancels);
  g_test_add_func ("/exec/captures/cancels-after-failure", test_cancels_after_failure);
  g_test_add_func ("/exec/captures/peak-is-within-estimate", test_peak_within_estimate);
  return g_test_run ();
}
