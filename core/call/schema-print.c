/* SPDX-License-Identifier: MIT */

/* Schemas as text. */

#include <math.h>
#include <string.h>

#include "call/adj-schema-internal.h"
#include "call/adj-schema.h"

static void
print_string (const char *text, guint length, GString *out)
{
  static const char codes[] = "abfnrtv\\'\"";
  static const char bytes[] = "\a\b\f\n\r\t\v\\'\"";

  g_string_append_c (out, '"');
  for (guint i = 0; i < length; i++)
    {
      const char *code = text[i] != '\0' ? strchr (bytes, text[i]) : NULL;

      if (code != NULL)
        g_string_append_printf (out, "\\%c", codes[code - bytes]);
      else
        g_string_append_c (out, text[i]);
    }
  g_string_append_c (out, '"');
}

/* As C++ prints it with 17 digits; "1." when integral. */
static void
print_double (double value, GString *out)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append (out, g_ascii_formatd (buffer, sizeof buffer, "%.17g", value));
  if (isfinite (value) && value == floor (value) && strchr (buffer, 'e') == NULL)
    g_string_append_c (out, '.');
}

static void
print_default (const AdjValue *value, GString *out)
{
  if (value->kind == ADJ_VALUE_LIST)
    {
      g_string_append_c (out, '[');
      for (guint i = 0; i < value->n; i++)
        {
          g_string_append (out, i > 0 ? ", " : "");
          print_default (&value->items[i], out);
        }
      g_string_append_c (out, ']');
    }
  else if (value->kind == ADJ_VALUE_STRING)
    print_string (value->text, value->n, out);
  else if (value->kind == ADJ_VALUE_INT)
    g_string_append_printf (out, "%" G_GINT64_FORMAT, value->integer);
  else if (value->kind == ADJ_VALUE_FLOAT)
    print_double (value->number, out);
  else if (value->kind == ADJ_VALUE_BOOL)
    g_string_append (out, value->boolean ? "True" : "False");
  else
    g_string_append (out, "None");
}

void
adj_type_print (const AdjType *type, GString *out)
{
  if (type->kind == ADJ_TYPE_KIND_ANY)
    {
      g_string_append (out, type->name);
      return;
    }
  g_string_append (out, adj_type_kind_name (type->kind));
  if (type->alias != 0)
    g_string_append_printf (out, "(%c%s%s)", type->alias, type->written ? "!" : "",
                            type->alias_of_elements ? " -> *" : "");
  if (type->is_list)
    {
      g_string_append (out, type->element_optional ? "?[" : "[");
      if (type->list_size >= 0)
        g_string_append_printf (out, "%d", type->list_size);
      g_string_append_c (out, ']');
    }
  g_string_append (out, type->optional ? "?" : "");
}

static void
print_argument (const AdjArgument *argument, GString *out)
{
  adj_type_print (&argument->type, out);
  if (argument->name != NULL)
    g_string_append_printf (out, " %s", argument->name);
  if (argument->has_default)
    {
      g_string_append_c (out, '=');
      print_default (&argument->default_value, out);
    }
}

char *
adj_schema_print (const AdjSchema *schema)
{
  GString *out = g_string_new (NULL);
  gboolean tuple = schema->n_returns != 1;

  g_string_append_printf (out, "%s::%s", schema->ns, schema->name);
  if (*schema->overload != '\0')
    g_string_append_printf (out, ".%s", schema->overload);
  g_string_append_c (out, '(');
  for (guint i = 0; i < schema->n_arguments; i++)
    {
      g_string_append (out, i > 0 ? ", " : "");
      if (i == schema->n_positional)
        g_string_append (out, "*, ");
      print_argument (&schema->arguments[i], out);
    }
  g_string_append (out, tuple ? ") -> (" : ") -> ");
  for (guint i = 0; i < schema->n_returns; i++)
    {
      g_string_append (out, i > 0 ? ", " : "");
      print_argument (&schema->returns[i], out);
    }
  g_string_append (out, tuple ? ")" : "");

  return g_string_free (out, FALSE);
}
