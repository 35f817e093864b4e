/* SPDX-License-Identifier: MIT */

/* The inputs of a run: a recorded call, a seed or a file; its precision, and how results are
 * judged. */

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <math.h>

#include "formats/adj-format.h"
#include "formats/adj-safetensors.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "model/adj-document.h"
#include "ops/adj-op-table.h"
#include "support/adj-test.h"
#include "ui/adj-wait.h"

/* Two unchanged calls, and one whose recorded output is off by OFF. */
#define N_CALLS 3
#define OFF 1e-3f

/* The input of call @n. */
static double
given (guint n)
{
  return 0.25 + n;
}

static AdjTensorData *
make_scalar (float number)
{
  AdjTensorMeta meta = {
    .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE, .storage = -1
  };
  g_autoptr (GBytes) bytes = g_bytes_new (&number, sizeof number);
  const gint64 size = 1;

  adj_shape_init_ints (&meta.shape, 1, &size);
  return adj_tensor_data_new (&meta, bytes, NULL);
}

/* Writes sin (x) with its recorded calls. */
static void
write_calls (const char *path)
{
  static const char text[] = "class GraphModule(torch.nn.Module):\n"
                             "    def forward(self, x: \"f32[1]\"):\n"
                             "        sin: \"f32[1]\" = torch.ops.aten.sin.default(x)\n"
                             "        return (sin,)\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_graph_parse (text, -1, adj_op_find, NULL, &error);
  g_autoptr (AdjBundleBuilder) builder = adj_bundle_builder_new ();
  g_autoptr (AdjBundle) bundle = NULL;
  AdjBundleGraph entry = {
    .id = "0-0-inference", .title = "sin", .role = "inference", .rank = -1, .graph = graph
  };

  g_assert_no_error (error);
  g_assert_true (adj_bundle_builder_add_graph (builder, &entry, &error));
  for (guint n = 0; n < N_CALLS; n++)
    {
      g_autoptr (AdjTensorData) x = make_scalar ((float) given (n));
      g_autoptr (AdjTensorData) y = make_scalar (sinf ((float) given (n)) + (n == 2 ? OFF : 0));
      AdjValue input = ADJ_DATA (x), output = ADJ_DATA (y);
      AdjRecordedCall call = {
        .n = n, .n_inputs = 1, .inputs = &input, .n_outputs = 1, .outputs = &output
      };

      g_assert_true (adj_bundle_builder_add_call (builder, &call, entry.id, &error));
    }
  bundle = adj_bundle_builder_end (g_steal_pointer (&builder), NULL);
  g_assert_true (adj_format_find ("adjoint", NULL)->save (bundle, path, NULL, NULL, &error));
  g_assert_no_error (error);
}

typedef struct
{
  AdjTestFolder *folder;
  AdjDocument *document;
  char *remark;
} Fixture;

static void
on_remark (Fixture *fixture, const char *text)
{
  g_free (fixture->remark);
  fixture->remark = g_strdup (text);
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = NULL;
  g_autoptr (GFile) file = NULL;

  fixture->folder = adj_test_folder_new ();
  path = g_build_filename (fixture->folder->path, "sin.adjoint", NULL);
  file = g_file_new_for_path (path);
  write_calls (path);
  fixture->document = adj_document_new ();
  g_signal_connect_swapped (fixture->document, "remark", G_CALLBACK (on_remark), fixture);
  adj_document_open (fixture->document, file, NULL);
  adj_wait_for (fixture->document);
  g_assert_no_error (adj_document_get_error (fixture->document));
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_object_unref (fixture->document);
  adj_test_folder_free (fixture->folder);
  g_free (fixture->remark);
}

