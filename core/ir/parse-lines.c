/* SPDX-License-Identifier: MIT */

/* `str(graph)`, a node in each line (ir/SPEC.md §5.8):
 *
 *   graph():
 *       %x : [num_users=1] = placeholder[target=x](default=1)
 *       %add : [num_users=1] = call_function[target=torch.add](args = (%x, 1), kwargs = {alpha: 2})
 *       return (add, None)
 *
 * Values stand there as str() has them: texts without quotes, keys of dictionaries bare.  What can
 * be told apart is; the rest is kept as text. */

#include <string.h>

#include "ir/parse-private.h"
#include "ir/text-private.h"

/* A line that is being parsed. */
typedef struct
{
  AdjModuleReader *module;
  const AdjLine *line;
  char *name;
  char *target;
  AdjOpcode opcode;
  AdjValue args, kwargs;
} Line;

static void
line_clear (Line *l)
{
  g_free (l->name);
  g_free (l->target);
  adj_value_clear (&l->args);
  adj_value_clear (&l->kwargs);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Line, line_clear)

/* -- Values ---- */

static gboolean
is_name_char (char c)
{
  return g_ascii_isalnum (c) || c == '_';
}

/* A device with an index, "cuda:0", which would look like a dictionary's entry. */
static gsize
device_length (const char *at, const char *end)
{
  static const char *const types[] = { "cuda:", "cpu:", "meta:", "xpu:", "mps:" };

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    {
      gsize n = strlen (types[i]);

      if ((gsize) (end - at) > n && memcmp (at, types[i], n) == 0 && g_ascii_isdigit (at[n]))
        {
          while (at + n < end && g_ascii_isdigit (at[n]))
            n++;
          return n;
        }
    }
  return 0;
}

/* The text as repr() would have it, as far as that can be told: nodes without '%', devices as
 * calls. */
static char *
as_repr (const char *text, gsize length)
{
  g_autoptr (GString) out = g_string_new (NULL);
  const char *end = text + length;

  for (const char *at = text; at < end; at++)
    {
      gboolean begins = at == text || !is_name_char (at[-1]);
      gsize n = begins ? device_length (at, end) : 0;

      if (n > 0)
        {
          g_string_append_printf (out, "device('%.*s')", (int) n, at);
          at += n - 1;
        }
      else if (*at != '%' || !begins || at + 1 == end || !is_name_char (at[1]))
        g_string_append_c (out, *at);
    }
  return g_string_free (g_steal_pointer (&out), FALSE);
}

/* Turns text into a device or a string where possible; other leaves are copied. */
static gboolean
quote_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  AdjDevice device;

  if (leaf->kind != ADJ_VALUE_RAW)
    *out = adj_value_copy (leaf);
  else if (adj_device_parse (leaf->text, leaf->n, &device))
    *out = (AdjValue){ .kind = ADJ_VALUE_DEVICE, .device = device };
  else if (adj_text_is_identifier (leaf->text, leaf->n))
    *out = adj_value_new_string (leaf->text);
  else
    *out = adj_value_copy (leaf);
  return TRUE;
}

static gboolean
is_read (const AdjValue *leaf, gpointer data)
{
  return leaf->kind != ADJ_VALUE_RAW;
}

/* Whether every "%name" is the name of a node. */
static gboolean
names_nodes (AdjModuleReader *module, const char *text, gsize length)
{
  const char *end = text + length;

  for (const char *at = text; (at = memchr (at, '%', (gsize) (end - at))) != NULL;)
    {
      const char *start = ++at;
      g_autofree char *name = NULL;
      g_auto (AdjValue) node = ADJ_NONE;

      while (at < end && is_name_char (*at))
        at++;
      name = g_strndup (start, (gsize) (at - start));
      if (at > start && !adj_module_resolve (name, &node, module))
        return FALSE;
    }
  return TRUE;
}

static gboolean
read_value (AdjModuleReader *module, const char *text, gsize length, AdjValue *out)
{
  g_autofree char *repr = as_repr (text, length);
  g_auto (AdjValue) value = ADJ_NONE;
  AdjReader reader;

  if (!names_nodes (module, text, length))
    return FALSE;

  adj_reader_init (&reader, repr, strlen (repr), 1);
  reader.resolve = adj_module_resolve;
  reader.data = module;
  reader.symbols = module->symbols;
  if (!adj_reader_read (&reader, &value) || !adj_reader_at_end (&reader) ||
      reader.raw_mentions_node || !adj_value_map (&value, quote_leaf, NULL, out))
    return FALSE;
  if (!module->quotes_raw || adj_value_foreach (out, is_read, NULL))
    return TRUE;
  adj_value_clear (out);
  return FALSE;
}

/* -- Nodes ---- */

