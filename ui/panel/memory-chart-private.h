/* SPDX-License-Identifier: MIT */
#pragma once

#include "panel/adj-memory-chart.h"

G_BEGIN_DECLS

#define MEMORY_LEFT 64.0f /* for the numbers of the bytes */
#define MEMORY_RIGHT 10.0f
#define MEMORY_TOP 20.0f    /* for what is said of a step */
#define MEMORY_BOTTOM 40.0f /* for names of phases, numbers of steps and the name of their axis */

struct _AdjMemoryChart
{
  GtkWidget parent_instance;

  const AdjTimeline *memory;   /* (unowned) (nullable) */
  const AdjTimeline *other;    /* (unowned) (nullable): of another plan */
  char *other_note;            /* (owned) (nullable) */
  guint step;                  /* below the pointer or come to by keys; G_MAXUINT: none */
  guint pinned;                /* whose contents are listed; G_MAXUINT: none */
  guint first, last;           /* the stretch */
  double from, to;             /* the steps in view */
  double grabbed_at, grabbed;  /* while it is dragged: the pointer, and @from then */
  gboolean is_panned, is_held; /* since the button went down */
};

/* The step that is spoken of: chosen, pinned, or that of the peak. */
guint memory_chart_get_subject (AdjMemoryChart *self);
/* The left side of @step, in pixels; beyond the sides where it is out of view. */
float memory_chart_x (AdjMemoryChart *self, double step);
/* Where @step of the other plan is among the steps of this one: forward and backward are each
 * stretched to the same length. */
double memory_chart_place_other (AdjMemoryChart *self, guint step);
/* "37.4 KiB with inputs at step 12 of 88, addmm_3".  (transfer full) */
char *memory_chart_describe_step (AdjMemoryChart *self, guint step);

void memory_chart_snapshot (GtkWidget *widget, GtkSnapshot *snapshot);

G_END_DECLS