static double
run (Fixture *fixture, AdjRunChoice choice, gboolean compare, AdjDType dtype)
{
  const AdjGraph *graph = adj_document_get_graph (fixture->document)->graph;
  AdjEvaluation *evaluation;
  AdjTensorData *value;

  adj_document_set_run_choice (fixture->document, choice);
  g_assert_null (adj_document_get_evaluation (fixture->document));
  adj_document_run (fixture->document, compare);
  adj_wait_for (fixture->document);
  evaluation = adj_document_get_evaluation (fixture->document);
  g_assert_cmpstr (fixture->remark, ==, NULL);
  g_assert_nonnull (evaluation);
  g_assert_true (adj_run_choice_equal (adj_evaluation_get_choice (evaluation), choice));
  if (compare)
    g_assert_cmpint (adj_evaluation_get_comparison (evaluation)->first, ==, -1);
  value = adj_evaluation_get_value (evaluation, adj_graph_find_node (graph, "sin"));
  g_assert_nonnull (value);
  g_assert_cmpint (adj_tensor_data_get_meta (value)->dtype, ==, dtype);
  return adj_tensor_data_get_double (value, 0);
}

static void
test_calls (Fixture *fixture, gconstpointer data)
{
  const AdjBundleGraph *graph = adj_document_get_graph (fixture->document);
  AdjRunChoice choice = { .call = 1 };
  g_autofree char *text = adj_run_choice_describe (choice);

  g_assert_cmpstr (text, ==, "call 2");
  g_assert_null (adj_run_choice_describe ((AdjRunChoice){ 0 }));
  g_assert_cmpuint (adj_run_choice_count_calls (adj_document_get_graphs (fixture->document), graph),
                    ==, N_CALLS);
  g_assert_cmpfloat_with_epsilon (run (fixture, choice, TRUE, ADJ_DTYPE_F32), sin (given (1)),
                                  1e-6);
  choice.call = 0;
  g_assert_cmpfloat_with_epsilon (run (fixture, choice, TRUE, ADJ_DTYPE_F32), sin (given (0)),
                                  1e-6);
  /* There is no call 7. */
  adj_document_set_run_choice (fixture->document, (AdjRunChoice){ .call = 7 });
  g_assert_cmpuint (adj_document_get_run_choice (fixture->document).call, ==, 0);
}

static void
test_float64 (Fixture *fixture, gconstpointer data)
{
  AdjRunChoice choice = { .call = 1, .float64 = TRUE };
  g_autofree char *text = adj_run_choice_describe (choice);

  g_assert_cmpstr (text, ==, "call 2 · float64");
  /* 1.25 is exact in both precisions, so only the rounding of the sine counts. */
  g_assert_cmpfloat_with_epsilon (run (fixture, choice, FALSE, ADJ_DTYPE_F64), sin (given (1)),
                                  1e-15);
}

static void
test_random (Fixture *fixture, gconstpointer data)
{
  AdjRunChoice seven = { .random = TRUE, .seed = 7 }, eight = { .random = TRUE, .seed = 8 };
  g_autofree char *text = adj_run_choice_describe (seven);
  double first = run (fixture, seven, FALSE, ADJ_DTYPE_F32);

  g_assert_cmpstr (text, ==, "random inputs, seed 7");
  g_assert_cmpfloat (run (fixture, eight, FALSE, ADJ_DTYPE_F32), !=, first);
  g_assert_cmpfloat (run (fixture, seven, FALSE, ADJ_DTYPE_F32), ==, first);

  adj_document_run (fixture->document, TRUE);
  g_assert_false (adj_document_is_running (fixture->document));
  g_assert_cmpstr (fixture->remark, ==, "Nothing was recorded for these inputs");
}

static AdjVerdict
judge (Fixture *fixture, AdjRunChoice choice)
{
  adj_document_set_run_choice (fixture->document, choice);
  adj_document_run (fixture->document, TRUE);
  adj_wait_for (fixture->document);
  return adj_evaluation_get_comparison (adj_document_get_evaluation (fixture->document))->verdict;
}

