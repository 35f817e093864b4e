/* SPDX-License-Identifier: MIT */

/* Graph text, line by line: classes, headers and comments.  Nothing that it says is trusted: what
 * is not understood is kept as text and reported, and everything is bounded. */

#include <string.h>

#include "ir/adj-text.h"
#include "ir/parse-private.h"
#include "ir/text-private.h"

#define MAX_LINE_LENGTH (64u << 20)

/* The whole text. */
typedef struct
{
  const char *at; /* the next line */
  const char *end;
  guint number; /* of the next line, from 1 */
  guint n_nodes;
  AdjSymbols *symbols;
  AdjDiags *diags;
  AdjWords words;
} Text;

/* A parameter of forward(), or a value that a pytree unpacks into. */
typedef struct
{
  char *name;   /* of the node */
  char *target; /* as written, with stars */
  AdjSpan span;
  AdjNodeFacts facts;
  AdjValue default_value;
  gboolean has_default;
} Parameter;

typedef struct
{
  Text *text;
  AdjModuleReader reader;
  guint indent; /* of the class line */
  guint depth;

  GPtrArray *parameters; /* Parameter; placeholders once they are added */
  GPtrArray *bindings;   /* Parameter: annotations of what a pytree unpacks into */
  GHashTable *facts;     /* (owned) node name → (owned) text of its facts */
  char *signature;       /* (nullable) "primals, tangents", when it is a pytree's */
  char *return_type;
  gboolean has_placeholders; /* they are added */
  gboolean has_output;
} Module;

static AdjGraph *
parse_module (Text *text, const AdjLine *class_line, guint depth, char **name, GError **error);

/* -- Lines ---- */

static gboolean
is_blank (char c)
{
  return c == ' ' || c == '\t' || c == '\r';
}

static gboolean
peek_line (const Text *text, AdjLine *line)
{
  const char *end;

  if (text->at >= text->end)
    return FALSE;

  end = memchr (text->at, '\n', text->end - text->at);
  line->at = text->at;
  line->length = (end ? end : text->end) - text->at;
  line->number = text->number;
  while (line->length > 0 && is_blank (line->at[line->length - 1]))
    line->length--;
  for (line->indent = 0; line->indent < line->length && is_blank (line->at[line->indent]);)
    line->indent++;

  return TRUE;
}

static void
skip_line (Text *text)
{
  const char *end = memchr (text->at, '\n', text->end - text->at);

  text->at = end ? end + 1 : text->end;
  text->number++;
}

static gboolean
starts_with (const AdjLine *line, const char *word)
{
  gsize n = strlen (word);

  return line->length - line->indent >= n && memcmp (line->at + line->indent, word, n) == 0;
}

/* The name between "class " and "(torch.nn.Module):", which may follow a file's name. */
static gboolean
find_class (const AdjLine *line, gsize *start, gsize *length)
{
  static const char head[] = "class ", tail[] = "(torch.nn.Module):";
  const char *found = memmem (line->at, line->length, head, strlen (head));
  const char *end = memmem (line->at, line->length, tail, strlen (tail));

  if (!found || !end || end < found + strlen (head) ||
      end + strlen (tail) != line->at + line->length)
    return FALSE;

  *start = found + strlen (head) - line->at;
  *length = end - (line->at + *start);

  return TRUE;
}

static void
fail (GError **error, AdjError code, const AdjLine *line, const char *message)
{
  g_set_error (error, ADJ_ERROR, code, "%u:%u: %s", line->number, line->indent + 1, message);
}

/* -- Parameters ---- */

static Parameter *
parameter_new (void)
{
  Parameter *parameter = g_new0 (Parameter, 1);

  adj_node_facts_init (&parameter->facts);

  return parameter;
}

static void
parameter_free (gpointer data)
{
  Parameter *parameter = data;

  adj_node_facts_clear (&parameter->facts);
  adj_value_clear (&parameter->default_value);
  g_free (parameter->name);
  g_free (parameter->target);
  g_free (parameter);
}

/* Up to a comma, semicolon, equals sign or closing bracket that is not its own. */
static void
read_annotation (AdjReader *r, Parameter *parameter, AdjSymbols *symbols)
{
  const char *start = r->token.text, *end = start;

  for (gint depth = 0; !adj_reader_at_end (r); adj_reader_advance (r))
    {
      gboolean opens = adj_reader_at (r, "[") || adj_reader_at (r, "(");
      gboolean closes = adj_reader_at (r, "]") || adj_reader_at (r, ")");

      if (depth == 0 &&
          (closes || adj_reader_at (r, ",") || adj_reader_at (r, "=") || adj_reader_at (r, ";")))
        break;
      depth += opens - closes;
      end = r->token.text + r->token.length;
    }
  adj_node_facts_annotate (&parameter->facts, start, end - start, symbols);
}

