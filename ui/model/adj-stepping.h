/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-backward.h"
#include "model/adj-run-choice.h"

G_BEGIN_DECLS

/* A captured backward that runs from one event to the next: it waits in its thread until somebody
 * lets it go on.  Signal "changed": it came to another event, ended or failed; breakpoints changed.
 */
#define ADJ_TYPE_STEPPING (adj_stepping_get_type ())
G_DECLARE_FINAL_TYPE (AdjStepping, adj_stepping, ADJ, STEPPING, GObject)

typedef enum
{
  ADJ_STEPPING_IDLE,  /* it did not begin, or was stopped */
  ADJ_STEPPING_RUNS,  /* towards the next event that it waits at */
  ADJ_STEPPING_WAITS, /* at an event */
  ADJ_STEPPING_ENDED, /* after the last one */
  ADJ_STEPPING_FAILED,
} AdjSteppingState;

/* A step of the backward (a node of autograd, a hook, an accumulation) begins or has ended. */
typedef struct
{
  guint step;     /* of adj_stepping_get_backward() */
  AdjNodeId node; /* its first, or its last */
  gboolean ends;
} AdjSteppingEvent;

/* What a step takes, before it begins, or what it gave. */
typedef struct
{
  AdjNodeId node;
  AdjTensorData *value; /* (owned) */
} AdjSteppingValue;

/* @graph: of @graphs, that @captured is about */
AdjStepping *
adj_stepping_new (AdjGraphSet *graphs, const AdjBundleGraph *graph, AdjCaptured *captured);
const AdjBackward *adj_stepping_get_backward (AdjStepping *self);

/* Begins from what @choice says, or goes on: to the next event, or (@continues) to the next step
 * with a breakpoint, or the end. */
void adj_stepping_go (AdjStepping *self, AdjRunChoice choice, gboolean continues);
void adj_stepping_stop (AdjStepping *self);

AdjSteppingState adj_stepping_get_state (AdjStepping *self);
gboolean adj_stepping_is_busy (AdjStepping *self); /* it runs or waits */
/* Where it waits: the last one that it came to.  %FALSE: at none. */
gboolean adj_stepping_get_event (AdjStepping *self, AdjSteppingEvent *event);
/* (transfer none): of AdjSteppingValue */
const GArray *adj_stepping_get_values (AdjStepping *self);
guint adj_stepping_get_n_events (AdjStepping *self);      /* that it came to */
const GError *adj_stepping_get_error (AdjStepping *self); /* (nullable): of FAILED */
/* "before MulBackward0 (NodeCall 2)"; (transfer full) */
char *adj_stepping_describe (AdjStepping *self);

/* The step that @node belongs to; G_MAXUINT: none. */
guint adj_stepping_find_step (AdjStepping *self, AdjNodeId node);
gboolean adj_stepping_has_breakpoint (AdjStepping *self, guint step);
void adj_stepping_toggle_breakpoint (AdjStepping *self, guint step);

G_END_DECLS
