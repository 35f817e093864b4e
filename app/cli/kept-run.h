/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-command.h"

G_BEGIN_DECLS

/* Whether a run of @target can be kept as @name in its file, or in @into (nullable). */
gboolean
adj_kept_run_check (const AdjTarget *target, const char *name, const char *into, GError **error);
/* Adds the results of @run as @name to the present content of the file at @path, replacing a run of
 * that name.  A file that does not exist starts as a copy of the one of @run.  Says on stderr what
 * was too large. @inputs: (nullable): describes the inputs. */
gboolean adj_kept_run_save (const AdjSessionRun *run,
                            const AdjRunResult *result,
                            GHashTable *values,
                            const char *name,
                            const char *inputs,
                            const char *path,
                            GError **error);

G_END_DECLS