static Parameter *
read_parameter (AdjReader *r, AdjSymbols *symbols)
{
  g_autoptr (GString) target = g_string_new (NULL);
  Parameter *parameter;

  while (adj_reader_at (r, "*") || adj_reader_at (r, "**"))
    {
      g_string_append_len (target, r->token.text, r->token.length);
      adj_reader_advance (r);
    }
  if (r->token.kind != ADJ_TOKEN_NAME)
    return NULL;

  parameter = parameter_new ();
  parameter->name = adj_token_dup (&r->token);
  parameter->span = r->token.span;
  g_string_append (target, parameter->name);
  parameter->target = g_string_free (g_steal_pointer (&target), FALSE);
  adj_reader_advance (r);
  if (adj_reader_take (r, ":"))
    read_annotation (r, parameter, symbols);

  return parameter;
}

/* `(self, a: "f32[2]", b = None) -> T:`, over several lines if need be. */
static gboolean
read_parameters (Module *module, AdjReader *r)
{
  if (!adj_reader_take (r, "("))
    return FALSE;

  while (!adj_reader_take (r, ")"))
    {
      Parameter *parameter = read_parameter (r, module->text->symbols);

      if (!parameter)
        return FALSE;
      if (module->parameters->len == 0 && g_str_equal (parameter->name, "self"))
        parameter_free (parameter);
      else
        {
          g_ptr_array_add (module->parameters, parameter);
          if (adj_reader_take (r, "="))
            {
              parameter->has_default = TRUE;
              if (!adj_reader_read (r, &parameter->default_value))
                return FALSE;
            }
        }
      if (!adj_reader_take (r, ",") && !adj_reader_at (r, ")"))
        return FALSE;
      if (module->parameters->len > ADJ_MAX_NODES)
        return FALSE;
    }

  if (adj_reader_take (r, "->"))
    {
      const char *start = r->token.text, *end = start;

      while (!adj_reader_at (r, ":") && !adj_reader_at_end (r))
        {
          end = r->token.text + r->token.length;
          adj_reader_advance (r);
        }
      module->return_type = g_strndup (start, end - start);
    }

  return adj_reader_at (r, ":");
}

static gboolean
parse_header (Module *module, GError **error)
{
  Text *text = module->text;
  AdjLine line = { 0 };
  AdjReader reader;

  while (peek_line (text, &line) && !starts_with (&line, "def "))
    {
      if (starts_with (&line, "class ") || starts_with (&line, "return"))
        break;
      skip_line (text);
    }
  if (text->at >= text->end || !starts_with (&line, "def "))
    {
      line.number = line.number > 0 ? line.number : text->number;
      fail (error, ADJ_ERROR_PARSE, &line, "expected 'def forward(…):'");
      return FALSE;
    }

  adj_reader_init (&reader, text->at, text->end - text->at, line.number);
  reader.lexer.keep_newlines = FALSE;
  adj_reader_advance (&reader);
  adj_reader_advance (&reader);
  if (!read_parameters (module, &reader))
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%u:%u: malformed parameters",
                   reader.token.span.line, reader.token.span.column);
      return FALSE;
    }

  while (text->at < text->end && text->number <= reader.token.span.line)
    skip_line (text);

  return TRUE;
}

/* -- Placeholders ---- */

static void
add_placeholder (Module *module, Parameter *parameter)
{
  const char *facts = g_hash_table_lookup (module->facts, parameter->name);
  g_autofree char *name = NULL;
  AdjNodeSpec spec = {
    .opcode = ADJ_OPCODE_PLACEHOLDER,
    .target = parameter->target,
    .meta = &parameter->facts.meta,
    .span = parameter->span,
    .origin = ADJ_NO_NODE,
  };

  if (facts)
    adj_node_facts_parse (&parameter->facts, facts, strlen (facts), module->text->symbols);
  parameter->facts.meta.extra = &parameter->facts.extra;
  spec.val = parameter->facts.val;
  if (parameter->has_default)
    spec.args = (AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 1, .items = &parameter->default_value };
  spec.name = name = adj_module_bind (&module->reader, parameter->name, parameter->span);
  adj_builder_add (module->reader.builder, &spec);
}

