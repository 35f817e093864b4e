/* SPDX-License-Identifier: MIT */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

/* The settings of the workbench, installed or from the build folder; %NULL when there are none:
 * then defaults apply.  (transfer full) (nullable) */
GSettings *adj_settings_new (void);

/* Saves @property of @object and restores it in the next session.  @settings: (nullable) */
void
adj_settings_keep (GSettings *settings, const char *key, gpointer object, const char *property);

/* Applies the light or dark scheme to the whole program, now and when it changes. */
void adj_settings_follow_style (GSettings *settings);
/* %TRUE, the default, without settings. */
gboolean adj_settings_restores_views (GSettings *settings);
/* The URIs of the files of the last session, if they are to be restored.  (transfer full)
 * (nullable) */
char **adj_settings_get_open_files (GSettings *settings);
void adj_settings_set_open_files (GSettings *settings, const char *const *uris);
gboolean adj_settings_begins_stacked (GSettings *settings);

G_END_DECLS