/* Reads "%name : torch.Tensor [num_users=1] = "; returns the position after it. */
static const char *
read_left (Line *l, const char *at, const char *end)
{
  const char *start = at + 1, *equals = memmem (at, (gsize) (end - at), "] = ", 4);

  if (*at != '%')
    return NULL;
  for (at = start; at < end && is_name_char (*at);)
    at++;
  if (at == start || equals == NULL || memmem (at, (gsize) (equals - at), "users=", 6) == NULL)
    return NULL;
  l->name = g_strndup (start, (gsize) (at - start));
  return equals + 4;
}

/* Reads "call_function[target=torch.add]"; returns the position after the bracket that @close
 * begins. */
static const char *
read_target (Line *l, const char *at, const char *end, const char *close)
{
  static const AdjOpcode opcodes[] = { ADJ_OPCODE_PLACEHOLDER, ADJ_OPCODE_GET_ATTR,
                                       ADJ_OPCODE_CALL_FUNCTION, ADJ_OPCODE_CALL_METHOD,
                                       ADJ_OPCODE_CALL_MODULE };
  static const char mark[] = "[target=", builtins[] = "builtins.";
  const char *closes;

  for (guint i = 0; i < G_N_ELEMENTS (opcodes); i++)
    {
      const char *name = adj_opcode_name (opcodes[i]);
      gsize n = strlen (name);

      if ((gsize) (end - at) < n + strlen (mark) || memcmp (at, name, n) != 0 ||
          memcmp (at + n, mark, strlen (mark)) != 0)
        continue;
      at += n + strlen (mark);
      closes = memmem (at, (gsize) (end - at), close, strlen (close));
      if (closes == NULL || closes == at)
        return NULL;
      l->opcode = opcodes[i];
      l->target = g_strndup (at, (gsize) (closes - at));
      if (g_str_has_prefix (l->target, builtins))
        memmove (l->target, l->target + strlen (builtins),
                 strlen (l->target) - strlen (builtins) + 1);
      return closes + 1;
    }
  return NULL;
}

/* "(args = (…), kwargs = {…})" */
static gboolean
read_call (Line *l, const char *at, const char *end)
{
  static const char first[] = "(args = ", second[] = ", kwargs = ";
  const char *kwargs = NULL;

  if ((gsize) (end - at) < strlen (first) || memcmp (at, first, strlen (first)) != 0 ||
      end[-1] != ')')
    return FALSE;
  at += strlen (first);
  for (const char *found = at;
       (found = memmem (found, (gsize) (end - found), second, strlen (second))) != NULL; found++)
    kwargs = found;
  return kwargs != NULL && read_value (l->module, at, (gsize) (kwargs - at), &l->args) &&
         l->args.kind == ADJ_VALUE_TUPLE &&
         read_value (l->module, kwargs + strlen (second),
                     (gsize) (end - 1 - kwargs - strlen (second)), &l->kwargs) &&
         l->kwargs.kind == ADJ_VALUE_DICT;
}

/* "(default=1)", or nothing. */
static gboolean
read_default (Line *l, const char *at, const char *end)
{
  static const char mark[] = "(default=";
  AdjValue value = ADJ_NONE;

  l->args = (AdjValue){ .kind = ADJ_VALUE_TUPLE };
  if (at == end)
    return TRUE;
  if ((gsize) (end - at) <= strlen (mark) || memcmp (at, mark, strlen (mark)) != 0 ||
      end[-1] != ')' ||
      !read_value (l->module, at + strlen (mark), (gsize) (end - at) - strlen (mark) - 1, &value))
    return FALSE;
  l->args = adj_value_new_items (ADJ_VALUE_TUPLE, &value, 1);
  return TRUE;
}

/* Whether the target can be printed and read again: a name, or a dotted name. */
static gboolean
is_sound (const Line *l)
{
  const char *name = l->target;
  g_auto (GStrv) parts = NULL;

  if (l->opcode == ADJ_OPCODE_PLACEHOLDER)
    name += strspn (name, "*");
  if (l->opcode == ADJ_OPCODE_PLACEHOLDER || l->opcode == ADJ_OPCODE_CALL_METHOD)
    return adj_text_is_identifier (name, strlen (name));
  parts = g_strsplit (name, ".", ADJ_MAX_DEPTH);
  for (guint i = 0; parts[i] != NULL; i++)
    if (!adj_text_is_identifier (parts[i], strlen (parts[i])) &&
        (l->opcode == ADJ_OPCODE_CALL_FUNCTION || strspn (parts[i], "0123456789") == 0 ||
         parts[i][strspn (parts[i], "0123456789")] != '\0'))
      return FALSE;
  return parts[0] != NULL;
}

/* Whether the first argument of a method call is a node. */
static gboolean
has_receiver (const Line *l)
{
  return l->opcode != ADJ_OPCODE_CALL_METHOD ||
         (l->args.n > 0 && l->args.items[0].kind == ADJ_VALUE_NODE);
}

