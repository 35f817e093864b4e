/* SPDX-License-Identifier: MIT */

/* Damaged, unusual and unsupported files.  A page says why nothing can be shown, a yellow bar
 * says what is missing, and the window stays usable. */

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <utime.h>

#include "formats/adj-format.h"
#include "model/adj-log.h"
#include "support/adj-test.h"
#include "support/bad-files.h"
#include "ui/adj-walk.h"

static AdjApplication *application;

typedef enum
{
  FINE,    /* no bar */
  PARTIAL, /* yellow bar: a picture with a remark */
  BAD,     /* red: no picture */
} Outcome;

/* -- what is done to a good file -- */

typedef GBytes *(*Damage) (const char *text, gsize length);

static GBytes *
take (char *text)
{
  return g_bytes_new_take (text, strlen (text));
}

static GBytes *
with_crlf (const char *text, gsize length)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  return take (g_strjoinv ("\r\n", lines));
}

static GBytes *
without_last_newline (const char *text, gsize length)
{
  return take (g_strchomp (g_strdup (text)));
}

static GBytes *
halved (const char *text, gsize length)
{
  return g_bytes_new (text, length / 2);
}

static GBytes *
almost_whole (const char *text, gsize length)
{
  return g_bytes_new (text, length - 300);
}

static GBytes *
with_flipped_bits (const char *text, gsize length)
{
  char *copy = g_memdup2 (text, length);

  for (gsize at = 100; at < length; at += 977)
    copy[at] ^= 0x41;
  return g_bytes_new_take (copy, length);
}

static GBytes *
replaced (const char *text, const char *what, const char *with)
{
  GString *copy = g_string_new (text);

  g_string_replace (copy, what, with, 0);
  return take (g_string_free (copy, FALSE));
}

static GBytes *
with_collector (const char *text, gsize length)
{
  return replaced (text, "\nV1120", "\npod-7 | V1120");
}

static GBytes *
with_unknown_kind (const char *text, gsize length)
{
  return take (g_strconcat (
      text, "V0101 00:00:00.000000 1 torch/_x.py:1] {\"strange_kind\": {\"a\": 1}}\n", NULL));
}

static GBytes *
with_cut_json (const char *text, gsize length)
{
  return replaced (text, "{\"dynamo_output_graph\": ", "{\"dynamo_output_graph\" ");
}

static GBytes *
nothing (const char *text, gsize length)
{
  return g_bytes_new_static ("", 0);
}

static GBytes *
noise (const char *text, gsize length)
{
  static const guint8 bytes[] = { 'P', 'K', 3, 4, 0xff, 0xfe, 0, 1, 2, 3, 0xc3, 0x28 };

  return g_bytes_new_static (bytes, sizeof bytes);
}

#define LOG "graphs/torch-trace/dedicated_log_torch_trace_training.log"
#define HEAD                                                                                       \
  "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[2, 3][3, 1]cpu\"):\n"

static const struct
{
  const char *name;
  const char *source; /* below data/, or NULL */
  Damage damage;
  const char *text; /* (nullable): content, if there is no source */
  Outcome outcome;
} rows[] = {
  { "crlf.log", LOG, with_crlf, NULL, FINE },
  { "no-newline.log", LOG, without_last_newline, NULL, FINE },
  { "path with spaces.log", LOG, without_last_newline, NULL, FINE },
  { "collector.log", LOG, with_collector, NULL, FINE },
  { "unknown-kind.log", LOG, with_unknown_kind, NULL, FINE },
  { "truncated.log", LOG, halved, NULL, PARTIAL },
  { "cut-json.log", LOG, with_cut_json, NULL, PARTIAL },
  { "empty.log", LOG, nothing, NULL, BAD },
  { "lambda.txt", NULL, NULL,
    "class <lambda>(torch.nn.Module):\n    def forward(self, x: \"f32[2]\"):\n"
    "        sin: \"f32[2]\" = torch.ops.aten.sin.default(x)\n        return (sin,)\n",
    FINE },
  { "colours.txt", NULL, NULL,
    "\033[31mclass GraphModule(torch.nn.Module):\033[0m\n    def forward(self, x: "
    "\"f32[2]\"):\n        sin: \"f32[2]\" = torch.ops.aten.sin.default(x)\n"
    "        return (sin,)\n",
    FINE },
  { "undefined.txt", NULL, NULL,
    HEAD "        relu = torch.ops.aten.relu.default(y)\n        return (relu,)\n", PARTIAL },
  { "nonsense-line.txt", NULL, NULL,
    HEAD "        relu = torch.ops.aten.relu.default(x\n        return (relu,)\n", PARTIAL },
  { "opaque.txt", NULL, NULL,
    HEAD "        foo = torch.ops.mine.foo.default(x)\n        return (foo,)\n", FINE },
  { "cut.txt", NULL, NULL, "class GraphModule(torch.nn.Module):\n", BAD },
  { "prose.txt", NULL, NULL, "Dear reader,\nthis is no graph.\n", BAD },
  { "binary.txt", LOG, noise, NULL, BAD },
  { "half.adjoint", "graphs/mlp.adjoint", halved, NULL, BAD },
  { "cut.adjoint", "graphs/mlp.adjoint", almost_whole, NULL, BAD },
  { "flipped.adjoint", "graphs/mlp.adjoint", with_flipped_bits, NULL, BAD },
  { "empty.adjoint", "graphs/mlp.adjoint", nothing, NULL, BAD },
  { "noise.adjoint", "graphs/mlp.adjoint", noise, NULL, BAD },
  { "weights.safetensors", NULL, NULL, "\2\0\0\0\0\0\0\0{}", BAD },
};

