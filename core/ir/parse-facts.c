/* SPDX-License-Identifier: MIT */

/* Annotations, and the facts of "# adj: {…}" comments. */

#include <string.h>

#include "ir/parse-private.h"
#include "ir/text-private.h"

void
adj_node_facts_init (AdjNodeFacts *facts)
{
  *facts = (AdjNodeFacts){
    .meta = ADJ_NODE_META_INIT,
    .extra = { .kind = ADJ_VALUE_DICT },
    .kept = { .kind = ADJ_VALUE_LIST },
  };
}

void
adj_node_facts_clear (AdjNodeFacts *facts)
{
  adj_value_clear (&facts->val);
  adj_value_clear (&facts->extra);
  adj_value_clear (&facts->kept);
  g_clear_pointer (&facts->modules, g_free);
  g_clear_pointer (&facts->fwd_modules, g_free);
}

static void
append_item (AdjValue *container, AdjValue *item)
{
  container->items = g_renew (AdjValue, container->items, container->n + 1);
  container->items[container->n++] = adj_value_steal (item);
}

void
adj_node_facts_keep (AdjNodeFacts *facts, const char *key, AdjValue *value)
{
  AdjValue name = adj_value_new_string (key);

  append_item (&facts->extra, &name);
  append_item (&facts->extra, value);
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

gboolean
adj_node_facts_annotate (AdjNodeFacts *facts, const char *text, gsize length, AdjSymbols *symbols)
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

  adj_value_clear (&facts->val);
  if (parse_sym (text, length, symbols, &facts->val))
    return TRUE;
  if (adj_tensor_meta_parse (text, length, symbols, &meta, NULL))
    {
      facts->val = (AdjValue){ .kind = ADJ_VALUE_META, .meta = g_memdup2 (&meta, sizeof meta) };
      return TRUE;
    }
  if (!quoted && !is_type_text (text, length))
    return FALSE;

  raw.n = length;
  raw.text = g_strndup (text, length);
  if (quoted)
    facts->val = raw;
  else
    adj_node_facts_keep (facts, "type", &raw);

  return TRUE;
}

/* -- Facts ---- */

static gboolean
is_text (const AdjValue *value)
{
  return value->kind == ADJ_VALUE_STRING || value->kind == ADJ_VALUE_RAW ||
         value->kind == ADJ_VALUE_OP;
}

/* The text of @value, which @facts keeps from now on; %NULL when it is none. */
static const char *
take_text (AdjNodeFacts *facts, AdjValue *value)
{
  if (!is_text (value))
    return NULL;

  append_item (&facts->kept, value);

  return facts->kept.items[facts->kept.n - 1].text;
}

static AdjTensorMeta *
get_meta (AdjNodeFacts *facts)
{
  return facts->val.kind == ADJ_VALUE_META ? (AdjTensorMeta *) facts->val.meta : NULL;
}

static void
read_recompute (AdjNodeFacts *facts, AdjValue *value, AdjSymbols *symbols)
{
  AdjRecompute policy = is_text (value) ? adj_recompute_from_name (value->text) : ADJ_N_RECOMPUTE;

  if (policy < ADJ_N_RECOMPUTE)
    facts->meta.recompute = policy;
}

static void
read_region (AdjNodeFacts *facts, AdjValue *value, AdjSymbols *symbols)
{
  if (value->kind == ADJ_VALUE_INT)
    facts->meta.ac_graph_id = value->integer;
}

static void
read_seq (AdjNodeFacts *facts, AdjValue *value, AdjSymbols *symbols)
{
  if (value->kind == ADJ_VALUE_INT)
    facts->meta.seq_nr = value->integer;
}

static void
read_tag (AdjNodeFacts *facts, AdjValue *value, AdjSymbols *symbols)
{
  facts->meta.partitioner_tag = take_text (facts, value);
}

static void
read_aten (AdjNodeFacts *facts, AdjValue *value, AdjSymbols *symbols)
{
  facts->meta.original_aten = take_text (facts, value);
}

static void
read_param (AdjNodeFacts *facts, AdjValue *value, AdjSymbols *symbols)
{
  facts->meta.parameter = take_text (facts, value);
}

static void
read_source (AdjNodeFacts *facts, AdjValue *value, AdjSymbols *symbols)
{
  facts->meta.source = take_text (facts, value);
}

static void
read_alias (AdjNodeFacts *facts, AdjValue *value, AdjSymbols *symbols)
{
  AdjTensorMeta *meta = get_meta (facts);

  if (meta && value->kind == ADJ_VALUE_INT)
    meta->storage = CLAMP (value->integer, -1, G_MAXINT32);
}

