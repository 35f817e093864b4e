/* SPDX-License-Identifier: MIT */

/* Comments between statements: places in the source, and since PyTorch 2.9 annotations,
 * checkpointing policy and node meta (ir/SPEC.md §5.6). */

#include <string.h>

#include "ir/adj-builder-internal.h"
#include "ir/adj-graph.h"
#include "ir/parse-private.h"
#include "ir/text-private.h"

/* The keys of PyTorch, and ours. */
static const struct
{
  const char *theirs;
  const char *ours;
} keys[] = {
  { "seq_nr", "seq" },
  { "partitioner_tag", "tag" },
  { "original_aten", "aten" },
  { "ac_graph_id", "ac" },
  { "recompute", "recompute" },
  { "custom", "custom" },
  { "is_gradient_acc", "is_gradient_acc" },
  { "desc", "desc" },
  { ADJ_AUTOGRAD_BACKWARD, ADJ_AUTOGRAD_BACKWARD },
};

static const char *
find_key (const char *text, gsize length)
{
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    if (strlen (keys[i].theirs) == length && memcmp (keys[i].theirs, text, length) == 0)
      return keys[i].ours;

  return NULL;
}

AdjValue
adj_description_new (const char *comment, gsize length)
{
  const char *end = comment + length;
  g_autofree char *text = NULL;

  while (comment < end && (*comment == '#' || *comment == ' '))
    comment++;
  while (end > comment && g_ascii_isspace (end[-1]))
    end--;
  text = g_strndup (comment, end - comment);

  return *text ? adj_value_new_string (text) : ADJ_NONE;
}

/* -- Places ---- */

/* Sets the place of the statements that follow.  PyTorch prints a place anew when the whole stack
 * differs, even if it ends in the same line; an extra newline keeps such stacks apart. */
static void
set_stack_trace (AdjModuleReader *module, char *trace)
{
  if (module->stack_trace && g_str_equal (module->stack_trace, trace))
    {
      char *other = g_strconcat (trace, "\n", NULL);

      g_free (trace);
      trace = other;
    }
  g_free (module->stack_trace);
  module->stack_trace = trace;
}

/* The end of the path in `path:12 in name`: its last colon that digits and " in " follow. */
static const char *
find_path_end (const char *start, const char *end)
{
  for (const char *p = end; p-- > start;)
    {
      const char *after = p + 1;

      if (*p != ':')
        continue;
      while (after < end && g_ascii_isdigit (*after))
        after++;
      if (after > p + 1 && (after == end || (end - after > 4 && memcmp (after, " in ", 4) == 0)))
        return p;
    }

  return NULL;
}

/* `path:12 in name, code: source` */
static gboolean
read_place (AdjModuleReader *module, const char *start, const char *end)
{
  static const char middle[] = ", code:";
  const char *code = memmem (start, end - start, middle, strlen (middle));
  const char *path_end, *after;
  g_autofree char *head = NULL;
  g_autofree char *source = NULL;
  guint64 line = 0;

  if (!code)
    return FALSE;
  path_end = find_path_end (start, code);
  if (!path_end || path_end == start)
    return FALSE;

  for (after = path_end + 1; after < code && g_ascii_isdigit (*after); after++)
    line = MIN (line * 10 + (*after - '0'), G_MAXUINT);
  after = after < code ? after + strlen (" in ") : NULL;
  head = g_strdup_printf ("  File \"%.*s\", line %" G_GUINT64_FORMAT ", in %.*s\n    ",
                          (int) (path_end - start), start, line, after ? (int) (code - after) : 9,
                          after ? after : "<unknown>");
  code += strlen (middle);
  code += code < end && *code == ' ';
  source = g_strndup (code, end - code);
  set_stack_trace (module, g_strconcat (head, source, "\n", NULL));

  return TRUE;
}

/* -- Notes ---- */

static gboolean
take_word (const char **at, const char *end, const char *word)
{
  gsize n = strlen (word);

  if ((gsize) (end - *at) < n || memcmp (*at, word, n) != 0)
    return FALSE;

  *at += n;

  return TRUE;
}

static void
add_note (GString *notes, const char *key, const char *value, gsize length)
{
  g_string_append_printf (notes, "%s%s: ", notes->len > 0 ? ", " : "", key);
  g_string_append_len (notes, value, length);
}

/* `CheckpointPolicy.MUST_SAVE`, `<CheckpointPolicy.MUST_SAVE: 0>` and plain words: the last part of
 * the name; what is no number and no word becomes a string. */
static void
add_word (GString *notes, const char *key, const char *text, gsize length)
{
  g_autofree char *word = g_strndup (text, length);
  g_autoptr (GString) quoted = g_string_new (NULL);
  const char *policy = g_strrstr (word, "CheckpointPolicy.");

  if (policy)
    {
      policy += strlen ("CheckpointPolicy.");
      add_note (notes, key, policy, strcspn (policy, ":>'"));
      return;
    }
  if (strspn (word, "0123456789") == strlen (word) || g_str_equal (key, ADJ_AUTOGRAD_BACKWARD) ||
      (adj_text_is_identifier (word, strlen (word)) && g_str_equal (key, "recompute")))
    g_string_append (quoted, word);
  else
    adj_print_string (quoted, word);
  add_note (notes, key, quoted->str, quoted->len);
}

/* `Annotation: {…}` */
static gboolean
read_annotation (const char **at, const char *end, GString *notes)
{
  const char *start = *at;
  AdjValue value = ADJ_NONE;
  AdjReader reader;
  gboolean ok;

  if (!take_word (&start, end, "Annotation: ") || start >= end || *start != '{')
    return FALSE;

  adj_reader_init (&reader, start, end - start, 1);
  ok = adj_reader_read_operand (&reader, &value);
  adj_value_clear (&value);
  if (ok)
    {
      *at = reader.token.text;
      add_note (notes, "custom", start, *at - start);
    }

  return ok;
}

