/* SPDX-License-Identifier: MIT */
/* Parses schema strings of operators, and answers queries: types, aliases, writes. */

#include "call/adj-schema.h"

#include <math.h>
#include <string.h>

#include "call/adj-schema-internal.h"

/* The grammar, as PyTorch prints it:
 *
 *   schema  = ns "::" name ["." overload] "(" [item {", " item}] ")" " -> " returns
 *   item    = "*" | type " " name ["=" default]
 *   returns = "(" [return {", " return}] ")" | return       return = type [" " name]
 *   type    = base ["(" alias ")"] ["?"] ["[" [n] "]"] ["?"]
 *
 * A type that does not fit (dictionaries, futures, user classes) is ANY, and keeps its text. */

typedef struct
{
  const char *start;
  const char *at;
  AdjArena *arena;
  GError **error;
} Parser;

static const char *const kind_names[ADJ_N_TYPE_KINDS] = {
  [ADJ_TYPE_KIND_TENSOR] = "Tensor",
  [ADJ_TYPE_KIND_SCALAR] = "Scalar",
  [ADJ_TYPE_KIND_INT] = "int",
  [ADJ_TYPE_KIND_SYMINT] = "SymInt",
  [ADJ_TYPE_KIND_FLOAT] = "float",
  [ADJ_TYPE_KIND_BOOL] = "bool",
  [ADJ_TYPE_KIND_STR] = "str",
  [ADJ_TYPE_KIND_SCALAR_TYPE] = "ScalarType",
  [ADJ_TYPE_KIND_LAYOUT] = "Layout",
  [ADJ_TYPE_KIND_DEVICE] = "Device",
  [ADJ_TYPE_KIND_MEMORY_FORMAT] = "MemoryFormat",
  [ADJ_TYPE_KIND_GENERATOR] = "Generator",
};

const char *
adj_type_kind_name (AdjTypeKind kind)
{
  return kind < ADJ_N_TYPE_KINDS && kind_names[kind] != NULL ? kind_names[kind] : "Any";
}

static gboolean
fail (Parser *p, const char *wanted)
{
  g_set_error (p->error, ADJ_ERROR, ADJ_ERROR_PARSE, "schema '%.80s': expected %s at column %u",
               p->start, wanted, (guint) (p->at - p->start) + 1);
  return FALSE;
}

static gboolean
accept (Parser *p, const char *text)
{
  gsize n = strlen (text);

  if (strncmp (p->at, text, n) != 0)
    return FALSE;
  p->at += n;
  return TRUE;
}

static gboolean
expect (Parser *p, const char *text)
{
  g_autofree char *wanted = NULL;

  if (accept (p, text))
    return TRUE;
  wanted = g_strdup_printf ("'%s'", text);
  return fail (p, wanted);
}

static gboolean
is_name_byte (char c)
{
  return g_ascii_isalnum (c) || c == '_';
}

static const char *
parse_name (Parser *p)
{
  const char *from = p->at;

  while (is_name_byte (*p->at))
    p->at++;
  if (p->at == from)
    {
      fail (p, "a name");
      return NULL;
    }
  return adj_arena_strndup (p->arena, from, p->at - from);
}

/* "aten", "torch.nn.functional". */
static const char *
parse_space (Parser *p)
{
  const char *from = p->at;

  while (is_name_byte (*p->at) || (*p->at == '.' && is_name_byte (p->at[1]) && p->at > from))
    p->at++;
  if (p->at == from)
    {
      fail (p, "a name");
      return NULL;
    }
  return adj_arena_strndup (p->arena, from, p->at - from);
}

/* -- types -- */

/* Reads "(a!)", "(a -> *)"; %FALSE when there is another annotation. */
static gboolean
match_alias (const char **at, AdjType *type)
{
  const char *s = *at;

  if (*s != '(')
    return TRUE;
  s++;
  if (!g_ascii_islower (*s))
    return FALSE;
  type->alias = *s++;
  if (*s == '!')
    {
      type->written = TRUE;
      s++;
    }
  if (g_str_has_prefix (s, " -> *"))
    {
      type->alias_of_elements = TRUE;
      s += strlen (" -> *");
    }
  if (*s != ')')
    return FALSE;
  *at = s + 1;
  return TRUE;
}

static gboolean
match_list (const char **at, AdjType *type)
{
  const char *s = *at;

  if (*s != '[')
    return TRUE;
  s++;
  type->is_list = TRUE;
  type->list_size = -1;
  if (g_ascii_isdigit (*s))
    {
      char *end;
      guint64 n = g_ascii_strtoull (s, &end, 10);

      if (n > 64)
        return FALSE;
      type->list_size = (gint) n;
      s = end;
    }
  if (*s != ']')
    return FALSE;
  *at = s + 1;
  return TRUE;
}