static void
add_placeholders (Module *module)
{
  if (module->has_placeholders)
    return;

  module->has_placeholders = TRUE;
  for (guint i = 0; i < module->parameters->len; i++)
    add_placeholder (module, g_ptr_array_index (module->parameters, i));
  if (module->signature)
    adj_builder_set_header (module->reader.builder, ADJ_HEADER_PYTREE, module->signature);
}

static Parameter *
find_parameter (const GPtrArray *parameters, const char *name)
{
  for (guint i = 0; i < parameters->len; i++)
    {
      Parameter *parameter = g_ptr_array_index (parameters, i);

      if (g_str_equal (parameter->target + strspn (parameter->target, "*"), name))
        return parameter;
    }

  return NULL;
}

/* `l_x_ = L_x_`: the node of a parameter has another name. */
static gboolean
read_alias (Module *module, AdjReader r)
{
  g_autofree char *name = NULL;
  g_autofree char *parameter_name = NULL;
  Parameter *parameter;

  if (module->has_placeholders || r.token.kind != ADJ_TOKEN_NAME)
    return FALSE;
  name = adj_token_dup (&r.token);
  adj_reader_advance (&r);
  if (!adj_reader_take (&r, "=") || r.token.kind != ADJ_TOKEN_NAME)
    return FALSE;
  parameter_name = adj_token_dup (&r.token);
  adj_reader_advance (&r);
  if (!adj_reader_at_end (&r))
    return FALSE;

  parameter = find_parameter (module->parameters, parameter_name);
  if (!parameter)
    return FALSE;
  g_free (parameter->name);
  parameter->name = g_steal_pointer (&name);

  return TRUE;
}

/* `primals_1: "f32[4]"; tangents_1: "f32[4]"; ` above an unpacking. */
static gboolean
read_bindings (Module *module, AdjReader r)
{
  g_autoptr (GPtrArray) bindings = g_ptr_array_new_with_free_func (parameter_free);

  if (module->has_placeholders)
    return FALSE;

  while (!adj_reader_at_end (&r))
    {
      Parameter *binding = read_parameter (&r, module->text->symbols);

      if (!binding)
        return FALSE;
      g_ptr_array_add (bindings, binding);
      if (binding->facts.val.kind == ADJ_VALUE_NONE && binding->facts.extra.n == 0)
        return FALSE;
      if (!adj_reader_take (&r, ";") && !adj_reader_at_end (&r))
        return FALSE;
    }
  g_ptr_array_extend_and_steal (module->bindings, g_steal_pointer (&bindings));

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

/* What each name was annotated with becomes the parameter's. */
static void
adopt_bindings (Module *module, GPtrArray *parameters)
{
  g_autoptr (GHashTable) by_name = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < module->bindings->len; i++)
    {
      Parameter *binding = g_ptr_array_index (module->bindings, i);

      g_hash_table_insert (by_name, binding->name, binding);
    }

  for (guint i = 0; i < parameters->len; i++)
    {
      Parameter *parameter = g_ptr_array_index (parameters, i);
      Parameter *binding = g_hash_table_lookup (by_name, parameter->name);

      if (binding)
        {
          AdjNodeFacts facts = parameter->facts;

          parameter->facts = binding->facts;
          binding->facts = facts;
          g_hash_table_remove (by_name, parameter->name);
        }
    }
}

/* `primals_1, tangents_1, = fx_pytree.tree_flatten_spec([primals, tangents], self._in_spec)` */
static gboolean
read_unpacking (Module *module, AdjReader r)
{
  g_autoptr (GPtrArray) parameters = g_ptr_array_new_with_free_func (parameter_free);

  if (module->has_placeholders || module->signature)
    return FALSE;

  while (!adj_reader_take (&r, "="))
    {
      Parameter *parameter = read_parameter (&r, module->text->symbols);

      if (!parameter)
        return FALSE;
      g_ptr_array_add (parameters, parameter);
      if (!adj_reader_take (&r, ",") || parameters->len > ADJ_MAX_NODES)
        return FALSE;
    }
  if (!adj_token_is (&r.token, "fx_pytree"))
    return FALSE;

  module->signature = join_targets (module->parameters);
  adopt_bindings (module, parameters);
  g_ptr_array_unref (module->parameters);
  module->parameters = g_steal_pointer (&parameters);

  return TRUE;
}

