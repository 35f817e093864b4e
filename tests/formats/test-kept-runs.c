/* SPDX-License-Identifier: MIT */

/* Saved runs: they are read back unchanged, separate from recorded values; a damaged run does
 * not affect anything else. */

#include <gio/gio.h>
#include <string.h>

#include <glib/gstdio.h>

#include "adjoint.h"
#include "support/adj-test.h"

typedef struct
{
  AdjTestFolder *folder;
  char *path; /* a folder, whose entries can be edited */
} Fixture;

static AdjTensorData *
make_tensor (double first)
{
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .storage = -1 };
  float numbers[3] = { (float) first, 2, 3 };
  gint64 size = 3;
  g_autoptr (GBytes) bytes = g_bytes_new (numbers, sizeof numbers);
  g_autoptr (GError) error = NULL;
  AdjTensorData *data;

  adj_shape_init_ints (&meta.shape, 1, &size);
  data = adj_tensor_data_new (&meta, bytes, &error);
  g_assert_no_error (error);
  return data;
}

static AdjGraph *
make_graph (const char *op)
{
  g_autofree char *text =
      g_strdup_printf ("class G(torch.nn.Module):\n"
                       "    def forward(self, x: \"f32[3][1]cpu\"):\n"
                       "        y: \"f32[3][1]cpu\" = torch.ops.aten.%s.default(x)\n"
                       "        return (y, None)\n",
                       op);
  g_autoptr (GError) error = NULL;
  AdjGraph *graph = adj_graph_parse (text, -1, adj_op_find, NULL, &error);

  g_assert_no_error (error);
  return graph;
}

/* Returns a graph with one recorded call. */
static AdjBundle *
make_bundle (void)
{
  AdjBundleBuilder *builder = adj_bundle_builder_new ();
  g_autoptr (AdjGraph) graph = make_graph ("sin");
  g_autoptr (AdjTensorData) data = make_tensor (1);
  AdjBundleGraph entry = { .id = "g", .role = "user", .rank = -1, .graph = graph };
  AdjValue values[] = { ADJ_DATA (data), ADJ_NONE };
  AdjRecordedCall call = { .n_inputs = 1, .inputs = values, .n_outputs = 2, .outputs = values };
  g_autoptr (GError) error = NULL;

  adj_bundle_builder_add_graph (builder, &entry, &error);
  g_assert_no_error (error);
  adj_bundle_builder_add_call (builder, &call, "g", &error);
  g_assert_no_error (error);
  return adj_bundle_builder_end (builder, NULL);
}

/* Adds a run with the recorded inputs or its own, with or without the value of a node. */
static void
keep (AdjBundle *bundle, const char *name, gboolean own_inputs, gboolean with_values)
{
  g_autoptr (GPtrArray) before = adj_bundle_dup_runs (bundle);
  const AdjBundleGraph *graph = adj_bundle_get_graph (bundle, 0);
  g_autoptr (GPtrArray) runs = adj_runs_without (before, graph, name);
  g_autoptr (GHashTable) values =
      g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) adj_tensor_data_unref);
  g_autoptr (AdjTensorData) input = make_tensor (5);
  g_autoptr (AdjTensorData) output = make_tensor (7);
  AdjValue inputs[] = { ADJ_DATA (input) }, outputs[] = { ADJ_DATA (output), ADJ_NONE };
  AdjRunOrigin origin = { .name = name,
                          .producer = "adjoint 9.9",
                          .executor = "interpreter",
                          .float64 = own_inputs,
                          .inputs = own_inputs ? "seed 5" : "recorded call 1",
                          .date = "2026-11-22T14:09:37Z" };
  AdjRecordedCall call = {
    .graph = graph,
    .origin = &origin,
    .n_inputs = 1,
    .inputs = own_inputs ? inputs : adj_bundle_get_call (bundle, 0)->inputs,
    .n_outputs = 2,
    .outputs = outputs,
  };

  g_hash_table_insert (values, (gpointer) "y", make_tensor (9));
  g_hash_table_insert (values, (gpointer) "x", make_tensor (5));
  g_ptr_array_add (runs, adj_run_new (&call, with_values ? values : NULL));
  adj_bundle_set_runs (bundle, runs);
}

