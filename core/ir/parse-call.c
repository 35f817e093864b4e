/* SPDX-License-Identifier: MIT */

/* Names, and what follows them: calls, attributes, indices. */

#include <string.h>

#include "ir/statement-private.h"
#include "ir/text-private.h"

static AdjValue
add_parsed (AdjReader *r, AdjOpcode opcode, const char *target, GArray *args, AdjSpan span)
{
  return adj_statement_add_parsed (r->statement, opcode, target, args, NULL, span);
}

/* -- Arguments ---- */

static char *
read_keyword (AdjReader *r)
{
  char *key;

  if (r->token.kind != ADJ_TOKEN_NAME || !adj_reader_is_before (r, "="))
    return NULL;

  key = adj_token_dup (&r->token);
  adj_reader_advance (r);
  adj_reader_advance (r);

  return key;
}

static gboolean
has_keyword (const GArray *kwargs, const char *key)
{
  for (guint i = 0; i < kwargs->len; i += 2)
    if (g_str_equal (g_array_index (kwargs, AdjValue, i).text, key))
      return TRUE;

  return FALSE;
}

/* Arguments; the opening bracket is taken, as is the closing one.  Positions come before keywords,
 * and each keyword once. */
static gboolean
read_arguments (AdjReader *r, GArray *args, GArray *kwargs)
{
  while (!adj_reader_take (r, ")"))
    {
      g_autofree char *key = read_keyword (r);
      AdjValue value = ADJ_NONE;

      if (key ? has_keyword (kwargs, key) : kwargs->len > 0)
        return FALSE;
      if (!adj_reader_read (r, &value))
        return FALSE;
      if (key)
        {
          AdjValue name = adj_value_new_string (key);

          g_array_append_val (kwargs, name);
        }
      g_array_append_val (key ? kwargs : args, value);
      if (!adj_reader_take (r, ",") && !adj_reader_at (r, ")"))
        return FALSE;
    }

  return TRUE;
}

/* Reads a call of @target whose bracket is taken; @args (taken) are arguments that precede those of
 * the text. */
static gboolean
read_call (
    AdjReader *r, AdjOpcode opcode, const char *target, GArray *args, AdjSpan span, AdjValue *out)
{
  g_autoptr (GArray) owned = args;
  g_autoptr (GArray) kwargs = adj_value_array_new ();

  if (!read_arguments (r, owned, kwargs))
    return FALSE;

  *out = adj_statement_add_parsed (r->statement, opcode, target, g_steal_pointer (&owned),
                                   g_steal_pointer (&kwargs), span);

  return TRUE;
}

/* -- Indices ---- */

/* `a:b:c`, of which each may be left out, or a value. */
static gboolean
read_subscript (AdjReader *r, AdjValue *out)
{
  AdjValue bounds[3] = { ADJ_NONE, ADJ_NONE, ADJ_NONE };
  guint n = 0;

  if (adj_reader_take (r, "..."))
    {
      *out = (AdjValue){ .kind = ADJ_VALUE_ELLIPSIS };
      return TRUE;
    }
  for (;; n++)
    {
      if (!adj_reader_at (r, ":") && !adj_reader_at (r, ",") && !adj_reader_at (r, "]") &&
          !adj_reader_read (r, &bounds[n]))
        break;
      if (n == 2 || !adj_reader_take (r, ":"))
        {
          *out = n > 0 ? adj_value_new_items (ADJ_VALUE_SLICE, bounds, 3) : bounds[0];
          return TRUE;
        }
    }
  for (guint i = 0; i < n; i++)
    adj_value_clear (&bounds[i]);

  return FALSE;
}

gboolean
adj_expression_read_index (AdjReader *r, AdjValue *out)
{
  g_autoptr (GArray) items = adj_value_array_new ();
  gboolean is_tuple = FALSE;

  if (adj_reader_at (r, "]"))
    return FALSE;
  while (!adj_reader_take (r, "]"))
    {
      AdjValue item = ADJ_NONE;

      if (!read_subscript (r, &item))
        return FALSE;
      g_array_append_val (items, item);
      if (adj_reader_take (r, ","))
        is_tuple = TRUE;
      else if (!adj_reader_at (r, "]"))
        return FALSE;
    }
  if (is_tuple)
    *out = adj_value_array_end (items, ADJ_VALUE_TUPLE);
  else
    *out = adj_value_steal (&g_array_index (items, AdjValue, 0));

  return TRUE;
}

/* -- What is below self ---- */

gboolean
adj_reader_read_parts (AdjReader *r, GString *path)
{
  while (adj_reader_take (r, "."))
    {
      if (r->token.kind != ADJ_TOKEN_NAME)
        return FALSE;
      if (path->len > 0)
        g_string_append_c (path, '.');
      g_string_append_len (path, r->token.text, r->token.length);
      adj_reader_advance (r);
    }

  return TRUE;
}

