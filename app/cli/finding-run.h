/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-command.h"

G_BEGIN_DECLS

/* Runs forward and backward of the finding's region on recorded inputs, and describes how the two
 * results of a call that both make differ.  (transfer full) (nullable): %NULL without
 * @error when no call of the finding is made twice. */
char *adj_finding_run (const AdjBundle *bundle, const AdjFinding *finding, GError **error);

G_END_DECLS