static double
first_of (const AdjValue *value)
{
  g_assert_cmpint (value->kind, ==, ADJ_VALUE_DATA);
  return adj_tensor_data_get_double (value->data, 0);
}

static void
save (AdjBundle *bundle, const char *path)
{
  g_autoptr (GError) error = NULL;
  const AdjFormat *format = adj_format_find ("adjoint", &error);

  g_assert_no_error (error);
  format->save (bundle, path, NULL, NULL, &error);
  g_assert_no_error (error);
}

static AdjBundle *
load (const char *path)
{
  g_autoptr (GError) error = NULL;
  AdjBundle *bundle = adj_bundle_load (path, NULL, &error);

  g_assert_no_error (error);
  return bundle;
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AdjBundle) bundle = make_bundle ();

  fixture->folder = adj_test_folder_new ();
  fixture->path = g_build_filename (fixture->folder->path, "kept/", NULL);
  keep (bundle, "plain", FALSE, TRUE);
  keep (bundle, "of seed 5", TRUE, FALSE);
  save (bundle, fixture->path);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_free (fixture->path);
  adj_test_folder_free (fixture->folder);
}

/* Replaces @before by @after in an entry. */
static void
edit (Fixture *fixture, const char *entry, const char *before, const char *after)
{
  g_autofree char *path = g_build_filename (fixture->path, entry, NULL);
  g_autofree char *text = adj_test_read_file (path, NULL);
  GString *edited = g_string_new (text);

  g_assert_cmpuint (g_string_replace (edited, before, after, 1), ==, 1);
  g_assert_true (g_file_set_contents (path, edited->str, (gssize) edited->len, NULL));
  g_string_free (edited, TRUE);
}

static gboolean
says (const AdjBundle *bundle, const char *text)
{
  const AdjDiags *diags = adj_bundle_get_diags (bundle);

  for (guint i = 0; i < adj_diags_get_n (diags); i++)
    if (strstr (adj_diags_get (diags, i)->message, text) != NULL)
      return TRUE;
  return FALSE;
}

static void
check_runs (AdjBundle *bundle)
{
  g_autoptr (GPtrArray) runs = adj_bundle_dup_runs (bundle);
  const AdjRecordedCall *plain, *drawn;

  g_assert_cmpuint (runs->len, ==, 2);
  plain = runs->pdata[0];
  drawn = runs->pdata[1];
  g_assert_cmpstr (plain->origin->name, ==, "plain");
  g_assert_cmpstr (plain->origin->producer, ==, "adjoint 9.9");
  g_assert_cmpstr (plain->origin->executor, ==, "interpreter");
  g_assert_cmpstr (plain->origin->inputs, ==, "recorded call 1");
  g_assert_cmpstr (plain->origin->date, ==, "2026-11-22T14:09:37Z");
  g_assert_false (plain->origin->float64);
  g_assert_true (plain->graph == adj_bundle_get_graph (bundle, 0));
  g_assert_false (adj_run_is_stale (plain));
  /* Recorded tensors are stored in the file once. */
  g_assert_true (plain->inputs[0].data == adj_bundle_get_call (bundle, 0)->inputs[0].data);
  g_assert_cmpfloat (first_of (&plain->outputs[0]), ==, 7);
  g_assert_cmpint (plain->outputs[1].kind, ==, ADJ_VALUE_NONE);
  g_assert_cmpuint (adj_run_get_n_values (bundle, plain), ==, 1);
  g_assert_cmpfloat (adj_tensor_data_get_double (adj_bundle_get_tap (bundle, plain, "y", FALSE), 0),
                     ==, 9);
  g_assert_null (adj_bundle_get_tap (bundle, plain, "y", TRUE));
  g_assert_cmpstr (drawn->origin->name, ==, "of seed 5");
  g_assert_true (drawn->origin->float64);
  g_assert_cmpfloat (first_of (&drawn->inputs[0]), ==, 5);
  g_assert_cmpuint (adj_run_get_n_values (bundle, drawn), ==, 0);
}

