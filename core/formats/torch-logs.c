/* SPDX-License-Identifier: MIT */
/* What TORCH_LOGS=graph_code,aot_graphs,… writes to a console, saved or pasted (formats/SPEC.md
 * §3).
 *
 * Every line of a message carries "I1120 10:34:57.280000 27000 path:404] [0/0] [__aot_graphs] ";
 * a message with a graph begins with a heading such as " ===== Joint graph 0 =====", then comes
 * the text of the module, or a line for each node below "graph():".  The program's own output may
 * stand between the lines. */

#include <gio/gio.h>
#include <string.h>

#include "base/adj-file-internal.h"
#include "formats/entries-private.h"
#include "formats/log-envelopes-private.h"
#include "formats/log-files-private.h"
#include "formats/log-lines-private.h"
#include "formats/regions-private.h"
#include "formats/text-formats-private.h"

#define DESCRIPTION "TORCH_LOGS console: graphs as text, without recorded values"
#define MAX_BYTES (256 << 20)
#define MAX_STAMP 512 /* what may stand before the prefix */

static const struct
{
  const char *heading; /* what it begins with, behind "=====" */
  const char *role;
} headings[] = {
  { "Joint graph", "joint" },
  { "Forward graph", "forward" },
  { "Backward graph", "backward" },
  { "Compiled autograd graph", "compiled_autograd" },
  { "__compiled_fn", "dynamo" },
  { "pre insert_deferred_runtime_asserts", "before_asserts" },
  { "tensorify_python_scalars", "tensorified" },
};

/* The message that is being collected: of one rank, since the lines of several may alternate, or of
 * what the program itself printed. */
typedef struct
{
  Regions *regions;
  const char *name; /* of the file */
  RegionKey key;
  const char *role; /* of the last heading; %NULL: none */
  GString *text;    /* (owned) of the module; empty while no "class" line was seen */
  guint line;       /* where it began */
  guint n_compiled_autograd;
  GPtrArray *reasons; /* (owned) why the graph that comes next was captured */
  char *source;       /* (owned) what stood before "class": "<eval_with_key>.2 " */
  char *captured;     /* (owned) (nullable) that of the last graph of compiled autograd */
  gint process;       /* of those of the rank: each began anew, in this file or in another */
  GHashTable *processes;
} Message;

#define OWN_OUTPUT (-2) /* in the place of a rank */

static void
message_free (Message *message)
{
  g_string_free (message->text, TRUE);
  g_ptr_array_unref (message->reasons);
  g_free (message->source);
  g_free (message->captured);
  g_free (message);
}

typedef struct
{
  Regions *regions;
  const char *name;      /* of the file */
  gint rank;             /* that the name of the file says; -1 */
  GHashTable *messages;  /* rank → Message */
  GHashTable *processes; /* rank → how many there were of it, of all files */
} Console;

static void
begin_process (Message *message, gint rank)
{
  gpointer key = GINT_TO_POINTER (rank);

  message->process = GPOINTER_TO_INT (g_hash_table_lookup (message->processes, key));
  g_hash_table_insert (message->processes, key, GINT_TO_POINTER (message->process + 1));
}

static Message *
message_of (Console *console, gint rank)
{
  Message *message = g_hash_table_lookup (console->messages, GINT_TO_POINTER (rank));

  if (message != NULL)
    return message;
  message = g_new0 (Message, 1);
  message->regions = console->regions;
  message->name = console->name;
  message->text = g_string_new (NULL);
  message->reasons = g_ptr_array_new_with_free_func (g_free);
  message->processes = console->processes;
  begin_process (message, rank);
  g_hash_table_insert (console->messages, GINT_TO_POINTER (rank), message);
  return message;
}

/* The number at @at, which is passed.  (sscanf() would measure the rest of the line each time.) */
static gboolean
take_number (const char **at, gint *out)
{
  char *end;
  gint64 number = g_ascii_isdigit (**at) ? g_ascii_strtoll (*at, &end, 10) : -1;

  if (number < 0 || number > G_MAXINT)
    return FALSE;
  *at = end;
  *out = (gint) number;
  return TRUE;
}