/* Parses @text as a type; %FALSE when it is none of our types. */
static gboolean
match_type (const char *text, AdjType *type)
{
  const char *at = text;
  gboolean element_optional = FALSE;
  gsize length = 0;

  while (is_name_byte (text[length]))
    length++;
  type->kind = ADJ_TYPE_KIND_ANY;
  for (guint i = 0; i < ADJ_N_TYPE_KINDS; i++)
    if (kind_names[i] != NULL && strlen (kind_names[i]) == length &&
        strncmp (kind_names[i], text, length) == 0)
      type->kind = i;
  if (type->kind == ADJ_TYPE_KIND_ANY)
    return FALSE;

  at += length;
  if (!match_alias (&at, type))
    return FALSE;
  if (*at == '?')
    {
      element_optional = TRUE;
      at++;
    }
  if (!match_list (&at, type))
    return FALSE;
  type->element_optional = type->is_list && element_optional;
  type->optional = !type->is_list && element_optional;
  if (type->is_list && *at == '?')
    {
      type->optional = TRUE;
      at++;
    }
  return *at == '\0';
}

static gboolean
parse_type (Parser *p, AdjType *type)
{
  const char *from = p->at;
  guint depth = 0;
  const char *text;

  for (; *p->at != '\0'; p->at++)
    {
      if (*p->at == '(' || *p->at == '[')
        depth++;
      else if (depth == 0 && (*p->at == ' ' || *p->at == ',' || *p->at == ')'))
        break;
      else if (*p->at == ')' || *p->at == ']')
        depth--;
    }
  if (!is_name_byte (*from))
    return fail (p, "a type");
  if (depth > 0)
    return fail (p, "a closing bracket");

  text = adj_arena_strndup (p->arena, from, p->at - from);
  *type = (AdjType){ .list_size = -1 };
  if (!match_type (text, type))
    *type = (AdjType){
      .kind = ADJ_TYPE_KIND_ANY,
      .list_size = -1,
      .written = strchr (text, '!') != NULL,
      .name = text,
    };
  return TRUE;
}

/* -- defaults -- */

static gboolean
parse_string (Parser *p, AdjValue *value)
{
  static const char codes[] = "abfnrtv";
  static const char bytes[] = "\a\b\f\n\r\t\v";
  g_autoptr (GString) out = g_string_new (NULL);

  for (p->at++; *p->at != '"'; p->at++)
    {
      const char *code;

      if (*p->at == '\0')
        return fail (p, "'\"'");
      if (*p->at != '\\')
        {
          g_string_append_c (out, *p->at);
          continue;
        }
      p->at++;
      if (*p->at == '\0')
        return fail (p, "'\"'");
      code = strchr (codes, *p->at);
      g_string_append_c (out, code != NULL ? bytes[code - codes] : *p->at);
    }
  p->at++;
  *value = (AdjValue){ .kind = ADJ_VALUE_STRING, .n = out->len };
  value->text = adj_arena_strndup (p->arena, out->str, out->len);
  return TRUE;
}

static gboolean
parse_number (Parser *p, AdjValue *value)
{
  const char *from = p->at;
  gboolean is_float = FALSE;
  g_autofree char *text = NULL;
  char *end;

  while (*p->at != '\0' && strchr ("+-0123456789.eE", *p->at) != NULL)
    {
      is_float |= strchr (".eE", *p->at) != NULL;
      p->at++;
    }
  text = g_strndup (from, p->at - from);
  if (is_float)
    *value = ADJ_FLOAT (g_ascii_strtod (text, &end));
  else
    *value = ADJ_INT (g_ascii_strtoll (text, &end, 10));
  if (end == text || *end != '\0' || (is_float && !isfinite (value->number)))
    return fail (p, "a default value");
  return TRUE;
}

static gboolean parse_default (Parser *p, AdjValue *value);

static gboolean
parse_list (Parser *p, AdjValue *value)
{
  AdjValue items[64];
  guint n = 0;

  p->at++;
  while (*p->at != ']')
    {
      if (n > 0 && !expect (p, ", "))
        return FALSE;
      if (n == G_N_ELEMENTS (items) || *p->at == '[')
        return fail (p, "a shorter list");
      if (!parse_default (p, &items[n]))
        return FALSE;
      n++;
    }
  p->at++;
  *value = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = n };
  value->items = n > 0 ? adj_arena_memdup (p->arena, items, n * sizeof *items) : NULL;
  return TRUE;
}

static gboolean
parse_default (Parser *p, AdjValue *value)
{
  if (*p->at == '"')
    return parse_string (p, value);
  if (*p->at == '[')
    return parse_list (p, value);
  if (accept (p, "None"))
    *value = ADJ_NONE;
  else if (accept (p, "True"))
    *value = ADJ_BOOL (TRUE);
  else if (accept (p, "False"))
    *value = ADJ_BOOL (FALSE);
  else
    return parse_number (p, value);
  return TRUE;
}

