/* SPDX-License-Identifier: MIT */

/* Annotations, and the metadata of "# adj: {…}" comments. */

#include <string.h>

#include "ir/adj-graph.h"
#include "ir/parse-private.h"
#include "ir/text-private.h"

void
adj_parsed_meta_init (AdjParsedMeta *metadata)
{
  *metadata = (AdjParsedMeta){
    .meta = ADJ_NODE_META_INIT,
    .extra = { .kind = ADJ_VALUE_DICT },
    .kept = { .kind = ADJ_VALUE_LIST },
  };
}

void
adj_parsed_meta_clear (AdjParsedMeta *metadata)
{
  adj_value_clear (&metadata->val);
  adj_value_clear (&metadata->extra);
  adj_value_clear (&metadata->kept);
  g_clear_pointer (&metadata->modules, g_free);
  g_clear_pointer (&metadata->fwd_modules, g_free);
}

static void
append_item (AdjValue *container, AdjValue *item)
{
  container->items = g_renew (AdjValue, container->items, container->n + 1);
  container->items[container->n++] = adj_value_steal (item);
}

void
adj_parsed_meta_keep (AdjParsedMeta *metadata, const char *key, AdjValue *value)
{
  AdjValue name = adj_value_new_string (key);

  append_item (&metadata->extra, &name);
  append_item (&metadata->extra, value);
}

/* "Sym(2*s0)" */
static gboolean
parse_sym (const char *text, gsize length, AdjSymbols *symbols, AdjValue *out)
{
  AdjSize size;

  if (length < 6 || strncmp (text, "Sym(", 4) != 0 || text[length - 1] != ')' ||
      !adj_size_parse (symbols, text + 4, length - 5, &size, NULL))
    return FALSE;

  *out = (AdjValue){ .kind = ADJ_VALUE_SIZE, .size = size };

  return TRUE;
}

/* A Python type, plainly: typing.Optional[list], "T | None". */
static gboolean
is_type_text (const char *text, gsize length)
{
  gint depth = 0;

  for (gsize i = 0; i < length && depth >= 0; i++)
    {
      if (!g_ascii_isalnum (text[i]) && !strchr ("_.,[]()| ", text[i]))
        return FALSE;
      depth += text[i] == '[' || text[i] == '(';
      depth -= text[i] == ']' || text[i] == ')';
    }

  return length > 0 && depth == 0;
}

/* An annotation without quotes may continue on further lines: joins them, with a blank after
 * commas. */
static char *
join_annotation (const char *text, gsize length)
{
  GString *out = g_string_sized_new (length);

  for (gsize i = 0, n; i < length; i += MAX (n, 1))
    {
      for (n = 0; i + n < length && (text[i + n] == ' ' || g_ascii_iscntrl (text[i + n]));)
        n++;
      if (n == 0)
        g_string_append_c (out, text[i]);
      else if (i > 0 && text[i - 1] == ',')
        g_string_append_c (out, ' ');
    }

  return g_string_free (out, FALSE);
}

static gboolean
annotate (AdjParsedMeta *metadata, const char *text, gsize length, AdjSymbols *symbols)
{
  gboolean quoted = length >= 2 && text[0] == '"' && text[length - 1] == '"' &&
                    adj_text_is_annotation (text + 1, length - 2);
  AdjValue raw = { .kind = ADJ_VALUE_RAW };
  AdjTensorMeta meta;

  if (quoted)
    {
      text++;
      length -= 2;
    }

  adj_value_clear (&metadata->val);
  if (parse_sym (text, length, symbols, &metadata->val))
    return TRUE;
  if (adj_tensor_meta_parse (text, length, symbols, &meta, NULL))
    {
      metadata->val = (AdjValue){ .kind = ADJ_VALUE_META, .meta = g_memdup2 (&meta, sizeof meta) };
      return TRUE;
    }
  if (!quoted && !is_type_text (text, length))
    return FALSE;

  raw.n = length;
  raw.text = g_strndup (text, length);
  if (quoted)
    metadata->val = raw;
  else
    adj_parsed_meta_keep (metadata, "type", &raw);

  return TRUE;
}

gboolean
adj_parsed_meta_annotate (AdjParsedMeta *metadata,
                          const char *text,
                          gsize length,
                          AdjSymbols *symbols)
{
  g_autofree char *joined = NULL;
  gboolean is_quoted = length > 0 && *text == '"';

  for (gsize i = 0; !joined && !is_quoted && i < length; i++)
    if (g_ascii_iscntrl (text[i]))
      joined = join_annotation (text, length);

  return joined ? annotate (metadata, joined, strlen (joined), symbols)
                : annotate (metadata, text, length, symbols);
}

