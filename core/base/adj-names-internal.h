/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef const char *(*AdjNameFunc) (guint index);

/* The index of @name among the @n names of a table, whose records are called @what in messages.  -1
 * with ADJ_ERROR_NOT_FOUND, which lists all names. */
gint adj_names_find (const char *what, AdjNameFunc get, guint n, const char *name, GError **error);

G_END_DECLS
