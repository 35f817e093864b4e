/* SPDX-License-Identifier: MIT */
/* The names and sentences of the rules by which a value is saved or recomputed. */

#include <string.h>

#include "ir/adj-graph.h"
#include "partition/rule-private.h"

static const char *const names[ADJ_N_RULES] = {
#define RULE(id, name, sentence) [ADJ_RULE_##id] = name,
#include "partition/partition-rules.inc"
#undef RULE
};

static const char *const sentences[ADJ_N_RULES] = {
#define RULE(id, name, sentence) [ADJ_RULE_##id] = sentence,
#include "partition/partition-rules.inc"
#undef RULE
};

const char *
adj_partition_rule_name (AdjPartitionRule rule)
{
  return rule < ADJ_N_RULES ? names[rule] : "";
}

void
rule_append (AdjPartitionRule rule, const AdjGraph *joint, AdjNodeId because, GString *out)
{
  const char *sentence = sentences[rule], *hole = strstr (sentence, "%s");

  if (hole == NULL)
    {
      g_string_append (out, sentence);
      return;
    }
  g_string_append_len (out, sentence, hole - sentence);
  if (adj_node_id_is_valid (because))
    g_string_append_printf (out, "'%s'", adj_graph_get_node (joint, because.index)->name);
  else
    g_string_append (out, "another node");
  g_string_append (out, hole + 2);
}
