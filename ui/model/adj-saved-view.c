/* SPDX-License-Identifier: MIT */
/* The view of a document, kept in a file between sessions: folds, camera, selection. */

#include "model/adj-saved-view.h"

#include <gio/gio.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#include "base/adj-file-writer.h"

#define GROUP "View"
#define RUN_GROUP "Run"
#define MAX_FOLDS 1000
#define MAX_NOTES (16 << 20)
#define MAX_DEPTH 64

AdjSavedView *
adj_saved_view_new (void)
{
  AdjSavedView *view = g_new0 (AdjSavedView, 1);

  view->arrangement = adj_arrangement_new ();
  return view;
}

void
adj_saved_view_free (AdjSavedView *view)
{
  adj_arrangement_free (view->arrangement);
  g_free (view->graph);
  g_free (view->selected);
  g_free (view);
}

static char *
make_path (GFile *file)
{
  g_autofree char *uri = g_file_get_uri (file);
  g_autofree char *sum = g_compute_checksum_for_string (G_CHECKSUM_SHA256, uri, -1);
  g_autofree char *name = g_strconcat (sum, ".ini", NULL);

  return g_build_filename (g_get_user_data_dir (), "adjoint", "views", name, NULL);
}

/* -- reading: whatever stands there, something sensible comes out -- */

static void
read_folds (GKeyFile *keys, const char *key, GHashTable *set)
{
  gsize n = 0;
  g_auto (GStrv) paths = g_key_file_get_string_list (keys, GROUP, key, &n, NULL);

  for (gsize i = 0; i < MIN (n, MAX_FOLDS); i++)
    g_hash_table_add (set, g_strdup (paths[i]));
}

static void
read_arrangement (GKeyFile *keys, AdjArrangement *arrangement)
{
  g_autofree char *layout = g_key_file_get_string (keys, GROUP, "layout", NULL);
  g_autofree char *coloring = g_key_file_get_string (keys, GROUP, "colour-by", NULL);
  g_autofree char *labeling = g_key_file_get_string (keys, GROUP, "edge-labels", NULL);
  AdjColoring c = adj_coloring_find (coloring);
  AdjLabeling l = adj_labeling_find (labeling);
  int depth = g_key_file_has_key (keys, GROUP, "fold-depth", NULL)
                  ? g_key_file_get_integer (keys, GROUP, "fold-depth", NULL)
                  : -1;

  arrangement->view = g_strcmp0 (layout, "stacked") == 0 ? ADJ_VIEW_STACKED : ADJ_VIEW_MIRROR;
  arrangement->coloring = c < ADJ_N_COLORINGS ? c : ADJ_COLOR_BY_ROLE;
  arrangement->labeling = l < ADJ_N_LABELINGS ? l : ADJ_LABEL_NOTHING;
  arrangement->fold_depth = depth < 0 ? ADJ_FOLD_BY_SIZE : (guint) MIN (depth, 100);
  read_folds (keys, "folded", arrangement->folded);
  read_folds (keys, "unfolded", arrangement->unfolded);
}

static void
read_camera (GKeyFile *keys, AdjSavedView *view)
{
  gsize n = 0;
  g_autofree double *camera = g_key_file_get_double_list (keys, GROUP, "camera", &n, NULL);

  if (n != 3 || !isfinite (camera[0]) || !isfinite (camera[1]) || !(camera[2] > 0.001) ||
      !(camera[2] < 100))
    return;
  view->has_camera = TRUE;
  view->x = camera[0];
  view->y = camera[1];
  view->zoom = camera[2];
}

static AdjSavedView *
read_keys (GKeyFile *keys)
{
  AdjSavedView *view;

  if (!g_key_file_has_group (keys, GROUP))
    return NULL;
  view = adj_saved_view_new ();
  view->graph = g_key_file_get_string (keys, GROUP, "graph", NULL);
  view->selected = g_key_file_get_string (keys, GROUP, "selected", NULL);
  read_arrangement (keys, view->arrangement);
  read_camera (keys, view);
  view->run = adj_run_choice_load (keys, RUN_GROUP);
  return view;
}

AdjSavedView *
adj_saved_view_load (GFile *file)
{
  g_autoptr (GKeyFile) keys = g_key_file_new ();
  g_autofree char *path = make_path (file);

  if (!g_key_file_load_from_file (keys, path, G_KEY_FILE_NONE, NULL))
    return NULL;
  return read_keys (keys);
}

/* Microseconds; 0: unknown. */
static gint64
get_modified (GFile *file)
{
  g_autoptr (GFileInfo) info = g_file_query_info (
      file, G_FILE_ATTRIBUTE_TIME_MODIFIED "," G_FILE_ATTRIBUTE_TIME_MODIFIED_USEC,
      G_FILE_QUERY_INFO_NONE, NULL, NULL);
  g_autoptr (GDateTime) time = info != NULL ? g_file_info_get_modification_date_time (info) : NULL;

  return time != NULL
             ? g_date_time_to_unix (time) * G_USEC_PER_SEC + g_date_time_get_microsecond (time)
             : 0;
}

gboolean
adj_saved_view_is_older (GFile *file)
{
  g_autofree char *path = make_path (file);
  g_autoptr (GFile) kept = g_file_new_for_path (path);

  return get_modified (kept) < get_modified (file);
}

/* -- writing -- */

static void
write_folds (GKeyFile *keys, const char *key, GHashTable *set)
{
  guint n;
  g_autofree char **paths = (char **) g_hash_table_get_keys_as_array (set, &n);

  g_key_file_set_string_list (keys, GROUP, key, (const char *const *) paths, MIN (n, MAX_FOLDS));
}