static void
test_tolerance (Fixture *fixture, gconstpointer data)
{
  AdjRunChoice choice = { .call = 2, .close = TRUE, .atol = 2 * (double) OFF };
  g_autofree char *text = adj_run_choice_describe (choice);

  g_assert_cmpstr (text, ==, "call 3 · rtol 0, atol 0.002");
  g_assert_cmpint (judge (fixture, (AdjRunChoice){ .call = 2 }), ==, ADJ_VERDICT_DIFFERS);
  g_assert_cmpint (judge (fixture, choice), ==, ADJ_VERDICT_WITHIN);
  choice.atol = (double) OFF / 2;
  g_assert_cmpint (judge (fixture, choice), ==, ADJ_VERDICT_DIFFERS);
  /* sin (2.25) = 0.778, so the relative error is about OFF. */
  choice.rtol = (double) OFF;
  g_assert_cmpint (judge (fixture, choice), ==, ADJ_VERDICT_WITHIN);
}

static void
save_input (const char *path, const char *name, float number)
{
  g_autoptr (AdjTensorData) tensor = make_scalar (number);
  g_autoptr (GError) error = NULL;

  adj_safetensors_save (path, &name, &tensor, 1, &error);
  g_assert_no_error (error);
}

static void
test_file (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = g_build_filename (fixture->folder->path, "x.safetensors", NULL);
  g_autofree char *other = g_build_filename (fixture->folder->path, "y.safetensors", NULL);
  AdjRunChoice choice = { .file = g_intern_string (path) };
  g_autofree char *text = adj_run_choice_describe (choice);

  save_input (path, "x", 0.5f);
  g_assert_cmpstr (text, ==, "inputs of x.safetensors");
  g_assert_cmpfloat_with_epsilon (run (fixture, choice, FALSE, ADJ_DTYPE_F32), sin (0.5), 1e-7);
  adj_document_run (fixture->document, TRUE);
  g_assert_cmpstr (fixture->remark, ==, "Nothing was recorded for these inputs");

  /* The file is removed: the values of the previous run are not used. */
  g_assert_no_errno (g_unlink (path));
  adj_document_run (fixture->document, FALSE);
  adj_wait_for (fixture->document);
  g_assert_null (adj_document_get_evaluation (fixture->document));

  /* The tensor has another name: an error of one line, and nothing else changes. */
  save_input (other, "z", 0.5f);
  choice.file = g_intern_string (other);
  adj_document_set_run_choice (fixture->document, choice);
  adj_document_run (fixture->document, FALSE);
  adj_wait_for (fixture->document);
  g_assert_null (adj_document_get_evaluation (fixture->document));
  g_assert_true (g_str_has_suffix (fixture->remark, "y.safetensors: there is no tensor 'x'"));
}

static void
test_remembers (Fixture *fixture, gconstpointer data)
{
  static const AdjRunChoice choices[] = {
    { 0 },
    { .call = 3, .float64 = TRUE },
    { .random = TRUE, .seed = G_MAXUINT32, .close = TRUE, .rtol = 1e-3, .atol = 1e-7 },
    { .file = "/somewhere/x.safetensors" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (choices); i++)
    {
      g_autoptr (GKeyFile) keys = g_key_file_new ();

      adj_run_choice_save (choices[i], keys, "Run");
      g_assert_true (adj_run_choice_equal (adj_run_choice_load (keys, "Run"), choices[i]));
    }
  {
    g_autoptr (GKeyFile) keys = g_key_file_new ();
    AdjRunChoice choice;

    g_key_file_set_string (keys, "Run", "rtol", "nan");
    g_key_file_set_string (keys, "Run", "call", "-4");
    g_key_file_set_string (keys, "Run", "executor", "an abacus");
    choice = adj_run_choice_load (keys, "Run");
    g_assert_true (adj_run_choice_equal (choice, (AdjRunChoice){ 0 }));
    g_assert_cmpfloat (choice.rtol, ==, 0);
  }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
#define ADD(path, test) g_test_add (path, Fixture, NULL, set_up, test, tear_down)
  ADD ("/ui/run-choice/calls", test_calls);
  ADD ("/ui/run-choice/float64", test_float64);
  ADD ("/ui/run-choice/random", test_random);
  ADD ("/ui/run-choice/tolerance", test_tolerance);
  ADD ("/ui/run-choice/file", test_file);
  ADD ("/ui/run-choice/remembers", test_remembers);
  return g_test_run ();
}
