/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-command.h"

G_BEGIN_DECLS

/* --plugin FILE.so:FUNCTION, for commands that open files: a plugin with classes and operators that
 * files may refer to. */
#define PLUGIN_OPTION                                                                              \
  {                                                                                                \
    "plugin", 0, 0, G_OPTION_ARG_CALLBACK, plugins_add,                                            \
        "Know the classes and operators of a plugin; may be given again", "FILE.so:FUNCTION"       \
  }

/* A GOptionArgFunc. */
gboolean plugins_add (const char *option, const char *value, gpointer data, GError **error);
/* (transfer none) (nullable): what the plugins add; %NULL: none was named. */
const AdjExtensions *plugins_get (void);
/* As adj_bundle_load(), with the plugins. */
AdjBundle *plugins_load_bundle (const char *path, GError **error);

G_END_DECLS
