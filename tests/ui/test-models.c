/* SPDX-License-Identifier: MIT */

/* The models behind the window, without a display. */

#include <gio/gio.h>

#include "analysis/adj-node-bytes.h"
#include "ir/adj-graph.h"
#include "model/adj-document.h"
#include "model/adj-graph-item.h"
#include "model/adj-history.h"
#include "model/adj-log.h"
#include "model/adj-module-item.h"
#include "model/adj-node-item.h"
#include "model/adj-search.h"
#include "model/adj-source.h"
#include "report/adj-properties.h"
#include "support/adj-test.h"
#include "ui/adj-wait.h"

/* -- opening -- */

static void
test_opens (void)
{
  g_autoptr (AdjDocument) document = adj_wait_open ("graphs/gpt2.adjoint", "joint");
  g_autoptr (AdjGraphList) list = adj_graph_list_new ();
  /* Number of calls, get_attrs and methods in print_readable of PyTorch 2.6. */
  const guint n_calls[] = { 29, 41, 334, 144, 252, 144 + 252 };

  g_assert_no_error (adj_document_get_error (document));
  g_assert_cmpstr (adj_document_get_graph (document)->role, ==, "joint");
  adj_graph_list_set_graphs (list, adj_document_get_graphs (document));
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (list)), ==, G_N_ELEMENTS (n_calls));
  for (guint i = 0; i < G_N_ELEMENTS (n_calls); i++)
    {
      g_autoptr (AdjGraphItem) item = g_list_model_get_item (G_LIST_MODEL (list), i);

      g_assert_cmpuint (adj_graph_item_get_n_calls (item), ==, n_calls[i]);
      g_assert_cmpstr (adj_graph_item_get_region (item), ==, "Region 0/0");
    }
  g_assert_null (g_list_model_get_item (G_LIST_MODEL (list), G_N_ELEMENTS (n_calls)));
}

static void
test_opens_newest (void)
{
  g_autoptr (AdjDocument) document = adj_document_new ();
  g_autofree char *gpt2 = adj_test_data_path ("graphs/gpt2.adjoint");
  g_autofree char *mlp = adj_test_data_path ("graphs/mlp.adjoint");
  g_autoptr (GFile) first = g_file_new_for_path (gpt2);
  g_autoptr (GFile) second = g_file_new_for_path (mlp);

  adj_document_open (document, first, NULL);
  adj_document_open (document, second, NULL);
  adj_wait_for (document);
  g_assert_cmpstr (adj_document_get_title (document), ==, "mlp.adjoint");
  /* The result of the superseded request is dropped. */
  adj_wait_for_threads ();
  g_assert_cmpstr (adj_document_get_title (document), ==, "mlp.adjoint");
  g_assert_cmpuint (adj_bundle_get_n_graphs (adj_document_get_bundle (document)), ==, 4);
}

static void
test_refuses_damaged (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "half.adjoint", NULL);
  g_autofree char *whole = adj_test_data_path ("graphs/mlp.adjoint");
  g_autoptr (AdjDocument) document = adj_document_new ();
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GFile) good = g_file_new_for_path (whole);
  g_autofree char *contents = NULL;
  gsize length;

  contents = adj_test_read_file (whole, &length);
  g_assert_true (g_file_set_contents (path, contents, (gssize) (length / 2), NULL));
  adj_document_open (document, file, NULL);
  adj_wait_for (document);
  g_assert_nonnull (adj_document_get_error (document));
  g_assert_nonnull (strstr (adj_document_get_error (document)->message, "half.adjoint"));
  g_assert_null (adj_document_get_scene (document));

  adj_document_open (document, good, NULL);
  g_assert_null (adj_document_get_error (document));
  adj_wait_for (document);
  g_assert_nonnull (adj_document_get_scene (document));
}

