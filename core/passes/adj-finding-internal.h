/* SPDX-License-Identifier: MIT */
#pragma once

#include "passes/adj-finding.h"

G_BEGIN_DECLS

extern const AdjCheck adj_check_overwritten_output;
extern const AdjCheck adj_check_wrong_base;
extern const AdjCheck adj_check_expanded_write;
/* Of captured backwards, but the last. */
extern const AdjCheck adj_check_lost_write;
extern const AdjCheck adj_check_shared_gradient;
extern const AdjCheck adj_check_early_accumulation;
extern const AdjCheck adj_check_early_update;
extern const AdjCheck adj_check_lost_tokens;

/* Takes the message; copies the nodes and references the graph. */
void adj_findings_add (AdjFindings *findings, const AdjFinding *finding);

G_END_DECLS