/* `ac_graph_id: 3 - MUST_RECOMPUTE` */
static gboolean
read_policy (const char **at, const char *end, GString *notes)
{
  const char *start = *at, *digits;

  if (!take_word (&start, end, "ac_graph_id: "))
    return FALSE;
  for (digits = start; start < end && g_ascii_isdigit (*start);)
    start++;
  if (start == digits)
    return FALSE;

  add_note (notes, "ac", digits, start - digits);
  if (take_word (&start, end, " - "))
    {
      const char *word = start;

      while (start < end && (g_ascii_isalnum (*start) || *start == '_'))
        start++;
      add_word (notes, "recompute", word, start - word);
    }
  *at = start;

  return TRUE;
}

/* `seq_nr: 95, partitioner_tag: is_backward #` */
static gboolean
read_key (const char **at, const char *end, GString *notes)
{
  const char *colon = *at, *start;
  const char *key;

  while (colon < end && (g_ascii_isalnum (*colon) || *colon == '_'))
    colon++;
  key = find_key (*at, colon - *at);
  start = colon;
  if (!key || !take_word (&start, end, ": "))
    return FALSE;

  *at = start;
  while (*at < end && **at != ',' && **at != '#' && !g_ascii_isspace (**at))
    ++*at;
  if (*at > start)
    add_word (notes, key, start, *at - start);
  if (*at < end && **at == ',')
    ++*at;

  return *at > start;
}

/* Reads the notes before the place in the source; returns where the place begins. */
static const char *
read_notes (const char *at, const char *end, GString *notes)
{
  static const char backward[] = "Backward of forward node: ";

  for (;;)
    {
      while (at < end && (*at == ' ' || *at == '#'))
        at++;
      if (take_word (&at, end, backward))
        add_note (notes, ADJ_AUTOGRAD_BACKWARD, "True", strlen ("True"));
      else if (!read_annotation (&at, end, notes) && !read_policy (&at, end, notes) &&
               !read_key (&at, end, notes))
        return at;
    }
}

static void
set_notes (AdjModuleReader *module, GString *notes)
{
  g_free (module->notes);
  module->notes = notes->len > 0 ? g_strconcat ("{", notes->str, "}", NULL) : NULL;
}

/* `# adj: primals_1 {…}`, `# adj: symbol s0 {…}`, `# adj: called under {…}` */
static void
read_header_metadata (AdjHeaderReader *header, const char *text, gsize length)
{
  const char *brace = memchr (text, '{', length);
  g_autofree char *head = NULL;
  g_auto (GStrv) words = NULL;
  AdjThreadState thread_state = { 0 };
  gsize n;

  if (!brace)
    return;

  n = text + length - brace;
  head = g_strndup (text, brace - text);
  words = g_strsplit (g_strstrip (head), " ", 3);
  if (g_strv_length (words) == 1)
    g_hash_table_replace (header->metadata, g_strdup (words[0]), g_strndup (brace, n));
  else if (g_strv_length (words) == 2 && g_str_equal (words[0], "symbol") &&
           adj_text_is_identifier (words[1], strlen (words[1])))
    adj_symbol_metadata_parse (words[1], brace, n, header->module->symbols);
  else if (g_strv_length (words) == 2 && g_str_equal (words[0], "called") &&
           g_str_equal (words[1], "under"))
    {
      adj_thread_state_parse (brace, n, header->module->symbols, &thread_state);
      adj_builder_set_thread_state (header->module->builder, &thread_state);
    }
}

void
adj_comment_read (AdjHeaderReader *header, const AdjLine *line)
{
  static const char ours[] = "adj: ", file[] = "File: ", none[] = "No stacktrace found";
  AdjModuleReader *module = header->module;
  const char *start = line->at + line->indent + 1, *end = line->at + line->length;
  g_autoptr (GString) notes = g_string_new (NULL);
  const char *found;

  while (start < end && *start == ' ')
    start++;
  if (take_word (&start, end, ours))
    {
      read_header_metadata (header, start, end - start);
      return;
    }

  found = read_notes (start, end, notes);
  set_notes (module, notes);
  if (memmem (found, end - found, none, strlen (none)))
    g_clear_pointer (&module->stack_trace, g_free);
  else if ((found = memmem (found, end - found, file, strlen (file))))
    read_place (module, found + strlen (file), end);
  else if (start == end)
    set_stack_trace (module, g_strdup ("\n"));
}

/* -- Blocks ---- */

void
adj_block_read (AdjModuleReader *module, const AdjLine *line)
{
  const char *at = line->at + line->indent, *end = line->at + line->length;
  const char *colon = memchr (at, ':', end - at), *key;

  if (!colon || end - colon < 4)
    return;
  key = find_key (at, colon - at);
  if (!key || colon[2] != '\'' || end[-1] != '\'')
    return;

  if (!module->block)
    module->block = g_string_new (NULL);
  add_word (module->block, key, colon + 3, end - 1 - (colon + 3));
}

void
adj_notes_apply (AdjModuleReader *module, AdjParsedMeta *metadata)
{
  if (metadata && module->notes)
    adj_parsed_meta_parse (metadata, module->notes, strlen (module->notes), module->symbols);
  if (metadata && module->block)
    {
      g_autofree char *text = g_strconcat ("{", module->block->str, "}", NULL);

      adj_parsed_meta_parse (metadata, text, strlen (text), module->symbols);
    }
  if (module->block)
    g_string_free (g_steal_pointer (&module->block), TRUE);
}
