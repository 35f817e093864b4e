/* SPDX-License-Identifier: MIT */
/* Lines that unpack the parameters of forward() into placeholders and annotate those. */

#include <string.h>

#include "ir/parse-header-private.h"
#include "ir/text-private.h"

/* `primals_1: "f32[4]"; tangents_1: "f32[4]"; ` above an unpacking, or one of them in a line. */
gboolean
adj_header_read_bindings (AdjHeaderReader *header, AdjReader r)
{
  g_autoptr (GPtrArray) bindings = g_ptr_array_new_with_free_func (adj_parameter_free);
  Parameter *binding = NULL;

  while (!adj_reader_at_end (&r))
    {
      binding = adj_parameter_read (&r, header->module->symbols);
      if (!binding)
        return FALSE;
      g_ptr_array_add (bindings, binding);
      if (binding->metadata.val.kind == ADJ_VALUE_NONE && binding->metadata.extra.n == 0)
        return FALSE;
      if (!adj_reader_take (&r, ";") && !adj_reader_at_end (&r))
        return FALSE;
    }
  if (binding && r.token.kind == ADJ_TOKEN_COMMENT)
    adj_parameter_describe (binding, r.token.text, r.lexer.end);
  g_ptr_array_extend_and_steal (header->bindings, g_steal_pointer (&bindings));

  return TRUE;
}

/* "primals, tangents" */
static char *
join_targets (const GPtrArray *parameters)
{
  g_autoptr (GString) joined = g_string_new (NULL);

  for (guint i = 0; i < parameters->len; i++)
    {
      Parameter *parameter = g_ptr_array_index (parameters, i);

      g_string_append_printf (joined, "%s%s", i > 0 ? ", " : "", parameter->target);
    }

  return g_string_free (g_steal_pointer (&joined), FALSE);
}

/* Moves the annotation of each name to its parameter. */
static void
adopt_bindings (AdjHeaderReader *header, GPtrArray *parameters)
{
  g_autoptr (GHashTable) by_name = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < header->bindings->len; i++)
    {
      Parameter *binding = g_ptr_array_index (header->bindings, i);

      g_hash_table_insert (by_name, binding->name, binding);
    }

  for (guint i = 0; i < parameters->len; i++)
    {
      Parameter *parameter = g_ptr_array_index (parameters, i);
      Parameter *binding = g_hash_table_lookup (by_name, parameter->name);

      if (binding)
        {
          AdjParsedMeta metadata = parameter->metadata;

          parameter->metadata = binding->metadata;
          binding->metadata = metadata;
          g_hash_table_remove (by_name, parameter->name);
        }
    }
}

/* `a, b, =` or `(a, b) =`; a leading self is no value of the graph. */
static GPtrArray *
read_names (AdjHeaderReader *header, AdjReader *r)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (adj_parameter_free);
  const char *close = adj_reader_take (r, "(") ? ")" : adj_reader_take (r, "[") ? "]" : NULL;

  while (close ? !adj_reader_take (r, close) : !adj_reader_at (r, "="))
    {
      Parameter *parameter = adj_parameter_read (r, header->module->symbols);

      if (!parameter)
        return NULL;
      g_ptr_array_add (names, parameter);
      if ((!adj_reader_take (r, ",") && !(close && adj_reader_at (r, close))) ||
          names->len > ADJ_MAX_NODES)
        return NULL;
    }
  if (names->len == 0 || !adj_reader_take (r, "="))
    return NULL;
  if (g_str_equal (((Parameter *) names->pdata[0])->target, "self"))
    g_ptr_array_remove_index (names, 0);

  return g_steal_pointer (&names);
}

/* Whether the comma at @start makes a tuple of one item, `(x,)`. */
static gboolean
is_single (const AdjReader *start)
{
  AdjReader r = *start;
  guint outside = r.brackets, n = 0;

  if (!adj_reader_at (&r, "("))
    return FALSE;
  for (adj_reader_advance (&r); r.brackets > outside && r.token.kind != ADJ_TOKEN_END;
       adj_reader_advance (&r))
    n += r.brackets == outside + 1 && adj_reader_at (&r, ",");

  return n == 1;
}

static void
append_token (GString *out, const AdjToken *token)
{
  g_autofree char *text = token->kind == ADJ_TOKEN_STRING ? adj_token_unquote (token, NULL) : NULL;

  if (text)
    adj_print_string (out, text);
  else
    g_string_append_len (out, token->text, token->length);
}

