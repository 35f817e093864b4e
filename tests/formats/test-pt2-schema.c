/* SPDX-License-Identifier: MIT */
/* Programs of every minor version of schema 8: what a later one may add is passed over, and what is
 * known is read whatever the number says. */

#include <string.h>

#include "base/adj-file-part-internal.h"
#include "formats/adj-format.h"
#include "formats/zip-private.h"
#include "ir/adj-graph.h"
#include "support/adj-test.h"
#include "support/zip-bytes.h"

#define LAST_MINOR 30 /* beyond those that there are */
#define UNKNOWN "\"of_later\": {\"as_later\": [null, 1.5, {\"a\": \"b\"}]}, "

/* A member of each kind of structure. */
static const char *const members[] = {
  "\"graph_module\":", "\"nodes\":",   "\"input_specs\":",    "\"target\":",
  "\"stack_trace\":",  "\"sizes\":",   "\"parameter_name\":", "\"in_spec\":",
  "\"fqn\":",          "\"min_val\":", "\"expr_str\":",       "\"major\":",
};

typedef struct
{
  const char *release, *model;
} Program;

static const Program programs[] = {
  { "2.6", "arguments" },  { "2.6", "dynamic" },  { "2.6", "branch" },     { "2.10", "arguments" },
  { "2.10", "called" },    { "2.10", "guarded" }, { "2.10", "buffers" },   { "2.15", "outputs" },
  { "2.15", "arguments" }, { "2.15", "loop" },    { "2.15", "recurrent" },
};

/* (transfer full): the text of a program as version 8.@minor, each structure with a member more. */
static char *
change_program (GBytes *bytes, guint minor)
{
  gsize length;
  const char *text = g_bytes_get_data (bytes, &length);
  g_autoptr (GString) changed = g_string_new_len (text, (gssize) length);
  g_autoptr (GRegex) number = g_regex_new ("(?<=\"minor\": )[0-9]+", 0, 0, NULL);
  g_autofree char *other = g_strdup_printf ("%u", minor);

  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    {
      g_autofree char *more = g_strconcat (UNKNOWN, members[i], NULL);

      g_string_replace (changed, members[i], more, 0);
    }
  return g_regex_replace_literal (number, changed->str, (gssize) changed->len, 0, other, 0, NULL);
}

static gboolean
is_program (const char *entry)
{
  return g_str_has_suffix (entry, "serialized_exported_program.json") ||
         (strstr (entry, "models/") != NULL && g_str_has_suffix (entry, ".json"));
}

/* (transfer full): the archive with its program changed. */
static GBytes *
change (const Program *program, guint minor)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *file = g_strconcat (program->model, ".pt2", NULL);
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "formats", "data", "pt2", program->release, file, NULL);
  g_autoptr (AdjFilePart) part = adj_file_part_open (path, ADJ_FILE_WHOLE, NULL, &error);
  g_autoptr (ZipArchive) archive = zip_open (part, path, &error);
  g_autoptr (GPtrArray) entries = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  g_autoptr (GArray) parts = g_array_new (TRUE, TRUE, sizeof (ZipPart));

  g_assert_no_error (error);
  for (guint i = 0; i < zip_get_n (archive); i++)
    {
      GBytes *bytes = zip_read (archive, i, G_MAXINT64, NULL, &error);
      ZipPart entry = { .name = zip_get_name (archive, i) };

      g_assert_no_error (error);
      if (is_program (entry.name) && minor > 0)
        {
          char *text = change_program (bytes, minor);

          g_bytes_unref (bytes);
          bytes = g_bytes_new_take (text, strlen (text));
        }
      g_ptr_array_add (entries, bytes);
      entry.contents = g_bytes_get_data (bytes, &entry.length);
      g_array_append_val (parts, entry);
    }
  return g_byte_array_free_to_bytes (zip_bytes_new ((const ZipPart *) (gpointer) parts->data));
}

/* (transfer full): graph, inputs and facts, as far as they can be told by text. */
static char *
describe (const Program *program, guint minor)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = change (program, minor);
  g_autoptr (AdjBundle) bundle =
      adj_format_find ("pt2", NULL)->load_bytes (bytes, "a.pt2", NULL, &error);
  g_autoptr (GString) out = g_string_new (NULL);
  g_autofree char *text = NULL;

  if (error != NULL)
    g_error ("%s %s as 8.%u: %s", program->release, program->model, minor, error->message);
  g_assert_cmpuint (adj_diags_get_n (adj_bundle_get_diags (bundle)), ==, 0);
  text = adj_graph_print_json (adj_bundle_get_graph (bundle, 0)->graph);
  g_string_append_printf (out, "%s\n%u calls\n", text, adj_bundle_get_n_calls (bundle));
  for (guint i = 0; i < adj_bundle_get_n_facts (bundle); i++)
    {
      const AdjBundleFact *fact = adj_bundle_get_fact (bundle, i);

      g_string_append_printf (out, "%s: %.*s\n", fact->name, (int) g_bytes_get_size (fact->text),
                              (const char *) g_bytes_get_data (fact->text, NULL));
    }
  return g_string_free (g_steal_pointer (&out), FALSE);
}

static void
test_minor_versions (gconstpointer data)
{
  const Program *program = data;
  g_autofree char *as_written = describe (program, 0);

  for (guint minor = 1; minor <= LAST_MINOR; minor++)
    {
      g_autofree char *text = describe (program, minor);

      g_assert_cmpstr (text, ==, as_written);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (programs); i++)
    {
      g_autofree char *path =
          g_strdup_printf ("/formats/pt2-schema/%s-%s", programs[i].release, programs[i].model);

      g_test_add_data_func (path, &programs[i], test_minor_versions);
    }
  return g_test_run ();
}
