/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Whether the shared library at @path, which is not loaded, defines the function @name for others;
 * %FALSE with ADJ_ERROR_NOT_FOUND, ADJ_ERROR_PARSE when it is no library for this machine, or
 * G_IO_ERROR.  Messages begin with @path. */
gboolean plugin_has_function (const char *path, const char *name, GError **error);

G_END_DECLS
