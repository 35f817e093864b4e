/* SPDX-License-Identifier: MIT */

/* The header above the statements: parameters, which become placeholders.  PyTorch has several ways
 * to write it (ir/SPEC.md §5.3). */

#include <string.h>

#include "ir/parse-header-private.h"

static Parameter *
parameter_new (void)
{
  Parameter *parameter = g_new0 (Parameter, 1);

  adj_parsed_meta_init (&parameter->metadata);

  return parameter;
}

void
adj_parameter_free (gpointer data)
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
    .parameters = g_ptr_array_new_with_free_func (adj_parameter_free),
    .by_target = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
    .bindings = g_ptr_array_new_with_free_func (adj_parameter_free),
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

/* Indexes @parameter by name; among equal names the first is found. */
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

/* Takes @parameters, which replace the present ones. */
void
adj_header_set_parameters (AdjHeaderReader *header, GPtrArray *parameters)
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

Parameter *
adj_parameter_read (AdjReader *r, AdjSymbols *symbols)
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
void
adj_parameter_describe (Parameter *parameter, const char *at, const char *end)
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
  Parameter *parameter = adj_parameter_read (r, header->module->symbols);

  if (!parameter)
    return FALSE;
  if (header->parameters->len == 0 && g_str_equal (parameter->name, "self"))
    {
      adj_parameter_free (parameter);
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
    adj_parameter_describe (parameter, r->token.text + 1, r->lexer.end);

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

  /* If the parameter was renamed or the name is taken, this is an ordinary binding. */
  parameter = g_hash_table_lookup (header->by_target, parameter_name);
  known = g_hash_table_lookup (header->by_target, name);
  if (!parameter || !g_str_equal (parameter->name, parameter_name) ||
      (known && g_str_equal (known->name, name)))
    return FALSE;
  g_free (parameter->name);
  parameter->name = g_steal_pointer (&name);

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

/* Takes `name = `, with or without an annotation. */
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
      adj_header_set_parameters (header, g_ptr_array_new_with_free_func (adj_parameter_free));
      return TRUE;
    }

  if (take_words (&r, ends))
    return TRUE;
  r = start;
  parameter = adj_parameter_read (&r, header->module->symbols);
  if (!parameter)
    return FALSE;
  if (!adj_reader_take (&r, "=") || !take_words (&r, nexts))
    {
      adj_parameter_free (parameter);
      return FALSE;
    }
  add_parameter (header, parameter);

  return TRUE;
}

gboolean
adj_header_read_line (AdjHeaderReader *header, const AdjReader *r)
{
  return !header->has_ended &&
         (read_boxed (header, *r) || read_alias (header, *r) ||
          adj_header_read_bindings (header, *r) || adj_header_read_unpacking (header, *r));
}
