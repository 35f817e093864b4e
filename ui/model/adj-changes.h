/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-document.h"

G_BEGIN_DECLS

/* Selects the next (@step 1) or previous (-1) node in order of execution, from the selected one on,
 * that differs in a comparison or, without one, that the shown stage added or changed. */
void adj_changes_step (AdjDocument *document, gint step);

G_END_DECLS