/* -- Metadata ---- */

static gboolean
is_text (const AdjValue *value)
{
  return value->kind == ADJ_VALUE_STRING || value->kind == ADJ_VALUE_RAW ||
         value->kind == ADJ_VALUE_OP;
}

/* The text of @value, which @metadata keeps from now on; %NULL when it is none. */
static const char *
take_text (AdjParsedMeta *metadata, AdjValue *value)
{
  if (!is_text (value))
    return NULL;

  append_item (&metadata->kept, value);

  return metadata->kept.items[metadata->kept.n - 1].text;
}

static AdjTensorMeta *
get_meta (AdjParsedMeta *metadata)
{
  return metadata->val.kind == ADJ_VALUE_META ? (AdjTensorMeta *) metadata->val.meta : NULL;
}

static void
read_recompute (AdjParsedMeta *metadata, AdjValue *value, AdjSymbols *symbols)
{
  AdjRecompute policy = is_text (value) ? adj_recompute_from_name (value->text) : ADJ_N_RECOMPUTE;

  if (policy < ADJ_N_RECOMPUTE)
    metadata->meta.recompute = policy;
}

static void
read_region (AdjParsedMeta *metadata, AdjValue *value, AdjSymbols *symbols)
{
  if (value->kind == ADJ_VALUE_INT)
    metadata->meta.ac_graph_id = value->integer;
}

static void
read_seq (AdjParsedMeta *metadata, AdjValue *value, AdjSymbols *symbols)
{
  if (value->kind == ADJ_VALUE_INT)
    metadata->meta.seq_nr = value->integer;
}

static void
read_tag (AdjParsedMeta *metadata, AdjValue *value, AdjSymbols *symbols)
{
  metadata->meta.partitioner_tag = take_text (metadata, value);
}

static void
read_aten (AdjParsedMeta *metadata, AdjValue *value, AdjSymbols *symbols)
{
  metadata->meta.original_aten = take_text (metadata, value);
}

static void
read_param (AdjParsedMeta *metadata, AdjValue *value, AdjSymbols *symbols)
{
  metadata->meta.parameter = take_text (metadata, value);
}

static void
read_hook (AdjParsedMeta *metadata, AdjValue *value, AdjSymbols *symbols)
{
  metadata->meta.hook = take_text (metadata, value);
}

static void
read_source (AdjParsedMeta *metadata, AdjValue *value, AdjSymbols *symbols)
{
  metadata->meta.source = take_text (metadata, value);
}

static void
read_alias (AdjParsedMeta *metadata, AdjValue *value, AdjSymbols *symbols)
{
  AdjTensorMeta *meta = get_meta (metadata);

  if (meta && value->kind == ADJ_VALUE_INT)
    meta->storage = CLAMP (value->integer, -1, G_MAXINT32);
}

static void
read_offset (AdjParsedMeta *metadata, AdjValue *value, AdjSymbols *symbols)
{
  AdjTensorMeta *meta = get_meta (metadata);
  AdjSize offset;

  if (!meta)
    return;
  if (value->kind == ADJ_VALUE_INT)
    meta->shape.offset = ADJ_SIZE (value->integer);
  else if (is_text (value) && adj_size_parse (symbols, value->text, value->n, &offset, NULL))
    meta->shape.offset = offset;
}

static void
read_requires_grad (AdjParsedMeta *metadata, AdjValue *value, AdjSymbols *symbols)
{
  AdjTensorMeta *meta = get_meta (metadata);

  if (meta && value->kind == ADJ_VALUE_BOOL)
    meta->requires_grad = value->boolean;
}

static void
read_layout (AdjParsedMeta *metadata, AdjValue *value, AdjSymbols *symbols)
{
  AdjTensorMeta *meta = get_meta (metadata);
  AdjLayout layout = is_text (value) ? adj_layout_from_name (value->text) : ADJ_N_LAYOUTS;

  if (meta && layout < ADJ_N_LAYOUTS)
    meta->layout = layout;
}

static AdjModule *
take_modules (AdjParsedMeta *metadata, AdjValue *value, guint *n)
{
  AdjModule *modules;

  *n = 0;
  if (value->kind != ADJ_VALUE_LIST)
    return NULL;

  modules = g_new0 (AdjModule, value->n);
  for (guint i = 0; i < value->n; i++)
    {
      AdjValue *pair = &value->items[i];

      if (pair->kind != ADJ_VALUE_TUPLE || pair->n != 2 || !is_text (&pair->items[0]) ||
          !is_text (&pair->items[1]))
        continue;
      modules[*n].path = take_text (metadata, &pair->items[0]);
      modules[*n].class_name = take_text (metadata, &pair->items[1]);
      ++*n;
    }

  return modules;
}

