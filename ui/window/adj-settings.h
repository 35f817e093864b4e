/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* The settings of the workbench, installed or from the folder that it was built in; %NULL when
 * there are none: everything then has its default.  (transfer full) (nullable) */
GSettings *adj_settings_new (void);

/* Keeps @property of @object from session to session.  @settings: (nullable) */
void
adj_settings_keep (GSettings *settings, const char *key, gpointer object, const char *property);

G_END_DECLS