/* "[0/0]", "[0/0_1]", "[!2/0/0]" and "[!2]": a compile id; other tags say nothing of it. */
static void
read_tag (const char *tag, RegionKey *key)
{
  gint id, frame, compile, attempt = 0;
  const char *rest = tag + 1;

  if (*rest == '!')
    {
      rest++;
      if (!take_number (&rest, &id))
        return;
      key->compiled_autograd = id;
      rest += *rest == '/';
    }
  if (!take_number (&rest, &frame) || *rest++ != '/' || !take_number (&rest, &compile))
    return;
  if (*rest == '_')
    {
      rest++;
      take_number (&rest, &attempt);
    }
  key->frame = frame;
  key->compile = compile;
  key->attempt = attempt;
}

/* "[rank3]" */
static void
read_rank (const char *tag, RegionKey *key)
{
  static const char head[] = "[rank";
  const char *rest = tag + strlen (head);
  gint rank;

  if (g_str_has_prefix (tag, head) && take_number (&rest, &rank))
    key->rank = rank;
}

/* "[0/0] [__aot_graphs] ": one blank after the last tag belongs to it. */
static const char *
skip_tags (const char *at, RegionKey *key)
{
  while (*at == '[')
    {
      const char *end = strstr (at, "] ");

      read_tag (at, key);
      at = end != NULL ? end + 2 : at + strlen (at);
    }
  return at;
}

/* What the line says: behind "V0302 09:15:01.004000 4711 path:27] [0/0] [__aot_graphs] " or, until
 * 2.2, "[2023-10-05 09:15:01,004] [0/0] module: [DEBUG] ".  "[rank3]:" and what collectors add may
 * stand before it.  %NULL when the line is no message. */
static const char *
skip_prefix (const char *line, RegionKey *key)
{
  const char *end;

  *key = (RegionKey){ -1, -1, -1, -1, 0, 0 };
  for (guint i = 0; i < MAX_STAMP && line[i] != '\0'; i++)
    {
      read_rank (line + i, key);
      if (log_line_has_shape (line + i, "V0000 00:00:00.000000 "))
        {
          end = strstr (line + i, "] ");
          return end != NULL ? skip_tags (end + 2, key) : NULL;
        }
      if (log_line_has_shape (line + i, "[0000-00-00 00:00:00,000] "))
        {
          end = strstr (skip_tags (line + i + strlen ("[0000-00-00 00:00:00,000] "), key), ": [");
          end = end != NULL ? strstr (end + 2, "] ") : NULL;
          return end != NULL ? end + 2 : NULL;
        }
    }
  return NULL;
}

/* Dynamo graphs of a compile id come once, unless it was reset. */
static void
choose_process (Message *message, const char *role)
{
  gboolean is_first = strcmp (role, "before_asserts") == 0;

  message->key.process = message->process;
  if (message->key.frame >= 0 && (is_first || strcmp (role, "dynamo") == 0) &&
      (regions_has_graph (message->regions, &message->key, "-dynamo") ||
       (is_first && regions_has_graph (message->regions, &message->key, "-before_asserts"))))
    {
      begin_process (message, message->key.rank);
      message->key.process = message->process;
    }
}

/* Whether a graph of compiled autograd is new: where both of its channels write, each graph stands
 * there twice, under the name of one generated source. */
static gboolean
take_captured (Message *message)
{
  if (message->reasons->len == 0 && *message->source != '\0' &&
      g_strcmp0 (message->captured, message->source) == 0)
    return FALSE;
  g_free (message->captured);
  message->captured = g_strdup (message->source);
  if (message->key.frame < 0 && message->key.compiled_autograd < 0)
    message->key.compiled_autograd = message->n_compiled_autograd++;
  for (guint i = 0; i < message->reasons->len; i++)
    regions_add_reason (message->regions, &message->key, message->reasons->pdata[i]);
  g_ptr_array_set_size (message->reasons, 0);
  return TRUE;
}

