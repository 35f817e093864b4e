/* SPDX-License-Identifier: MIT */
/* Writes a file whose recorded values differ from its graph at a chosen node. */

#include "support/planted-bundle.h"

#include <string.h>

#include "formats/adj-format.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "ops/adj-op-table.h"

typedef struct
{
  AdjBundle *bundle;
  const AdjRecordedCall *call;
} Taps;

static void
taps_free (gpointer data)
{
  Taps *taps = data;

  adj_bundle_unref (taps->bundle);
  g_free (taps);
}

static AdjTensorData *
get_tap (const char *node, gboolean float64, gpointer data)
{
  const Taps *taps = data;
  AdjTensorData *tap = adj_bundle_get_tap (taps->bundle, taps->call, node, float64);

  return tap != NULL ? adj_tensor_data_ref (tap) : NULL;
}

static AdjGraph *
change (AdjGraph *graph, const char *from, const char *to)
{
  g_autofree char *text = adj_graph_print (graph, ADJ_PRINT_DEFAULT, NULL);
  const char *at = strstr (text, from);
  g_autoptr (GString) changed = NULL;
  g_autoptr (GError) error = NULL;
  AdjGraph *result;

  g_assert_nonnull (at);
  changed = g_string_new_len (text, at - text);
  g_string_append (changed, to);
  g_string_append (changed, at + strlen (from));
  result = adj_graph_parse (changed->str, -1, adj_op_find, NULL, &error);
  g_assert_no_error (error);
  return result;
}

void
adj_planted_write (
    const char *source, const char *path, const char *id, const char *from, const char *to)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_bundle_load (source, NULL, &error);
  g_autoptr (AdjBundleBuilder) builder = adj_bundle_builder_new ();
  g_autoptr (AdjBundle) planted = NULL;
  g_autoptr (AdjGraph) graph = NULL;
  const AdjBundleGraph *original;
  const AdjRecordedCall *call;
  const AdjFormat *format;
  AdjBundleGraph entry;
  Taps *taps = g_new0 (Taps, 1);

  g_assert_no_error (error);
  original = adj_bundle_find_graph (bundle, id, &error);
  g_assert_no_error (error);
  call = adj_bundle_find_call (bundle, original, 0);
  g_assert_nonnull (call);
  graph = change (original->graph, from, to);
  entry = *original;
  entry.graph = graph;
  *taps = (Taps){ adj_bundle_ref (bundle), call };

  g_assert_true (adj_bundle_builder_add_graph (builder, &entry, &error));
  g_assert_true (adj_bundle_builder_add_call (builder, call, entry.id, &error));
  adj_bundle_builder_set_taps (builder, get_tap, taps, taps_free);
  planted = adj_bundle_builder_end (g_steal_pointer (&builder), NULL);
  format = adj_format_find ("adjoint", &error);
  g_assert_no_error (error);
  format->save (planted, path, NULL, NULL, &error);
  g_assert_no_error (error);
}
