/* SPDX-License-Identifier: MIT */
/* The joint graph with the tags that a partitioner goes by, and the reason of each. */

#include "base/adj-clock.h"
#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "partition/adj-partition-tag.h"
#include "partition/joint-private.h"
#include "partition/rule-private.h"

static gboolean
is_tagged (const Joint *joint, guint i)
{
  return joint->recompute[i] != ADJ_RECOMPUTE_NONE;
}

static gboolean
is_retagged (const Joint *joint, guint i)
{
  return joint->recompute[i] != (guint8) adj_graph_get_node (joint->graph, i)->meta.recompute;
}

/* Where the tag of node @i comes from, if no rule set it. */
static void
append_source (const Joint *joint, guint i, GString *out)
{
  if (joint->region[i] >= 0)
    g_string_append_printf (out, "by the checkpoint of region %" G_GINT64_FORMAT, joint->region[i]);
  else
    g_string_append (out, "in the graph");
}

/* "MUST_SAVE, not PREFER_RECOMPUTE: its region ends here: 'mul' recomputes in a later one".
 * (transfer full) */
static char *
explain (const Joint *joint, guint i)
{
  const AdjNode *node = adj_graph_get_node (joint->graph, i);
  AdjPartitionRule rule = (AdjPartitionRule) joint->tag_rule[i];
  GString *out = g_string_new (adj_recompute_name ((AdjRecompute) joint->recompute[i]));

  if (is_retagged (joint, i) && node->meta.recompute != ADJ_RECOMPUTE_NONE)
    g_string_append_printf (out, ", not %s", adj_recompute_name (node->meta.recompute));
  if (rule == ADJ_RULE_TAG)
    {
      g_string_append_c (out, ' ');
      append_source (joint, i, out);
    }
  else
    {
      g_string_append (out, ": ");
      rule_append (rule, joint->graph, (AdjNodeId){ joint->tag_because[i] }, out);
    }
  if (joint->rep[i] != i)
    g_string_append_printf (out, "; '%s' computes the same, and its tag counts",
                            joint_name (joint, joint->rep[i]));
  return g_string_free (out, FALSE);
}

/* The nodes keep their numbers. */
static AdjGraph *
copy (const Joint *joint, GError **error)
{
  g_autoptr (AdjBuilder) builder = adj_builder_new_like (joint->graph);
  g_autofree AdjNodeId *map = g_new0 (AdjNodeId, joint->n);

  for (guint i = 0; i < joint->n; i++)
    {
      const AdjNode *node = adj_graph_get_node (joint->graph, i);
      AdjNodeMeta meta = node->meta;

      if (!is_retagged (joint, i) || node->opcode == ADJ_OPCODE_GET_ATTR)
        {
          adj_builder_copy (builder, joint->graph, i, map);
          continue;
        }
      meta.recompute = (AdjRecompute) joint->recompute[i];
      map[i] = adj_builder_add (builder, &(AdjNodeSpec){ .name = node->name,
                                                         .opcode = node->opcode,
                                                         .op = node->op,
                                                         .target = node->target,
                                                         .args = node->args,
                                                         .kwargs = node->kwargs,
                                                         .val = node->val,
                                                         .meta = &meta,
                                                         .span = node->span,
                                                         .origin = { i } });
    }
  return adj_builder_seal (builder, error);
}

static GArray *
list_notes (const Joint *joint)
{
  GArray *notes = g_array_new (FALSE, FALSE, sizeof (AdjPassNote));

  for (guint i = 0; i < joint->n; i++)
    if (is_tagged (joint, i))
      {
        AdjPassNote note = { { i }, { i }, explain (joint, i) };

        g_array_append_val (notes, note);
      }
  return notes;
}

gboolean
adj_partition_tag (AdjGraph *graph,
                   const AdjPartitionOptions *options,
                   AdjPassResult *result,
                   GError **error)
{
  gint64 started = adj_clock_now ();
  g_autoptr (Joint) joint = joint_new (graph, options, error);
  g_autoptr (GArray) notes = joint != NULL ? list_notes (joint) : NULL;

  *result = (AdjPassResult){ .role = "tag" };
  if (notes == NULL)
    return FALSE;
  if (notes->len == 0)
    return TRUE;
  result->n_notes = notes->len;
  result->notes = (AdjPassNote *) (gpointer) g_array_free (g_steal_pointer (&notes), FALSE);
  result->graph = copy (joint, error);
  result->ns = adj_clock_now () - started;
  if (result->graph != NULL)
    return TRUE;
  adj_pass_result_clear (result);
  return FALSE;
}