/* A log that was written just now may still grow, so that its cut end is no fault yet. */
static void
make_old (const char *path)
{
  struct utimbuf times = { .actime = 1000000000, .modtime = 1000000000 };

  g_assert_cmpint (g_utime (path, &times), ==, 0);
}

static char *
write_row (guint row, const AdjTestFolder *folder)
{
  char *path = g_build_filename (folder->path, rows[row].name, NULL);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;

  if (rows[row].source != NULL)
    {
      g_autofree char *source = adj_test_data_path (rows[row].source);
      gsize length;
      g_autofree char *text = adj_test_read_file (source, &length);

      bytes = rows[row].damage (text, length);
    }
  else
    bytes = g_bytes_new_static (rows[row].text, strlen (rows[row].text));
  g_file_set_contents (path,
                       g_bytes_get_data (bytes, NULL) != NULL ? g_bytes_get_data (bytes, NULL) : "",
                       (gssize) g_bytes_get_size (bytes), &error);
  g_assert_no_error (error);
  make_old (path);
  return path;
}

/* -- the window -- */

/* The bar shows one of several remarks; the log shows all. */
static gboolean
is_told (AdjDocument *document, const char *text, const char *place)
{
  GListModel *log = G_LIST_MODEL (adj_document_get_log (document));

  if (place == NULL || strstr (text, place) != NULL)
    return TRUE;
  for (guint i = 0; i < g_list_model_get_n_items (log); i++)
    {
      g_autoptr (AdjLogItem) item = g_list_model_get_item (log, i);

      if (strstr (adj_log_item_get_text (item), place) != NULL)
        return TRUE;
    }
  return FALSE;
}

/* @file: name of the file; @place: (nullable): place that the bar names */
static void
check (AdjWindow *window, const char *file, Outcome outcome, const char *place)
{
  AdjDocument *document = adj_window_get_document (window);
  const GError *error = adj_document_get_error (document);
  GtkInfoBar *bar = GTK_INFO_BAR (adj_walk_find_mapped (GTK_WIDGET (window), GTK_TYPE_INFO_BAR));
  GtkWidget *page = adj_walk_find_mapped (GTK_WIDGET (window), ADW_TYPE_STATUS_PAGE);
  const char *text;

  g_assert_nonnull (bar);
  text =
      error != NULL
          ? error->message
          : gtk_label_get_text (GTK_LABEL (adj_walk_find (GTK_WIDGET (bar), GTK_TYPE_LABEL, NULL)));
  g_test_message ("%s: %s", file, text);
  /* The message is shown once: on the page if nothing can be shown, else in the bar. */
  g_assert_cmpint (gtk_info_bar_get_revealed (bar), ==, outcome == PARTIAL);
  if (outcome != FINE)
    {
      /* The message is one line that names the file. */
      g_assert_nonnull (strstr (text, file));
      g_assert_null (strchr (text, '\n'));
      g_assert_true (is_told (document, text, place));
    }
  if (outcome == BAD)
    {
      g_assert_nonnull (error);
      g_assert_null (adj_document_get_scene (document));
      g_assert_nonnull (page);
      g_assert_nonnull (adj_walk_find (page, GTK_TYPE_LABEL, error->message));
      g_assert_true (g_action_group_get_action_enabled (G_ACTION_GROUP (window), "copy-details"));
      return;
    }
  g_assert_no_error (error);
  g_assert_nonnull (adj_document_get_scene (document));
  if (outcome == PARTIAL)
    g_assert_cmpint (gtk_info_bar_get_message_type (bar), ==, GTK_MESSAGE_WARNING);
}

/* A window with a good graph in its first tab. */
static AdjWindow *
open_window (void)
{
  return adj_walk_open_graph (application, "graphs/mlp.adjoint", "joint");
}

/* The window stays usable: the damaged file is closed, and the graph in the other tab can be
 * used. */
static void
check_usable (AdjWindow *window)
{
  AdwTabView *tabs = ADW_TAB_VIEW (adj_walk_find (GTK_WIDGET (window), ADW_TYPE_TAB_VIEW, NULL));
  AdjDocument *document;

  g_assert_cmpint (adw_tab_view_get_n_pages (tabs), ==, 2);
  g_action_group_activate_action (G_ACTION_GROUP (window), "close-tab", NULL);
  adj_walk_settle (window);
  g_assert_cmpint (adw_tab_view_get_n_pages (tabs), ==, 1);
  document = adj_window_get_document (window);
  adj_document_set_selected (document, ADJ_NO_NODE);
  g_assert_true (adj_walk_select (window, "gelu"));
  g_assert_nonnull (adj_document_get_scene (document));
}

