/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-backward.h"
#include "model/adj-run-choice.h"

G_BEGIN_DECLS

/* A captured backward that runs from one event to the next and waits in its thread in between.
 * Signal "changed": it reached another event, ended or failed, or breakpoints changed. */
#define ADJ_TYPE_STEPPING (adj_stepping_get_type ())
G_DECLARE_FINAL_TYPE (AdjStepping, adj_stepping, ADJ, STEPPING, GObject)

typedef enum
{
  ADJ_STEPPING_IDLE,  /* it has not begun, or was stopped */
  ADJ_STEPPING_RUNS,  /* it runs to the next event that it waits at */
  ADJ_STEPPING_WAITS, /* it waits at an event */
  ADJ_STEPPING_ENDED, /* the run has ended */
  ADJ_STEPPING_FAILED,
} AdjSteppingState;

/* A step of the backward (a node of autograd, a hook, an accumulation) begins or has ended. */
typedef struct
{
  guint step;     /* index in adj_stepping_get_backward() */
  AdjNodeId node; /* the first node of the step, or its last */
  gboolean ends;
} AdjSteppingEvent;

/* An input of a step, before it, or its result. */
typedef struct
{
  AdjNodeId node;
  AdjTensorData *value; /* (owned) */
} AdjSteppingValue;

/* @graph: of @graphs, the captured backward of @captured */
AdjStepping *
adj_stepping_new (AdjGraphSet *graphs, const AdjBundleGraph *graph, AdjCaptured *captured);
const AdjBackward *adj_stepping_get_backward (AdjStepping *self);

/* Starts with the inputs of @choice, or continues: to the next event, or (@continues) to the next
 * step with a breakpoint, or the end. */
void adj_stepping_go (AdjStepping *self, AdjRunChoice choice, gboolean continues);
void adj_stepping_stop (AdjStepping *self);

AdjSteppingState adj_stepping_get_state (AdjStepping *self);
gboolean adj_stepping_is_busy (AdjStepping *self); /* whether it runs or waits */
/* The event that it reached last and waits at.  %FALSE: it does not wait. */
gboolean adj_stepping_get_event (AdjStepping *self, AdjSteppingEvent *event);
/* (transfer none): of AdjSteppingValue */
const GArray *adj_stepping_get_values (AdjStepping *self);
guint adj_stepping_get_n_events (AdjStepping *self);      /* events reached so far */
const GError *adj_stepping_get_error (AdjStepping *self); /* (nullable): if it failed */
/* "before MulBackward0 (NodeCall 2)"; (transfer full) */
char *adj_stepping_describe (AdjStepping *self);

/* The step that @node belongs to; G_MAXUINT: none. */
guint adj_stepping_find_step (AdjStepping *self, AdjNodeId node);
gboolean adj_stepping_has_breakpoint (AdjStepping *self, guint step);
void adj_stepping_toggle_breakpoint (AdjStepping *self, guint step);

G_END_DECLS