/* Whether the token is a closing bracket that does not match @open. */
static gboolean
is_mismatched (const AdjReader *r, char open)
{
  static const char *const pairs[] = { "()", "[]", "{}" };

  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    if (adj_reader_at (r, pairs[i] + 1))
      return pairs[i][0] != open;
  return FALSE;
}

/* The text between the next bracket and its end, spaced as PyTorch does: `([x], {'k':k})`. Commas
 * that formatters leave before a bracket are dropped; %NULL: brackets do not match. */
static char *
dup_spaced (AdjReader r)
{
  g_autoptr (GString) out = g_string_new (NULL);
  gboolean is_tuple[ADJ_MAX_DEPTH] = { FALSE };
  char open[ADJ_MAX_DEPTH] = { 0 };

  for (; !adj_reader_at_end (&r); adj_reader_advance (&r))
    {
      gboolean closes_next = adj_reader_is_before (&r, ")") || adj_reader_is_before (&r, "]") ||
                             adj_reader_is_before (&r, "}");

      if (r.brackets >= ADJ_MAX_DEPTH - 1 || is_mismatched (&r, open[r.brackets]))
        return NULL;
      open[r.brackets + 1] = *r.token.text;
      is_tuple[r.brackets + 1] = is_single (&r);
      if (adj_reader_at (&r, ",") && closes_next && !is_tuple[r.brackets])
        continue;
      append_token (out, &r.token);
      if (adj_reader_at (&r, ",") && !closes_next)
        g_string_append_c (out, ' ');
    }

  return g_string_free (g_steal_pointer (&out), FALSE);
}

/* The source of a pytree's values as text; @r is at the function. */
static char *
dup_flattened (const AdjReader *r)
{
  static const char head[] = "fx_pytree.tree_flatten_spec(", tail[] = ", self._in_spec)";
  g_autofree char *text = dup_spaced (*r);

  if (!text || strlen (text) <= strlen (head) + strlen (tail) || !g_str_has_prefix (text, head) ||
      !g_str_has_suffix (text, tail))
    return NULL;

  return g_strndup (text + strlen (head), strlen (text) - strlen (head) - strlen (tail));
}

/* "x, y", followed by the flattened expression if that is more than their list. */
static char *
dup_signature (AdjHeaderReader *header, const AdjReader *r)
{
  g_autofree char *flattened = dup_flattened (r);
  g_autofree char *joined = join_targets (header->parameters);
  g_autofree char *usual = g_strconcat ("[", joined, "]", NULL);

  return flattened && !g_str_equal (flattened, usual)
             ? g_strconcat (joined, ADJ_FLATTENED_MARK, flattened, NULL)
             : g_steal_pointer (&joined);
}

/* Whether the rest is a single call. */
static gboolean
is_call (AdjReader r)
{
  guint outside = r.brackets;

  while (r.token.kind == ADJ_TOKEN_NAME && adj_reader_is_before (&r, "."))
    {
      adj_reader_advance (&r);
      adj_reader_advance (&r);
    }
  if (r.token.kind != ADJ_TOKEN_NAME || !adj_reader_is_before (&r, "("))
    return FALSE;
  adj_reader_advance (&r);
  do
    adj_reader_advance (&r);
  while (r.brackets > outside && r.token.kind != ADJ_TOKEN_END && r.token.kind != ADJ_TOKEN_BAD);

  return r.brackets == outside && adj_tail_read (&r, NULL);
}

/* `primals_1, tangents_1, = fx_pytree.tree_flatten_spec([primals, tangents], self._in_spec)`, and
 * `x_1, = pytree.tree_leaves((self, x,))`, `a, b, = self._in_shuffle_graph(x_1)` after each other.
 */
gboolean
adj_header_read_unpacking (AdjHeaderReader *header, AdjReader r)
{
  g_autoptr (GPtrArray) parameters = read_names (header, &r);
  gboolean shuffles, is_leaves;

  if (!parameters || !is_call (r))
    return FALSE;

  shuffles = header->signature && header->module->n_leaves > 0 && adj_token_is (&r.token, "self");
  is_leaves = !header->signature && adj_token_is (&r.token, "pytree");
  if (!shuffles && !is_leaves && (header->signature || !adj_token_is (&r.token, "fx_pytree")))
    return FALSE;

  if (is_leaves)
    header->module->n_leaves = parameters->len;
  if (!header->signature)
    header->signature = dup_signature (header, &r);
  adopt_bindings (header, parameters);
  adj_header_set_parameters (header, g_steal_pointer (&parameters));

  return TRUE;
}