/* `["0"]`; also `[0]` when an attribute, item or call of it follows. */
static gboolean
read_member (AdjReader *r, GString *path)
{
  AdjReader start = *r;
  g_autofree char *name = NULL;

  if (path->len == 0 || !adj_reader_take (r, "["))
    return FALSE;
  if (r->token.kind == ADJ_TOKEN_STRING)
    name = adj_token_unquote (&r->token, NULL);
  else if (r->token.kind == ADJ_TOKEN_INT)
    name = adj_token_dup (&r->token);
  if (name)
    adj_reader_advance (r);
  if (!name || !*name || !adj_reader_take (r, "]") ||
      (g_ascii_isdigit (*name) && !adj_reader_at (r, "(") && !adj_reader_at (r, ".") &&
       !adj_reader_at (r, "[")))
    {
      *r = start;
      return FALSE;
    }
  g_string_append_printf (path, ".%s", name);

  return TRUE;
}

static gboolean
read_members (AdjReader *r, GString *path)
{
  do
    if (!adj_reader_read_parts (r, path))
      return FALSE;
  while (read_member (r, path));

  return TRUE;
}

/* Whether `self` is next, or `root`, the name that FX gives the module while it traces. */
static gboolean
at_self (const AdjReader *r)
{
  AdjValue value = ADJ_NONE;
  gboolean is_node =
      r->resolve && adj_reader_at_name (r, "root") && r->resolve ("root", &value, r->data);

  adj_value_clear (&value);

  return adj_reader_at_name (r, "self") ||
         (adj_reader_at_name (r, "root") && !is_node && adj_reader_is_before (r, "."));
}

gboolean
adj_reader_read_self_path (AdjReader *r, GString *path, guint depth)
{
  g_autofree char *name = NULL;

  if (at_self (r))
    {
      adj_reader_advance (r);
      return read_members (r, path);
    }

  if (!adj_reader_at_name (r, "getattr") || depth > ADJ_MAX_DEPTH)
    return FALSE;
  adj_reader_advance (r);
  if (!adj_reader_take (r, "(") || !adj_reader_read_self_path (r, path, depth + 1) ||
      !adj_reader_take (r, ",") || r->token.kind != ADJ_TOKEN_STRING)
    return FALSE;

  name = adj_token_unquote (&r->token, NULL);
  if (!name)
    return FALSE;
  if (path->len > 0)
    g_string_append_c (path, '.');
  g_string_append (path, name);
  adj_reader_advance (r);
  adj_reader_take (r, ",");

  return adj_reader_take (r, ")") && read_members (r, path);
}

/* `self.weight`, `self.fc(x)` */
static gboolean
read_attribute (AdjReader *r, AdjValue *out)
{
  g_autoptr (GString) path = g_string_new (NULL);
  AdjReader start = *r;

  if (!adj_reader_read_self_path (r, path, 0) || path->len == 0)
    {
      *r = start;
      return FALSE;
    }
  if (adj_reader_take (r, "("))
    return read_call (r, ADJ_OPCODE_CALL_MODULE, path->str, adj_value_array_new (),
                      start.token.span, out);

  *out = add_parsed (r, ADJ_OPCODE_GET_ATTR, path->str, adj_value_array_new (), start.token.span);

  return TRUE;
}

/* -- Functions ---- */

static gboolean
find_node (const AdjValue *leaf, gpointer data)
{
  return leaf->kind != ADJ_VALUE_NODE;
}

static gboolean
parsed_has_nodes (const AdjParsedNode *parsed)
{
  for (guint i = 0; i < parsed->args->len; i++)
    if (!adj_value_foreach (&g_array_index (parsed->args, AdjValue, i), find_node, NULL))
      return TRUE;
  for (guint i = 1; i < parsed->kwargs->len; i += 2)
    if (!adj_value_foreach (&g_array_index (parsed->kwargs, AdjValue, i), find_node, NULL))
      return TRUE;

  return FALSE;
}

/* Whether an argument may be computed by calling @path. A constructor such as `Shard(dim=0)` is
 * PyTorch's text of an object and is not called. */
static gboolean
may_nest (AdjReader *r, const char *path)
{
  const char *dot = strrchr (path, '.'), *name = dot ? dot + 1 : path;
  const GArray *parsed_nodes = r->statement->parsed_nodes;

  if (g_ascii_isupper (*name))
    return FALSE;

  return g_str_has_prefix (path, "torch.") || g_str_has_prefix (path, "math.") ||
         g_str_has_prefix (path, "operator.") || g_str_has_prefix (path, "_operator_") ||
         parsed_has_nodes (&g_array_index (parsed_nodes, AdjParsedNode, parsed_nodes->len - 1));
}

/* `torch.ops.aten.add.Tensor(…)`; the bracket is next. */
static gboolean
read_function (AdjReader *r, const char *path, gboolean is_nested, AdjSpan span, AdjValue *out)
{
  g_autofree char *target = NULL;
  gboolean ok;

  if (is_nested && adj_reader_read_value_call (r, path, out, &ok))
    return ok;

  if (g_str_has_prefix (path, "_operator_"))
    target = g_strconcat ("operator.", path + strlen ("_operator_"), NULL);
  else if (g_str_has_prefix (path, "torch__"))
    target = adj_target_from_printed (path);
  adj_reader_take (r, "(");
  if (!read_call (r, ADJ_OPCODE_CALL_FUNCTION, target ? target : path, adj_value_array_new (), span,
                  out))
    return FALSE;

  return !is_nested || may_nest (r, path);
}

