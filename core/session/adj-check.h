/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-bundle.h"
#include "passes/adj-finding.h"

G_BEGIN_DECLS

/* -- the checks, in the order of lists -- */

ADJ_PUBLIC guint adj_checks_get_n (void);
ADJ_PUBLIC const AdjCheck *adj_checks_get (guint index);

/* Runs every check on every region of @bundle; a graph that belongs to none is a region of its own.
 * (transfer full) */
ADJ_PUBLIC AdjFindings *adj_bundle_check (const AdjBundle *bundle);

G_END_DECLS
