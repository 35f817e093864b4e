/* SPDX-License-Identifier: MIT */

/* Every captured graph, traced again with fake inputs, gives the same graph. */

#include <glib.h>
#include <string.h>

#include "adjoint.h"
#include "support/adj-test.h"

/* make_fx made the joint graphs, so their names are reproduced too, except those that removed
 * dead code had taken. */
typedef struct
{
  const char *file;
  guint n_joint_renamed;
} Capture;

static const Capture captures[] = {
  { "graphs/mlp.adjoint", 0 },     { "graphs/gpt2.adjoint", 0 },
  { "graphs/llama.adjoint", 0 },   { "graphs/gpt2-inductor.adjoint", 0 },
  { "graphs/lstm.adjoint", 0 },    { "graphs/resnet-block.adjoint", 10 },
  { "graphs/sac.adjoint", 10 },    { "graphs/torch-trace", 26 },
  { "graphs/dropout.adjoint", 0 },
};

/* Roles of graphs that call only operators; Dynamo's graphs call Python functions. */
static const char *const roles[] = { "joint", "forward", "backward", "inference" };

static guint
count_renamed (const AdjAlignment *alignment, const AdjGraph *a, const AdjGraph *b)
{
  guint n = 0;

  for (guint i = 0; i < alignment->n_changes; i++)
    {
      const AdjChange *change = &alignment->changes[i];

      if (adj_node_id_is_valid (change->a) && adj_node_id_is_valid (change->b))
        n += strcmp (adj_graph_get_node (a, change->a.index)->name,
                     adj_graph_get_node (b, change->b.index)->name) != 0;
    }
  return n;
}

static void
print_changes (const AdjAlignment *alignment, const AdjGraph *a, const AdjGraph *b)
{
  guint n = 0;

  for (guint i = 0; i < alignment->n_changes && n < 8; i++)
    {
      const AdjChange *change = &alignment->changes[i];

      if (change->kind == ADJ_CHANGE_NONE)
        continue;
      n++;
      g_test_message (
          "  %s | %s: %s",
          adj_node_id_is_valid (change->a) ? adj_graph_get_node (a, change->a.index)->name : "-",
          adj_node_id_is_valid (change->b) ? adj_graph_get_node (b, change->b.index)->name : "-",
          change->reason);
    }
}

/* Every node keeps the metadata of the original node and records it as its origin. */
static void
check_provenance (const AdjGraph *a, const AdjGraph *b)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (a); i++)
    {
      const AdjNode *old = adj_graph_get_node (a, i), *new = adj_graph_get_node (b, i);

      if (old->opcode != ADJ_OPCODE_CALL_FUNCTION)
        continue;
      g_assert_cmpuint (new->origin.index, ==, i);
      g_assert_cmpstr (new->meta.stack_trace, ==, old->meta.stack_trace);
      g_assert_cmpint (new->meta.seq_nr, ==, old->meta.seq_nr);
      g_assert_cmpuint (new->meta.n_modules, ==, old->meta.n_modules);
      g_assert_cmpuint (new->meta.n_fwd_modules, ==, old->meta.n_fwd_modules);
      if (old->meta.original_aten != NULL)
        g_assert_cmpstr (new->meta.original_aten, ==, old->meta.original_aten);
    }
}

/* %FALSE: the table lacks an operator of the graph. */
static gboolean
retrace (const Capture *capture, const AdjBundleGraph *entry)
{
  const char *file = capture->file;
  guint n_renamed;
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjAlignment) alignment = NULL;
  g_autoptr (AdjGraph) again = adj_retrace (entry->graph, NULL, &error);
  guint n = adj_graph_get_n_nodes (entry->graph);

  if (again == NULL)
    {
      g_test_message ("%s#%s: %s", file, entry->id, error->message);
      g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED);
      return FALSE;
    }
  alignment = adj_graph_align (entry->graph, again);
  n_renamed = count_renamed (alignment, entry->graph, again);
  g_test_message ("%s#%s: %u nodes, %u same, %u renamed", file, entry->id, n, alignment->n_same,
                  n_renamed);
  print_changes (alignment, entry->graph, again);
  g_assert_cmpuint (alignment->n_same, ==, n);
  g_assert_true (adj_graph_equal_structure (entry->graph, again));
  check_provenance (entry->graph, again);
  if (strcmp (entry->role, "joint") == 0)
    g_assert_cmpuint (n_renamed, <=, capture->n_joint_renamed);
  return TRUE;
}

static void
test_capture (gconstpointer data)
{
  const Capture *capture = data;
  const char *file = capture->file;
  g_autoptr (GError) error = NULL;
  g_autofree char *path = adj_test_data_path (file);
  g_autoptr (AdjBundle) bundle = adj_bundle_load (path, NULL, &error);
  guint n = 0, n_left = 0;

  g_assert_no_error (error);
  for (guint i = 0; i < adj_bundle_get_n_graphs (bundle); i++)
    {
      const AdjBundleGraph *entry = adj_bundle_get_graph (bundle, i);
      gboolean wanted = FALSE;

      for (guint k = 0; k < G_N_ELEMENTS (roles); k++)
        wanted |= strcmp (entry->role, roles[k]) == 0;
      if (wanted && retrace (capture, entry))
        n++;
      else
        n_left += wanted;
    }
  g_test_message ("%s: %u graphs, %u left out", file, n, n_left);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (captures); i++)
    {
      g_autofree char *name = g_path_get_basename (captures[i].file);
      g_autofree char *path = g_strdup_printf ("/trace/retrace/%s", name);

      g_test_add_data_func (path, &captures[i], test_capture);
    }
  return g_test_run ();
}