static void
read_offset (AdjNodeFacts *facts, AdjValue *value, AdjSymbols *symbols)
{
  AdjTensorMeta *meta = get_meta (facts);
  AdjSize offset;

  if (!meta)
    return;
  if (value->kind == ADJ_VALUE_INT)
    meta->shape.offset = ADJ_SIZE (value->integer);
  else if (is_text (value) && adj_size_parse (symbols, value->text, value->n, &offset, NULL))
    meta->shape.offset = offset;
}

static void
read_requires_grad (AdjNodeFacts *facts, AdjValue *value, AdjSymbols *symbols)
{
  AdjTensorMeta *meta = get_meta (facts);

  if (meta && value->kind == ADJ_VALUE_BOOL)
    meta->requires_grad = value->boolean;
}

static void
read_layout (AdjNodeFacts *facts, AdjValue *value, AdjSymbols *symbols)
{
  AdjTensorMeta *meta = get_meta (facts);
  AdjLayout layout = is_text (value) ? adj_layout_from_name (value->text) : ADJ_N_LAYOUTS;

  if (meta && layout < ADJ_N_LAYOUTS)
    meta->layout = layout;
}

static AdjModule *
take_modules (AdjNodeFacts *facts, AdjValue *value, guint *n)
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
      modules[*n].path = take_text (facts, &pair->items[0]);
      modules[*n].class_name = take_text (facts, &pair->items[1]);
      ++*n;
    }

  return modules;
}

static void
read_modules (AdjNodeFacts *facts, AdjValue *value, AdjSymbols *symbols)
{
  g_free (facts->modules);
  facts->modules = take_modules (facts, value, &facts->meta.n_modules);
  facts->meta.modules = facts->modules;
}

static void
read_fwd_modules (AdjNodeFacts *facts, AdjValue *value, AdjSymbols *symbols)
{
  g_free (facts->fwd_modules);
  facts->fwd_modules = take_modules (facts, value, &facts->meta.n_fwd_modules);
  facts->meta.fwd_modules = facts->fwd_modules;
}

static void
read_val (AdjNodeFacts *facts, AdjValue *value, AdjSymbols *symbols)
{
  /* RAW is what an annotation says. */
  if (value->kind == ADJ_VALUE_RAW)
    value->kind = ADJ_VALUE_STRING;
  adj_value_clear (&facts->val);
  facts->val = adj_value_steal (value);
}

static const struct
{
  const char *key;
  void (*read) (AdjNodeFacts *facts, AdjValue *value, AdjSymbols *symbols);
} known[] = {
  { "recompute", read_recompute },
  { "ac", read_region },
  { "seq", read_seq },
  { "tag", read_tag },
  { "aten", read_aten },
  { "param", read_param },
  { "source", read_source },
  { "alias", read_alias },
  { "offset", read_offset },
  { "requires_grad", read_requires_grad },
  { "layout", read_layout },
  { "modules", read_modules },
  { "fwd_modules", read_fwd_modules },
  { "val", read_val },
};

static void
read_fact (AdjNodeFacts *facts, const char *key, AdjValue *value, AdjSymbols *symbols)
{
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (g_str_equal (known[i].key, key))
      {
        known[i].read (facts, value, symbols);
        return;
      }

  adj_node_facts_keep (facts, key, value);
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
adj_node_facts_parse (AdjNodeFacts *facts, const char *text, gsize length, AdjSymbols *symbols)
{
  g_auto (AdjValue) dict = ADJ_NONE;

  if (!parse_dict (text, length, symbols, &dict))
    return FALSE;

  for (guint i = 0; i + 1 < dict.n; i += 2)
    if (is_text (&dict.items[i]))
      read_fact (facts, dict.items[i].text, &dict.items[i + 1], symbols);

  return TRUE;
}

void
adj_ambient_facts_parse (const char *text, gsize length, AdjSymbols *symbols, AdjAmbient *out)
{
  g_auto (AdjValue) dict = ADJ_NONE;

  if (!parse_dict (text, length, symbols, &dict))
    return;

  for (guint i = 0; i + 1 < dict.n; i += 2)
    if (is_text (&dict.items[i]) && is_text (&dict.items[i + 1]))
      adj_ambient_set (out, dict.items[i].text, dict.items[i + 1].text);
}

void
adj_symbol_facts_parse (const char *name, const char *text, gsize length, AdjSymbols *symbols)
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
