/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"
#include "plan/plan-private.h"

G_BEGIN_DECLS

/* spares.c: for each buffer a piece of memory at most; pieces may come back in any thread. */
typedef struct _PlanSpares PlanSpares;

PlanSpares *plan_spares_new (guint n);
void plan_spares_unref (PlanSpares *self);
/* (transfer full): @n_bytes, always the same for a buffer; what is in them is unspecified. */
gpointer plan_spares_take (PlanSpares *self, guint32 index, guint64 n_bytes);
/* @piece: (transfer full) */
void plan_spares_put (PlanSpares *self, guint32 index, gpointer piece);
/* (transfer full): @piece as bytes, which comes back when they are let go. @piece: (transfer full)
 */
GBytes *plan_spares_give (PlanSpares *self, guint32 index, gpointer piece, guint64 n_bytes);

/* A plan with memory: tensors, calls ready to be made, and what a run needs beside. */
struct _AdjPlanSpace
{
  AdjPlan *plan;             /* (owned) */
  AdjContext *cx;            /* (owned) */
  gpointer arena;            /* (owned) */
  gpointer *bytes;           /* (owned): of each buffer: its memory in this run */
  gpointer *made;            /* (owned): of each buffer: memory of this run alone, or %NULL */
  GBytes **from;             /* (owned): of each buffer: what it begins as in this run */
  guint8 *alignment;         /* (owned): of each buffer: below it an input is copied */
  PlanSpares *spares;        /* (owned): such memory of earlier runs */
  AdjStorage **storages;     /* (owned): by buffer */
  AdjTensor **tensors;       /* (owned): by value */
  AdjOpCall *calls;          /* (owned): by call */
  AdjPlace *places;          /* (owned): of each call, for errors */
  AdjValue *args;            /* (owned): of each call, with tensors of @tensors */
  AdjValue *dynamic;         /* (owned): of each node that only running shows */
  gboolean has_dynamic;      /* there are such nodes */
  const AdjPlanHooks *hooks; /* (nullable): of this run */
  guint32 *bound; /* (owned): buffers that are elsewhere in each run, or begin as something */
  guint n_bound;
  struct _PlanGpu *gpu; /* (owned) (nullable): its memory is there, and @arena %NULL */
};

/* Whether the plan holds for @inputs. */
gboolean plan_space_accepts (const AdjPlanSpace *space, const AdjValue *inputs, guint n_inputs);
/* Gives it a new context, as if nothing had run yet. */
void plan_space_renew_context (AdjPlanSpace *space);
/* Points the buffers at @inputs, leaves in order, and at memory of this run; %FALSE with the
 * context in error: they are others than the plan was made for. */
gboolean plan_space_bind (AdjPlanSpace *space, const AdjValue *inputs, guint n_inputs);
/* All of them, in order, with the hooks of the space. */
gboolean plan_space_run_regions (AdjPlanSpace *space);
/* Lets go of the memory of this run. */
void plan_space_unbind (AdjPlanSpace *space);
/* (transfer full): the value of a node, with tensors of the space. */
AdjValue plan_space_get_node (AdjPlanSpace *space, guint32 node);
/* (transfer full): the same with its tensors as data: those that own their memory give it away when
 * @give, as at the end of a run. */
AdjValue plan_space_export (AdjPlanSpace *space, guint32 node, gboolean give);
/* The context is set to node @node of the graph, or that of call @call, for errors. */
void plan_space_enter (AdjPlanSpace *space, guint32 node);
void plan_space_enter_call (AdjPlanSpace *space, guint32 call);

G_END_DECLS