/* -- Comments ---- */

/* Statements from here on come from another place.  PyTorch prints a place anew when the whole
 * stack is another one, even if it ends in the same line; a newline more keeps such stacks apart.
 */
static void
set_stack_trace (Module *module, char *trace)
{
  AdjModuleReader *reader = &module->reader;

  if (reader->stack_trace && g_str_equal (reader->stack_trace, trace))
    {
      char *other = g_strconcat (trace, "\n", NULL);

      g_free (trace);
      trace = other;
    }
  g_free (reader->stack_trace);
  reader->stack_trace = trace;
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
read_place (Module *module, const char *start, const char *end)
{
  static const char middle[] = ", code:";
  const char *code = memmem (start, end - start, middle, strlen (middle));
  const char *path_end = code ? find_path_end (start, code) : NULL;
  const char *after;
  char *trace;
  guint64 line = 0;

  if (!path_end || path_end == start)
    return FALSE;

  for (after = path_end + 1; after < code && g_ascii_isdigit (*after); after++)
    line = MIN (line * 10 + (*after - '0'), G_MAXUINT);
  after = after < code ? after + strlen (" in ") : NULL;
  trace = g_strdup_printf ("  File \"%.*s\", line %" G_GUINT64_FORMAT ", in %.*s\n    ",
                           (int) (path_end - start), start, line, after ? (int) (code - after) : 9,
                           after ? after : "<unknown>");
  code += strlen (middle);
  code += code < end && *code == ' ';
  if (trace)
    {
      g_autofree char *source = g_strndup (code, end - code);
      char *full = g_strconcat (trace, source, "\n", NULL);

      g_free (trace);
      set_stack_trace (module, full);
    }

  return TRUE;
}

/* `# adj: primals_1 {…}`, `# adj: symbol s0 {…}` */
static void
read_header_facts (Module *module, const char *text, gsize length)
{
  const char *brace = memchr (text, '{', length);
  g_autofree char *head = NULL;
  g_auto (GStrv) words = NULL;
  gsize n;

  if (!brace)
    return;

  n = text + length - brace;
  head = g_strndup (text, brace - text);
  words = g_strsplit (g_strstrip (head), " ", 3);
  if (g_strv_length (words) == 1)
    g_hash_table_replace (module->facts, g_strdup (words[0]), g_strndup (brace, n));
  else if (g_strv_length (words) == 2 && g_str_equal (words[0], "symbol") &&
           adj_text_is_identifier (words[1], strlen (words[1])))
    adj_symbol_facts_parse (words[1], brace, n, module->text->symbols);
}

static void
read_comment (Module *module, const AdjLine *line)
{
  static const char ours[] = "adj: ", file[] = "File: ", none[] = "No stacktrace found";
  const char *start = line->at + line->indent + 1, *end = line->at + line->length;
  const char *found;

  while (start < end && *start == ' ')
    start++;
  if (end - start > (gssize) strlen (ours) && strncmp (start, ours, strlen (ours)) == 0)
    read_header_facts (module, start + strlen (ours), end - start - strlen (ours));
  else if (memmem (start, end - start, none, strlen (none)))
    g_clear_pointer (&module->reader.stack_trace, g_free);
  else if ((found = memmem (start, end - start, file, strlen (file))))
    read_place (module, found + strlen (file), end);
  else if (start == end)
    set_stack_trace (module, g_strdup ("\n"));
}

/* -- The body ---- */

static gboolean
read_class (Module *module, const AdjLine *line, GError **error)
{
  g_autofree char *name = NULL;
  g_autoptr (AdjGraph) child = NULL;

  add_placeholders (module);
  child = parse_module (module->text, line, module->depth + 1, &name, error);
  if (!child)
    return FALSE;

  adj_builder_add_subgraph (module->reader.builder, name, child);

  return TRUE;
}

static void
read_body_line (Module *module, const AdjLine *line)
{
  AdjReader reader;

  if (line->at[line->indent] == '#')
    {
      read_comment (module, line);
      return;
    }
  if (module->has_output || starts_with (line, "pass"))
    return;

  adj_reader_init (&reader, line->at + line->indent, line->length - line->indent, line->number);
  if (starts_with (line, "return"))
    {
      add_placeholders (module);
      adj_module_read_return (&module->reader, line, module->return_type);
      module->has_output = TRUE;
    }
  else if (!read_alias (module, reader) && !read_bindings (module, reader) &&
           !read_unpacking (module, reader))
    {
      add_placeholders (module);
      adj_module_read_statement (&module->reader, line);
      module->text->n_nodes++;
    }
}

static gboolean
parse_body (Module *module, GError **error)
{
  Text *text = module->text;
  AdjLine line;

  while (peek_line (text, &line))
    {
      gsize start, length;

      if (line.length > MAX_LINE_LENGTH)
        {
          fail (error, ADJ_ERROR_LIMIT, &line, "the line is too long");
          return FALSE;
        }
      if (text->n_nodes > ADJ_MAX_NODES)
        {
          fail (error, ADJ_ERROR_LIMIT, &line, "too many nodes");
          return FALSE;
        }
      if (line.length > line.indent && line.indent <= module->indent)
        break;

      if (line.length > line.indent && starts_with (&line, "class ") &&
          find_class (&line, &start, &length))
        {
          if (!read_class (module, &line, error))
            return FALSE;
          continue;
        }

      skip_line (text);
      if (line.length > line.indent)
        read_body_line (module, &line);
    }

  return TRUE;
}

static void
module_init (Module *module, Text *text, const char *name, guint indent, guint depth)
{
  *module = (Module) {
    .text = text,
    .indent = indent,
    .depth = depth,
    .parameters = g_ptr_array_new_with_free_func (parameter_free),
    .bindings = g_ptr_array_new_with_free_func (parameter_free),
    .facts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free),
    .reader = {
      .words = &text->words,
      .builder = adj_builder_new (name, text->symbols),
      .symbols = text->symbols,
      .diags = text->diags,
      .names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
    },
  };
}

