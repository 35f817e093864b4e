/* SPDX-License-Identifier: MIT */
/* The names of the rules by which a value is saved or recomputed. */

#include "partition/adj-partition-rule.h"

static const char *const names[ADJ_N_RULES] = {
#define RULE(id, name, sentence) [ADJ_RULE_##id] = name,
#include "partition/partition-rules.inc"
#undef RULE
};

const char *
adj_partition_rule_name (AdjPartitionRule rule)
{
  return rule < ADJ_N_RULES ? names[rule] : "";
}
