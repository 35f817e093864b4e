/* SPDX-License-Identifier: MIT */
/* Logs of DebugMode: the node of each call, and the differences found.  The logs are from
 * PyTorch 2.15 (formats/data/debug/make.py). */

#include <math.h>
#include <string.h>

#include "formats/adj-format.h"
#include "ir/adj-graph.h"
#include "session/adj-debug-comparison.h"
#include "session/alignment-private.h"
#include "support/adj-test.h"

typedef struct
{
  AdjBundle *bundle;
  AdjDebugLog *log;
  AdjDebugComparison *comparison;
} Compared;

static char *
path_of (const char *name)
{
  return g_test_build_filename (G_TEST_DIST, "formats", "data", "debug", name, NULL);
}

static void
clear (Compared *compared)
{
  adj_debug_comparison_free (compared->comparison);
  adj_debug_log_free (compared->log);
  adj_bundle_unref (compared->bundle);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Compared, clear)

static void
compare (Compared *compared, const char *id, const char *log, GError **error)
{
  g_autofree char *path = path_of ("step.adjoint"), *log_path = path_of (log);
  AdjSessionRun run = { 0 };

  g_assert_true (adj_debug_log_is (log_path));
  compared->bundle = adj_bundle_load (path, NULL, error);
  compared->log = adj_debug_log_load (log_path, NULL, error);
  g_assert_no_error (*error);
  run.bundle = compared->bundle;
  run.graph = adj_bundle_find_graph (compared->bundle, id, error);
  g_assert_no_error (*error);
  compared->comparison = adj_session_compare_log (&run, compared->log, NULL, error);
}

static const AdjDebugRow *
row_of (const Compared *compared, const char *node)
{
  const AdjGraph *graph = adj_bundle_find_graph (compared->bundle, "joint", NULL)->graph;
  const GArray *rows = compared->comparison->rows;

  for (guint i = 0; i < rows->len; i++)
    {
      const AdjDebugRow *row = &g_array_index (rows, AdjDebugRow, i);

      if (adj_node_id_is_valid (row->node) &&
          g_str_equal (adj_graph_get_node (graph, row->node.index)->name, node))
        return row;
    }
  g_assert_not_reached ();
}

/* The eager step also computes the loss, which is not in the graph; each node has its call. */
static void
test_same (gconstpointer log)
{
  g_auto (Compared) compared = { 0 };
  g_autoptr (GError) error = NULL;
  const AdjDebugComparison *comparison;

  compare (&compared, "joint", log, &error);
  g_assert_no_error (error);
  comparison = compared.comparison;
  g_assert_cmpint (comparison->first, ==, -1);
  g_assert_cmpuint (comparison->n_by[ADJ_LOGGED_DIFFERS], ==, 0);
  g_assert_cmpuint (comparison->n_by[ADJ_LOGGED_UNKNOWN], ==, 0);
  g_assert_cmpuint (comparison->n_by[ADJ_LOGGED_ONLY_GRAPH], ==, 0);
  g_assert_cmpuint (comparison->n_by[ADJ_LOGGED_EQUAL] + comparison->n_by[ADJ_LOGGED_WITHIN], ==,
                    58);
  g_assert_cmpuint (comparison->n_by[ADJ_LOGGED_ONLY_LOG], ==, 20);
  g_assert_cmpstr (row_of (&compared, "gelu_1")->call->module, ==, "Sequential.1");
  g_assert_cmpstr (row_of (&compared, "addmm_3")->call->module, ==, "Sequential.1.down");
}

/* One bias of the second block differs: values computed before it agree. */
static void
test_altered (void)
{
  g_auto (Compared) compared = { 0 };
  g_autoptr (GError) error = NULL;
  const AdjDebugRow *first;

  compare (&compared, "joint", "altered.json", &error);
  g_assert_no_error (error);
  first = &g_array_index (compared.comparison->rows, AdjDebugRow, compared.comparison->first);
  g_assert_true (first == row_of (&compared, "addmm_2"));
  g_assert_true (first->inputs_agree);
  g_assert_cmpfloat (fabs (first->logged - first->exact), >, 10 * first->limit);
  g_assert_cmpint (row_of (&compared, "t_3")->verdict, ==, ADJ_LOGGED_EQUAL);
  g_assert_cmpint (row_of (&compared, "gelu_1")->verdict, ==, ADJ_LOGGED_DIFFERS);
  g_assert_false (row_of (&compared, "gelu_1")->inputs_agree);
}

/* The log continues after the end of the forward graph. */
static void
test_forward (void)
{
  g_auto (Compared) compared = { 0 };
  g_autoptr (GError) error = NULL;

  compare (&compared, "forward", "norms.json", &error);
  g_assert_no_error (error);
  g_assert_cmpint (compared.comparison->first, ==, -1);
  g_assert_cmpuint (compared.comparison->n_by[ADJ_LOGGED_WITHIN], >, 10);
}

static void
test_bare (void)
{
  g_auto (Compared) compared = { 0 };
  g_autoptr (GError) error = NULL;

  compare (&compared, "joint", "bare.json", &error);
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND);
  g_assert_nonnull (strstr (error->message, "no hashes"));
}

