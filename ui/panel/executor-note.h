/* SPDX-License-Identifier: MIT */
#pragma once

#include <adwaita.h>

#include "exec/adj-executor.h"

G_BEGIN_DECLS

/* Describes @executor in the subtitle of @row, or says why it cannot run here.  It is asked in
 * another thread, as a driver may be slow to answer. */
void adj_executor_note_show (AdwActionRow *row, const AdjExecutor *executor);

G_END_DECLS
