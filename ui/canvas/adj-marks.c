/* SPDX-License-Identifier: MIT */
#include "canvas/adj-marks.h"

#define NOT_COMPARED 0xff

struct _AdjMarks
{
  gatomicrefcount refs;
  AdjNodeId first;
  guint n;
  guint8 verdicts[];
};

AdjMarks *
adj_marks_new (const AdjComparison *comparison, guint n_nodes)
{
  AdjMarks *marks = g_malloc (sizeof *marks + n_nodes);

  g_atomic_ref_count_init (&marks->refs);
  marks->n = n_nodes;
  marks->first = comparison->first >= 0 ? comparison->nodes[comparison->first].node : ADJ_NO_NODE;
  for (guint i = 0; i < n_nodes; i++)
    marks->verdicts[i] = NOT_COMPARED;
  for (guint i = 0; i < comparison->n_nodes; i++)
    if (comparison->nodes[i].node.index < n_nodes)
      marks->verdicts[comparison->nodes[i].node.index] = comparison->nodes[i].verdict;

  return marks;
}

AdjMarks *
adj_marks_ref (AdjMarks *marks)
{
  g_atomic_ref_count_inc (&marks->refs);
  return marks;
}

void
adj_marks_unref (AdjMarks *marks)
{
  if (g_atomic_ref_count_dec (&marks->refs))
    g_free (marks);
}

gboolean
adj_marks_get (const AdjMarks *marks, AdjNodeId node, AdjVerdict *verdict)
{
  if (node.index >= marks->n || marks->verdicts[node.index] == NOT_COMPARED)
    return FALSE;
  *verdict = marks->verdicts[node.index];
  return TRUE;
}

AdjNodeId
adj_marks_get_first (const AdjMarks *marks)
{
  return marks->first;
}