/* -- reading -- */

#define HEAD "{\"format\": \"torch.utils._debug_mode.DebugMode.logs\", \"version\": 1, \"logs\": "
#define OP(output, hash)                                                                           \
  "{\"type\": \"op\", \"call_depth\": 1, \"op_name\": \"aten::f\", \"output_str\": " output        \
  ", \"log\": {\"type\": \"dict\", \"items\": [[\"hash\", " hash "]]}}"
#define NUMBER(x) "{\"type\": \"scalar\", \"value\": " x "}"
#define LIST(x) "{\"type\": \"list\", \"items\": [" x "]}"

static void
test_read (void)
{
  static const char text[] =
      HEAD "[" OP ("\"  ->  (None, 't$1: f32[2, 3]', 't: i64[]')\"",
                   LIST (NUMBER ("null") ", " NUMBER ("2.5") ", " NUMBER (
                       "18446744073709551615"))) ", " OP ("null", "{\"type\": \"nonfinite_float\", "
                                                                  "\"value\": \"-inf\"}") "]}";
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjDebugLog) log = adj_debug_log_read (text, strlen (text), "x", &error);
  const AdjDebugCall *call;

  g_assert_no_error (error);
  g_assert_cmpuint (adj_debug_log_get_n (log), ==, 2);
  call = adj_debug_log_get (log, 0);
  g_assert_cmpuint (call->n, ==, 3);
  g_assert_false (call->single);
  g_assert_null (call->values[0].dtype);
  g_assert_false (call->values[0].has_norm);
  g_assert_cmpstr (call->values[1].dtype, ==, "f32");
  g_assert_cmpint (call->values[1].sizes[1], ==, 3);
  g_assert_cmpfloat (call->values[1].norm, ==, 2.5);
  g_assert_cmpuint (call->values[2].rank, ==, 0);
  g_assert_cmpuint (call->values[2].bits, ==, G_MAXUINT64);
  call = adj_debug_log_get (log, 1);
  g_assert_true (call->single && call->n == 1 && isinf (call->values[0].norm));
}

static void
test_refused (void)
{
  static const char *const texts[][2] = {
    { "{}", "no logs of DebugMode" },
    { "[]", "expected '{'" },
    { "{\"format\": \"torch.utils._debug_mode.DebugMode.logs\", \"version\": 2, \"logs\": []}",
      "another version" },
    { HEAD "[3]}", "expected a call" },
    { HEAD "[{\"type\": \"op\", \"call_depth\": 0}]}", "without \"op_name\"" },
    { HEAD "[", "expected a value" },
    { HEAD "[]} x", "x:1:" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (adj_debug_log_read (texts[i][0], strlen (texts[i][0]), "x", &error));
      if (strstr (error->message, texts[i][1]) == NULL)
        g_error ("%u: %s", i, error->message);
    }
}

/* -- alignment -- */

typedef struct
{
  guint8 a[40], b[40];
} Sequences;

static gboolean
same_letter (guint a, guint b, gpointer data)
{
  const Sequences *sequences = data;

  return sequences->a[a] == sequences->b[b];
}

static guint
longest_common (const Sequences *sequences, guint n, guint m)
{
  guint table[41][41] = { 0 };

  for (guint i = 1; i <= n; i++)
    for (guint k = 1; k <= m; k++)
      table[i][k] = sequences->a[i - 1] == sequences->b[k - 1]
                        ? table[i - 1][k - 1] + 1
                        : MAX (table[i - 1][k], table[i][k - 1]);
  return table[n][m];
}

static void
test_align (void)
{
  for (guint round = 0; round < 2000; round++)
    {
      Sequences sequences;
      guint n = (guint) g_test_rand_int_range (0, 40), m = (guint) g_test_rand_int_range (0, 40);
      guint n_paired = 0;
      gint last = -1;
      g_autofree gint *partners = NULL;

      for (guint i = 0; i < 40; i++)
        {
          sequences.a[i] = (guint8) g_test_rand_int_range (0, 4);
          sequences.b[i] = (guint8) g_test_rand_int_range (0, 4);
        }
      partners = session_align (n, m, same_letter, &sequences);
      for (guint i = 0; i < n; i++)
        if (partners[i] >= 0)
          {
            g_assert_cmpint (partners[i], >, last);
            g_assert_cmpint (partners[i], <, m);
            g_assert_cmpuint (sequences.a[i], ==, sequences.b[partners[i]]);
            last = partners[i];
            n_paired++;
          }
      g_assert_cmpuint (n_paired, ==, longest_common (&sequences, n, m));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/session/debug-log/bits", "eager.json", test_same);
  g_test_add_data_func ("/session/debug-log/norms", "norms.json", test_same);
  g_test_add_func ("/session/debug-log/altered", test_altered);
  g_test_add_func ("/session/debug-log/forward", test_forward);
  g_test_add_func ("/session/debug-log/bare", test_bare);
  g_test_add_func ("/session/debug-log/read", test_read);
  g_test_add_func ("/session/debug-log/refused", test_refused);
  g_test_add_func ("/session/debug-log/align", test_align);
  return g_test_run ();
}
