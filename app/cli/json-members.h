/* SPDX-License-Identifier: MIT */
#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* Members of the object that @builder is in: name and value. */

/* @text: (nullable): null */
void adj_json_add_string (JsonBuilder *builder, const char *name, const char *text);
/* @text: (nullable): the member is left out */
void adj_json_add_string_if_any (JsonBuilder *builder, const char *name, const char *text);
void adj_json_add_int (JsonBuilder *builder, const char *name, gint64 value);
void adj_json_add_boolean (JsonBuilder *builder, const char *name, gboolean value);
/* Leaves a NaN out and writes infinity as the largest double, since JSON has no numbers for them.
 */
void adj_json_add_double (JsonBuilder *builder, const char *name, double value);

G_END_DECLS
