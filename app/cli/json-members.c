/* SPDX-License-Identifier: MIT */
/* Members of objects in what --json prints. */

#include "json-members.h"

#include <math.h>

void
adj_json_add_string (JsonBuilder *builder, const char *name, const char *text)
{
  json_builder_set_member_name (builder, name);
  if (text != NULL)
    json_builder_add_string_value (builder, text);
  else
    json_builder_add_null_value (builder);
}

void
adj_json_add_string_if_any (JsonBuilder *builder, const char *name, const char *text)
{
  if (text != NULL)
    adj_json_add_string (builder, name, text);
}

void
adj_json_add_int (JsonBuilder *builder, const char *name, gint64 value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_int_value (builder, value);
}

void
adj_json_add_boolean (JsonBuilder *builder, const char *name, gboolean value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_boolean_value (builder, value);
}

void
adj_json_add_double (JsonBuilder *builder, const char *name, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  if (isnan (value))
    return;
  if (isinf (value))
    value = copysign (G_MAXDOUBLE, value);
  /* json-glib writes 3e-11 as 3e-11.0, which is not JSON; the next number has a point. */
  g_ascii_dtostr (text, sizeof text, value);
  if (strchr (text, 'e') != NULL && strchr (text, '.') == NULL)
    value = nextafter (value, 0);
  json_builder_set_member_name (builder, name);
  json_builder_add_double_value (builder, value);
}
