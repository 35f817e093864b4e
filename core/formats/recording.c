/* SPDX-License-Identifier: MIT */
/* Reads and writes recording.json: the stages of a trace with notes, times and origins. */

#include "formats/json-private.h"
#include "formats/recording-private.h"
#include "ir/adj-builder.h"
#include "ir/adj-graph.h"

#define MAX_STAGES 4096
#define MAX_NOTES ADJ_MAX_NODES
#define MAX_STEPS 256

/* -- reading -- */

static gboolean
read_node (
    const JsonReader *json, const JsonItem *item, AdjGraph *graph, AdjNodeId *out, GError **error)
{
  *out = ADJ_NO_NODE;
  if (item->kind == JSON_NULL)
    return TRUE;
  if (item->kind == JSON_INT && item->integer >= 0 && graph != NULL &&
      item->integer < adj_graph_get_n_nodes (graph))
    {
      out->index = (guint32) item->integer;
      return TRUE;
    }
  json_fail (json, item, error, "a stage names a node that is not there");
  return FALSE;
}

static gboolean
read_notes (const JsonReader *json,
            const JsonItem *list,
            AdjGraph *before,
            AdjGraph *after,
            GArray *notes,
            GError **error)
{
  if (list == NULL)
    return TRUE;
  if (list->kind != JSON_ARRAY || list->n > MAX_NOTES)
    {
      json_fail (json, list, error, "\"notes\" must be an array of at most %u", MAX_NOTES);
      return FALSE;
    }
  for (guint i = 0; i < list->n; i++)
    {
      const JsonItem *item = &list->items[i];
      AdjPassNote note;

      if (item->kind != JSON_ARRAY || item->n != 3 || item->items[2].kind != JSON_STRING)
        {
          json_fail (json, item, error, "a note is [node before, node after, reason]");
          return FALSE;
        }
      if (!read_node (json, &item->items[0], before, &note.before, error) ||
          !read_node (json, &item->items[1], after, &note.after, error))
        return FALSE;
      note.reason = (char *) item->items[2].text;
      g_array_append_val (notes, note);
    }
  return TRUE;
}

static gboolean
read_steps (const JsonReader *json, const JsonItem *list, GArray *steps, GError **error)
{
  if (list == NULL)
    return TRUE;
  if (list->kind != JSON_ARRAY || list->n > MAX_STEPS)
    {
      json_fail (json, list, error, "\"steps\" must be an array of at most %u", MAX_STEPS);
      return FALSE;
    }
  for (guint i = 0; i < list->n; i++)
    {
      const JsonItem *item = &list->items[i];
      AdjPassStep step;

      if (item->kind != JSON_ARRAY || item->n != 3 || item->items[0].kind != JSON_STRING ||
          item->items[1].kind != JSON_STRING || item->items[2].kind != JSON_INT)
        {
          json_fail (json, item, error, "a step is [name, what it did, nanoseconds]");
          return FALSE;
        }
      step = (AdjPassStep){ (char *) item->items[0].text, (char *) item->items[1].text,
                            item->items[2].integer };
      g_array_append_val (steps, step);
    }
  return TRUE;
}

/* Reads the nodes that are blamed for a failure. */
static gboolean
read_blamed (
    const JsonReader *json, const JsonItem *list, AdjGraph *before, GArray *blamed, GError **error)
{
  if (list == NULL)
    return TRUE;
  if (list->kind != JSON_ARRAY || list->n > MAX_NOTES)
    {
      json_fail (json, list, error, "\"blamed\" must be an array of at most %u", MAX_NOTES);
      return FALSE;
    }
  for (guint i = 0; i < list->n; i++)
    {
      AdjNodeId id;

      if (!read_node (json, &list->items[i], before, &id, error))
        return FALSE;
      if (adj_node_id_is_valid (id))
        g_array_append_val (blamed, id);
    }
  return TRUE;
}

static gboolean
read_stage (const JsonReader *json,
            const JsonItem *item,
            const AdjBundle *bundle,
            AdjRecording *recording,
            GError **error)
{
  const char *id = json_get_text (item, "graph");
  const char *failure = json_get_text (item, "failure");
  const char *name = json_get_text (item, "name");
  const char *summary = json_get_text (item, "summary");
  gint64 from = json_get_int (item, "from", -1);
  const AdjBundleGraph *graph = id != NULL ? g_hash_table_lookup (bundle->by_id, id) : NULL;
  g_autoptr (GArray) notes = g_array_new (FALSE, FALSE, sizeof (AdjPassNote));
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (AdjPassStep));
  g_autoptr (GArray) blamed = g_array_new (FALSE, FALSE, sizeof (AdjNodeId));
  AdjGraph *before;
  AdjStage stage = { .name = (char *) name,
                     .summary = (char *) summary,
                     .failure = (char *) failure,
                     .from = (gint) from,
                     .ns = json_get_int (item, "ns", -1) };

  if (name == NULL || (graph == NULL) == (failure == NULL))
    {
      json_fail (json, item, error, "a stage needs a name, and a graph of the file or a failure");
      return FALSE;
    }
  if (from < -1 || from >= (gint64) adj_recording_get_n_stages (recording))
    {
      json_fail (json, item, error, "a stage comes from an earlier one");
      return FALSE;
    }
  stage.graph = graph != NULL ? graph->graph : NULL;
  before = from >= 0 ? adj_recording_get_stage (recording, (guint) from)->graph : NULL;
  if (!read_notes (json, json_get (item, "notes"), before, stage.graph, notes, error) ||
      !read_steps (json, json_get (item, "steps"), steps, error) ||
      !read_blamed (json, json_get (item, "blamed"), before, blamed, error))
    return FALSE;
  stage.n_steps = steps->len;
  stage.steps = (gpointer) steps->data;
  stage.n_blamed = blamed->len;
  stage.blamed = (gpointer) blamed->data;
  stage.n_notes = notes->len;
  stage.notes = (gpointer) notes->data;
  adj_recording_add (recording, &stage);
  return TRUE;
}

