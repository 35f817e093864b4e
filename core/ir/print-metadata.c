/* SPDX-License-Identifier: MIT */

/* Metadata for which PyTorch's text form has no place, in a comment "# adj: {key: value, …}". */

#include <string.h>

#include "base/adj-lexer.h"
#include "ir/adj-graph.h"
#include "ir/adj-text-internal.h"
#include "ir/adj-value-internal.h"
#include "ir/text-private.h"

gboolean
adj_text_is_identifier (const char *text, gsize length)
{
  if (length == 0 || g_ascii_isdigit (text[0]))
    return FALSE;
  for (gsize i = 0; i < length; i++)
    if (!g_ascii_isalnum (text[i]) && text[i] != '_')
      return FALSE;

  return TRUE;
}

gboolean
adj_text_is_annotation (const char *text, gsize length)
{
  for (gsize i = 0; i < length; i++)
    if (text[i] == '"' || text[i] == '\\' || g_ascii_iscntrl (text[i]))
      return FALSE;

  return TRUE;
}

const char *
adj_node_get_type_text (const AdjNode *node)
{
  const AdjValue *type = adj_value_find_member (node->meta.extra, "type");

  return node->val.kind == ADJ_VALUE_NONE && type != NULL && type->kind == ADJ_VALUE_RAW
             ? type->text
             : NULL;
}

static void
print_key (GString *out, const char *key)
{
  g_string_append (out, out->str[out->len - 1] == '{' ? "" : ", ");
  if (adj_text_is_identifier (key, strlen (key)))
    g_string_append (out, key);
  else
    adj_print_string (out, key);
  g_string_append (out, ": ");
}

/* Prints @word without quotes if it is then read back as the same text. */
static void
print_word (GString *out, const char *key, const char *word)
{
  if (!word)
    return;

  print_key (out, key);
  if (adj_text_is_identifier (word, strlen (word)) && strchr (word, '_'))
    g_string_append (out, word);
  else
    adj_print_string (out, word);
}

static void
print_text (GString *out, const char *key, const char *text)
{
  if (!text)
    return;

  print_key (out, key);
  adj_print_string (out, text);
}

static void
print_number (GString *out, const char *key, gint64 number, gint64 absent)
{
  if (number == absent)
    return;

  print_key (out, key);
  g_string_append_printf (out, "%" G_GINT64_FORMAT, number);
}

static void
print_modules (GString *out, const char *key, const AdjModule *modules, guint n)
{
  if (n == 0)
    return;

  print_key (out, key);
  for (guint i = 0; i < n; i++)
    {
      g_string_append (out, i == 0 ? "[(" : ", (");
      adj_print_string (out, modules[i].path ? modules[i].path : "");
      g_string_append (out, ", ");
      adj_print_string (out, modules[i].class_name ? modules[i].class_name : "");
      g_string_append_c (out, ')');
    }
  g_string_append_c (out, ']');
}

/* The properties of a tensor that its annotation leaves out. */
static void
print_meta (GString *out, const AdjGraph *graph, const AdjTensorMeta *meta)
{
  print_number (out, "alias", meta->storage, -1);
  if (!adj_size_same (meta->shape.offset, ADJ_SIZE (0)))
    {
      g_autoptr (GString) offset = g_string_new (NULL);

      adj_size_print (adj_graph_get_symbols (graph), meta->shape.offset, offset);
      print_key (out, "offset");
      if (adj_size_is_int (meta->shape.offset))
        g_string_append (out, offset->str);
      else
        adj_print_string (out, offset->str);
    }
  if (meta->requires_grad)
    {
      print_key (out, "requires_grad");
      g_string_append (out, "True");
    }
  if (meta->layout != ADJ_LAYOUT_STRIDED)
    print_text (out, "layout", adj_layout_name (meta->layout));
}

/* Whether the annotation shows @val, wholly or with the metadata of print_meta(). */
static gboolean
is_annotated (const AdjValue *val)
{
  return val->kind == ADJ_VALUE_NONE || val->kind == ADJ_VALUE_META ||
         val->kind == ADJ_VALUE_SIZE ||
         (val->kind == ADJ_VALUE_RAW && adj_text_is_annotation (val->text, val->n));
}

static void
print_extra (GString *out, const AdjGraph *graph, const AdjNode *node)
{
  const AdjValue *extra = node->meta.extra;
  gboolean has_type = adj_node_get_type_text (node) != NULL;

  if (!extra)
    return;

  for (guint i = 0; i + 1 < extra->n; i += 2)
    {
      const AdjValue *key = &extra->items[i];

      if (key->kind != ADJ_VALUE_STRING || (has_type && g_str_equal (key->text, "type")))
        continue;
      print_key (out, key->text);
      adj_value_print (&extra->items[i + 1], graph, out);
    }
}

/* Closes the braces opened at @start; removes them when they are empty and returns %FALSE. */
static gboolean
close_metadata (GString *out, gsize start)
{
  if (out->len == start + 1)
    {
      g_string_truncate (out, start);
      return FALSE;
    }

  g_string_append_c (out, '}');

  return TRUE;
}

gboolean
adj_metadata_print (const AdjGraph *graph, const AdjNode *node, GString *out)
{
  const AdjNodeMeta *meta = &node->meta;
  gsize start = out->len;

  g_string_append_c (out, '{');
  if (meta->recompute != ADJ_RECOMPUTE_NONE)
    print_word (out, "recompute", adj_recompute_name (meta->recompute));
  print_number (out, "ac", meta->ac_graph_id, -1);
  print_number (out, "seq", meta->seq_nr, -1);
  print_word (out, "tag", meta->partitioner_tag);
  print_text (out, "aten", meta->original_aten);
  if (node->val.kind == ADJ_VALUE_META)
    print_meta (out, graph, node->val.meta);
  print_text (out, "param", meta->parameter);
  print_text (out, "source", meta->source);
  print_text (out, "hook", meta->hook);
  print_modules (out, "modules", meta->modules, meta->n_modules);
  print_modules (out, "fwd_modules", meta->fwd_modules, meta->n_fwd_modules);
  if (node->val.kind == ADJ_VALUE_RAW && !is_annotated (&node->val))
    print_text (out, "val", node->val.text);
  else if (!is_annotated (&node->val))
    {
      print_key (out, "val");
      adj_value_print (&node->val, graph, out);
    }
  print_extra (out, graph, node);

  return close_metadata (out, start);
}

gboolean
adj_thread_state_print (const AdjThreadState *thread_state, GString *out)
{
  AdjThreadSetting metadata[ADJ_N_THREAD_SETTINGS];
  guint n = adj_thread_state_list_settings (thread_state, metadata);
  gsize start = out->len;

  g_string_append_c (out, '{');
  for (guint i = 0; i < n; i++)
    print_word (out, metadata[i].key, metadata[i].word);

  return close_metadata (out, start);
}

/* Traces make symbols only of sizes other than 0 and 1, so that a minimum of 2 is not printed. */
gint64
adj_symbol_default_min (const char *name)
{
  return name[0] == 's' && g_ascii_isdigit (name[1]) ? 2 : G_MININT64;
}

gboolean
adj_symbol_metadata_print (const AdjSymbol *symbol, GString *out)
{
  gsize start = out->len;

  g_string_append_c (out, '{');
  print_number (out, "hint", symbol->hint, ADJ_SYMBOL_UNBACKED);
  print_number (out, "min", symbol->min, adj_symbol_default_min (symbol->name));
  print_number (out, "max", symbol->max, G_MAXINT64);
  print_text (out, "source", symbol->source);

  return close_metadata (out, start);
}
