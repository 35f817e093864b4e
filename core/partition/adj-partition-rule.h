/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* Why a node went where it went: rows of partition-rules.inc. */
typedef enum
{
#define RULE(id, name, sentence) ADJ_RULE_##id,
#include "partition/partition-rules.inc"
#undef RULE
  ADJ_N_RULES,
} AdjPartitionRule;

/* "used-far-apart" */
ADJ_PUBLIC const char *adj_partition_rule_name (AdjPartitionRule rule);

G_END_DECLS
