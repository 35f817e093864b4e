/* SPDX-License-Identifier: MIT */
/* Verdicts of a comparison by box, the worst of the nodes that it holds. */

#include "canvas/adj-marks.h"

#include <math.h>

struct _AdjMarks
{
  guint first;
  guint n;
  struct
  {
    guint8 worst; /* index in the order below, plus one; 0: not compared */
    float max_abs;
  } boxes[];
};

/* Verdicts from best to worst. */
static const AdjVerdict order[] = { ADJ_VERDICT_SKIPPED, ADJ_VERDICT_EQUAL, ADJ_VERDICT_WITHIN,
                                    ADJ_VERDICT_DIFFERS };

static guint8
rank (AdjVerdict verdict)
{
  guint i = 0;

  while (i + 1 < G_N_ELEMENTS (order) && order[i] != verdict)
    i++;
  return (guint8) (i + 1);
}

AdjMarks *
adj_marks_new (const AdjScene *scene, const AdjComparison *comparison)
{
  guint n = adj_scene_get_n_boxes (scene);
  AdjMarks *marks = g_malloc0 (sizeof *marks + n * sizeof marks->boxes[0]);

  marks->n = n;
  marks->first = ADJ_NO_BOX;
  for (guint i = 0; i < n; i++)
    marks->boxes[i].max_abs = NAN;
  for (guint i = 0; i < comparison->n_nodes; i++)
    {
      const AdjValueComparison *node = &comparison->nodes[i];
      guint box = adj_scene_find_node (scene, node->node);

      if (box >= n)
        continue;
      marks->boxes[box].worst = MAX (marks->boxes[box].worst, rank (node->verdict));
      if (node->verdict != ADJ_VERDICT_SKIPPED)
        marks->boxes[box].max_abs =
            fmaxf (marks->boxes[box].max_abs, (float) node->difference.max_abs);
    }
  if (comparison->first >= 0)
    marks->first = adj_scene_find_node (scene, comparison->nodes[comparison->first].node);

  return marks;
}

void
adj_marks_free (AdjMarks *marks)
{
  g_free (marks);
}

gboolean
adj_marks_get (const AdjMarks *marks, guint box, AdjVerdict *verdict)
{
  if (box >= marks->n || marks->boxes[box].worst == 0)
    return FALSE;
  *verdict = order[marks->boxes[box].worst - 1];
  return TRUE;
}

double
adj_marks_get_max_abs (const AdjMarks *marks, guint box)
{
  return box < marks->n ? (double) marks->boxes[box].max_abs : NAN;
}

guint
adj_marks_get_first (const AdjMarks *marks)
{
  return marks->first;
}
