/* SPDX-License-Identifier: MIT */
/* A message of a console with a graph: it begins with a heading such as " ===== Joint graph 0
 * =====", then comes the text of the module, or a line for each node below "graph():". */

#include <string.h>

#include "formats/console-message-private.h"
#include "formats/log-lines-private.h"
#include "formats/log-roles-private.h"

static const struct
{
  const char *heading; /* between "=====" and "=====", without a number behind it */
  gboolean goes_on;    /* something else may stand behind it */
  const char *role;
} headings[] = {
  { "Joint graph", FALSE, "joint" },
  { "Forward graph", FALSE, "forward" },
  { "Backward graph", FALSE, "backward" },
  { "Compiled autograd graph", FALSE, "compiled_autograd" },
  { "__compiled_fn", TRUE, "dynamo" },
  { "pre insert_deferred_runtime_asserts", TRUE, "before_asserts" },
  { "tensorify_python_scalars", FALSE, "tensorified" },
  { "BEFORE PRE GRAD", FALSE, "pre_grad" },
  { "AFTER POST GRAD", FALSE, "post_grad" },
};

struct _ConsoleMessage
{
  Regions *regions;
  const char *name; /* of the file */
  RegionKey key;
  char *role;           /* (owned) of the last heading; %NULL: none */
  gboolean has_heading; /* the next line is one, whatever it says */
  GString *text;        /* (owned) of the module; empty while no "class" line was seen */
  guint line;           /* where it began */
  gboolean is_shown;    /* it was finished as far as it had come, and nothing else began */
  guint n_compiled_autograd;
  GPtrArray *reasons; /* (owned) why the graph that comes next was captured */
  char *source;       /* (owned) what stood before "class": "<eval_with_key>.2 " */
  char *captured;     /* (owned) (nullable) that of the last graph of compiled autograd */
  gint process;       /* of those of the rank: each began anew, in this file or in another */
  GHashTable *processes;
};

static void
begin_process (ConsoleMessage *message, gint rank)
{
  gpointer key = GINT_TO_POINTER (rank);

  message->process = GPOINTER_TO_INT (g_hash_table_lookup (message->processes, key));
  g_hash_table_insert (message->processes, key, GINT_TO_POINTER (message->process + 1));
}

ConsoleMessage *
console_message_new (Regions *regions, const char *name, gint rank, GHashTable *processes)
{
  ConsoleMessage *message = g_new0 (ConsoleMessage, 1);

  message->regions = regions;
  message->name = name;
  message->text = g_string_new (NULL);
  message->reasons = g_ptr_array_new_with_free_func (g_free);
  message->processes = processes;
  begin_process (message, rank);
  return message;
}

void
console_message_free (ConsoleMessage *message)
{
  g_free (message->role);
  g_string_free (message->text, TRUE);
  g_ptr_array_unref (message->reasons);
  g_free (message->source);
  g_free (message->captured);
  g_free (message);
}

/* Dynamo graphs of a compile id come once, unless it was reset. */
static void
choose_process (ConsoleMessage *message, const char *role)
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
take_captured (ConsoleMessage *message)
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

gboolean
console_message_finish (ConsoleMessage *message, GError **error)
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
  g_clear_pointer (&message->role, g_free);
  return done;
}

/* "===== Forward graph 0 =====" → "Forward graph".  (transfer full) (nullable) */
static char *
name_in_heading (const char *content)
{
  static const char mark[] = "===== ";
  const char *at = strstr (content, mark), *end;
  g_autofree char *name = NULL;
  char *number;

  if (at == NULL)
    return NULL;
  at += strlen (mark);
  end = strstr (at, " =====");
  name = end != NULL ? g_strndup (at, (gsize) (end - at)) : g_strdup (at);
  number = strrchr (name, ' ');
  if (number != NULL && number[1 + strspn (number + 1, "0123456789")] == '\0')
    *number = '\0';
  return *name != '\0' ? g_steal_pointer (&name) : NULL;
}

