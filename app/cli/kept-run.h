/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-command.h"

G_BEGIN_DECLS

/* Whether a run of @target can be kept as @name in its file, or in @into (nullable). */
gboolean
adj_kept_run_check (const AdjTarget *target, const char *name, const char *into, GError **error);
/* Adds to the file at @path, as it is now, what @run gave as @name; another run of that name goes.
 * A file that is not there begins as a copy of that of @run.  Says on stderr what was too large.
 * @inputs: (nullable): where they came from. */
gboolean adj_kept_run_save (const AdjSessionRun *run,
                            const AdjRunResult *result,
                            GHashTable *values,
                            const char *name,
                            const char *inputs,
                            const char *path,
                            GError **error);

G_END_DECLS
