/* SPDX-License-Identifier: MIT */

/* Replaces a statement of a graph text by one the parser does not understand: every value that
 * depends on it is refused, all others stay the same, bit for bit.  Uses all graphs of the tree
 * that run on random inputs. */

#include <string.h>

#include "adjoint.h"
#include "call/adj-op.h"
#include "support/adj-test.h"
#include "support/graphs.h"

#define N_ROUNDS 4
#define MAX_NODES 700

/* Each replaces '@' by the right side of the statement. */
static const char *const unread[] = {
  "[v for v in (@,)]", "(lambda: @)()", "@ if True else None",   "{**@}",   "@ ? 1",
  "await @",           "(yield @)",     "(@) and (not_defined)", "[*@, 1]", "f'{@}'",
};

static void
value_free (gpointer data)
{
  adj_value_clear (data);
  g_free (data);
}

static GHashTable *
values_new (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, value_free);
}

typedef struct
{
  const AdjGraph *graph;
  GHashTable *values;
} Run;

static gboolean
keep (AdjNodeId id, const AdjValue *value, gpointer data)
{
  Run *run = data;
  AdjValue *copy = g_new (AdjValue, 1);

  *copy = adj_value_copy (value);
  g_hash_table_insert (run->values, g_strdup (adj_graph_get_node (run->graph, id.index)->name),
                       copy);
  return TRUE;
}

/* Runs @graph on inputs drawn from its annotations; @values gets the values of all nodes: name →
 * AdjValue. */
static gboolean
run_graph (AdjGraph *graph, GHashTable *values, GError **error)
{
  guint n = 0;
  AdjValue *inputs = adj_session_random_inputs (graph, 7, &n, error);
  Run run = { graph, values };
  AdjRunRequest request = {
    .graph = graph, .inputs = inputs, .n_inputs = n, .tap = keep, .data = &run
  };
  AdjRunResult result = { 0 };
  const AdjExecutor *executor = adj_executor_find ("interpreter", NULL);
  gboolean done;

  if (inputs == NULL)
    return FALSE;
  done = adj_executor_run (executor, &request, &result, NULL, error);
  adj_run_result_clear (&result);
  adj_session_free_inputs (inputs, n);
  return done;
}

/* -- Text ---- */

/* Removes the deletions at the end of a statement's line. */
static void
cut_deletes (char *line)
{
  char *found = g_strrstr (line, ";  ");

  if (found != NULL && g_str_has_suffix (found, " = None") && strchr (found, '(') == NULL)
    *found = '\0';
}

/* Splits the text of @graph into lines; @lines[i]: line of node i, from 1. */
static char **
split_text (const AdjGraph *graph, guint *lines)
{
  g_autofree char *text =
      adj_graph_print (graph, ADJ_PRINT_NO_COMMENTS | ADJ_PRINT_NO_METADATA, lines);
  char **rows = g_strsplit (text, "\n", -1);

  for (guint i = 0; rows[i] != NULL; i++)
    cut_deletes (rows[i]);
  return rows;
}

static void
replace (char **row, const char *with)
{
  gsize indent = strspn (*row, " ");
  char *text = g_strdup_printf ("%.*s%s", (int) indent, *row, with);

  g_free (*row);
  *row = text;
}

/* Replaces the right side of `name = …` according to @form. */
static gboolean
spoil (char **row, const char *name, const char *form)
{
  const char *equals = strstr (*row, " = ");
  g_autofree char *spoiled = NULL;
  g_autoptr (GString) right = NULL;

  if (equals == NULL || !g_str_has_prefix (*row + strspn (*row, " "), name))
    return FALSE;
  right = g_string_new (form);
  g_string_replace (right, "@", equals + 3, 0);
  spoiled = g_strdup_printf ("%s = %s", name, right->str);
  replace (row, spoiled);
  return TRUE;
}

static AdjGraph *
parse_rows (char **rows, guint n_warnings)
{
  g_autofree char *text = g_strjoinv ("\n", rows);
  g_autoptr (AdjDiags) diags = adj_diags_new ();
  g_autoptr (GError) error = NULL;
  AdjGraph *graph = adj_graph_parse (text, -1, adj_op_find, diags, &error);

  g_assert_no_error (error);
  if (adj_diags_get_n (diags) != n_warnings)
    g_error ("%u warnings, not %u, for\n%s", adj_diags_get_n (diags), n_warnings, text);
  return graph;
}

/* -- What depends on what ---- */