static void
test_comes_back (Fixture *fixture, gconstpointer data)
{
  g_autofree char *again = g_build_filename (fixture->folder->path, "again.adjoint", NULL);
  g_autofree char *twice = g_build_filename (fixture->folder->path, "twice.adjoint", NULL);
  g_autoptr (AdjBundle) first = load (fixture->path);
  g_autoptr (AdjBundle) second = NULL;
  g_autofree char *one = NULL, *two = NULL;
  gsize n_one, n_two;

  check_runs (first);
  save (first, again);
  second = load (again);
  check_runs (second);
  g_assert_cmpuint (adj_diags_get_n (adj_bundle_get_diags (second)), ==, 0);
  save (second, twice);
  one = adj_test_read_file (again, &n_one);
  two = adj_test_read_file (twice, &n_two);
  g_assert_cmpmem (one, n_one, two, n_two);
}

/* The recording is unchanged. */
static void
test_not_recorded (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AdjBundle) bundle = load (fixture->path);
  const AdjBundleGraph *graph = adj_bundle_get_graph (bundle, 0);

  g_assert_cmpuint (adj_bundle_get_n_calls (bundle), ==, 1);
  g_assert_null (adj_bundle_get_call (bundle, 0)->origin);
  g_assert_null (adj_bundle_find_call (bundle, graph, 1));
  g_assert_null (adj_bundle_get_tap (bundle, adj_bundle_get_call (bundle, 0), "y", FALSE));
}

static void
test_finds (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AdjBundle) bundle = load (fixture->path);
  const AdjBundleGraph *graph = adj_bundle_get_graph (bundle, 0);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjRecordedCall) found = adj_bundle_find_run (bundle, graph, "of seed 5", &error);

  g_assert_no_error (error);
  g_assert_cmpstr (found->origin->inputs, ==, "seed 5");
  g_assert_null (adj_bundle_find_run (bundle, graph, "other", &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND);
  g_assert_nonnull (strstr (error->message, "'plain', 'of seed 5'"));

  /* A run of the same name replaces it; a reference to the old one stays valid. */
  keep (bundle, "of seed 5", FALSE, TRUE);
  g_assert_cmpstr (found->origin->inputs, ==, "seed 5");
  adj_run_unref (g_steal_pointer (&found));
  found = adj_bundle_find_run (bundle, graph, "of seed 5", NULL);
  g_assert_cmpstr (found->origin->inputs, ==, "recorded call 1");
}

static guint
count_runs (const AdjBundle *bundle)
{
  g_autoptr (GPtrArray) runs = adj_bundle_dup_runs (bundle);

  return runs->len;
}

/* A damaged run loses only its damaged part, and a diagnostic says so. */
static void
test_damaged (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *before, *after;
    guint n_left;
    const char *says;
  } damages[] = {
    { "\"name\": \"plain\"", "\"name\": \"\"", 1, "left out" },
    { "\"name\": \"plain\"", "\"name\": \"a\\nb\"", 1, "line of 1 to 100 bytes" },
    { "\"name\": \"plain\"", "\"name\": 3", 1, "needs a name" },
    { "\"name\": \"plain\"", "\"name\": \"of seed 5\"", 1, "two runs of graph 'g'" },
    { "\"runs\": [\n{\"derived\": false, \"graph\": \"g\"",
      "\"runs\": [\n{\"derived\": false, \"graph\": \"h\"", 1, "there is no graph 'h'" },
    { "[\"runs\", \"g.0.out0\"]", "[\"runs\", \"g.8.out0\"]", 1, "no tensor 'g.8.out0'" },
    { "[\"runs\", \"g.0.out0\"]", "[\"../x\", \"g.0.out0\"]", 1, "id of a tensor file" },
    { "{\"f32\": \"run-0\"}", "{\"f32\": \"run-7\"}", 2, "'plain' has lost its values" },
    { "{\"f32\": \"run-0\"}", "{\"f32\": 7}", 2, "'plain' has lost its values" },
    { "\"producer\": \"adjoint 9.9\"", "\"producer\": [1]", 2, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (damages); i++)
    {
      g_autoptr (AdjBundle) bundle = NULL;

      edit (fixture, "adjoint.json", damages[i].before, damages[i].after);
      bundle = load (fixture->path);
      g_assert_cmpuint (adj_bundle_get_n_calls (bundle), ==, 1);
      g_assert_cmpuint (count_runs (bundle), ==, damages[i].n_left);
      if (damages[i].says != NULL && !says (bundle, damages[i].says))
        g_error ("damage %u: nothing says “%s”", i, damages[i].says);
      edit (fixture, "adjoint.json", damages[i].after, damages[i].before);
    }
}

