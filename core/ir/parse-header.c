/* SPDX-License-Identifier: MIT */

/* What stands above the statements: parameters, and the lines that unpack them into placeholders.
 * PyTorch has several ways to write it (ir/SPEC.md §5.3); all become placeholders. */

#include <string.h>

#include "ir/parse-private.h"
#include "ir/text-private.h"

/* A parameter of forward(), or a value that a pytree unpacks into. */
typedef struct
{
  char *name;   /* of the node */
  char *target; /* as written, with stars */
  AdjSpan span;
  AdjParsedMeta metadata;
  AdjValue default_value;
  gboolean has_default;
} Parameter;

static Parameter *
parameter_new (void)
{
  Parameter *parameter = g_new0 (Parameter, 1);

  adj_parsed_meta_init (&parameter->metadata);

  return parameter;
}

static void
parameter_free (gpointer data)
{
  Parameter *parameter = data;

  adj_parsed_meta_clear (&parameter->metadata);
  adj_value_clear (&parameter->default_value);
  g_free (parameter->name);
  g_free (parameter->target);
  g_free (parameter);
}

void
adj_header_init (AdjHeaderReader *header, AdjModuleReader *module)
{
  *header = (AdjHeaderReader){
    .module = module,
    .parameters = g_ptr_array_new_with_free_func (parameter_free),
    .by_target = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
    .bindings = g_ptr_array_new_with_free_func (parameter_free),
    .metadata = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free),
  };
}

void
adj_header_clear (AdjHeaderReader *header)
{
  g_clear_pointer (&header->by_target, g_hash_table_unref);
  g_clear_pointer (&header->parameters, g_ptr_array_unref);
  g_clear_pointer (&header->bindings, g_ptr_array_unref);
  g_clear_pointer (&header->metadata, g_hash_table_unref);
  g_clear_pointer (&header->signature, g_free);
  g_clear_pointer (&header->return_type, g_free);
}

/* Of those with one name, the first is found. */
static void
index_parameter (AdjHeaderReader *header, Parameter *parameter)
{
  const char *name = parameter->target + strspn (parameter->target, "*");

  if (!g_hash_table_contains (header->by_target, name))
    g_hash_table_insert (header->by_target, g_strdup (name), parameter);
}

static void
add_parameter (AdjHeaderReader *header, Parameter *parameter)
{
  g_ptr_array_add (header->parameters, parameter);
  index_parameter (header, parameter);
}

/* Takes @parameters, in place of those that there are. */
static void
set_parameters (AdjHeaderReader *header, GPtrArray *parameters)
{
  g_hash_table_remove_all (header->by_target);
  g_ptr_array_unref (header->parameters);
  header->parameters = parameters;
  for (guint i = 0; i < parameters->len; i++)
    index_parameter (header, parameters->pdata[i]);
}

/* -- Parameters ---- */

/* Reads an annotation up to a comma, semicolon, equals sign or closing bracket outside its own
 * brackets. */
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
  adj_parsed_meta_annotate (&parameter->metadata, start, end - start, symbols);
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
  if (r->token.kind != ADJ_TOKEN_NAME || adj_token_is (&r->token, "None"))
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

/* Reads a description such as `# PlainAOTInput(idx=0)` at the end of the line of @parameter, if @at
 * leads to one. */
static void
describe (Parameter *parameter, const char *at, const char *end)
{
  while (at < end && (*at == ' ' || *at == '\t'))
    at++;
  if (at < end && *at == '#')
    {
      const char *newline = memchr (at, '\n', end - at);
      AdjValue text = adj_description_new (at, (newline ? newline : end) - at);

      if (text.kind != ADJ_VALUE_NONE)
        adj_parsed_meta_keep (&parameter->metadata, "desc", &text);
    }
}

static void
read_return_type (AdjHeaderReader *header, AdjReader *r)
{
  const char *start = r->token.text, *end = start;

  while (!adj_reader_at (r, ":") && !adj_reader_at_end (r))
    {
      end = r->token.text + r->token.length;
      adj_reader_advance (r);
    }
  header->return_type = g_strndup (start, end - start);
}

/* Takes one parameter and its comma. */
static gboolean
take_parameter (AdjHeaderReader *header, AdjReader *r)
{
  Parameter *parameter = read_parameter (r, header->module->symbols);

  if (!parameter)
    return FALSE;
  if (header->parameters->len == 0 && g_str_equal (parameter->name, "self"))
    {
      parameter_free (parameter);
      parameter = NULL;
    }
  else
    add_parameter (header, parameter);

  if (parameter && adj_reader_take (r, "="))
    {
      parameter->has_default = TRUE;
      if (!adj_reader_read (r, &parameter->default_value))
        return FALSE;
    }
  if (adj_reader_at (r, ",") && parameter)
    describe (parameter, r->token.text + 1, r->lexer.end);

  return adj_reader_take (r, ",") || adj_reader_at (r, ")");
}

