/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-graph.h"
#include "panel/adj-backward-chart.h"

G_BEGIN_DECLS

#define BACKWARD_MARGIN 12.0f
#define BACKWARD_SAYS 22.0f    /* height of the text about the choice */
#define BACKWARD_NAME 16.0f    /* height of a lane's name */
#define BACKWARD_TICK 11.0f    /* height of a step */
#define BACKWARD_DOT 8.0f      /* height of the breakpoint dots */
#define BACKWARD_BETWEEN 46.0f /* distance between the lanes */
#define BACKWARD_CURVE 38.0f
#define BACKWARD_BAR_STEP 7.0f

#define BACKWARD_TOP_LANE (BACKWARD_SAYS + BACKWARD_NAME)
#define BACKWARD_LOW_LANE (BACKWARD_TOP_LANE + BACKWARD_TICK + BACKWARD_BETWEEN)
#define BACKWARD_CURVE_TOP (BACKWARD_LOW_LANE + BACKWARD_TICK + 2 * BACKWARD_NAME + 8)
#define BACKWARD_BARS_TOP (BACKWARD_CURVE_TOP + BACKWARD_CURVE + BACKWARD_NAME + 4)

struct _AdjBackwardChart
{
  GtkWidget parent_instance;

  const AdjBackward *backward; /* (unowned) (nullable) */
  AdjStepping *stepping;       /* (unowned) (nullable) */
  guint *ranks;                /* (owned): per step, its position in the other order */
  guint step;                  /* chosen step; G_MAXUINT: none */
  guint life;                  /* input under the pointer; G_MAXUINT: none */
  guint stop;                  /* step whose breakpoint dot is under the pointer; G_MAXUINT: none */
};

static inline const AdjBackwardStep *
backward_chart_step (const AdjBackwardChart *self, guint index)
{
  return &g_array_index (self->backward->steps, AdjBackwardStep, index);
}

static inline const AdjBackwardLife *
backward_chart_life (const AdjBackwardChart *self, guint index)
{
  return &g_array_index (self->backward->lives, AdjBackwardLife, index);
}

static inline const AdjNode *
backward_chart_node (const AdjBackwardChart *self, AdjNodeId id)
{
  return adj_graph_get_node (adj_captured_get_graph (self->backward->captured), id.index);
}

static inline gboolean
backward_chart_is_empty (const AdjBackwardChart *self)
{
  return self->backward == NULL || self->backward->steps->len == 0;
}

/* The width of a step, in pixels. */
float backward_chart_step_width (AdjBackwardChart *self);
void backward_chart_snapshot (GtkWidget *widget, GtkSnapshot *snapshot);

G_END_DECLS