/* A graph as printed by PyTorch, pasted. */
static void
test_opens_text (void)
{
  g_autoptr (AdjDocument) document = adj_wait_open ("graphs/mlp.adjoint", "joint");
  g_autoptr (AdjGraph) expected = adj_graph_ref (adj_document_get_graph (document)->graph);
  g_autoptr (GBytes) text =
      g_bytes_ref (adj_bundle_get_text (adj_document_get_bundle (document), "0-0-joint"));
  g_autoptr (GBytes) nonsense = g_bytes_new_static ("shopping list", 13);

  adj_document_open_text (document, text);
  g_assert_null (adj_document_get_scene (document));
  adj_wait_for (document);
  g_assert_no_error (adj_document_get_error (document));
  g_assert_null (adj_document_get_file (document));
  g_assert_cmpstr (adj_document_get_title (document), ==, "Pasted Text");
  g_assert_cmpuint (adj_graph_get_n_calls (adj_document_get_graph (document)->graph), ==,
                    adj_graph_get_n_calls (expected));

  adj_document_open_text (document, nonsense);
  adj_wait_for (document);
  g_assert_nonnull (adj_document_get_error (document));
  g_assert_true (g_str_has_prefix (adj_document_get_error (document)->message, "clipboard"));
}

/* -- graphs, selection, history -- */

static void
test_switches_graphs (void)
{
  g_autoptr (AdjDocument) document = adj_wait_open ("graphs/mlp.adjoint", "joint");
  guint joint = adj_document_get_graph_index (document), other = joint == 0 ? 1 : 0;
  AdjNodeId node = { 3 };

  adj_document_set_selected (document, node);
  g_assert_false (adj_document_can_go (document, -1));
  adj_document_set_graph_index (document, other);
  /* The former picture stays until the new one is ready. */
  g_assert_true (adj_document_get_graph (document) ==
                 adj_graph_set_get (adj_document_get_graphs (document), joint));
  g_assert_nonnull (adj_document_get_scene (document));
  adj_wait_for (document);
  g_assert_false (adj_node_id_is_valid (adj_document_get_selected (document)));
  adj_document_set_selected (document, (AdjNodeId){ 1 });

  g_assert_true (adj_document_can_go (document, -1));
  adj_document_go (document, -1);
  adj_wait_for (document);
  g_assert_cmpuint (adj_document_get_graph_index (document), ==, joint);
  g_assert_cmpuint (adj_document_get_selected (document).index, ==, node.index);
  g_assert_true (adj_document_can_go (document, 1));
}

static void
test_history (void)
{
  AdjHistory history;

  adj_history_init (&history);
  g_assert_false (adj_history_can_go (&history, -1));
  g_assert_null (adj_history_go (&history, 1));
  for (guint i = 0; i < 3; i++)
    adj_history_push (&history, (AdjVisit){ 0, { i } });
  adj_history_push (&history, (AdjVisit){ 0, { 2 } });
  g_assert_cmpuint (adj_history_go (&history, -1)->node.index, ==, 1);
  g_assert_cmpuint (adj_history_go (&history, -1)->node.index, ==, 0);
  g_assert_false (adj_history_can_go (&history, -1));
  adj_history_push (&history, (AdjVisit){ 1, { 7 } });
  g_assert_false (adj_history_can_go (&history, 1));
  g_assert_cmpuint (adj_history_go (&history, -1)->node.index, ==, 0);
  for (guint i = 0; i < 1000; i++)
    adj_history_push (&history, (AdjVisit){ 0, { i } });
  g_assert_cmpuint (history.places->len, <=, 200);
  adj_history_clear (&history);
}

static void
test_folds_modules (void)
{
  g_autoptr (AdjDocument) document = adj_wait_open ("graphs/gpt2.adjoint", "joint");
  AdjScene *open = adj_scene_ref (adj_document_get_scene (document));
  AdjNodeId gelu = adj_graph_find_node (adj_document_get_graph (document)->graph, "gelu");
  guint box;

  adj_document_toggle_module (document, "h.0");
  adj_wait_for (document);
  g_assert_true (adj_document_get_scene (document) != open);
  box = adj_scene_find_node (adj_document_get_scene (document), gelu);
  g_assert_cmpuint (box, !=, ADJ_NO_BOX);
  g_assert_cmpint (adj_scene_get_box (adj_document_get_scene (document), box)->kind, ==,
                   ADJ_BOX_GROUP);
  adj_scene_unref (open);
}

/* -- exporting -- */

typedef struct
{
  char *exported; /* path of the exported file */
  char *remark;
} Outcome;

static void
on_exported (AdjDocument *document, GFile *file, Outcome *outcome)
{
  outcome->exported = g_file_get_path (file);
}

