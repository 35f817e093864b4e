/* SPDX-License-Identifier: MIT */
#include "canvas/adj-marks.h"

struct _AdjMarks
{
  guint first;
  guint n;
  guint8 worst[]; /* by box: 0: not compared, else one more than the place in the order below */
};

/* What is worse stands later. */
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
  AdjMarks *marks = g_malloc0 (sizeof *marks + n);

  marks->n = n;
  marks->first = ADJ_NO_BOX;
  for (guint i = 0; i < comparison->n_nodes; i++)
    {
      guint box = adj_scene_find_node (scene, comparison->nodes[i].node);

      if (box < n)
        marks->worst[box] = MAX (marks->worst[box], rank (comparison->nodes[i].verdict));
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
  if (box >= marks->n || marks->worst[box] == 0)
    return FALSE;
  *verdict = order[marks->worst[box] - 1];
  return TRUE;
}

guint
adj_marks_get_first (const AdjMarks *marks)
{
  return marks->first;
}
