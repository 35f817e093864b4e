/* SPDX-License-Identifier: MIT */

/* Readability when zoomed out, and which elements cover others. */

#include <string.h>

#include "support/adj-test.h"
#include "ui/adj-walk.h"

#define LONG_NAME "transformer_encoder_layers_0_self_attn_dropout_forward_output"

static AdjApplication *application;

/* (transfer full): the serialized render nodes of the canvas. */
static char *
paint (AdjWindow *window)
{
  GtkWidget *view = GTK_WIDGET (adj_window_get_view (window));
  g_autoptr (GdkPaintable) paintable = gtk_widget_paintable_new (view);
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  GskRenderNode *node;
  GBytes *bytes;
  gsize n;
  char *text;

  gdk_paintable_snapshot (paintable, snapshot, gtk_widget_get_width (view),
                          gtk_widget_get_height (view));
  node = gtk_snapshot_free_to_node (snapshot);
  bytes = gsk_render_node_serialize (node);
  text = g_strndup (g_bytes_get_data (bytes, &n), g_bytes_get_size (bytes));
  g_bytes_unref (bytes);
  gsk_render_node_unref (node);
  return text;
}

/* Counts glyphs in one line of a serialized node: they are separated by commas; newer versions
 * of GTK write ASCII glyphs together in quotes. */
static guint
count_glyphs (const char *at)
{
  guint n = 1;
  gboolean quoted = FALSE;

  for (; *at != '\n' && *at != '\0'; at++)
    if (*at == '"')
      quoted = !quoted;
    else
      n += quoted || *at == ',';
  return n;
}

/* Returns the number of texts painted at @zoom; @n_letters: all their letters. */
static guint
count_texts (AdjWindow *window, float zoom, guint *n_letters)
{
  AdjCamera camera = { -40, -120, zoom };
  g_autofree char *painted = NULL;
  guint n = 0;

  adj_graph_view_set_camera (adj_window_get_view (window), &camera);
  adj_walk_settle (window);
  painted = paint (window);
  *n_letters = 0;
  for (const char *at = painted; (at = strstr (at, "glyphs: ")) != NULL; n++, at++)
    *n_letters += count_glyphs (at + strlen ("glyphs: "));
  return n;
}

/* Returns the number of cards; @n_letters: letters of their names; @n_called: letters of targets
 * that the name does not contain. */
static guint
count_cards (AdjWindow *window, guint *n_letters, guint *n_called)
{
  const AdjScene *scene = adj_document_get_scene (adj_window_get_document (window));
  guint n = 0;

  *n_letters = *n_called = 0;
  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);
      const char *dot = strstr (box->subtitle, " · ");

      if (box->kind != ADJ_BOX_NODE)
        continue;
      n++;
      *n_letters += (guint) strlen (box->title);
      *n_called += dot != NULL ? (guint) (dot - box->subtitle) : 0;
    }
  return n;
}

/* Names are painted outside of cards that are too small for them; far out there are none. */
static void
test_names (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/mlp.adjoint", "joint");
  guint n_letters, n_called, n_painted;
  guint n = count_cards (window, &n_letters, &n_called);

  g_assert_cmpuint (count_texts (window, 0.27f, &n_painted), >=, n);
  g_assert_cmpuint (n_painted, >=, n_letters);
  g_assert_cmpuint (count_texts (window, 0.22f, &n_painted), >=, n);
  g_assert_cmpuint (count_texts (window, 0.1f, &n_painted), <, n / 2);
  adj_walk_close (window);
}

/* A card whose name is x shows its target even if it has no second line. */
static void
test_operators (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/torch-trace", "dynamo");
  guint n_letters, n_called, n_painted;

  count_cards (window, &n_letters, &n_called);
  g_assert_cmpuint (n_called, >, 10);
  count_texts (window, 0.27f, &n_painted);
  g_assert_cmpuint (n_painted, >=, n_letters + n_called);
  adj_walk_close (window);
}

/* Opens a window on a forward call and its backward, with signs on their cards. */
static AdjWindow *
open_named (const char *name)
{
  g_autofree char *text = g_strdup_printf (
      "class G(torch.nn.Module):\n"
      "    def forward(self, primals_1: \"f32[4][1]cpu\", tangents_1: \"f32[4][1]cpu\"):\n"
      "        %s: \"f32[4][1]cpu\" = torch.ops.aten.sin.default(primals_1)\n"
      "        %s_b: \"f32[4][1]cpu\" = torch.ops.aten.mul.Tensor(tangents_1, %s)\n"
      "        return (%s, %s_b)\n",
      name, name, name, name, name);
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "named.txt", NULL);
  AdjWindow *window = adj_walk_open_window (application, 1280, 800);

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  g_assert_true (adj_walk_open (window, path));
  adj_walk_settle (window);
  return window;
}

/* Also on cards whose names do not fit. */
static void
test_long_names (void)
{
  static const float zooms[] = {
    0.24f, 0.27f, 0.3f, 0.33f, 0.38f, 0.42f, 0.46f, 0.5f, 0.54f, 0.58f
  };
  AdjWindow *window = open_named ("a");
  guint n_short[G_N_ELEMENTS (zooms)], n_letters;

  for (guint i = 0; i < G_N_ELEMENTS (zooms); i++)
    count_texts (window, zooms[i], &n_short[i]);
  adj_walk_close (window);
  window = open_named (LONG_NAME);
  for (guint i = 0; i < G_N_ELEMENTS (zooms); i++)
    {
      count_texts (window, zooms[i], &n_letters);
      g_test_message ("%.2f: %u letters, %u of short names", (double) zooms[i], n_letters,
                      n_short[i]);
      g_assert_cmpuint (n_letters, >=, n_short[i] + 2 * 8);
    }
  adj_walk_close (window);
}

/* The sign of a card is explained as soon as names are painted in cards: besides the two signs
 * there are 7 texts, and 9 from the zoom at which chips have names. */
static void
test_signs (void)
{
  AdjWindow *window = open_named ("a");
  guint n_letters;

  g_assert_cmpuint (count_texts (window, 0.42f, &n_letters), ==, 9);
  g_assert_cmpuint (count_texts (window, 0.55f, &n_letters), ==, 11);
  adj_walk_close (window);
}

int
main (int argc, char **argv)
{
  application = adj_walk_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  g_test_add_func ("/readable/names", test_names);
  g_test_add_func ("/readable/operators", test_operators);
  g_test_add_func ("/readable/long-names", test_long_names);
  g_test_add_func ("/readable/signs", test_signs);
  return g_test_run ();
}
