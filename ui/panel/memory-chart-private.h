/* SPDX-License-Identifier: MIT */
#pragma once

#include "panel/adj-memory-chart.h"

G_BEGIN_DECLS

#define MEMORY_LEFT 64.0f /* for the numbers of the bytes */
#define MEMORY_RIGHT 10.0f
#define MEMORY_TOP 20.0f    /* for the text about a step */
#define MEMORY_BOTTOM 40.0f /* for names of phases, numbers of steps and the name of their axis */

struct _AdjMemoryChart
{
  GtkWidget parent_instance;

  const AdjTimeline *memory;   /* (unowned) (nullable) */
  const AdjTimeline *other;    /* (unowned) (nullable): of another plan */
  char *other_note;            /* (owned) (nullable) */
  guint step;                  /* chosen by pointer or keys; G_MAXUINT: none */
  guint pinned;                /* step whose live values are listed; G_MAXUINT: none */
  guint first, last;           /* steps of the marked value */
  double from, to;             /* the visible steps */
  double grabbed_at, grabbed;  /* at the start of a drag: the pointer, and @from */
  gboolean is_panned, is_held; /* during a drag: it has moved; the button is down */
};

/* The described step: chosen, pinned, or that of the peak. */
guint memory_chart_get_subject (AdjMemoryChart *self);
/* The left side of @step, in pixels; outside of the area if it is not visible. */
float memory_chart_x (AdjMemoryChart *self, double step);
/* The step of this plan that corresponds to @step of the other: forward and backward are each
 * scaled to the same length. */
double memory_chart_place_other (AdjMemoryChart *self, guint step);
/* "37.4 KiB with inputs at step 12 of 88, addmm_3".  (transfer full) */
char *memory_chart_describe_step (AdjMemoryChart *self, guint step);

void memory_chart_snapshot (GtkWidget *widget, GtkSnapshot *snapshot);

G_END_DECLS
