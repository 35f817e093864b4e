/* SPDX-License-Identifier: MIT */
#pragma once

#include "partition/adj-partition-rule.h"

G_BEGIN_DECLS

/* Appends the sentence of @rule, with the name of node @because of @joint where it has one. */
void rule_append (AdjPartitionRule rule, const AdjGraph *joint, AdjNodeId because, GString *out);

G_END_DECLS
