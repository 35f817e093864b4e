/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-diag.h"

G_BEGIN_DECLS

/* Corrections of diagnostics after the reader. */

/* Removes the warnings whose message is exactly this one.  @diags: (nullable) */
void adj_diags_remove (AdjDiags *diags, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* (transfer full) */
AdjDiags *adj_diags_copy (const AdjDiags *diags);

G_END_DECLS