gboolean
recording_read (const char *name, GBytes *bytes, AdjBundleBuilder *builder, GError **error)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  g_autoptr (AdjRecording) recording = adj_recording_new ();
  JsonReader json = { .name = name };
  gsize length;
  const char *text = g_bytes_get_data (bytes, &length);
  const JsonItem *root = json_parse (arena, name, text, length, error);
  const JsonItem *stages = root != NULL ? json_get (root, "stages") : NULL;

  if (root == NULL)
    return FALSE;
  if (stages == NULL || stages->kind != JSON_ARRAY || stages->n > MAX_STAGES)
    {
      json_fail (&json, stages != NULL ? stages : root, error,
                 "\"stages\" must be an array of at most %d", MAX_STAGES);
      return FALSE;
    }
  for (guint i = 0; i < stages->n; i++)
    if (!read_stage (&json, &stages->items[i], bundle_builder_peek (builder), recording, error))
      return FALSE;
  adj_bundle_builder_set_recording (builder, recording);
  return TRUE;
}

/* -- writing -- */

static void
put_node (AdjNodeId id, GString *out)
{
  if (adj_node_id_is_valid (id))
    g_string_append_printf (out, "%u", id.index);
  else
    g_string_append (out, "null");
}

static void
put_notes (const AdjStage *stage, GString *out)
{
  g_string_append (out, ", \"notes\": [");
  for (guint i = 0; i < stage->n_notes; i++)
    {
      g_string_append (out, i > 0 ? ",\n[" : "\n[");
      put_node (stage->notes[i].before, out);
      g_string_append (out, ", ");
      put_node (stage->notes[i].after, out);
      g_string_append (out, ", ");
      json_print_string (stage->notes[i].reason, out);
      g_string_append_c (out, ']');
    }
  g_string_append_c (out, ']');
}

static void
put_steps (const AdjStage *stage, GString *out)
{
  g_string_append (out, ", \"steps\": [");
  for (guint i = 0; i < stage->n_steps; i++)
    {
      g_string_append (out, i > 0 ? ",\n[" : "\n[");
      json_print_string (stage->steps[i].name, out);
      g_string_append (out, ", ");
      json_print_string (stage->steps[i].note, out);
      g_string_append_printf (out, ", %" G_GINT64_FORMAT "]", stage->steps[i].ns);
    }
  g_string_append_c (out, ']');
}

static void
put_blamed (const AdjStage *stage, GString *out)
{
  g_string_append (out, ", \"blamed\": [");
  for (guint i = 0; i < stage->n_blamed; i++)
    {
      g_string_append (out, i > 0 ? ", " : "");
      put_node (stage->blamed[i], out);
    }
  g_string_append_c (out, ']');
}

static void
put_text (const char *key, const char *text, GString *out)
{
  if (text == NULL)
    return;
  g_string_append_printf (out, ", \"%s\": ", key);
  json_print_string (text, out);
}

static void
put_stage (const AdjBundle *bundle, const AdjStage *stage, GString *out)
{
  const AdjBundleGraph *entry = adj_bundle_find_entry (bundle, stage->graph);

  g_string_append (out, "{\"name\": ");
  json_print_string (stage->name, out);
  put_text ("summary", stage->summary, out);
  put_text ("graph", entry != NULL ? entry->id : NULL, out);
  put_text ("failure", stage->failure, out);
  if (stage->from >= 0)
    g_string_append_printf (out, ", \"from\": %d", stage->from);
  if (stage->ns >= 0)
    g_string_append_printf (out, ", \"ns\": %" G_GINT64_FORMAT, stage->ns);
  if (stage->n_notes > 0)
    put_notes (stage, out);
  if (stage->n_steps > 0)
    put_steps (stage, out);
  if (stage->n_blamed > 0)
    put_blamed (stage, out);
  g_string_append_c (out, '}');
}

GBytes *
recording_write (const AdjBundle *bundle)
{
  AdjRecording *recording = adj_bundle_get_recording (bundle);
  GString *out;

  if (recording == NULL)
    return NULL;
  out = g_string_new ("{\"stages\": [");
  for (guint i = 0; i < adj_recording_get_n_stages (recording); i++)
    {
      g_string_append (out, i > 0 ? ",\n" : "\n");
      put_stage (bundle, adj_recording_get_stage (recording, i), out);
    }
  g_string_append (out, "\n]}\n");
  return g_string_free_to_bytes (out);
}
