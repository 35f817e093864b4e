/* SPDX-License-Identifier: MIT */
#pragma once

#include <adwaita.h>

#include "exec/adj-executor.h"

G_BEGIN_DECLS

/* Says below the title of @row what @executor is, or why it cannot run here: a driver may take its
 * time to tell, so that it is asked in another thread. */
void adj_executor_note_show (AdwActionRow *row, const AdjExecutor *executor);

G_END_DECLS
