/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-cancellable.h"
#include "formats/adj-bundle.h"
#include "passes/adj-finding.h"

G_BEGIN_DECLS

/* -- the checks, in the order of lists -- */

/* The table of checks. */
ADJ_PUBLIC guint adj_checks_get_n (void);
ADJ_PUBLIC const AdjCheck *adj_checks_get (guint index);

/* Runs every check on every region of @bundle; a graph that belongs to none is a region of its own.
 * (transfer full) (nullable): %NULL with G_IO_ERROR_CANCELLED */
ADJ_PUBLIC AdjFindings *
adj_bundle_check (const AdjBundle *bundle, GCancellable *cancellable, GError **error);

G_END_DECLS
