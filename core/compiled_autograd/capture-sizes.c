/* SPDX-License-Identifier: MIT */
/* Sizes (compiled_autograd/SPEC.md §3.2): each is static until it changes, and a symbol from then
 * on.  Unlike in PyTorch, a capture only runs for sizes that satisfy the guards of its trace. */

#include "compiled_autograd/compiled-private.h"

gboolean
sizes_update (GArray *states, const GArray *sizes, SizeChange *change)
{
  gboolean fixed_changed = FALSE;

  if (states->len != sizes->len)
    {
      g_array_set_size (states, sizes->len);
      for (guint i = 0; i < sizes->len; i++)
        g_array_index (states, SizeState, i) =
            (SizeState){ g_array_index (sizes, gint64, i), FALSE };
      return FALSE;
    }
  for (guint i = 0; i < sizes->len; i++)
    {
      SizeState *state = &g_array_index (states, SizeState, i);
      gint64 size = g_array_index (sizes, gint64, i);

      if (size == state->expected)
        continue;
      if (!state->dynamic && !fixed_changed)
        *change = (SizeChange){ i, state->expected };
      fixed_changed |= !state->dynamic;
      *state = (SizeState){ size, TRUE };
    }
  return fixed_changed;
}

GArray *
sizes_make_rules (const GArray *states, AdjSymbols *symbols)
{
  GArray *rules = g_array_new (FALSE, FALSE, sizeof (SizeRule));

  for (guint i = 0; i < states->len; i++)
    {
      const SizeState *state = &g_array_index (states, SizeState, i);
      SizeRule rule = { state->dynamic, state->expected, ADJ_SIZE (state->expected) };

      if (rule.passed)
        rule.size = adj_symbols_add_size (symbols, ADJ_SIZES_DUCK, rule.hint, NULL);
      g_array_append_val (rules, rule);
    }
  return rules;
}

/* -- whether a capture holds -- */

gboolean
sizes_evaluate (
    const GArray *rules, const GArray *sizes, AdjSymbols *symbols, AdjSize size, gint64 *out)
{
  AdjSizeOp op;
  AdjSize a, b;
  gint64 left, right = 0;

  if (adj_size_is_int (size))
    {
      *out = size.word;
      return TRUE;
    }
  if (!adj_symbols_get_operands (symbols, size, &op, &a, &b))
    {
      for (guint i = 0; i < rules->len; i++)
        if (adj_size_same (g_array_index (rules, SizeRule, i).size, size))
          {
            *out = g_array_index (sizes, gint64, i);
            return TRUE;
          }
      return adj_size_get_hint (symbols, size, out);
    }
  if (!sizes_evaluate (rules, sizes, symbols, a, &left) ||
      !sizes_evaluate (rules, sizes, symbols, b, &right))
    return FALSE;
  size = adj_size_apply (NULL, op, ADJ_SIZE (left), ADJ_SIZE (right));
  *out = size.word;
  return adj_size_is_int (size);
}

static gboolean
guards_hold (const GArray *rules, const GArray *sizes, AdjSymbols *symbols, char **reason)
{
  for (guint i = 0; i < adj_symbols_get_n_guards (symbols); i++)
    {
      const AdjGuard guard = adj_symbols_get_guard (symbols, i);
      g_autoptr (GString) text = NULL;
      gint64 truth;

      if (sizes_evaluate (rules, sizes, symbols, guard.condition, &truth) &&
          (truth != 0) == guard.holds)
        continue;
      text = g_string_new (guard.holds ? "no longer holds: " : "holds now: ");
      adj_size_print (symbols, guard.condition, text);
      *reason = g_string_free (g_steal_pointer (&text), FALSE);
      return FALSE;
    }
  return TRUE;
}

/* Equal sizes share a symbol; 0 and 1 are never symbols. */
static gboolean
rule_fits (const GArray *rules, const GArray *sizes, guint index, char **reason)
{
  const SizeRule *rule = &g_array_index (rules, SizeRule, index);
  gint64 size = g_array_index (sizes, gint64, index);

  if (adj_size_is_int (rule->size) || size < 2)
    {
      if (size == rule->hint)
        return TRUE;
      *reason = g_strdup_printf ("size %u was %" G_GINT64_FORMAT ", is %" G_GINT64_FORMAT, index,
                                 rule->hint, size);
      return FALSE;
    }
  for (guint i = 0; i < index; i++)
    if (adj_size_same (g_array_index (rules, SizeRule, i).size, rule->size) &&
        g_array_index (sizes, gint64, i) != size)
      {
        *reason = g_strdup_printf ("sizes %u and %u were equal and are not", i, index);
        return FALSE;
      }
  return TRUE;
}

gboolean
sizes_fit (const GArray *rules, const GArray *sizes, AdjSymbols *symbols, char **reason)
{
  g_clear_pointer (reason, g_free);
  for (guint i = 0; i < rules->len; i++)
    if (!rule_fits (rules, sizes, i, reason))
      return FALSE;
  return guards_hold (rules, sizes, symbols, reason);
}