/* The file as a program without support for runs saves it: with the member, which it preserves,
 * but without the tensors. */
static void
test_without_tensors (Fixture *fixture, gconstpointer data)
{
  g_autofree char *runs = g_build_filename (fixture->path, "tensors", "runs.safetensors", NULL);
  g_autofree char *values = g_build_filename (fixture->path, "tensors", "run-0.safetensors", NULL);
  g_autoptr (AdjBundle) bundle = NULL;

  g_assert_cmpint (g_remove (values), ==, 0);
  bundle = load (fixture->path);
  g_assert_cmpuint (count_runs (bundle), ==, 2);
  g_assert_true (says (bundle, "'plain' has lost its values"));
  g_assert_cmpint (g_remove (runs), ==, 0);
  adj_bundle_unref (g_steal_pointer (&bundle));
  bundle = load (fixture->path);
  g_assert_cmpuint (count_runs (bundle), ==, 0);
  g_assert_cmpuint (adj_bundle_get_n_calls (bundle), ==, 1);
}

/* The run keeps the graph that it ran. */
static void
test_changed_graph (Fixture *fixture, gconstpointer data)
{
  g_autofree char *again = g_build_filename (fixture->folder->path, "again.adjoint", NULL);
  g_autoptr (AdjBundle) bundle = NULL, saved = NULL;
  g_autoptr (GPtrArray) runs = NULL, later = NULL;

  edit (fixture, "graphs/g.json", "aten.sin.default", "aten.cos.default");
  bundle = load (fixture->path);
  g_assert_true (says (bundle, "'plain' was made before graph 'g' was changed"));
  runs = adj_bundle_dup_runs (bundle);
  g_assert_cmpuint (runs->len, ==, 2);
  g_assert_true (adj_run_is_stale (runs->pdata[0]));
  save (bundle, again);
  saved = load (again);
  later = adj_bundle_dup_runs (saved);
  g_assert_true (adj_run_is_stale (later->pdata[1]));
}

static void
test_names (void)
{
  g_autofree char *long_name = g_strnfill (101, 'a');

  g_assert_true (adj_run_name_is_valid ("vorher – 2"));
  g_assert_true (adj_run_name_is_valid (long_name + 1));
  g_assert_false (adj_run_name_is_valid (long_name));
  g_assert_false (adj_run_name_is_valid (""));
  g_assert_false (adj_run_name_is_valid (" a"));
  g_assert_false (adj_run_name_is_valid ("a\tb"));
  g_assert_false (adj_run_name_is_valid ("\x1b[31m"));
  g_assert_false (adj_run_name_is_valid ("\xff"));
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *path;
    void (*test) (Fixture *fixture, gconstpointer data);
  } tests[] = {
    { "/formats/kept-runs/comes-back", test_comes_back },
    { "/formats/kept-runs/not-recorded", test_not_recorded },
    { "/formats/kept-runs/finds", test_finds },
    { "/formats/kept-runs/damaged", test_damaged },
    { "/formats/kept-runs/without-tensors", test_without_tensors },
    { "/formats/kept-runs/changed-graph", test_changed_graph },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].path, Fixture, NULL, set_up, tests[i].test, tear_down);
  g_test_add_func ("/formats/kept-runs/names", test_names);
  return g_test_run ();
}