static gboolean
read_node (Line *l)
{
  const char *at = l->line->at + l->line->indent, *end = l->line->at + l->line->length;
  const char *expression = read_left (l, at, end), *rest;

  l->kwargs = (AdjValue){ .kind = ADJ_VALUE_DICT };
  if (expression == NULL)
    return FALSE;
  rest = read_target (l, expression, end, "](args = ");
  if (rest != NULL && l->opcode == ADJ_OPCODE_GET_ATTR)
    return FALSE; /* get_attr takes no arguments */
  if (rest != NULL)
    return is_sound (l) && read_call (l, rest, end) && has_receiver (l);
  rest = read_target (l, expression, end, "](default=");
  if (rest == NULL)
    rest = read_target (l, expression, end, "]");
  if (rest == NULL || !is_sound (l))
    return FALSE;
  return l->opcode == ADJ_OPCODE_PLACEHOLDER ? read_default (l, rest, end)
                                             : rest == end && l->opcode == ADJ_OPCODE_GET_ATTR;
}

static void
add_node (Line *l)
{
  g_autofree char *bound = adj_module_bind (l->module, l->name, adj_line_get_span (l->line));
  AdjNodeSpec spec = { .name = bound,
                       .opcode = l->opcode,
                       .target = l->target,
                       .args = l->args,
                       .kwargs = l->kwargs,
                       .span = adj_line_get_span (l->line),
                       .origin = ADJ_NO_NODE };
  g_autofree char *target = NULL;

  /* A parameter with the name of an earlier node would be ambiguous. */
  if (l->opcode == ADJ_OPCODE_PLACEHOLDER)
    spec.target = target = adj_module_take_target (
        l->module,
        adj_node_id_is_valid (adj_builder_find (l->module->builder, l->target)) ? l->name
                                                                                : l->target,
        l->name, spec.span);
  adj_builder_add (l->module->builder, &spec);
}

gboolean
adj_lines_begin (const AdjLine *line)
{
  static const char head[] = "graph(", tail[] = "):";
  gsize n = line->length - line->indent;

  return n >= strlen (head) + strlen (tail) &&
         memcmp (line->at + line->indent, head, strlen (head)) == 0 &&
         memcmp (line->at + line->length - strlen (tail), tail, strlen (tail)) == 0;
}

/* `graph(%x, y):`: parameters that have no line of their own. */
void
adj_lines_read_parameters (AdjModuleReader *module, const AdjLine *line)
{
  const char *text = line->at + line->indent + strlen ("graph(");
  g_autofree char *names =
      g_strndup (text, (gsize) (line->at + line->length - strlen ("):") - text));
  g_auto (GStrv) parts = g_strsplit (names, ",", ADJ_MAX_NODES);

  for (guint i = 0; parts[i] != NULL; i++)
    {
      char *name = g_strstrip (parts[i]);
      g_auto (Line) l = { .module = module, .line = line };

      name += *name == '%';
      if (!adj_text_is_identifier (name, strlen (name)))
        continue;
      l.name = g_strdup (name);
      l.target = g_strdup (name);
      l.opcode = ADJ_OPCODE_PLACEHOLDER;
      l.args = (AdjValue){ .kind = ADJ_VALUE_TUPLE };
      l.kwargs = (AdjValue){ .kind = ADJ_VALUE_DICT };
      add_node (&l);
    }
}

gboolean
adj_lines_read_node (AdjModuleReader *module, const AdjLine *line)
{
  g_auto (Line) l = { .module = module, .line = line };

  if (line->length <= line->indent || line->at[line->indent] != '%')
    return FALSE;
  if (read_node (&l))
    {
      g_auto (AdjValue) known = ADJ_NONE;

      if (l.opcode != ADJ_OPCODE_PLACEHOLDER || !adj_module_resolve (l.name, &known, module))
        add_node (&l);
    }
  else
    {
      adj_diags_add (module->diags, ADJ_SEVERITY_WARNING, adj_line_get_span (line),
                     "this node is not understood; it is kept as text");
      adj_module_keep_raw (module, line);
    }
  return TRUE;
}

gboolean
adj_lines_read_return (AdjModuleReader *module, const AdjLine *line)
{
  static const char word[] = "return ";
  const char *at = line->at + line->indent, *end = line->at + line->length;
  AdjValue value = ADJ_NONE;

  if ((gsize) (end - at) < strlen (word) || memcmp (at, word, strlen (word)) != 0)
    return FALSE;
  at += strlen (word);
  if (read_value (module, at, (gsize) (end - at), &value) &&
      adj_value_foreach (&value, is_read, NULL))
    adj_builder_output (module->builder, &value);
  else
    {
      adj_diags_add (module->diags, ADJ_SEVERITY_WARNING, adj_line_get_span (line),
                     "what is returned is not understood; it is kept as text");
      adj_module_return_raw (module, line);
    }
  adj_value_clear (&value);
  return TRUE;
}