static void
write_keys (const AdjSavedView *view, GKeyFile *keys)
{
  const AdjArrangement *arrangement = view->arrangement;

  if (view->graph != NULL)
    g_key_file_set_string (keys, GROUP, "graph", view->graph);
  if (view->selected != NULL)
    g_key_file_set_string (keys, GROUP, "selected", view->selected);
  g_key_file_set_string (keys, GROUP, "layout",
                         arrangement->view == ADJ_VIEW_STACKED ? "stacked" : "mirror");
  g_key_file_set_string (keys, GROUP, "colour-by", adj_coloring_name (arrangement->coloring));
  g_key_file_set_string (keys, GROUP, "edge-labels", adj_labeling_name (arrangement->labeling));
  g_key_file_set_integer (keys, GROUP, "fold-depth", (int) arrangement->fold_depth);
  write_folds (keys, "folded", arrangement->folded);
  write_folds (keys, "unfolded", arrangement->unfolded);
  if (view->has_camera)
    {
      double camera[] = { view->x, view->y, view->zoom };

      g_key_file_set_double_list (keys, GROUP, "camera", camera, G_N_ELEMENTS (camera));
    }
  adj_run_choice_save (view->run, keys, RUN_GROUP);
}

gboolean
adj_saved_view_save (const AdjSavedView *view, GFile *file, GError **error)
{
  g_autoptr (GKeyFile) keys = g_key_file_new ();
  g_autofree char *path = make_path (file);
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *text = NULL;
  gsize length;

  if (g_mkdir_with_parents (folder, 0700) < 0)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s cannot be made", folder);
      return FALSE;
    }
  write_keys (view, keys);
  text = g_key_file_to_data (keys, &length, NULL);
  return adj_file_write (path, text, length, ADJ_FILE_LASTING, error);
}

/* -- in the notes of a file: groups are objects, values are texts -- */

/* Limits nesting, as the JSON parser recurses for each level. */
static gboolean
is_shallow (const char *text, gsize length)
{
  gboolean quoted = FALSE;
  guint depth = 0;

  for (gsize i = 0; i < length && depth <= MAX_DEPTH; i++)
    if (text[i] == '\\')
      i++;
    else if (text[i] == '"')
      quoted = !quoted;
    else if (!quoted && (text[i] == '[' || text[i] == '{'))
      depth++;
    else if (!quoted && (text[i] == ']' || text[i] == '}') && depth > 0)
      depth--;
  return depth <= MAX_DEPTH;
}

static JsonNode *
parse_notes (GBytes *notes)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  gsize length = 0;
  const char *text = notes != NULL ? g_bytes_get_data (notes, &length) : NULL;
  JsonNode *root;

  if (text != NULL && length <= MAX_NOTES && is_shallow (text, length) &&
      json_parser_load_from_data (parser, text, (gssize) length, NULL) &&
      JSON_NODE_HOLDS_OBJECT (json_parser_get_root (parser)))
    return json_parser_steal_root (parser);
  root = json_node_new (JSON_NODE_OBJECT);
  json_node_take_object (root, json_object_new ());
  return root;
}

static JsonObject *
group_to_json (GKeyFile *keys, const char *group)
{
  JsonObject *object = json_object_new ();
  g_auto (GStrv) names = g_key_file_get_keys (keys, group, NULL, NULL);

  for (guint i = 0; names[i] != NULL; i++)
    {
      g_autofree char *value = g_key_file_get_value (keys, group, names[i], NULL);

      json_object_set_string_member (object, names[i], value);
    }
  return object;
}

static void
group_from_json (GKeyFile *keys, const char *group, JsonObject *object)
{
  g_autoptr (GList) names = json_object_get_members (object);

  for (GList *l = names; l != NULL; l = l->next)
    {
      const char *value = json_object_get_string_member_with_default (object, l->data, NULL);

      /* A key file takes one line per value. */
      if (value != NULL && *(const char *) l->data != '\0' && strpbrk (value, "\r\n") == NULL)
        g_key_file_set_value (keys, group, l->data, value);
    }
}

GBytes *
adj_saved_view_to_notes (const AdjSavedView *view, GBytes *notes)
{
  g_autoptr (JsonNode) root = parse_notes (notes);
  g_autoptr (GKeyFile) keys = g_key_file_new ();
  JsonObject *groups = json_object_new ();
  g_auto (GStrv) names = NULL;
  char *text;

  write_keys (view, keys);
  g_key_file_remove_key (keys, RUN_GROUP, "file", NULL);
  names = g_key_file_get_groups (keys, NULL);
  for (guint i = 0; names[i] != NULL; i++)
    json_object_set_object_member (groups, names[i], group_to_json (keys, names[i]));
  json_object_set_object_member (json_node_get_object (root), "view", groups);
  text = json_to_string (root, TRUE);
  return g_bytes_new_take (text, strlen (text));
}

AdjSavedView *
adj_saved_view_from_notes (GBytes *notes)
{
  g_autoptr (JsonNode) root = parse_notes (notes);
  g_autoptr (GKeyFile) keys = g_key_file_new ();
  static const char *const names[] = { GROUP, RUN_GROUP };
  JsonNode *view = json_object_get_member (json_node_get_object (root), "view");

  for (guint i = 0; view != NULL && JSON_NODE_HOLDS_OBJECT (view) && i < G_N_ELEMENTS (names); i++)
    {
      JsonNode *group = json_object_get_member (json_node_get_object (view), names[i]);

      if (group != NULL && JSON_NODE_HOLDS_OBJECT (group))
        group_from_json (keys, names[i], json_node_get_object (group));
    }
  g_key_file_remove_key (keys, RUN_GROUP, "file", NULL);
  return read_keys (keys);
}