/* The module that a customary short name denotes ("F": torch.nn.functional); any other name itself.
 */
static const char *
find_module (const char *name)
{
  static const char *const names[][2] = {
    { "aten", "torch.ops.aten" },
    { "prims", "torch.ops.prims" },
    { "nn", "torch.nn" },
    { "F", "torch.nn.functional" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (names[i][0], name))
      return names[i][1];

  return name;
}

/* Reads a dotted name that is no node and does not begin with self; @module: (nullable): the module
 * that its first part denotes. */
static gboolean
read_path (AdjReader *r, const char *module, gboolean is_nested, AdjValue *out)
{
  AdjSpan span = r->token.span;
  g_autofree char *first = adj_token_dup (&r->token);
  g_autoptr (GString) path = g_string_new (module                          ? module
                                           : adj_reader_is_before (r, ".") ? find_module (first)
                                                                           : first);

  adj_reader_advance (r);
  if (!adj_reader_read_parts (r, path))
    return FALSE;
  if (adj_reader_at (r, "("))
    return read_function (r, path->str, is_nested, span, out);

  return adj_value_from_path (path->str, out);
}

static gboolean
read_name (AdjReader *r, AdjValue *out)
{
  g_autofree char *name = adj_token_dup (&r->token);
  g_auto (AdjValue) value = ADJ_NONE;
  gboolean is_nested = r->token.text != r->statement->right;
  gboolean is_known, is_module;

  if (read_attribute (r, out))
    return TRUE;
  is_known = r->resolve (name, &value, r->data);
  is_module = value.kind == ADJ_VALUE_OP;
  /* A node is never called, but it may have the name of what it calls. */
  if (is_known && !is_module && !adj_reader_is_before (r, "("))
    {
      adj_reader_advance (r);
      *out = adj_value_steal (&value);
      return TRUE;
    }

  return read_path (r, is_module ? value.text : NULL, is_nested, out);
}

/* -- What follows ---- */

/* `.relu(…)` and `.shape` of @value, which is taken; the dot is next. */
static gboolean
read_attribute_of (AdjReader *r, AdjSpan span, AdjValue *value)
{
  GArray *args = adj_value_array_new ();
  AdjValue receiver = adj_value_steal (value), name;
  g_autofree char *member = NULL;

  g_array_append_val (args, receiver);
  adj_reader_advance (r);
  if (r->token.kind != ADJ_TOKEN_NAME)
    {
      g_array_unref (args);
      return FALSE;
    }
  member = adj_token_dup (&r->token);
  adj_reader_advance (r);
  if (adj_reader_take (r, "("))
    return read_call (r, ADJ_OPCODE_CALL_METHOD, member, args, span, value);

  name = adj_value_new_string (member);
  g_array_append_val (args, name);
  *value = add_parsed (r, ADJ_OPCODE_CALL_FUNCTION, "getattr", args, span);

  return TRUE;
}

/* `[…]` of @value, which is taken; the bracket is next. */
static gboolean
read_item_of (AdjReader *r, AdjSpan span, AdjValue *value)
{
  g_autoptr (GArray) args = adj_value_array_new ();
  AdjValue object = adj_value_steal (value), index = ADJ_NONE;

  g_array_append_val (args, object);
  adj_reader_advance (r);
  if (!adj_expression_read_index (r, &index))
    return FALSE;

  g_array_append_val (args, index);
  *value =
      add_parsed (r, ADJ_OPCODE_CALL_FUNCTION, "operator.getitem", g_steal_pointer (&args), span);

  return TRUE;
}

gboolean
adj_expression_read_primary (AdjReader *r, AdjValue *out)
{
  AdjSpan span = r->token.span;
  g_auto (AdjValue) value = ADJ_NONE;
  gboolean has_members;

  if (adj_token_is_keyword (&r->token) && !adj_reader_at_name (r, "None") &&
      !adj_reader_at_name (r, "True") && !adj_reader_at_name (r, "False"))
    return FALSE;
  if (r->token.kind == ADJ_TOKEN_NAME ? !read_name (r, &value)
                                      : !adj_reader_read_operand (r, &value))
    return FALSE;

  has_members = value.kind == ADJ_VALUE_NODE || adj_value_is_container (&value);
  while (adj_reader_at (r, ".") || adj_reader_at (r, "["))
    {
      if (adj_reader_at (r, ".") && !has_members)
        return FALSE;
      if (adj_reader_at (r, ".") ? !read_attribute_of (r, span, &value)
                                 : !read_item_of (r, span, &value))
        return FALSE;
      has_members = TRUE;
    }
  if (value.kind == ADJ_VALUE_RAW)
    return FALSE;
  *out = adj_value_steal (&value);

  return TRUE;
}