static void
on_remark (AdjDocument *document, const char *text, Outcome *outcome)
{
  outcome->remark = g_strdup (text);
}

static void
export_to (AdjDocument *document, const char *path, Outcome *outcome)
{
  *outcome = (Outcome){ 0 };
  adj_document_export (document, path, NULL, ADJ_SCHEME_LIGHT);
  adj_wait_for (document);
  g_assert_true (outcome->exported != NULL || outcome->remark != NULL);
}

static void
test_exports (void)
{
  /* The first bytes of each format by its specification. */
  static const struct
  {
    const char *name, *magic;
  } kinds[] = {
    { "step.svg", "<?xml" },
    { "step.png", "\x89PNG\r\n\x1a\n" },
    { "step.pdf", "%PDF-1." },
  };
  g_autoptr (AdjDocument) document = adj_wait_open ("graphs/mlp.adjoint", "joint");
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  Outcome outcome = { 0 };

  g_signal_connect (document, "exported", G_CALLBACK (on_exported), &outcome);
  g_signal_connect (document, "remark", G_CALLBACK (on_remark), &outcome);
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autofree char *path = g_build_filename (folder->path, kinds[i].name, NULL);
      g_autofree char *contents = NULL;
      gsize length;

      export_to (document, path, &outcome);
      g_assert_cmpstr (outcome.remark, ==, NULL);
      g_assert_cmpstr (outcome.exported, ==, path);
      contents = adj_test_read_file (path, &length);
      g_assert_cmpuint (length, >, 1000);
      g_assert_true (memcmp (contents, kinds[i].magic, strlen (kinds[i].magic)) == 0);
      g_free (outcome.exported);
    }
}

static void
check_not_exported (AdjDocument *document, const char *path, const char *why)
{
  GListModel *log = G_LIST_MODEL (adj_document_get_log (document));
  g_autoptr (AdjLogItem) last = NULL;
  g_autofree char *name = g_path_get_basename (path);
  Outcome outcome;
  gulong id = g_signal_connect (document, "remark", G_CALLBACK (on_remark), &outcome);

  export_to (document, path, &outcome);
  g_assert_null (outcome.exported);
  g_assert_true (g_str_has_prefix (outcome.remark, name));
  last = g_list_model_get_item (log, g_list_model_get_n_items (log) - 1);
  g_assert_cmpint (adj_log_item_get_kind (last), ==, ADJ_LOG_PROBLEM);
  g_assert_nonnull (strstr (adj_log_item_get_text (last), why));
  g_signal_handler_disconnect (document, id);
  g_free (outcome.remark);
}

static void
test_refuses_export (void)
{
  g_autoptr (AdjDocument) document = adj_wait_open ("graphs/mlp.adjoint", "joint");
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *odd = g_build_filename (folder->path, "step.gif", NULL);
  g_autofree char *nowhere = g_build_filename (folder->path, "missing", "step.svg", NULL);

  check_not_exported (document, odd, ".svg, .png or .pdf");
  check_not_exported (document, nowhere, "missing");
}

/* -- running -- */

static void
test_compares (void)
{
  g_autoptr (AdjDocument) document = adj_wait_open ("graphs/mlp.adjoint", "joint");
  AdjEvaluation *evaluation;
  const AdjComparison *comparison;
  g_autoptr (AdjNodeList) nodes = adj_node_list_new ();
  g_autoptr (AdjNodeItem) item = NULL;
  guint counts[ADJ_VERDICT_SKIPPED + 1];

  adj_document_run (document, TRUE);
  g_assert_true (adj_document_is_running (document));
  adj_wait_for (document);
  evaluation = adj_document_get_evaluation (document);
  g_assert_nonnull (evaluation);
  comparison = adj_evaluation_get_comparison (evaluation);
  g_assert_cmpint (comparison->first, ==, -1);
  adj_evaluation_count (evaluation, counts);
  g_assert_cmpuint (counts[ADJ_VERDICT_DIFFERS], ==, 0);
  g_assert_cmpuint (counts[ADJ_VERDICT_EQUAL] + counts[ADJ_VERDICT_WITHIN], >, 0);

  adj_node_list_set (nodes, adj_evaluation_get_graph (evaluation), NULL, evaluation);
  g_assert_cmpuint (adj_node_list_find (nodes, comparison->nodes[0].node), ==,
                    comparison->nodes[0].node.index);
  item = g_list_model_get_item (G_LIST_MODEL (nodes), comparison->nodes[0].node.index);
  g_assert_true (adj_node_item_get_comparison (item) == &comparison->nodes[0]);
}

