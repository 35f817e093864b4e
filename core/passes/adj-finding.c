/* SPDX-License-Identifier: MIT */
/* A list of findings, each with its nodes and a text. */

#include "passes/adj-finding.h"

#include "ir/adj-graph.h"
#include "passes/adj-finding-internal.h"

struct _AdjFindings
{
  GArray *items; /* of AdjFinding */
};

static void
finding_clear (gpointer data)
{
  AdjFinding *finding = data;

  adj_graph_unref (finding->graph);
  g_free (finding->message);
  g_free (finding->nodes);
}

AdjFindings *
adj_findings_new (void)
{
  AdjFindings *findings = g_new (AdjFindings, 1);

  findings->items = g_array_new (FALSE, FALSE, sizeof (AdjFinding));
  g_array_set_clear_func (findings->items, finding_clear);
  return findings;
}

void
adj_findings_free (AdjFindings *findings)
{
  g_array_unref (findings->items);
  g_free (findings);
}

guint
adj_findings_get_n (const AdjFindings *findings)
{
  return findings->items->len;
}

const AdjFinding *
adj_findings_get (const AdjFindings *findings, guint index)
{
  g_return_val_if_fail (index < findings->items->len, NULL);

  return &g_array_index (findings->items, AdjFinding, index);
}

void
adj_findings_add (AdjFindings *findings, const AdjFinding *finding)
{
  AdjFinding copy = *finding;

  adj_graph_ref (copy.graph);
  copy.nodes = g_memdup2 (finding->nodes, finding->n_nodes * sizeof *finding->nodes);
  g_array_append_val (findings->items, copy);
}