static void
module_clear (Module *module)
{
  g_ptr_array_unref (module->parameters);
  g_ptr_array_unref (module->bindings);
  g_hash_table_unref (module->facts);
  g_hash_table_unref (module->reader.names);
  adj_builder_free (module->reader.builder);
  g_free (module->reader.stack_trace);
  g_free (module->signature);
  g_free (module->return_type);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Module, module_clear)

/* Reads the class of @class_line, which is the next line, and those inside of it. */
static AdjGraph *
parse_module (Text *text, const AdjLine *class_line, guint depth, char **name, GError **error)
{
  gsize start = 0, length = 0;
  g_auto (Module) module;

  find_class (class_line, &start, &length);
  *name = g_strndup (class_line->at + start, length);
  module_init (&module, text, *name, class_line->indent, depth);
  if (depth > ADJ_MAX_DEPTH)
    {
      fail (error, ADJ_ERROR_LIMIT, class_line, "classes are nested too deep");
      return NULL;
    }

  skip_line (text);
  if (!parse_header (&module, error) || !parse_body (&module, error))
    return NULL;

  add_placeholders (&module);
  if (!module.has_output)
    {
      AdjValue none = ADJ_NONE;

      adj_diags_add (text->diags, ADJ_SEVERITY_WARNING,
                     (AdjSpan){ class_line->number, class_line->indent + 1, 0 },
                     "'%s' returns nothing: the text may be cut off", *name);
      adj_builder_output (module.reader.builder, &none);
    }

  return adj_builder_seal (module.reader.builder, error);
}

AdjGraph *
adj_graph_parse (const char *text, gssize length, AdjDiags *diags, GError **error)
{
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  g_autofree char *name = NULL;
  const char *bad = NULL;
  AdjGraph *graph = NULL;
  AdjLine line;
  Text state = { .at = text, .number = 1, .symbols = symbols, .diags = diags };
  gsize start, n;

  state.end = text + (length < 0 ? strlen (text) : (gsize) length);
  if (!g_utf8_validate_len (text, state.end - text, &bad))
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "byte %" G_GSIZE_FORMAT ": not UTF-8 text",
                   (gsize) (bad - text));
      return NULL;
    }

  state.words = (AdjWords){ .text = text, .length = state.end - text };
  while (peek_line (&state, &line))
    {
      if (find_class (&line, &start, &n))
        {
          graph = parse_module (&state, &line, 0, &name, error);
          g_clear_pointer (&state.words.set, g_hash_table_unref);
          return graph;
        }
      skip_line (&state);
    }

  g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE,
               "%u:1: there is no graph in this text: no line 'class …(torch.nn.Module):'",
               state.number);

  return NULL;
}
