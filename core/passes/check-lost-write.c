/* SPDX-License-Identifier: MIT */
/* lost-write: dead code elimination of a captured backward removes a write whose result is unread,
 * although the written memory is read (compiled_autograd/SPEC.md §5). */

#include <string.h>

#include "analysis/adj-aliases.h"
#include "ir/adj-graph.h"
#include "passes/adj-finding-internal.h"
#include "passes/captured-calls-private.h"

static void
add_finding (const AdjCheck *check,
             AdjGraph *graph,
             guint reader,
             guint read,
             const char *write,
             AdjFindings *findings)
{
  const char *name = adj_graph_get_node (graph, read)->name;
  g_autofree char *lost = write != NULL ? g_strdup_printf ("the write '%s' was dropped", write)
                                        : g_strdup ("every write through a view of it was dropped");

  adj_findings_add (
      findings, &(AdjFinding){ .check = check,
                               .severity = ADJ_SEVERITY_ERROR,
                               .graph = graph,
                               .message = g_strdup_printf ("'%s' reads '%s', but %s",
                                                           adj_graph_get_node (graph, reader)->name,
                                                           name, lost),
                               .n_nodes = 2,
                               .nodes = (AdjNodeId[]){ { reader }, { read } } });
}

/* -- where the graph is known as it was before -- */

/* A node of @graph that reads memory that node @write of @before had written, matched by names in
 * @before.  @read (out): the input. */
static guint
find_reader (const AdjGraph *graph,
             const AdjGraph *before,
             const AdjAlias *aliases,
             guint write,
             guint *read)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);
      AdjNodeId was = adj_graph_find_node (before, node->name);

      if (!adj_node_id_is_valid (was) || was.index <= write)
        continue;
      for (guint k = 0; k < node->n_inputs; k++)
        {
          AdjNodeId source =
              adj_graph_find_node (before, adj_graph_get_node (graph, node->inputs[k].index)->name);

          *read = node->inputs[k].index;
          if (adj_node_id_is_valid (source) && aliases[source.index].must == aliases[write].must)
            return i;
        }
    }
  return G_MAXUINT;
}

static void
check_both (const AdjCheck *check, AdjGraph *before, AdjGraph *graph, AdjFindings *findings)
{
  const AdjAlias *aliases = adj_graph_get_aliases (before);

  for (guint i = 0; i < adj_graph_get_n_nodes (before); i++)
    {
      const AdjNode *node = adj_graph_get_node (before, i);
      guint reader, read;

      if (!captured_writes (node) || adj_node_id_is_valid (adj_graph_find_node (graph, node->name)))
        continue;
      reader = find_reader (graph, before, aliases, i, &read);
      if (reader != G_MAXUINT)
        add_finding (check, graph, reader, read, node->name, findings);
    }
}

/* -- where it is not: the gradient of a write through a view without that write -- */

static gboolean
is_of_copy_slices (const AdjNode *node)
{
  for (guint i = 0; i < node->meta.n_frames; i++)
    if (node->meta.frames[i].code != NULL &&
        strstr (node->meta.frames[i].code, "CopySlices") != NULL)
      return TRUE;
  return FALSE;
}

/* Whether a part of it is written, or put into a new value. */
static gboolean
has_part (const AdjGraph *graph, const AdjNode *node, guint index, const AdjAlias *aliases)
{
  for (guint i = 0; i < node->n_users; i++)
    if (aliases[node->users[i].index].must == aliases[index].must ||
        strstr (adj_graph_get_node (graph, node->users[i].index)->target, "scatter") != NULL)
      return TRUE;
  return FALSE;
}

static void
check_alone (const AdjCheck *check, AdjGraph *graph, AdjFindings *findings)
{
  const AdjAlias *aliases = adj_graph_get_aliases (graph);

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);
      guint target = captured_get_arg (node, 0);

      if (captured_calls (node, "torch.ops.aten.copy_.default") && target != G_MAXUINT &&
          captured_calls (adj_graph_get_node (graph, target),
                          "torch.ops.aten.new_empty_strided.default") &&
          is_of_copy_slices (node) && node->n_users > 0 && !has_part (graph, node, i, aliases))
        add_finding (check, graph, node->users[0].index, i, NULL, findings);
    }
}

static void
run (const AdjCheck *check, const AdjCheckedRegion *region, AdjFindings *findings)
{
  if (region->captured != NULL && region->replayed != NULL)
    check_both (check, region->replayed, region->captured, findings);
  else if (region->captured != NULL)
    check_alone (check, region->captured, findings);
}

const AdjCheck adj_check_lost_write = {
  .name = "lost-write",
  .summary = "A write of a captured backward was dropped as dead",
  .explain =
      "The gradient of `y[1:3].mul_(2)` is written through a view of the gradient of `y`.  Nobody "
      "reads what that write gives, so PyTorch takes it for dead when it removes dead nodes from "
      "what compiled autograd captured, and accumulates the gradient as it was before: `x = "
      "torch.ones(4, requires_grad=True); y = x.clone(); y[1:3].mul_(2); y.sum().backward()` "
      "leaves "
      "1, 1, 1, 1 in `x.grad` instead of 1, 2, 2, 1.  `y[1:3] = 0` is wrong alike.\n\n"
      "Do not write through views of what is differentiated (`torch.cat`, `torch.where`), or run "
      "that backward without compiled autograd.",
  .versions = "2.6",
  .run = run,
};
