/* SPDX-License-Identifier: MIT */
#pragma once

#include "passes/adj-finding.h"

G_BEGIN_DECLS

/* Takes the message, copies the nodes, and takes a reference on the graph. */
void adj_findings_add (AdjFindings *findings, const AdjFinding *finding);

G_END_DECLS
