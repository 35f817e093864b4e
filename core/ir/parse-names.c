/* SPDX-License-Identifier: MIT */

/* Names of nodes: those of the text, and those made up for nodes without one. */

#include <string.h>

#include "ir/parse-private.h"

static void
value_free (gpointer data)
{
  adj_value_clear (data);
  g_free (data);
}

GHashTable *
adj_module_names_new (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, value_free);
}

gboolean
adj_module_resolve (const char *name, AdjValue *out, gpointer data)
{
  AdjModuleReader *module = data;
  const AdjValue *value = g_hash_table_lookup (module->names, name);

  if (!value)
    return FALSE;

  *out = adj_value_copy (value);

  return TRUE;
}

void
adj_module_set (AdjModuleReader *module, const char *name, const AdjValue *value)
{
  AdjValue *copy = g_new (AdjValue, 1);

  *copy = adj_value_copy (value);
  g_hash_table_insert (module->names, g_strdup (name), copy);
}

/* The names in the text that may denote values: no members and no called functions. (transfer full)
 */
static GHashTable *
collect_words (const AdjWords *words)
{
  GHashTable *set = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  AdjLexer lexer;
  AdjToken token;

  adj_lexer_init (&lexer, words->text, words->length, 1);
  for (token = adj_lexer_next (&lexer); token.kind != ADJ_TOKEN_END;
       token = adj_lexer_next (&lexer))
    if (token.kind == ADJ_TOKEN_NAME && (token.text == words->text || token.text[-1] != '.') &&
        (lexer.at == lexer.end || *lexer.at != '('))
      g_hash_table_add (set, adj_token_dup (&token));

  return set;
}

/* "x_1_2" → "x": for a base, the namespace continues from its last number; for a name with a number
 * it would try all numbers from 1. */
static char *
dup_base (const char *name)
{
  gsize length = strlen (name);

  for (;;)
    {
      gsize at = length;

      while (at > 0 && g_ascii_isdigit (name[at - 1]))
        at--;
      if (at == length || at < 2 || name[at - 1] != '_')
        return g_strndup (name, length);
      length = at - 1;
    }
}

char *
adj_module_make_up_name (AdjModuleReader *module, const char *candidate)
{
  AdjWords *words = module->words;
  g_autofree char *base = dup_base (candidate);
  char *name = adj_builder_unique_name (module->builder, base);

  if (!words->set)
    words->set = collect_words (words);
  while (g_hash_table_contains (words->set, name))
    {
      g_free (name);
      name = adj_builder_unique_name (module->builder, base);
    }

  return name;
}

char *
adj_module_take_name (AdjModuleReader *module, const char *name, AdjSpan span)
{
  char *unique;

  if (!adj_node_id_is_valid (adj_builder_find (module->builder, name)))
    return g_strdup (name);

  unique = adj_module_make_up_name (module, name);
  adj_diags_add (module->diags, ADJ_SEVERITY_WARNING, span,
                 "'%s' is defined twice; the second is called '%s' here", name, unique);

  return unique;
}

char *
adj_module_bind (AdjModuleReader *module, const char *name, AdjSpan span)
{
  AdjValue node = ADJ_NODE (((AdjNodeId){ adj_builder_get_n_nodes (module->builder) }));

  adj_module_set (module, name, &node);

  return adj_module_take_name (module, name, span);
}

/* Parameters get different names, since text could not tell equal ones apart. */
char *
adj_module_take_target (AdjModuleReader *module, const char *target, const char *name, AdjSpan span)
{
  char *taken = g_strdup (target);

  module->n_targets = MAX (module->n_targets, g_hash_table_size (module->targets));
  while (g_hash_table_contains (module->targets, taken))
    {
      g_free (taken);
      taken = g_strdup_printf ("%s_%u", name, module->n_targets++);
    }
  if (!g_str_equal (taken, target))
    adj_diags_add (module->diags, ADJ_SEVERITY_WARNING, span,
                   "the parameter '%s' stands twice; the second is called '%s' here", target,
                   taken);
  g_hash_table_add (module->targets, g_strdup (taken));

  return taken;
}
