/* SPDX-License-Identifier: MIT */
#pragma once

#include "passes/adj-finding.h"

G_BEGIN_DECLS

extern const AdjCheck adj_check_overwritten_output;
extern const AdjCheck adj_check_wrong_base;
extern const AdjCheck adj_check_expanded_write;

/* Takes the message; copies the nodes and references the graph. */
void adj_findings_add (AdjFindings *findings, const AdjFinding *finding);

G_END_DECLS