static gboolean
finish (Message *message, GError **error)
{
  gboolean done = TRUE;

  if (message->text->len > 0)
    {
      gboolean is_lambda = strstr (message->text->str, "class <lambda>") != NULL;
      const char *role = message->role != NULL ? message->role : "user";

      if (is_lambda && strcmp (role, "forward") == 0)
        role = "inference";
      choose_process (message, role);
      if (strcmp (role, "compiled_autograd") != 0 || take_captured (message))
        done = regions_add_graph (message->regions, &message->key, role, message->text->str,
                                  message->name, message->line, error);
    }
  g_string_truncate (message->text, 0);
  message->role = NULL;
  return done;
}

/* What a heading says, also "---submod_0 graph---" of those that DDP splits. */
static const char *
role_in_heading (const char *content)
{
  const char *at = strstr (content, "===== ");

  if (g_str_has_prefix (content, "---") && g_str_has_suffix (content, " graph---"))
    return "ddp_split";
  for (guint i = 0; at != NULL && i < G_N_ELEMENTS (headings); i++)
    if (g_str_has_prefix (at + strlen ("===== "), headings[i].heading))
      return headings[i].role;
  return NULL;
}

static gboolean
take_line (
    Message *message, const char *content, const RegionKey *key, guint number, GError **error)
{
  static const char metadata[] = "fw_metadata=";
  const char *role = role_in_heading (content);
  const char *known = strstr (content, metadata), *module;
  gboolean has_lines = log_line_begins_nodes (content);
  gboolean begins;

  if (known != NULL && g_str_has_prefix (content, "aot_config id: ") && key->frame >= 0)
    {
      RegionKey of = *key;

      of.process = message->process;
      if (!finish (message, error))
        return FALSE;
      regions_set_metadata (message->regions, &of, known + strlen (metadata));
      return TRUE;
    }
  if (g_str_has_prefix (content, "Cache miss due to "))
    {
      if (!finish (message, error))
        return FALSE;
      g_ptr_array_add (message->reasons, g_strdup (content));
      return TRUE;
    }
  if (strcmp (content, "TRACED GRAPH") == 0 || role != NULL)
    {
      if (!finish (message, error))
        return FALSE;
      message->role = role;
      message->key = *key;
      return TRUE;
    }
  if (has_lines && message->text->len > 0 && !finish (message, error))
    return FALSE;
  begins = message->text->len == 0 && (has_lines || strstr (content, "(torch.nn.Module):") != NULL);
  if (begins)
    {
      message->line = number;
      message->key = *key;
      module = has_lines ? content : g_strrstr (content, "class ");
      g_free (message->source);
      message->source = g_strndup (content, module != NULL ? (gsize) (module - content) : 0);
      content = module;
    }
  if ((begins || message->text->len > 0) && content != NULL)
    g_string_append_printf (message->text, "%s\n", content);
  return TRUE;
}

/* A module that the program printed beside its messages: up to the first line that is not indented.
 */
static gboolean
take_own_line (Message *message, const char *line, guint number, GError **error)
{
  static const RegionKey key = { -1, -1, -1, -1, 0, 0 };
  gboolean begins = g_str_has_prefix (line, "class ") || log_line_begins_nodes (line);

  if ((begins || (*line != ' ' && *line != '\0')) && !finish (message, error))
    return FALSE;
  return (!begins && message->text->len == 0) || take_line (message, line, &key, number, error);
}

/* What the program printed ends before the next message. */
static gboolean
take_any_line (Console *console, const char *line, guint number, GError **error)
{
  Message *own = message_of (console, OWN_OUTPUT);
  RegionKey key;
  const char *content = skip_prefix (line, &key);

  if (content == NULL)
    return take_own_line (own, line, number, error);
  if (key.rank < 0)
    key.rank = console->rank;
  return (own->text->len == 0 || finish (own, error)) &&
         take_line (message_of (console, key.rank), content, &key, number, error);
}

static gint
by_line (gconstpointer a, gconstpointer b)
{
  const Message *x = a, *y = b;

  return x->line < y->line ? -1 : x->line > y->line;
}

static gboolean
finish_all (Console *console, GError **error)
{
  g_autoptr (GList) messages = g_list_sort (g_hash_table_get_values (console->messages), by_line);

  for (const GList *at = messages; at != NULL; at = at->next)
    if (!finish (at->data, error))
      return FALSE;
  return TRUE;
}

