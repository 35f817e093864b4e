/* SPDX-License-Identifier: MIT */
/* The source file behind a node, if it is the traced version, line by line with its nodes. */

#include "model/adj-source.h"

#include <gio/gio.h>
#include <string.h>

#include "base/adj-arena.h"
#include "ir/adj-graph.h"

#define MAX_FILE_BYTES (4 * 1024 * 1024)

struct _AdjSourceLine
{
  GObject parent_instance;

  guint number;
  char *text;
  gboolean current;
  GArray *nodes; /* (nullable): of guint */
};

G_DEFINE_FINAL_TYPE (AdjSourceLine, adj_source_line, G_TYPE_OBJECT)

static void
adj_source_line_finalize (GObject *object)
{
  AdjSourceLine *self = ADJ_SOURCE_LINE (object);

  g_free (self->text);
  g_clear_pointer (&self->nodes, g_array_unref);

  G_OBJECT_CLASS (adj_source_line_parent_class)->finalize (object);
}

static void
adj_source_line_class_init (AdjSourceLineClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = adj_source_line_finalize;
}

static void
adj_source_line_init (AdjSourceLine *self)
{
}

guint
adj_source_line_get_number (AdjSourceLine *self)
{
  return self->number;
}

const char *
adj_source_line_get_text (AdjSourceLine *self)
{
  return self->text;
}

gboolean
adj_source_line_is_current (AdjSourceLine *self)
{
  return self->current;
}

guint
adj_source_line_get_n_nodes (AdjSourceLine *self)
{
  return self->nodes != NULL ? self->nodes->len : 0;
}

AdjNodeId
adj_source_line_get_node (AdjSourceLine *self, guint index)
{
  return (AdjNodeId){ g_array_index (self->nodes, guint, index) };
}

/* -- what the stack traces hold -- */

typedef struct
{
  const char *code; /* "": no stack trace has the line */
  GArray *nodes;    /* of guint: nodes that this line made */
} Known;

static void
known_free (gpointer data)
{
  Known *known = data;

  g_array_unref (known->nodes);
  g_free (known);
}

static Known *
know (GHashTable *lines, guint number)
{
  Known *known = g_hash_table_lookup (lines, GUINT_TO_POINTER (number));

  if (known == NULL)
    {
      known = g_new0 (Known, 1);
      known->code = "";
      known->nodes = g_array_new (FALSE, FALSE, sizeof (guint));
      g_hash_table_insert (lines, GUINT_TO_POINTER (number), known);
    }
  return known;
}

static GHashTable *
collect_lines (const AdjGraph *graph, const char *file)
{
  GHashTable *lines = g_hash_table_new_full (NULL, NULL, NULL, known_free);

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNodeMeta *meta = &adj_graph_get_node (graph, i)->meta;

      for (guint k = 0; k < meta->n_frames; k++)
        {
          const AdjFrame *frame = &meta->frames[k];
          Known *known;

          if (!g_str_equal (frame->file, file))
            continue;
          known = know (lines, frame->line);
          if (*frame->code != '\0')
            known->code = frame->code;
          if (k + 1 == meta->n_frames)
            g_array_append_val (known->nodes, i);
        }
    }
  return lines;
}

/* -- the file -- */

static char **
read_lines (GFile *file)
{
  g_autoptr (GFileInfo) info = NULL;
  g_autofree char *text = NULL;
  gsize length;

  info = g_file_query_info (file, G_FILE_ATTRIBUTE_STANDARD_SIZE "," G_FILE_ATTRIBUTE_STANDARD_TYPE,
                            G_FILE_QUERY_INFO_NONE, NULL, NULL);
  if (info == NULL || g_file_info_get_file_type (info) != G_FILE_TYPE_REGULAR ||
      g_file_info_get_size (info) > MAX_FILE_BYTES ||
      !g_file_load_contents (file, NULL, &text, &length, NULL, NULL) ||
      !g_utf8_validate_len (text, length, NULL))
    return NULL;
  return g_strsplit (text, "\n", -1);
}

/* Whether the file is the traced version: every line that stack traces quote is in it. */
static gboolean
agrees (char **text, GHashTable *lines)
{
  guint n = g_strv_length (text);
  GHashTableIter iter;
  gpointer number, value;

  g_hash_table_iter_init (&iter, lines);
  while (g_hash_table_iter_next (&iter, &number, &value))
    {
      const Known *known = value;
      guint at = GPOINTER_TO_UINT (number);

      if (*known->code == '\0')
        continue;
      if (at == 0 || at > n || strstr (text[at - 1], known->code) == NULL)
        return FALSE;
    }
  return TRUE;
}

