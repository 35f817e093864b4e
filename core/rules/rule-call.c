/* SPDX-License-Identifier: MIT */
/* A call of a rule: its memory, results and errors. */

#include "rules/rule-private.h"

void
adj_rule_call_init (AdjRuleCall *call)
{
  call->arena = adj_arena_new ();
  call->shared = adj_arena_new0 (call->arena, AdjValue, MAX (call->rule->n_shared, 1));
}

void
adj_rule_call_clear (AdjRuleCall *call)
{
  g_clear_pointer (&call->arena, adj_arena_free);
}

AdjValue
adj_rule_list_sizes (AdjArena *arena, const AdjSize *sizes, guint n)
{
  AdjValue list = { .kind = ADJ_VALUE_LIST, .n = n };

  list.items = adj_arena_new0 (arena, AdjValue, MAX (n, 1));
  for (guint i = 0; i < n; i++)
    list.items[i] = adj_value_from_size (sizes[i]);
  return list;
}

const char *
rule_kind_noun (AdjRuleKind kind)
{
  static const char *const nouns[ADJ_N_RULE_KINDS] = {
    [ADJ_RULE_GRAD] = "gradient",
    [ADJ_RULE_DECOMPOSE] = "decomposition",
    [ADJ_RULE_INVERSE] = "inverse",
    [ADJ_RULE_FORWARD] = "tangent",
  };

  return nouns[kind];
}

gboolean
rule_call_fail (AdjRuleCall *call, AdjError code, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list list;

  va_start (list, format);
  message = g_strdup_vprintf (format, list);
  va_end (list);

  adj_context_fail (call->cx, ADJ_ERROR, code, "the %s of %s::%s %s",
                    rule_kind_noun (call->rule->kind), call->rule->schema->ns,
                    call->rule->schema->name, message);
  return FALSE;
}
