/* SPDX-License-Identifier: MIT */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

/* The settings of the workbench, installed or from the folder that it was built in; %NULL when
 * there are none: everything then has its default.  (transfer full) (nullable) */
GSettings *adj_settings_new (void);

/* Keeps @property of @object from session to session.  @settings: (nullable) */
void
adj_settings_keep (GSettings *settings, const char *key, gpointer object, const char *property);

/* Light or dark, for the whole program, from now on. */
void adj_settings_follow_style (GSettings *settings);
/* %TRUE without settings, as is the default. */
gboolean adj_settings_restores_views (GSettings *settings);
/* The URIs of the files that were open last, where they are to come back.  (transfer full)
 * (nullable) */
char **adj_settings_get_open_files (GSettings *settings);
void adj_settings_set_open_files (GSettings *settings, const char *const *uris);
gboolean adj_settings_begins_stacked (GSettings *settings);

G_END_DECLS
