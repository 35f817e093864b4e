/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-diag.h"

G_BEGIN_DECLS

/* For who reads after the reader. */

/* Takes back warnings that say just this.  @diags: (nullable) */
void adj_diags_remove (AdjDiags *diags, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* (transfer full) */
AdjDiags *adj_diags_copy (const AdjDiags *diags);

G_END_DECLS
