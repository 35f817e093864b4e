/* SPDX-License-Identifier: MIT */
/* 16-bit numbers, and integers of wide ranges, as each release draws them (make-drawn.py); a
 * float64 run draws the same ones. */

#include <stdlib.h>
#include <string.h>

#include "adjoint.h"
#include "support/adj-test.h"
#include "support/graphs.h"

static const struct
{
  const char *release;
  AdjRandomSource source;
} releases[] = { { "2.6", ADJ_RANDOM_MKL }, { "2.15", ADJ_RANDOM_GENERATOR } };

static const struct
{
  const char *name, *code;
  AdjDType dtype;
} dtypes[] = { { "torch.bfloat16", "bf16", ADJ_DTYPE_BF16 },
               { "torch.float16", "f16", ADJ_DTYPE_F16 },
               { "torch.int64", "i64", ADJ_DTYPE_I64 } };

static guint
find_dtype (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (dtypes); i++)
    if (g_str_equal (dtypes[i].name, name))
      return i;
  g_assert_not_reached ();
}

/* Returns a graph of the call in @fields, then another draw, returning both results. */
static AdjGraph *
parse_row (char **fields)
{
  const char *code = dtypes[find_dtype (fields[2])].code;
  g_autofree char *text =
      g_strdup_printf ("class G(torch.nn.Module):\n"
                       "    def forward(self, x: \"%s[%s][1]cpu\"):\n"
                       "        a: \"%s[%s][1]cpu\" = torch.ops.aten.%s\n"
                       "        b = torch.ops.aten.randint.default(1048576, [1])\n"
                       "        return (a, b)\n",
                       code, fields[1], code, fields[1], fields[0]);

  return adj_test_parse_graph (text);
}

static void
check_row (char **fields, guint release, gboolean float64)
{
  g_autoptr (AdjGraph) graph = parse_row (fields);
  const gint64 n = atoi (fields[1]);
  AdjDType dtype = dtypes[find_dtype (fields[2])].dtype;
  g_autofree guint64 *zeros = g_new0 (guint64, n);
  g_autoptr (AdjTensorData) x = adj_tensor_data_new_from_array (dtype, &n, 1, zeros, NULL);
  AdjValue input = ADJ_DATA (x);
  AdjRunRequest request = { .graph = graph,
                            .inputs = &input,
                            .n_inputs = 1,
                            .release = releases[release].release,
                            .random_source = releases[release].source,
                            .float64 = float64 };
  AdjRunResult result = { 0 };
  g_autoptr (GError) error = NULL;
  g_autofree double *drawn = g_new (double, n);
  double after;

  adj_executor_run (adj_executor_find ("interpreter", NULL), &request, &result, NULL, &error);
  g_assert_no_error (error);
  adj_tensor_data_read_doubles (result.output.items[0].data, drawn);
  adj_tensor_data_read_doubles (result.output.items[1].data, &after);
  for (gint64 i = 0; i < n; i++)
    if (drawn[i] != g_ascii_strtod (fields[3 + i], NULL))
      g_error ("%s of %s in %s, %s: number %d is %.9g, not %s", fields[0], fields[2],
               releases[release].release, float64 ? "float64" : "its type", (int) i, drawn[i],
               fields[3 + i]);
  g_assert_cmpfloat (after, ==, g_ascii_strtod (fields[3 + n], NULL));
  adj_run_result_clear (&result);
}

static void
test_release (gconstpointer data)
{
  guint release = GPOINTER_TO_UINT (data);
  g_autofree char *name = g_strdup_printf ("drawn-%s.txt", releases[release].release);
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "ops", "data", name, NULL);
  g_autofree char *text = adj_test_read_file (path, NULL);
  g_auto (GStrv) rows = g_strsplit (text, "\n", -1);

  for (guint i = 0; rows[i] != NULL && *rows[i] != '\0'; i++)
    {
      g_auto (GStrv) fields = g_strsplit (rows[i], "\t", -1);

      check_row (fields, release, FALSE);
      check_row (fields, release, TRUE);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (releases); i++)
    {
      g_autofree char *path = g_strconcat ("/ops/drawn/", releases[i].release, NULL);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_release);
    }
  return g_test_run ();
}