/* Opens a valid file. */
static void
end (AdjWindow *window)
{
  g_autofree char *good = adj_test_data_path ("graphs/gpt2.adjoint");

  g_assert_true (adj_walk_open (window, good));
  check (window, "gpt2.adjoint", FINE, NULL);
  check_usable (window);
  adj_walk_close (window);
}

static void
test_rows (void)
{
  AdjWindow *window = open_window ();

  for (guint row = 0; row < G_N_ELEMENTS (rows); row++)
    {
      g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
      g_autofree char *path = write_row (row, folder);

      g_assert_true (adj_walk_open (window, path));
      adj_walk_settle (window);
      check (window, rows[row].name, rows[row].outcome, NULL);
      check_usable (window);
    }
  end (window);
}

/* The rows of a list of damaged files.  A place, such as "a.log:6:1", precedes the severity of
 * the remark. */
static void
test_list (gconstpointer data)
{
  const AdjBadList *list = data;
  AdjWindow *window = open_window ();

  for (guint i = 0; i < list->n; i++)
    {
      const AdjBadFile *file = &list->files[i];
      g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
      g_autofree char *path = adj_bad_file_write (file, folder->path);
      const char *end = file->remark != NULL ? strstr (file->remark, ": warning") : NULL;
      g_autofree char *place =
          end != NULL ? g_strndup (file->remark, (gsize) (end - file->remark)) : NULL;
      Outcome outcome = file->status != 0 ? BAD : file->remark != NULL ? PARTIAL : FINE;

      g_test_message ("%s", file->what);
      g_assert_true (adj_walk_open (window, path));
      adj_walk_settle (window);
      check (window, file->name, outcome, outcome == BAD ? file->out : place);
      check_usable (window);
    }
  end (window);
}

typedef struct
{
  char *text;
} Said;

static void
on_remark (AdjDocument *document, const char *text, Said *said)
{
  g_free (said->text);
  said->text = g_strdup (text);
}

/* Runs the shown graph on the tensors of a row. */
static void
run_on (AdjWindow *window, const AdjBadFile *file, const char *path)
{
  AdjDocument *document = adj_window_get_document (window);
  AdjRunChoice choice = adj_document_get_run_choice (document);
  Said said = { NULL };

  choice.file = g_intern_string (path);
  adj_document_set_run_choice (document, choice);
  g_signal_connect (document, "remark", G_CALLBACK (on_remark), &said);
  g_assert_true (adj_walk_run (window, "win.run"));
  g_test_message ("%s: %s", file->what, said.text);
  if (file->status == 0)
    g_assert_nonnull (adj_document_get_evaluation (document));
  else
    {
      g_assert_null (adj_document_get_evaluation (document));
      g_assert_nonnull (said.text);
      g_assert_nonnull (strstr (said.text, file->out));
      g_assert_null (strchr (said.text, '\n'));
      /* The window shows the message too. */
      g_assert_nonnull (adj_walk_find (GTK_WIDGET (window), GTK_TYPE_LABEL, said.text));
    }
  g_signal_handlers_disconnect_by_data (document, &said);
  g_free (said.text);
}

/* Damaged files of tensors as inputs of a run. */
static void
test_tensors (void)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 800);
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  const AdjBadFile *before = NULL;

  for (guint i = 0; i < adj_bad_tensors.n; i++)
    {
      const AdjBadFile *file = &adj_bad_tensors.files[i];
      g_autofree char *text = adj_bad_file_taker (file);
      g_autofree char *path = adj_bad_file_write (file, folder->path);

      /* A failed run keeps the values of the previous run. */
      if (before == NULL || before->status == 0 || !g_str_equal (file->takes, before->takes))
        {
          g_autofree char *name = g_strdup_printf ("%u.txt", i);
          g_autofree char *graph = g_build_filename (folder->path, name, NULL);

          g_assert_true (g_file_set_contents (graph, text, -1, NULL));
          g_assert_true (adj_walk_open (window, graph));
          adj_walk_settle (window);
        }
      run_on (window, file, path);
      before = file;
    }
  adj_walk_close (window);
}

int
main (int argc, char *argv[])
{
  application = adj_walk_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  g_test_add_func ("/ui/bad-input/rows", test_rows);
  for (guint i = 0; adj_bad_lists[i] != NULL; i++)
    {
      g_autofree char *path = g_strconcat ("/ui/bad-input/", adj_bad_lists[i]->name, NULL);

      g_test_add_data_func (path, adj_bad_lists[i], test_list);
    }
  g_test_add_func ("/ui/bad-input/safetensors", test_tensors);
  return g_test_run ();
}