static void
test_stops (void)
{
  g_autoptr (AdjDocument) document = adj_wait_open ("graphs/gpt2.adjoint", "joint");

  adj_document_run (document, TRUE);
  adj_document_stop (document);
  g_assert_false (adj_document_is_running (document));
  adj_wait_for_threads ();
  g_assert_null (adj_document_get_evaluation (document));
}

/* -- outline, search, source -- */

static AdjModuleItem *
find_module (GListModel *list, const char *path)
{
  for (guint i = 0; i < g_list_model_get_n_items (list); i++)
    {
      g_autoptr (AdjModuleItem) item = g_list_model_get_item (list, i);

      if (g_str_equal (adj_module_item_get_path (item), path))
        return g_steal_pointer (&item);
    }
  return NULL;
}

static void
test_module_tree (void)
{
  g_autoptr (AdjDocument) document = adj_wait_open ("graphs/gpt2.adjoint", "joint");
  AdjGraph *graph = adj_document_get_graph (document)->graph;
  g_autoptr (GListModel) roots = adj_module_tree_new (graph, NULL);
  g_autoptr (AdjModuleItem) block = find_module (roots, "h.0");
  g_autoptr (AdjModuleItem) attention = NULL;

  g_assert_nonnull (block);
  g_assert_cmpstr (adj_module_item_get_title (block), ==, "h.0  Block");
  attention = find_module (adj_module_item_get_children (block), "h.0.attn");
  g_assert_nonnull (attention);
  g_assert_cmpstr (adj_module_item_get_title (attention), ==, "attn  Attention");
  g_assert_cmpuint (adj_module_item_get_n_nodes (attention), <,
                    adj_module_item_get_n_nodes (block));
  g_assert_cmpint (adj_module_item_get_saved_bytes (attention), >, 0);
  g_assert_cmpint (adj_module_item_get_saved_bytes (attention), <=,
                   adj_module_item_get_saved_bytes (block));
  g_assert_false (adj_graph_is_backward (graph, adj_module_item_get_first (attention).index));
}

static void
check_found (const AdjGraph *graph, const AdjScene *scene, const char *query, const char *names)
{
  g_autoptr (GArray) found = adj_search_run (graph, scene, query);
  g_autoptr (GString) got = g_string_new (NULL);

  for (guint i = 0; i < found->len; i++)
    g_string_append_printf (got, "%s%s", i > 0 ? " " : "",
                            adj_graph_get_node (graph, g_array_index (found, guint, i))->name);
  g_assert_cmpstr (got->str, ==, names);
}

static void
test_search (void)
{
  g_autoptr (AdjDocument) document = adj_wait_open ("graphs/gpt2.adjoint", "joint");
  AdjGraph *graph = adj_document_get_graph (document)->graph;
  AdjScene *scene = adj_document_get_scene (document);

  check_found (graph, scene, "op:aten.gelu.default", "gelu gelu_1");
  check_found (graph, scene, "OP:gelu.default module:h.1", "gelu_1");
  check_found (graph, scene, "name:gelu_backward", "gelu_backward gelu_backward_1");
  check_found (graph, scene, "gelu.default models.py:58", "gelu gelu_1");
  check_found (graph, scene, "gelu.default role:recomputed", "gelu_1");
  check_found (graph, scene, "bytes>4k name:gelu_1", "");
  check_found (graph, scene, "bytes>4095 bytes<4097 op:gelu.default", "gelu gelu_1");
  check_found (graph, scene, "dtype:int64 name:primals", "primals_1 primals_32");
  check_found (graph, scene, "nowhere", "");
  check_found (graph, scene, "  ", "");
}

static void
test_match (void)
{
  g_autoptr (AdjDocument) document = adj_wait_open ("graphs/gpt2.adjoint", "joint");
  AdjGraph *graph = adj_document_get_graph (document)->graph;
  g_autoptr (GArray) found = adj_search_match (graph, "^GELU(_1)?$", NULL);
  g_autoptr (GError) error = NULL;

  g_assert_cmpuint (found->len, ==, 2);
  g_assert_cmpstr (adj_graph_get_node (graph, g_array_index (found, guint, 1))->name, ==, "gelu_1");
  g_assert_null (adj_search_match (graph, "gelu(", &error));
  g_assert_nonnull (error);
}