static char **
find_text (const AdjFrame *frame, GFile *folder, GHashTable *lines)
{
  g_autofree char *name = g_path_get_basename (frame->file);
  g_autoptr (GFile) there = g_file_new_for_path (frame->file);
  g_autoptr (GFile) beside = folder != NULL ? g_file_get_child (folder, name) : NULL;
  GFile *places[] = { g_path_is_absolute (frame->file) ? there : NULL, beside };

  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    {
      g_auto (GStrv) text = places[i] != NULL ? read_lines (places[i]) : NULL;

      if (text != NULL && agrees (text, lines))
        return g_steal_pointer (&text);
    }
  return NULL;
}

/* -- putting together -- */

static void
append (GListStore *store, guint number, const char *text, const Known *known, gboolean current)
{
  g_autoptr (AdjSourceLine) line = g_object_new (ADJ_TYPE_SOURCE_LINE, NULL);

  line->number = number;
  line->text = g_strdup (text);
  line->current = current;
  line->nodes = known != NULL ? g_array_ref (known->nodes) : NULL;
  g_list_store_append (store, line);
}

static int
compare_numbers (gconstpointer a, gconstpointer b)
{
  guint x = *(const guint *) a, y = *(const guint *) b;

  return x < y ? -1 : x > y;
}

static GArray *
sorted_numbers (GHashTable *lines)
{
  GArray *numbers = g_array_new (FALSE, FALSE, sizeof (guint));
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, lines);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      guint number = GPOINTER_TO_UINT (key);

      g_array_append_val (numbers, number);
    }
  g_array_sort (numbers, compare_numbers);
  return numbers;
}

void
adj_source_load (const AdjGraph *graph, const AdjFrame *frame, GFile *folder, AdjSource *out)
{
  g_autoptr (GHashTable) lines = collect_lines (graph, frame->file);
  g_auto (GStrv) text = find_text (frame, folder, lines);
  GListStore *store = g_list_store_new (ADJ_TYPE_SOURCE_LINE);

  *out = (AdjSource){ .lines = G_LIST_MODEL (store), .complete = text != NULL };
  if (text != NULL)
    for (guint i = 0; text[i] != NULL; i++)
      append (store, i + 1, text[i], g_hash_table_lookup (lines, GUINT_TO_POINTER (i + 1)),
              i + 1 == frame->line);
  else
    {
      g_autoptr (GArray) numbers = sorted_numbers (lines);
      guint last = 0;

      for (guint i = 0; i < numbers->len; i++)
        {
          guint number = g_array_index (numbers, guint, i);
          const Known *known = g_hash_table_lookup (lines, GUINT_TO_POINTER (number));

          if (i > 0 && number != last + 1)
            append (store, 0, "⋮", NULL, FALSE);
          append (store, number, known->code, known, number == frame->line);
          last = number;
        }
    }
  for (guint i = 0; i < g_list_model_get_n_items (out->lines); i++)
    {
      g_autoptr (AdjSourceLine) line = g_list_model_get_item (out->lines, i);

      if (line->current)
        out->current = i;
    }
}

void
adj_source_clear (AdjSource *source)
{
  g_clear_object (&source->lines);
}

void
adj_source_free (AdjSource *source)
{
  adj_source_clear (source);
  g_free (source);
}

/* -- in another thread -- */

typedef struct
{
  AdjGraph *graph;
  AdjArena *texts;
  AdjFrame frame;
  GFile *folder; /* (nullable) */
} Input;

static void
input_free (gpointer data)
{
  Input *input = data;

  adj_graph_unref (input->graph);
  adj_arena_free (input->texts);
  g_clear_object (&input->folder);
  g_free (input);
}

static gpointer
load (AdjTask *task, GCancellable *cancellable, GError **error)
{
  const Input *input = adj_task_get_input (task);
  AdjSource *source = g_new0 (AdjSource, 1);

  adj_source_load (input->graph, &input->frame, input->folder, source);
  return source;
}

AdjTask *
adj_source_start (
    GObject *owner, AdjGraph *graph, const AdjFrame *frame, GFile *folder, GAsyncReadyCallback done)
{
  Input *input = g_new0 (Input, 1);

  input->graph = adj_graph_ref (graph);
  input->texts = adj_arena_new ();
  input->frame = (AdjFrame){ adj_arena_intern (input->texts, frame->file), frame->line,
                             adj_arena_intern (input->texts, frame->function),
                             adj_arena_intern (input->texts, frame->code) };
  input->folder = folder != NULL ? g_object_ref (folder) : NULL;
  return adj_task_start (owner, ADJ_LOAD_LIGHT, load, input, input_free,
                         (GDestroyNotify) adj_source_free, done);
}
