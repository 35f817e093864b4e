/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-command.h"

G_BEGIN_DECLS

/* Runs forward and backward of the region that @finding is about on what was recorded, and says of
 * a call that both make how far its two values are apart.  (transfer full) (nullable): %NULL
 * without
 * @error when no call of it is made twice. */
char *adj_finding_run (const AdjBundle *bundle, const AdjFinding *finding, GError **error);

G_END_DECLS
