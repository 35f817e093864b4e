/* SPDX-License-Identifier: MIT */
/* Python's str.format: fields by position and by name, and format specifications. */

#include <string.h>

#include "interpreter/effect-ops-private.h"
#include "ir/adj-text.h"
#include "tensor/adj-element.h"
#include "tensor/adj-tensor.h"

#define MAX_SHOWN 1000
#define MAX_WIDTH 4096

typedef struct
{
  const AdjValue *args;
  guint n_args;
  const AdjValue *kwargs;
  guint next; /* next positional field */
  GString *out;
} Format;

/* A format specification: [[fill]align][sign][width][.precision][type]. */
typedef struct
{
  char fill;
  char align; /* '<', '>', '^', '='; 0: the default of the value */
  char sign;  /* '+', ' ' or 0 */
  char type;  /* 0: as str() */
  gint64 width;
  gint64 precision; /* -1: the default of the type */
} Spec;

static gboolean
fail (GError **error, const char *what, const char *text)
{
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "%s: '%s'", what, text);
  return FALSE;
}

/* -- what stands behind the colon -- */

static const char *
read_number (const char *at, gint64 *number)
{
  for (*number = 0; g_ascii_isdigit (*at); at++)
    *number = MIN (*number * 10 + (*at - '0'), MAX_WIDTH);
  return at;
}

static gboolean
read_spec (const char *text, Spec *spec, GError **error)
{
  const char *at = text;

  *spec = (Spec){ .fill = ' ', .precision = -1 };
  if (*at != 0 && at[1] != 0 && strchr ("<>^=", at[1]) != NULL)
    spec->fill = *at++;
  if (*at != 0 && strchr ("<>^=", *at) != NULL)
    spec->align = *at++;
  if (*at == '+' || *at == '-' || *at == ' ')
    spec->sign = *at == '-' ? (at++, 0) : *at++;
  if (*at == '0' && spec->align == 0)
    {
      spec->fill = '0';
      spec->align = '=';
    }
  at = read_number (at, &spec->width);
  if (*at == '.')
    at = read_number (at + 1, &spec->precision);
  if (*at != 0)
    spec->type = *at++;
  if (*at == 0 && (spec->type == 0 || strchr ("defgs%", spec->type) != NULL))
    return TRUE;
  return fail (error, "a format is not understood", text);
}

/* Pads @text to the width of @spec. */
static void
pad (const Spec *spec, const char *text, gboolean is_number, GString *out)
{
  gint64 n = MAX (spec->width - g_utf8_strlen (text, -1), 0), before = 0;
  char align = spec->align != 0 ? spec->align : is_number ? '>' : '<';

  if (align == '>' || align == '=')
    before = n;
  else if (align == '^')
    before = n / 2;
  if (align == '=' && (*text == '-' || *text == '+' || *text == ' '))
    g_string_append_c (out, *text++);
  for (gint64 i = 0; i < before; i++)
    g_string_append_c (out, spec->fill);
  g_string_append (out, text);
  for (gint64 i = before; i < n; i++)
    g_string_append_c (out, spec->fill);
}

/* -- values -- */

/* (transfer full): as str() gives it, or repr(). */
static char *
describe (const AdjValue *value, gboolean repr)
{
  g_autoptr (AdjTensorData) data = NULL;
  GString *text;

  if (value->kind == ADJ_VALUE_STRING && !repr)
    return g_strndup (value->text, value->n);
  if (value->kind == ADJ_VALUE_TENSOR)
    {
      data = adj_tensor_snapshot (value->tensor);
      return adj_tensor_data_print (data, MAX_SHOWN);
    }
  text = g_string_new (NULL);
  adj_value_print (value, NULL, text);
  return g_string_free (text, FALSE);
}

/* A 0-d tensor is formatted as its number. */
static AdjValue
take_number (const AdjValue *value)
{
  const AdjTensorMeta *meta =
      value->kind == ADJ_VALUE_TENSOR ? adj_tensor_get_meta (value->tensor) : NULL;
  g_autoptr (AdjTensorData) data = NULL;
  AdjElement element;

  if (meta == NULL || meta->shape.rank > 0 ||
      adj_dtype_info (meta->dtype)->category == ADJ_CATEGORY_COMPLEX)
    return *value;
  data = adj_tensor_snapshot (value->tensor);
  element = adj_element_load (
      meta->dtype, (const guint8 *) g_bytes_get_data (adj_tensor_data_get_bytes (data), NULL) +
                       (gsize) adj_tensor_data_get_meta (data)->shape.offset.word *
                           adj_dtype_info (meta->dtype)->n_bytes);
  if (meta->dtype == ADJ_DTYPE_BOOL)
    return ADJ_BOOL (element.integer != 0);
  return element.is_integer ? ADJ_INT (element.integer) : ADJ_FLOAT (element.real);
}

static gboolean
is_number (const AdjValue *value)
{
  return value->kind == ADJ_VALUE_INT || value->kind == ADJ_VALUE_FLOAT ||
         value->kind == ADJ_VALUE_BOOL;
}