static void
read_modules (AdjParsedMeta *metadata, AdjValue *value, AdjSymbols *symbols)
{
  g_free (metadata->modules);
  metadata->modules = take_modules (metadata, value, &metadata->meta.n_modules);
  metadata->meta.modules = metadata->modules;
}

static void
read_fwd_modules (AdjParsedMeta *metadata, AdjValue *value, AdjSymbols *symbols)
{
  g_free (metadata->fwd_modules);
  metadata->fwd_modules = take_modules (metadata, value, &metadata->meta.n_fwd_modules);
  metadata->meta.fwd_modules = metadata->fwd_modules;
}

static void
read_val (AdjParsedMeta *metadata, AdjValue *value, AdjSymbols *symbols)
{
  /* RAW is the text of an annotation. */
  if (value->kind == ADJ_VALUE_RAW)
    value->kind = ADJ_VALUE_STRING;
  adj_value_clear (&metadata->val);
  metadata->val = adj_value_steal (value);
}

static const struct
{
  const char *key;
  void (*read) (AdjParsedMeta *metadata, AdjValue *value, AdjSymbols *symbols);
} known[] = {
  { "recompute", read_recompute },
  { "ac", read_region },
  { "seq", read_seq },
  { "tag", read_tag },
  { "aten", read_aten },
  { "param", read_param },
  { "source", read_source },
  { "hook", read_hook },
  { "alias", read_alias },
  { "offset", read_offset },
  { "requires_grad", read_requires_grad },
  { "layout", read_layout },
  { "modules", read_modules },
  { "fwd_modules", read_fwd_modules },
  { "val", read_val },
};

static void
read_entry (AdjParsedMeta *metadata, const char *key, AdjValue *value, AdjSymbols *symbols)
{
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (g_str_equal (known[i].key, key))
      {
        known[i].read (metadata, value, symbols);
        return;
      }

  adj_parsed_meta_keep (metadata, key, value);
}

static gboolean
parse_dict (const char *text, gsize length, AdjSymbols *symbols, AdjValue *out)
{
  AdjReader reader;

  adj_reader_init (&reader, text, length, 1);
  reader.symbols = symbols;

  return adj_reader_read (&reader, out) && out->kind == ADJ_VALUE_DICT;
}

gboolean
adj_parsed_meta_parse (AdjParsedMeta *metadata, const char *text, gsize length, AdjSymbols *symbols)
{
  g_auto (AdjValue) dict = ADJ_NONE;

  if (!parse_dict (text, length, symbols, &dict))
    return FALSE;

  for (guint i = 0; i + 1 < dict.n; i += 2)
    if (is_text (&dict.items[i]))
      read_entry (metadata, dict.items[i].text, &dict.items[i + 1], symbols);

  return TRUE;
}

void
adj_thread_state_parse (const char *text, gsize length, AdjSymbols *symbols, AdjThreadState *out)
{
  g_auto (AdjValue) dict = ADJ_NONE;

  if (!parse_dict (text, length, symbols, &dict))
    return;

  for (guint i = 0; i + 1 < dict.n; i += 2)
    if (is_text (&dict.items[i]) && is_text (&dict.items[i + 1]))
      adj_thread_state_set (out, dict.items[i].text, dict.items[i + 1].text);
}

void
adj_symbol_metadata_parse (const char *name, const char *text, gsize length, AdjSymbols *symbols)
{
  g_auto (AdjValue) dict = ADJ_NONE;
  AdjSymbol symbol = {
    .name = name,
    .hint = ADJ_SYMBOL_UNBACKED,
    .min = adj_symbol_default_min (name),
    .max = G_MAXINT64,
  };

  if (!parse_dict (text, length, symbols, &dict))
    return;

  for (guint i = 0; i + 1 < dict.n; i += 2)
    {
      const AdjValue *key = &dict.items[i], *value = &dict.items[i + 1];

      if (!is_text (key))
        continue;
      if (g_str_equal (key->text, "hint") && value->kind == ADJ_VALUE_INT)
        symbol.hint = value->integer;
      else if (g_str_equal (key->text, "min") && value->kind == ADJ_VALUE_INT)
        symbol.min = value->integer;
      else if (g_str_equal (key->text, "max") && value->kind == ADJ_VALUE_INT)
        symbol.max = value->integer;
      else if (g_str_equal (key->text, "source") && is_text (value))
        symbol.source = value->text;
    }

  adj_symbols_define (symbols, &symbol);
}