/* What a heading says, also "---submod_0 graph---" of those that DDP splits; one that is not known
 * is taken by its own name where a heading must come.  (transfer full) (nullable) */
static char *
role_in_heading (const ConsoleMessage *message, const char *content)
{
  g_autofree char *name = name_in_heading (content);

  if (g_str_has_prefix (content, "---") && g_str_has_suffix (content, " graph---"))
    return g_strdup ("ddp_split");
  for (guint i = 0; name != NULL && i < G_N_ELEMENTS (headings); i++)
    if (headings[i].goes_on ? g_str_has_prefix (name, headings[i].heading)
                            : g_str_equal (name, headings[i].heading))
      return g_strdup (headings[i].role);
  return name != NULL && message->has_heading ? log_role_of_name (name) : NULL;
}

/* All lines of a module are indented but the first. */
static gboolean
ends_module (const char *content)
{
  return (*content != ' ' && *content != '\0') || log_line_begins_nodes (content);
}

gboolean
console_message_take (ConsoleMessage *message,
                      const char *content,
                      const RegionKey *key,
                      guint number,
                      GError **error)
{
  static const char metadata[] = "fw_metadata=";
  g_autofree char *role = role_in_heading (message, content);
  gboolean is_traced = strcmp (content, "TRACED GRAPH") == 0;
  const char *known = strstr (content, metadata), *module;
  gboolean has_lines = log_line_begins_nodes (content);
  gboolean begins;

  message->has_heading = is_traced;
  if (known != NULL && g_str_has_prefix (content, "aot_config id: ") && key->frame >= 0)
    {
      RegionKey of = *key;

      of.process = message->process;
      if (!console_message_finish (message, error))
        return FALSE;
      regions_set_metadata (message->regions, &of, known + strlen (metadata));
      return TRUE;
    }
  if (g_str_has_prefix (content, "Cache miss due to "))
    {
      if (!console_message_finish (message, error))
        return FALSE;
      g_ptr_array_add (message->reasons, g_strdup (content));
      return TRUE;
    }
  if (is_traced || role != NULL)
    {
      if (!console_message_finish (message, error))
        return FALSE;
      g_free (message->role);
      message->role = g_steal_pointer (&role);
      message->key = *key;
      return TRUE;
    }
  if (ends_module (content) && message->text->len > 0 && !console_message_finish (message, error))
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
gboolean
console_message_take_own (ConsoleMessage *message, const char *line, guint number, GError **error)
{
  static const RegionKey key = { -1, -1, -1, -1, 0, 0 };
  gboolean begins = g_str_has_prefix (line, "class ") || log_line_begins_nodes (line);

  if (ends_module (line) && !console_message_finish (message, error))
    return FALSE;
  return (!begins && message->text->len == 0) ||
         console_message_take (message, line, &key, number, error);
}

guint
console_message_get_line (const ConsoleMessage *message)
{
  return message->text->len > 0 ? message->line : 0;
}

/* Whether the last line of @text returns from a module, as the last of the outermost does. */
static gboolean
ends_with_return (const char *text)
{
  const char *end = text + strlen (text), *line;

  while (end > text && g_ascii_isspace (end[-1]))
    end--;
  line = end;
  while (line > text && line[-1] != '\n')
    line--;
  return g_str_has_prefix (line + strspn (line, " "), "return");
}

gboolean
console_message_show (ConsoleMessage *message, GError **error)
{
  if (message->text->len == 0 || !ends_with_return (message->text->str))
    return TRUE;
  message->is_shown = TRUE;
  return console_message_finish (message, error);
}

gboolean
console_message_goes_on (ConsoleMessage *message, const char *content)
{
  gsize depth = strspn (content, " ");
  gboolean is_blank = content[depth] == '\0';
  gboolean goes_on = message->is_shown && depth >= 4 && !is_blank;

  message->is_shown &= is_blank;
  return goes_on;
}