gboolean
adj_header_read (AdjHeaderReader *header, AdjReader *r)
{
  if (!adj_reader_take (r, "("))
    return FALSE;

  while (!adj_reader_take (r, ")"))
    if (!take_parameter (header, r) || header->parameters->len > ADJ_MAX_NODES)
      return FALSE;

  if (adj_reader_take (r, "->"))
    read_return_type (header, r);

  return adj_reader_at (r, ":");
}

/* -- Placeholders ---- */

static const char *
find_metadata (const AdjHeaderReader *header, const char *name)
{
  const char *metadata = g_hash_table_lookup (header->metadata, name);

  return !metadata && header->given ? g_hash_table_lookup (header->given, name) : metadata;
}

static void
add_placeholder (AdjHeaderReader *header, Parameter *parameter)
{
  AdjModuleReader *module = header->module;
  const char *metadata = find_metadata (header, parameter->name);
  const char *target = parameter->target + strspn (parameter->target, "*");
  g_autofree char *name = NULL;
  g_auto (AdjValue) known = ADJ_NONE;
  AdjValue value;
  AdjNodeId id;
  AdjNodeSpec spec = {
    .opcode = ADJ_OPCODE_PLACEHOLDER,
    .target = parameter->target,
    .meta = &parameter->metadata.meta,
    .span = parameter->span,
    .origin = ADJ_NO_NODE,
  };

  if (metadata)
    adj_parsed_meta_parse (&parameter->metadata, metadata, strlen (metadata), module->symbols);
  parameter->metadata.meta.extra = &parameter->metadata.extra;
  spec.val = parameter->metadata.val;
  if (parameter->has_default)
    spec.args = (AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 1, .items = &parameter->default_value };
  spec.name = name = adj_module_bind (module, parameter->name, parameter->span);
  id = adj_builder_add (module->builder, &spec);
  /* The parameter may still be read by its own name. */
  value = ADJ_NODE (id);
  if (!adj_module_resolve (target, &known, module))
    adj_module_set (module, target, &value);
}

static void
rename_duplicates (AdjHeaderReader *header)
{
  for (guint i = 0; i < header->parameters->len; i++)
    {
      Parameter *parameter = g_ptr_array_index (header->parameters, i);
      char *target = adj_module_take_target (header->module, parameter->target, parameter->name,
                                             parameter->span);

      if (!g_str_equal (target, parameter->target))
        {
          g_free (parameter->name);
          parameter->name = g_strdup (target);
        }
      g_free (parameter->target);
      parameter->target = target;
    }
}

void
adj_header_end (AdjHeaderReader *header)
{
  if (header->has_ended)
    return;

  header->has_ended = TRUE;
  rename_duplicates (header);
  for (guint i = 0; i < header->parameters->len; i++)
    add_placeholder (header, g_ptr_array_index (header->parameters, i));
  if (header->signature)
    adj_builder_set_header (header->module->builder, ADJ_HEADER_PYTREE, header->signature);
}

/* `l_x_ = L_x_`: the node of a parameter has another name. */
static gboolean
read_alias (AdjHeaderReader *header, AdjReader r)
{
  g_autofree char *name = NULL;
  g_autofree char *parameter_name = NULL;
  gboolean has_bracket;
  Parameter *parameter, *known;

  if (r.token.kind != ADJ_TOKEN_NAME)
    return FALSE;
  name = adj_token_dup (&r.token);
  adj_reader_advance (&r);
  if (!adj_reader_take (&r, "="))
    return FALSE;
  has_bracket = adj_reader_take (&r, "(");
  if (r.token.kind != ADJ_TOKEN_NAME)
    return FALSE;
  parameter_name = adj_token_dup (&r.token);
  adj_reader_advance (&r);
  if ((has_bracket && !adj_reader_take (&r, ")")) || !adj_tail_read (&r, NULL))
    return FALSE;

  /* What has its name already only gets another one. */
  parameter = g_hash_table_lookup (header->by_target, parameter_name);
  known = g_hash_table_lookup (header->by_target, name);
  if (!parameter || !g_str_equal (parameter->name, parameter_name) ||
      (known && g_str_equal (known->name, name)))
    return FALSE;
  g_free (parameter->name);
  parameter->name = g_steal_pointer (&name);

  return TRUE;
}