/* Whether a call of @node has no effect but its value. */
static gboolean
is_pure (const AdjNode *node)
{
  return node->op == NULL
             ? strstr (node->target, "rand") == NULL && !g_str_has_suffix (node->target, "_") &&
                   !g_str_has_prefix (node->target, "operator.i") &&
                   !g_str_equal (node->target, "operator.setitem") &&
                   strstr (node->target, "dropout") == NULL
             : (node->op->flags & ADJ_OP_RANDOM) == 0 &&
                   !adj_schema_mutates (adj_op_get_schema (node->op));
}

static gboolean
is_pure_graph (const AdjGraph *graph)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    if (!is_pure (adj_graph_get_node (graph, i)))
      return FALSE;
  return TRUE;
}

/* Finds dependent nodes by the edges of the graph only. */
static guint8 *
find_dependents (const AdjGraph *graph, guint of)
{
  guint n = adj_graph_get_n_nodes (graph);
  guint8 *depends = g_new0 (guint8, n);

  depends[of] = TRUE;
  for (guint i = of + 1; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);

      for (guint k = 0; k < node->n_inputs; k++)
        depends[i] |= depends[node->inputs[k].index];
    }
  return depends;
}

/* -- Checks ---- */

/* A graph that returns only @node is refused with an error that names @spoiled. */
static void
check_refused (char **rows, guint row, const char *node, const char *spoiled)
{
  g_autofree char *kept = g_strdup (rows[row]);
  g_autofree char *returns = g_strdup_printf ("return (%s,)", node);
  g_autofree char *quoted = g_strdup_printf ("'%s'", spoiled);
  g_autoptr (GHashTable) values = values_new ();
  g_autoptr (AdjGraph) graph = NULL;
  g_autoptr (GError) error = NULL;

  replace (&rows[row], returns);
  graph = parse_rows (rows, 1);
  g_assert_false (run_graph (graph, values, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED);
  if (strstr (error->message, quoted) == NULL)
    g_error ("'%s' is not named in: %s", spoiled, error->message);
  g_assert_cmpuint (g_hash_table_size (values), ==, 0);
  g_free (rows[row]);
  rows[row] = g_steal_pointer (&kept);
}

static void
assert_same (const char *name, const AdjValue *value, const AdjValue *before)
{
  g_assert_nonnull (before);
  g_assert_cmpint (value->kind, ==, before->kind);
  if (value->kind == ADJ_VALUE_DATA)
    {
      if (!g_bytes_equal (adj_tensor_data_get_bytes (value->data),
                          adj_tensor_data_get_bytes (before->data)))
        g_error ("'%s' is not what it was: %s, not %s", name,
                 adj_tensor_data_print (value->data, 4), adj_tensor_data_print (before->data, 4));
    }
  else if (adj_value_is_container (value))
    {
      g_assert_cmpuint (value->n, ==, before->n);
      for (guint i = 0; i < value->n; i++)
        assert_same (name, &value->items[i], &before->items[i]);
    }
  else if (value->kind < ADJ_VALUE_TENSOR && !adj_value_equal (value, before))
    g_error ("'%s' is not the %s it was", name, adj_value_kind_name (value->kind));
}

/* A graph that returns nothing runs, and every value it computes is unchanged.  (Returned memory
 * could be memory that the statement should have written.) */
static void
check_others (char **rows, guint row, const AdjNodeId *opaque, GHashTable *before)
{
  g_autofree char *kept = g_strdup (rows[row]);
  g_autoptr (GHashTable) values = values_new ();
  g_autoptr (AdjGraph) graph = NULL;
  g_autoptr (GError) error = NULL;

  replace (&rows[row], "return ()");
  graph = parse_rows (rows, 1);
  run_graph (graph, values, &error);
  g_assert_no_error (error);
  for (guint i = 0; i + 1 < adj_graph_get_n_nodes (graph); i++)
    {
      const char *name = adj_graph_get_node (graph, i)->name;
      const AdjValue *value = g_hash_table_lookup (values, name);

      g_assert_true ((value == NULL) == adj_node_id_is_valid (opaque[i]));
      if (value != NULL)
        assert_same (name, value, g_hash_table_lookup (before, name));
    }
  g_free (rows[row]);
  rows[row] = g_steal_pointer (&kept);
}

/* -- One statement of one graph ---- */

static void
check_statement (const AdjGraph *graph, guint index, const char *form, GHashTable *before)
{
  guint n = adj_graph_get_n_nodes (graph);
  g_autofree guint *lines = g_new0 (guint, n);
  g_auto (GStrv) rows = split_text (graph, lines);
  const AdjNode *node = adj_graph_get_node (graph, index);
  g_autofree guint8 *depends = find_dependents (graph, index);
  const AdjNodeId *opaque;
  g_autoptr (AdjGraph) spoiled = NULL;
  guint last = lines[n - 1] - 1, some = index;

  if (!spoil (&rows[lines[index] - 1], node->name, form))
    return;
  spoiled = parse_rows (rows, 1);
  if (adj_graph_get_n_nodes (spoiled) != n)
    g_error ("%u nodes, not %u, with %s", adj_graph_get_n_nodes (spoiled), n,
             rows[lines[index] - 1]);
  opaque = adj_graph_find_opaque (spoiled);
  for (guint i = 0; i < n; i++)
    {
      gboolean refused = adj_node_id_is_valid (opaque[i]);

      g_assert_cmpstr (adj_graph_get_node (spoiled, i)->name, ==,
                       adj_graph_get_node (graph, i)->name);
      if (depends[i] ? !refused : refused && is_pure_graph (graph))
        g_error ("'%s' is %srefused without '%s'", adj_graph_get_node (graph, i)->name,
                 refused ? "" : "not ", node->name);
      if (depends[i] && i + 1 < n && g_test_rand_int_range (0, 4) == 0)
        some = i;
    }
  check_others (rows, last, opaque, before);
  check_refused (rows, last, adj_graph_get_node (graph, some)->name, node->name);
}

/* Replaces the `return` statement: all values are unchanged. */
static void
check_return (const AdjGraph *graph, const char *form)
{
  guint n = adj_graph_get_n_nodes (graph);
  g_autofree guint *lines = g_new0 (guint, n);
  g_auto (GStrv) rows = split_text (graph, lines);
  char **row = &rows[lines[n - 1] - 1];
  const char *value = *row + strspn (*row, " ") + strlen ("return ");
  g_autoptr (GString) returns = g_string_new (form);
  g_autoptr (GHashTable) values = values_new ();
  g_autoptr (AdjGraph) spoiled = NULL;
  g_autoptr (GError) error = NULL;

  g_string_replace (returns, "@", value, 0);
  g_string_prepend (returns, "return ");
  replace (row, returns->str);
  spoiled = parse_rows (rows, 1);
  g_assert_false (run_graph (spoiled, values, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED);
}

static gboolean
check_graph (const AdjGraph *graph)
{
  guint n = adj_graph_get_n_nodes (graph);
  g_autofree guint *lines = g_new0 (guint, n);
  g_auto (GStrv) rows = split_text (graph, lines);
  g_autoptr (AdjGraph) plain = NULL;
  g_autoptr (GHashTable) before = values_new ();

  if (n > MAX_NODES || adj_graph_get_n_calls (graph) == 0)
    return FALSE;
  plain = parse_rows (rows, 0);
  if (!run_graph (plain, before, NULL))
    return FALSE;
  for (guint i = 0; i < N_ROUNDS; i++)
    check_statement (
        plain,
        (guint) g_test_rand_int_range ((gint32) adj_graph_get_n_inputs (plain), (gint32) n - 1),
        unread[g_test_rand_int_range (0, G_N_ELEMENTS (unread))], before);
  check_return (plain, unread[g_test_rand_int_range (0, G_N_ELEMENTS (unread))]);
  return TRUE;
}

/* -- The texts of the tree ---- */

static guint
check_bundle (const char *path)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_bundle (path);
  guint n = 0;

  for (guint i = 0; i < adj_bundle_get_n_graphs (bundle); i++)
    n += check_graph (adj_bundle_get_graph (bundle, i)->graph);
  return n;
}

static void
check_folder (const char *folder, const char *suffix, guint at_least)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  guint n = 0;

  g_assert_nonnull (dir);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      if (g_str_has_suffix (name, suffix))
        n += check_bundle (path);
    }
  g_test_message ("%u graphs of %s", n, folder);
  g_assert_cmpuint (n, >=, at_least);
}

static void
test_texts (void)
{
  g_autofree char *golden = g_test_build_filename (G_TEST_DIST, "ir", "golden", NULL);
  g_autofree char *dialects = g_build_filename (golden, "dialects", NULL);

  check_folder (golden, ".txt", 8);
  check_folder (dialects, ".txt", 12);
}

static void
test_captures (void)
{
  g_autofree char *graphs = adj_test_data_path ("graphs");

  check_folder (graphs, ".adjoint", 30);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/formats/unread-text/texts", test_texts);
  g_test_add_func ("/formats/unread-text/captures", test_captures);
  return g_test_run ();
}
