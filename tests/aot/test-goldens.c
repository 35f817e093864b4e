/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "aot/case.h"
#include "support/adj-test.h"

/* The examples of the specification, by their names there. */

static void
compare_graph (const Case *c, const AdjGraph *graph)
{
  const char *text = c->joint != NULL ? c->joint : c->inference;
  g_autofree char *got = notation_print_graph (graph);
  g_autofree char *expected = notation_print (c->forward != NULL ? c->forward : text);
  char *end;

  if (c->forward == NULL)
    {
      g_assert_cmpstr (got, ==, expected);
      return;
    }
  end = strstr (expected, "return ");
  g_assert_true (strncmp (got, expected, (gsize) (end - expected)) == 0);
  end[strlen (end) - 1] = '\0';
  if (strstr (got, end) == NULL)
    g_assert_cmpstr (got, ==, expected);
}

static void
check_graph (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (AdjContext) cx = case_context_new ();
  g_auto (AdjValue) inputs = case_make_inputs (c, cx, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjAotGraph) aot = case_trace (c, &inputs, &error);

  g_assert_no_error (error);
  g_assert_cmpint (adj_aot_graph_is_joint (aot), ==, c->inference == NULL);
  compare_graph (c, adj_aot_graph_get_graph (aot));
}

/* What adj_aot_metadata_print() says, without rules and tangents. */
static char *
print_metadata (const AdjAotMetadata *metadata)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GString) out = g_string_new (NULL);
  g_auto (GStrv) lines = NULL;

  adj_aot_metadata_print (metadata, NULL, text);
  lines = g_strsplit (text->str, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      char *rule = strstr (lines[i], " by rule");

      if (lines[i][0] == '\0' || g_str_has_prefix (lines[i], "tangent"))
        continue;
      if (rule != NULL)
        *rule = '\0';
      g_string_append_printf (out, "%s\n", lines[i]);
    }
  return g_string_free (g_steal_pointer (&out), FALSE);
}

static void
check_metadata (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (AdjContext) cx = case_context_new ();
  g_auto (AdjValue) inputs = case_make_inputs (c, cx, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjAotGraph) aot = case_trace (c, &inputs, &error);
  g_autoptr (GString) expected = g_string_new (NULL);
  g_autofree char *got = NULL;

  g_assert_no_error (error);
  for (guint i = 0; i < c->metadata->len; i++)
    g_string_append_printf (expected, "%s\n", (char *) c->metadata->pdata[i]);
  got = print_metadata (adj_aot_graph_get_user_metadata (aot));
  g_assert_cmpstr (got, ==, expected->str);
  g_assert_cmpint (adj_aot_graph_get_user_metadata (aot)->n_tangents, ==, c->n_tangents);
}

static void
add_cases (const GPtrArray *cases, const char *folder, GTestDataFunc check)
{
  for (guint i = 0; i < cases->len; i++)
    {
      const Case *c = cases->pdata[i];
      g_autofree char *path = g_strdup_printf ("/aot/%s/%s", folder, c->name);

      g_test_add_data_func (path, c, check);
    }
}

int
main (int argc, char **argv)
{
  g_autoptr (GPtrArray) goldens = NULL;
  g_autoptr (GPtrArray) metadata = NULL;

  g_test_init (&argc, &argv, NULL);
  goldens = cases_load ("goldens.txt");
  metadata = cases_load ("metadata.txt");
  add_cases (goldens, "goldens", check_graph);
  add_cases (metadata, "metadata", check_metadata);
  return g_test_run ();
}