static void
test_source (void)
{
  g_autoptr (AdjDocument) document = adj_wait_open ("graphs/gpt2.adjoint", "joint");
  AdjGraph *graph = adj_document_get_graph (document)->graph;
  const AdjNode *gelu = adj_graph_get_node (graph, adj_graph_find_node (graph, "gelu").index);
  const AdjFrame *frame = &gelu->meta.frames[gelu->meta.n_frames - 1];
  g_autoptr (GFile) folder = g_file_get_parent (adj_document_get_file (document));
  g_auto (AdjSource) beside = { 0 };
  g_auto (AdjSource) traced = { 0 };
  g_autoptr (AdjSourceLine) line = NULL;
  g_autoptr (AdjSourceLine) quoted = NULL;

  adj_source_load (graph, frame, folder, &beside);
  g_assert_true (beside.complete);
  line = g_list_model_get_item (beside.lines, beside.current);
  g_assert_cmpuint (adj_source_line_get_number (line), ==, frame->line);
  g_assert_nonnull (strstr (adj_source_line_get_text (line), "F.gelu"));
  g_assert_cmpuint (adj_source_line_get_n_nodes (line), >, 0);

  adj_source_load (graph, frame, NULL, &traced);
  g_assert_false (traced.complete);
  quoted = g_list_model_get_item (traced.lines, traced.current);
  g_assert_cmpuint (adj_source_line_get_number (quoted), ==, frame->line);
  g_assert_cmpstr (adj_source_line_get_text (quoted), ==, frame->code);
}

static void
test_properties (void)
{
  g_autoptr (AdjDocument) document = adj_wait_open ("graphs/gpt2.adjoint", "joint");
  AdjGraph *graph = adj_document_get_graph (document)->graph;
  AdjNodeId id = adj_graph_find_node (graph, "gelu");
  const AdjNode *gelu = adj_graph_get_node (graph, id.index);
  g_autofree char *shape = adj_properties_shape (graph, gelu);
  g_autofree char *strides = adj_properties_strides (graph, gelu);
  g_autofree char *type = adj_properties_type (graph, id);
  g_autofree char *spoken = adj_properties_describe_node (graph, id, ADJ_ROLE_SAVED);

  /* gelu is "f32[2, 8, 64][512, 64, 1]cpu" in PyTorch's print: 1024 floats. */
  g_assert_cmpstr (shape, ==, "[2, 8, 64]");
  g_assert_cmpstr (strides, ==, "(512, 64, 1)");
  g_assert_cmpstr (type, ==, "float32 · cpu · 4 KiB");
  g_assert_cmpint (adj_graph_get_node_bytes (graph, id.index), ==, 2 * 8 * 64 * 4);
  g_assert_true (
      g_str_has_prefix (spoken, "gelu, saved, 2 by 8 by 64 float32, 1 input, 1 user, node "));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ui/models/opens", test_opens);
  g_test_add_func ("/ui/models/opens-newest", test_opens_newest);
  g_test_add_func ("/ui/models/refuses-damaged", test_refuses_damaged);
  g_test_add_func ("/ui/models/opens-text", test_opens_text);
  g_test_add_func ("/ui/models/switches-graphs", test_switches_graphs);
  g_test_add_func ("/ui/models/history", test_history);
  g_test_add_func ("/ui/models/folds-modules", test_folds_modules);
  g_test_add_func ("/ui/models/exports", test_exports);
  g_test_add_func ("/ui/models/refuses-export", test_refuses_export);
  g_test_add_func ("/ui/models/compares", test_compares);
  g_test_add_func ("/ui/models/stops", test_stops);
  g_test_add_func ("/ui/models/module-tree", test_module_tree);
  g_test_add_func ("/ui/models/search", test_search);
  g_test_add_func ("/ui/models/match", test_match);
  g_test_add_func ("/ui/models/source", test_source);
  g_test_add_func ("/ui/models/facts", test_properties);
  return g_test_run ();
}
