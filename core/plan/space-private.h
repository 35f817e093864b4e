/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"
#include "plan/plan-private.h"

G_BEGIN_DECLS

/* spares.c: keeps at most one piece of memory per buffer; pieces may be returned from any thread.
 */
typedef struct _PlanSpares PlanSpares;

PlanSpares *plan_spares_new (guint n);
void plan_spares_unref (PlanSpares *self);
/* (transfer full): @n_bytes, always the same for a buffer; the content is unspecified. */
gpointer plan_spares_take (PlanSpares *self, guint32 index, guint64 n_bytes);
/* @piece: (transfer full) */
void plan_spares_put (PlanSpares *self, guint32 index, gpointer piece);
/* (transfer full): @piece as bytes, which returns to @self when they are freed. @piece:
 * (transfer full) */
GBytes *plan_spares_give (PlanSpares *self, guint32 index, gpointer piece, guint64 n_bytes);

/* late-inputs.c: those that are read while the plan runs. */
typedef struct _PlanLateInputs PlanLateInputs;

/* A plan with memory: tensors, prepared calls, and the state of a run. */
struct _AdjPlanSpace
{
  AdjPlan *plan;         /* (owned) */
  AdjContext *cx;        /* (owned) */
  gpointer arena;        /* (owned) */
  gpointer *bytes;       /* (owned): per buffer: its memory in this run */
  gpointer *made;        /* (owned): per buffer: memory allocated for this run alone, or %NULL */
  AdjTensorData **from;  /* (owned): per buffer: its initial content in this run, (unowned) */
  PlanLateInputs *late;  /* (owned) */
  guint64 spared;        /* bytes of @late that were not in memory at the peak of the last run */
  guint8 *alignment;     /* (owned): per buffer: an input with a lower alignment is copied */
  PlanSpares *spares;    /* (owned): memory of earlier runs, to be reused */
  AdjStorage **storages; /* (owned): by buffer */
  AdjTensor **tensors;   /* (owned): by value */
  AdjOpCall *calls;      /* (owned): by call */
  AdjPlace *places;      /* (owned): of each call, for errors */
  AdjValue *args;        /* (owned): of each call, with tensors of @tensors */
  AdjValue *dynamic; /* (owned): per node: the value of one whose type is known only by running */
  gboolean has_dynamic;      /* there are such nodes */
  const AdjPlanHooks *hooks; /* (nullable): of this run */
  guint32 *bound; /* (owned): buffers whose memory or initial content changes with each run */
  guint n_bound;
  struct _PlanGpu *gpu; /* (owned) (nullable): set if its memory is on a GPU; no @arena then */
};

/* Whether the plan holds for @inputs. */
gboolean plan_space_accepts (const AdjPlanSpace *space, const AdjValue *inputs, guint n_inputs);
/* Replaces its context by a new one, as before the first run. */
void plan_space_renew_context (AdjPlanSpace *space);
/* Points the buffers at @inputs, leaves in order, and at memory of this run; %FALSE with the
 * context in error: the plan does not hold for them. */
gboolean plan_space_bind (AdjPlanSpace *space, const AdjValue *inputs, guint n_inputs);
/* Runs all regions, in order, with the hooks of the space. */
gboolean plan_space_run_regions (AdjPlanSpace *space);
/* Points buffer @index at @from, or at memory of this run with that content.  @from: (nullable). */
void plan_space_bind_buffer (AdjPlanSpace *space, guint32 index, gconstpointer from);
/* Releases the memory of this run. */
void plan_space_unbind (AdjPlanSpace *space);
/* (transfer full): the value of a node, with tensors of the space. */
AdjValue plan_space_get_node (AdjPlanSpace *space, guint32 node);
/* (transfer full): the same with tensors as data.  With @give (at the end of a run) tensors that
 * own their memory pass it on instead of copying. */
AdjValue plan_space_export (AdjPlanSpace *space, guint32 node, gboolean give);
/* Sets the node, or that of call @call, that errors of the context name. */
void plan_space_enter (AdjPlanSpace *space, guint32 node);
void plan_space_enter_call (AdjPlanSpace *space, guint32 call);

G_END_DECLS