/* -- Pytrees ---- */

/* `primals_1: "f32[4]"; tangents_1: "f32[4]"; ` above an unpacking, or one of them in a line. */
static gboolean
read_bindings (AdjHeaderReader *header, AdjReader r)
{
  g_autoptr (GPtrArray) bindings = g_ptr_array_new_with_free_func (parameter_free);
  Parameter *binding = NULL;

  while (!adj_reader_at_end (&r))
    {
      binding = read_parameter (&r, header->module->symbols);
      if (!binding)
        return FALSE;
      g_ptr_array_add (bindings, binding);
      if (binding->metadata.val.kind == ADJ_VALUE_NONE && binding->metadata.extra.n == 0)
        return FALSE;
      if (!adj_reader_take (&r, ";") && !adj_reader_at_end (&r))
        return FALSE;
    }
  if (binding && r.token.kind == ADJ_TOKEN_COMMENT)
    describe (binding, r.token.text, r.lexer.end);
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

/* What each name was annotated with becomes the parameter's. */
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
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (parameter_free);
  const char *close = adj_reader_take (r, "(") ? ")" : adj_reader_take (r, "[") ? "]" : NULL;

  while (close ? !adj_reader_take (r, close) : !adj_reader_at (r, "="))
    {
      Parameter *parameter = read_parameter (r, header->module->symbols);

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

/* What stands between the bracket that is next and its end, as PyTorch spaces it: `([x], {'k':k})`.
 * Without the commas that formatters leave before a bracket. */
static char *
dup_spaced (AdjReader r)
{
  g_autoptr (GString) out = g_string_new (NULL);
  gboolean is_tuple[ADJ_MAX_DEPTH] = { FALSE };

  for (; !adj_reader_at_end (&r); adj_reader_advance (&r))
    {
      gboolean closes_next = adj_reader_is_before (&r, ")") || adj_reader_is_before (&r, "]") ||
                             adj_reader_is_before (&r, "}");

      if (r.brackets >= ADJ_MAX_DEPTH - 1)
        return NULL;
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

/* "x, y", and what of them is flattened when it is more than their list. */
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

/* Whether a call is next, and nothing behind it. */
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
static gboolean
read_unpacking (AdjHeaderReader *header, AdjReader r)
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
  set_parameters (header, g_steal_pointer (&parameters));

  return TRUE;
}

/* -- Boxed ---- */

static gboolean
take_words (AdjReader *r, const char *const *words)
{
  for (; *words; words++)
    {
      if (!adj_token_is (&r->token, *words))
        return FALSE;
      adj_reader_advance (r);
    }

  return adj_reader_at_end (r);
}

/* `name = `, whatever is annotated. */
static gboolean
take_target (AdjReader *r, const char *name)
{
  if (!adj_reader_at_name (r, name))
    return FALSE;
  for (adj_reader_advance (r); !adj_reader_at (r, "=") && !adj_reader_at_end (r);)
    adj_reader_advance (r);

  return adj_reader_take (r, "=");
}

/* `args_iter = iter(args_list)`, `a = next(args_iter)`, `args_list.clear()` */
static gboolean
read_boxed (AdjHeaderReader *header, AdjReader r)
{
  static const char *const begins[] = { "iter", "(", "args_list", ")", NULL };
  static const char *const nexts[] = { "next", "(", "args_iter", ")", NULL };
  static const char *const ends[] = { "args_list", ".", "clear", "(", ")", NULL };
  AdjReader start = r;
  Parameter *parameter;

  if (!header->is_boxed)
    {
      if (header->parameters->len != 1 || !g_hash_table_contains (header->by_target, "args_list") ||
          !take_target (&r, "args_iter") || !take_words (&r, begins))
        return FALSE;
      header->is_boxed = TRUE;
      set_parameters (header, g_ptr_array_new_with_free_func (parameter_free));
      return TRUE;
    }

  if (take_words (&r, ends))
    return TRUE;
  r = start;
  parameter = read_parameter (&r, header->module->symbols);
  if (!parameter)
    return FALSE;
  if (!adj_reader_take (&r, "=") || !take_words (&r, nexts))
    {
      parameter_free (parameter);
      return FALSE;
    }
  add_parameter (header, parameter);

  return TRUE;
}

gboolean
adj_header_read_line (AdjHeaderReader *header, const AdjReader *r)
{
  return !header->has_ended && (read_boxed (header, *r) || read_alias (header, *r) ||
                                read_bindings (header, *r) || read_unpacking (header, *r));
}