static gboolean
read_lines (Console *console, char *text, GCancellable *cancellable, GError **error)
{
  guint number = 0;
  char *next;

  for (char *line = text; line != NULL; line = next)
    {
      next = strchr (line, '\n');
      if (next != NULL)
        *next++ = '\0';
      number++;
      line[strcspn (line, "\r")] = '\0';
      if (g_cancellable_set_error_if_cancelled (cancellable, error) ||
          !take_any_line (console, line, number, error))
        return FALSE;
    }
  return finish_all (console, error);
}

static Console *
console_new (void)
{
  Console *console = g_new0 (Console, 1);

  console->regions = regions_new ();
  console->processes = g_hash_table_new (NULL, NULL);
  return console;
}

static void
console_free (Console *console)
{
  regions_free (console->regions);
  g_hash_table_unref (console->processes);
  g_free (console);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Console, console_free)

static gboolean
check_size (const char *path, gsize length, GError **error)
{
  if (length <= MAX_BYTES)
    return TRUE;
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT,
               "%s: %" G_GSIZE_FORMAT " bytes of a console, more than %d", path, length, MAX_BYTES);
  return FALSE;
}

/* Takes all of one file, which is called @name. */
static gboolean
read_console (Console *console,
              GBytes *bytes,
              const char *path,
              const char *name,
              GCancellable *cancellable,
              GError **error)
{
  g_autoptr (GHashTable) messages =
      g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) message_free);
  g_autofree char *valid = NULL;
  gsize length;
  const char *raw = text_of_bytes (bytes, &length);

  if (!check_size (path, length, error))
    return FALSE;
  valid = g_utf8_make_valid (raw, (gssize) length);
  console->name = name;
  console->rank = log_file_rank (path);
  console->messages = messages;
  return read_lines (console, valid, cancellable, error);
}

static AdjBundle *
load_bytes (GBytes *bytes, const char *title, GCancellable *cancellable, GError **error)
{
  g_autoptr (Console) console = console_new ();
  g_autoptr (GBytes) open = log_envelopes_open (bytes);
  g_autofree char *name = g_path_get_basename (title);

  return read_console (console, open, title, name, cancellable, error)
             ? regions_make_bundle (console->regions, title, DESCRIPTION, error)
             : NULL;
}

/* @root: the folder that is read, or the file itself */
static gboolean
read_file (
    Console *console, const char *root, const char *path, GCancellable *cancellable, GError **error)
{
  g_autoptr (GBytes) bytes = log_file_read (path, 0, cancellable, error);

  return bytes != NULL &&
         read_console (console, bytes, path, log_file_name_in (root, path), cancellable, error);
}

static AdjBundle *
load (const char *path, GCancellable *cancellable, GError **error)
{
  g_autoptr (Console) console = console_new ();
  g_autoptr (GPtrArray) files = log_files_of (path, FALSE, log_lines_have_message, error);

  if (files == NULL)
    return NULL;
  if (files->len > 1)
    regions_name_files (console->regions);
  for (guint i = 0; i < files->len; i++)
    if (!read_file (console, path, files->pdata[i], cancellable, error))
      return NULL;
  return regions_make_bundle (console->regions, path, DESCRIPTION, error);
}

static guint
sniff (const guint8 *head, gsize length, const char *path)
{
  g_autofree char *text = log_envelopes_open_head (head, length);

  if (g_file_test (path, G_FILE_TEST_IS_DIR))
    {
      g_autoptr (GPtrArray) files = log_files_of (path, FALSE, log_lines_have_message, NULL);

      return files != NULL && files->len > 0 ? 50 : 0;
    }
  return log_lines_have_message (text) ? 85 : 0;
}

const AdjFormat adj_format_torch_logs = {
  .name = "torch-logs",
  .summary = "console output of TORCH_LOGS, saved or pasted, or a folder with one for each process",
  .extensions = ".txt .log",
  .sniff = sniff,
  .load = load,
  .load_bytes = load_bytes,
};
