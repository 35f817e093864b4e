/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Calls @each for every line of tensor/data/@name, split at blanks; @line: for messages. */
typedef void (*TableFunc) (char **words, guint n, const char *line);

void table_read (const char *name, TableFunc each);
/* (transfer full): the lines of tensor/data/@name. */
char **table_read_lines (const char *name);

G_END_DECLS
