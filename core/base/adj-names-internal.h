/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef const char *(*AdjNameFunc) (guint index);

/* Where @name stands among the @n names of a table, its records being called a @what.  -1 with
 * ADJ_ERROR_NOT_FOUND that lists those there are. */
gint adj_names_find (const char *what, AdjNameFunc get, guint n, const char *name, GError **error);

G_END_DECLS