/* -- the schema -- */

static gboolean
parse_arguments (Parser *p, AdjSchema *schema)
{
  AdjArgument arguments[ADJ_MAX_ARGUMENTS];
  guint n = 0;
  gboolean keyword_only = FALSE;

  if (!expect (p, "("))
    return FALSE;
  for (gboolean first = TRUE; !accept (p, ")"); first = FALSE)
    {
      AdjArgument *argument = &arguments[n];

      if (!first && !expect (p, ", "))
        return FALSE;
      if (!keyword_only && accept (p, "*"))
        {
          keyword_only = TRUE;
          schema->n_positional = n;
          continue;
        }
      if (n == ADJ_MAX_ARGUMENTS)
        return fail (p, "fewer arguments");
      *argument = (AdjArgument){ .keyword_only = keyword_only };
      if (!parse_type (p, &argument->type) || !expect (p, " "))
        return FALSE;
      argument->name = parse_name (p);
      if (argument->name == NULL)
        return FALSE;
      argument->has_default = accept (p, "=");
      if (argument->has_default && !parse_default (p, &argument->default_value))
        return FALSE;
      n++;
    }

  schema->n_arguments = n;
  if (!keyword_only)
    schema->n_positional = n;
  schema->arguments = adj_arena_memdup (p->arena, arguments, n * sizeof *arguments);
  return TRUE;
}

static gboolean
parse_return (Parser *p, AdjArgument *out)
{
  *out = (AdjArgument){ .name = NULL };
  if (!parse_type (p, &out->type))
    return FALSE;
  if (accept (p, " "))
    out->name = parse_name (p);
  return !(p->at[-1] == ' ');
}

static gboolean
parse_returns (Parser *p, AdjSchema *schema)
{
  AdjArgument returns[ADJ_MAX_ARGUMENTS];
  guint n = 0;

  if (!expect (p, " -> "))
    return FALSE;
  if (accept (p, "("))
    {
      while (!accept (p, ")"))
        {
          if (n == ADJ_MAX_ARGUMENTS)
            return fail (p, "fewer results");
          if ((n > 0 && !expect (p, ", ")) || !parse_return (p, &returns[n]))
            return FALSE;
          n++;
        }
    }
  else if (!parse_return (p, &returns[n++]))
    return FALSE;
  if (*p->at != '\0')
    return fail (p, "the end");

  schema->n_returns = n;
  schema->returns = adj_arena_memdup (p->arena, returns, n * sizeof *returns);
  return TRUE;
}

const AdjSchema *
adj_schema_parse (const char *text, AdjArena *arena, GError **error)
{
  AdjSchema *schema = adj_arena_new0 (arena, AdjSchema, 1);
  const char *copy = adj_arena_strdup (arena, text);
  Parser p = { copy, copy, arena, error };
  g_autofree char *target = NULL;

  schema->text = copy;
  schema->overload = "";
  schema->ns = parse_space (&p);
  if (schema->ns == NULL || !expect (&p, "::"))
    return NULL;
  schema->name = parse_name (&p);
  if (schema->name == NULL)
    return NULL;
  if (accept (&p, "."))
    {
      schema->overload = parse_name (&p);
      if (schema->overload == NULL)
        return NULL;
    }
  if (!parse_arguments (&p, schema) || !parse_returns (&p, schema))
    return NULL;

  target = g_strdup_printf ("torch.ops.%s.%s.%s", schema->ns, schema->name,
                            *schema->overload != '\0' ? schema->overload : "default");
  schema->target = adj_arena_strdup (arena, target);
  return schema;
}

/* -- what it says -- */

gboolean
adj_schema_mutates (const AdjSchema *schema)
{
  for (guint i = 0; i < schema->n_arguments; i++)
    if (schema->arguments[i].type.written)
      return TRUE;
  return FALSE;
}

gint
adj_schema_find_argument (const AdjSchema *schema, const char *name)
{
  for (guint i = 0; i < schema->n_arguments; i++)
    if (g_str_equal (schema->arguments[i].name, name))
      return (gint) i;
  return -1;
}

gboolean
adj_schema_counts_writes (const AdjSchema *schema)
{
  for (guint i = 0; i < schema->n_returns; i++)
    if (schema->returns[i].type.written)
      return TRUE;
  return schema->n_returns == 0;
}

gboolean
adj_schema_is_view (const AdjSchema *schema)
{
  for (guint i = 0; i < schema->n_returns; i++)
    if (schema->returns[i].type.alias != 0 && !schema->returns[i].type.written)
      return TRUE;
  return FALSE;
}