/* (transfer full): @number as type 'd', 'e', 'f', 'g' or '%' writes it. */
static char *
describe_number (const Spec *spec, const AdjValue *number)
{
  double real = number->kind == ADJ_VALUE_FLOAT ? number->number
                : number->kind == ADJ_VALUE_INT ? (double) number->integer
                                                : (double) number->boolean;
  char type = spec->type == '%' ? 'f' : spec->type != 0 ? spec->type : 'g';
  char form[16], text[MAX_WIDTH + 400];

  if (spec->type == 'd')
    return g_strdup_printf ("%" G_GINT64_FORMAT, number->kind == ADJ_VALUE_INT
                                                     ? number->integer
                                                     : (gint64) number->boolean);
  g_snprintf (form, sizeof form, "%%.%d%c", (gint) (spec->precision < 0 ? 6 : spec->precision),
              type);
  g_ascii_formatd (text, sizeof text, form, spec->type == '%' ? 100 * real : real);
  return g_strconcat (text, spec->type == '%' ? "%" : "", NULL);
}

static gboolean
add_formatted (Format *format, const AdjValue *value, const char *text, GError **error)
{
  const AdjValue plain = take_number (value);
  gboolean number = is_number (&plain);
  g_autofree char *written = NULL;
  g_autofree char *signed_text = NULL;
  Spec spec;

  if (*text == 0)
    {
      written = describe (&plain, FALSE);
      g_string_append (format->out, written);
      return TRUE;
    }
  if (!read_spec (text, &spec, error))
    return FALSE;
  if ((!number && plain.kind != ADJ_VALUE_STRING) || (number && spec.type == 's') ||
      (!number && spec.type != 0 && spec.type != 's') ||
      (spec.type == 'd' && plain.kind == ADJ_VALUE_FLOAT))
    return fail (error, "a value cannot be formatted so", text);
  written = number && (spec.type != 0 || spec.precision >= 0) ? describe_number (&spec, &plain)
                                                              : describe (&plain, FALSE);
  if (!number && spec.precision >= 0 && spec.precision < g_utf8_strlen (written, -1))
    *g_utf8_offset_to_pointer (written, spec.precision) = 0;
  if (number && spec.sign != 0 && *written != '-')
    signed_text = g_strdup_printf ("%c%s", spec.sign, written);
  pad (&spec, signed_text != NULL ? signed_text : written, number, format->out);
  return TRUE;
}

/* -- fields -- */

/* (nullable): the value of a field. */
static const AdjValue *
find_value (Format *format, const char *name, GError **error)
{
  gint64 index = 0;

  if (*name == 0)
    index = format->next++;
  else if (*read_number (name, &index) != 0)
    {
      for (guint i = 0; format->kwargs->kind == ADJ_VALUE_DICT && i + 1 < format->kwargs->n; i += 2)
        if (g_str_equal (format->kwargs->items[i].text, name))
          return &format->kwargs->items[i + 1];
      fail (error, "the text to be printed names no argument", name);
      return NULL;
    }
  if (index < format->n_args)
    return &format->args[index];
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE,
               "the text to be printed has a field %" G_GINT64_FORMAT ", of %u arguments", index,
               format->n_args);
  return NULL;
}

/* name!r:spec */
static gboolean
add_field (Format *format, char *field, GError **error)
{
  char *spec = strchr (field, ':'), *conversion;
  const AdjValue *value;
  g_autofree char *text = NULL;

  if (spec != NULL)
    *spec++ = 0;
  conversion = strchr (field, '!');
  if (conversion != NULL)
    *conversion++ = 0;
  value = find_value (format, field, error);
  if (value == NULL)
    return FALSE;
  if (conversion == NULL)
    return add_formatted (format, value, spec != NULL ? spec : "", error);
  if (!g_str_equal (conversion, "r") && !g_str_equal (conversion, "s"))
    return fail (error, "a conversion is not understood", conversion);
  text = describe (value, *conversion == 'r');
  return add_formatted (format,
                        &(AdjValue){ .kind = ADJ_VALUE_STRING, .n = strlen (text), .text = text },
                        spec != NULL ? spec : "", error);
}

char *
effect_format (
    const char *text, const AdjValue *args, guint n_args, const AdjValue *kwargs, GError **error)
{
  Format format = { args, n_args, kwargs, 0, NULL };
  g_autoptr (GString) out = g_string_new (NULL);

  format.out = out;
  for (const char *at = text; *at != 0; at++)
    {
      const char *end = strchr (at, '}');
      g_autofree char *field = NULL;

      if ((*at == '{' || *at == '}') && at[1] == *at)
        g_string_append_c (out, *at++);
      else if (*at == '}' || (*at == '{' && end == NULL))
        {
          fail (error, "a brace has no other", text);
          return NULL;
        }
      else if (*at == '{')
        {
          field = g_strndup (at + 1, (gsize) (end - at - 1));
          if (!add_field (&format, field, error))
            return NULL;
          at = end;
        }
      else
        g_string_append_c (out, *at);
    }
  return g_string_free (g_steal_pointer (&out), FALSE);
}
