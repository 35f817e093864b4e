/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"
#include "ir/adj-value.h"

G_BEGIN_DECLS

/* How a graph is run fast: which of its calls run together as one region, in which order, and where
 * in one arena each result lies.  A plan is sealed when it is made; threads share it. */
typedef struct _AdjPlan AdjPlan;

typedef enum
{
  /* Every node's value is in memory after it was computed: what fused regions would keep in
   * registers is stored too, with the same bits, and nothing is overwritten before it was seen. */
  ADJ_PLAN_OBSERVED = 1 << 0,
  /* What one call of a fused region hands to the next in a register is not rounded to 16 bits, as
   * it would be if it was stored: other bits than the interpreter's, nearer to the truth. */
  ADJ_PLAN_UNROUNDED = 1 << 1,
} AdjPlanFlags;

/**
 * adj_plan_new:
 * @inputs: (array length=n_inputs): one per placeholder: DATA or META of tensors with integer
 * sizes, numbers, or containers of them.  The plan holds for inputs of the same dtypes, sizes and
 *   strides, with the same numbers, and of which the same share bytes.
 *
 * What cannot be planned is left to the interpreter, node by node or as a whole; the plan says why.
 *
 * Returns: (transfer full) (nullable): %NULL with ADJ_ERROR_SHAPE when the graph takes another
 *   number of inputs
 */
ADJ_PUBLIC AdjPlan *adj_plan_new (
    AdjGraph *graph, const AdjValue *inputs, guint n_inputs, AdjPlanFlags flags, GError **error);
/* (transfer full) (nullable): the same for inputs as the graph is annotated; symbolic sizes have
 * the values of their hints.  %NULL with ADJ_ERROR_UNRECORDED when the annotation of one is
 * missing. */
ADJ_PUBLIC AdjPlan *adj_plan_new_annotated (AdjGraph *graph, AdjPlanFlags flags, GError **error);
ADJ_PUBLIC AdjPlan *adj_plan_ref (AdjPlan *plan); /* (transfer full) */
ADJ_PUBLIC void adj_plan_unref (AdjPlan *plan);   /* @plan: (nullable) */

ADJ_PUBLIC AdjGraph *adj_plan_get_graph (const AdjPlan *plan); /* (transfer none) */
/* (nullable): why the interpreter has to run all of the graph: then there is nothing else to the
 * plan, and it cannot be run. */
ADJ_PUBLIC const char *adj_plan_get_refusal (const AdjPlan *plan);

/* Bytes of the arena, and the most that are held in it at one moment, less than which no placement
 * needs. */
ADJ_PUBLIC guint64 adj_plan_get_arena_bytes (const AdjPlan *plan);
ADJ_PUBLIC guint64 adj_plan_get_lower_bound (const AdjPlan *plan);
/* Bytes of a run: the arena, inputs, constants and outputs. */
ADJ_PUBLIC guint64 adj_plan_get_peak_bytes (const AdjPlan *plan);
/* Regions; what they are: plan/adj-plan-parts.h. */
ADJ_PUBLIC guint adj_plan_get_n_regions (const AdjPlan *plan);
/* Nanoseconds that it took to make. */
ADJ_PUBLIC gint64 adj_plan_get_planned_ns (const AdjPlan *plan);

/* What a run tells and asks; all (nullable). */
typedef struct
{
  /* Each region after it ran, with its number, of which there are @n. */
  gboolean (*region) (guint index, guint n, gpointer data);
  /* Each node whose value is there: of an observed plan all, after the region that makes it, in an
   * order in which inputs come first.  @value: borrowed. %FALSE stops the run. */
  gboolean (*node) (AdjNodeId id, const AdjValue *value, gpointer data);
  /* May give the value of a call that the interpreter would evaluate (transfer full), from its
   * arguments, a TUPLE: %TRUE then. */
  gboolean (*replace) (
      const AdjGraph *graph, AdjNodeId id, const AdjValue *args, AdjValue *value, gpointer data);
  gpointer data;
  gboolean timed; /* on a GPU: no captured graph, whose regions have no times */
} AdjPlanHooks;

/* An arena with tensors in it, for one run of a plan at a time. */
typedef struct _AdjPlanSpace AdjPlanSpace;

/* (transfer full): for a plan without a refusal, which it keeps. */
ADJ_PUBLIC AdjPlanSpace *adj_plan_space_new (AdjPlan *plan);
ADJ_PUBLIC void adj_plan_space_free (AdjPlanSpace *space); /* @space: (nullable) */

/**
 * adj_plan_space_run:
 * @inputs: (array length=n_inputs): as the plan was made for, tensors as DATA; borrowed
 * @hooks: (nullable)
 * @output: (out) (transfer full): what the graph returns, tensors as DATA
 *
 * Returns: %FALSE with the context of @space in error, which names the node, or with
 *   ADJ_ERROR_SHAPE there when @inputs are others than the plan was made for
 */
ADJ_PUBLIC gboolean adj_plan_space_run (AdjPlanSpace *space,
                                        const AdjValue *inputs,
                                        guint n_inputs,
                                        const AdjPlanHooks *hooks,
                                        AdjValue *output);

/* -- with memory of the caller's -- */

/* The tensors among the inputs and among the outputs, in order, containers taken apart; what @index
 * is one of.  Borrowed from @plan. */
ADJ_PUBLIC guint adj_plan_get_n_inputs (const AdjPlan *plan);
ADJ_PUBLIC const AdjTensorMeta *adj_plan_get_input (const AdjPlan *plan, guint index);
ADJ_PUBLIC guint adj_plan_get_n_outputs (const AdjPlan *plan);
/* As they are written: @index < adj_plan_get_n_outputs(). */
ADJ_PUBLIC const AdjTensorMeta *adj_plan_get_output (const AdjPlan *plan, guint index);

/**
 * adj_plan_space_run_into:
 * @inputs: (array): memory of each input, as its offset counts from, aligned to 16 bytes; those
 * that shared bytes when the plan was made are one.  What the graph writes in place is written
 * there.
 * @outputs: (array): memory for each output, with room for its strides, from offset 0
 *
 * Allocates nothing for the arena.  Two spaces may run in two threads at once; each thread has a
 * team of OpenMP's.
 *
 * Returns: %FALSE with the context of @space in error; ADJ_ERROR_UNSUPPORTED there when the graph
 *   returns what is known only by running
 */
ADJ_PUBLIC gboolean adj_plan_space_run_into (AdjPlanSpace *space,
                                             gpointer const *inputs,
                                             gpointer const *outputs);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjPlan, adj_plan_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjPlanSpace, adj_plan_space_free)

G_END_DECLS
