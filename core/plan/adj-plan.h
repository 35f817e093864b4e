/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"
#include "ir/adj-value.h"

G_BEGIN_DECLS

/* The execution plan of a graph: which calls run together as one region, in which order, and where
 * in one arena each result lies.  A plan is sealed when it is made; threads share it. */
typedef struct _AdjPlan AdjPlan;

typedef enum
{
  /* Every node's value is in memory after it was computed: values that fused regions would keep in
   * registers are stored too, with the same bits, and nothing is overwritten before the hook saw
   * it. */
  ADJ_PLAN_OBSERVED = 1 << 0,
  /* A value passed in a register between calls of a fused region is not rounded to 16 bits, as
   * storing it would: results differ from the interpreter's and are more accurate. */
  ADJ_PLAN_UNROUNDED = 1 << 1,
} AdjPlanFlags;

/**
 * adj_plan_new:
 * @inputs: (array length=n_inputs): one per placeholder: DATA or META of tensors with integer
 *   sizes, numbers, or containers of them.  The plan holds for inputs of the same dtypes, sizes and
 *   strides, with the same numbers and the same sharing of memory.
 *
 * What cannot be planned is left to the interpreter, node by node or as a whole; the plan says why.
 *
 * Returns: (transfer full) (nullable): %NULL with ADJ_ERROR_SHAPE when the graph takes another
 *   number of inputs
 */
ADJ_PUBLIC AdjPlan *adj_plan_new (
    AdjGraph *graph, const AdjValue *inputs, guint n_inputs, AdjPlanFlags flags, GError **error);
/* (transfer full) (nullable): the same for inputs as annotated; symbolic sizes take their hints.
 * %NULL with ADJ_ERROR_UNRECORDED when the annotation of one is missing. */
ADJ_PUBLIC AdjPlan *adj_plan_new_annotated (AdjGraph *graph, AdjPlanFlags flags, GError **error);
ADJ_PUBLIC AdjPlan *adj_plan_ref (AdjPlan *plan); /* (transfer full) */
ADJ_PUBLIC void adj_plan_unref (AdjPlan *plan);   /* @plan: (nullable) */

ADJ_PUBLIC AdjGraph *adj_plan_get_graph (const AdjPlan *plan); /* (transfer none) */
/* (nullable): why the interpreter has to run the whole graph; such a plan has no parts and cannot
 * be run. */
ADJ_PUBLIC const char *adj_plan_get_refusal (const AdjPlan *plan);

/* Bytes of the arena, and the most bytes that are live in it at once, which is a lower bound for
 * any placement. */
ADJ_PUBLIC guint64 adj_plan_get_arena_bytes (const AdjPlan *plan);
ADJ_PUBLIC guint64 adj_plan_get_lower_bound (const AdjPlan *plan);
/* Bytes of a run: the arena, inputs, constants and outputs. */
ADJ_PUBLIC guint64 adj_plan_get_peak_bytes (const AdjPlan *plan);
/* Regions; see plan/adj-plan-parts.h. */
ADJ_PUBLIC guint adj_plan_get_n_regions (const AdjPlan *plan);
/* Nanoseconds that planning took. */
ADJ_PUBLIC gint64 adj_plan_get_planned_ns (const AdjPlan *plan);

/* Hooks of a run; all (nullable). */
typedef struct
{
  /* Called after each region, with its number and the number @n of regions. */
  gboolean (*region) (guint index, guint n, gpointer data);
  /* Called for each node whose value is in memory: in an observed plan every node, after the region
   * that makes it, inputs before their readers.  @value: borrowed. %FALSE stops the run. */
  gboolean (*node) (AdjNodeId id, const AdjValue *value, gpointer data);
  /* Called for a call that the interpreter would evaluate; may set its value (transfer full), from
   * its arguments, a TUPLE, and return %TRUE. */
  gboolean (*replace) (
      const AdjGraph *graph, AdjNodeId id, const AdjValue *args, AdjValue *value, gpointer data);
  gpointer data;
  gboolean timed; /* on a GPU: no captured graph is used, since its regions cannot be timed */
} AdjPlanHooks;

/* A plan with its arena and tensors; it executes one run at a time. */
typedef struct _AdjPlanSpace AdjPlanSpace;

/* (transfer full): @plan must not have a refusal; the space holds a reference. */
ADJ_PUBLIC AdjPlanSpace *adj_plan_space_new (AdjPlan *plan);
ADJ_PUBLIC void adj_plan_space_free (AdjPlanSpace *space); /* @space: (nullable) */

/**
 * adj_plan_space_run:
 * @inputs: (array length=n_inputs): of the kind that the plan was made for, tensors as DATA;
 *   borrowed
 * @hooks: (nullable)
 * @output: (out) (transfer full): what the graph returns, tensors as DATA
 *
 * Returns: %FALSE with the context of @space in error, which names the node, or with
 *   ADJ_ERROR_SHAPE there when the plan does not hold for @inputs
 */
ADJ_PUBLIC gboolean adj_plan_space_run (AdjPlanSpace *space,
                                        const AdjValue *inputs,
                                        guint n_inputs,
                                        const AdjPlanHooks *hooks,
                                        AdjValue *output);

/* -- with memory of the caller's -- */

/* The tensors among the inputs and among the outputs, in order, containers flattened; and their
 * types.  Borrowed from @plan. */
ADJ_PUBLIC guint adj_plan_get_n_inputs (const AdjPlan *plan);
ADJ_PUBLIC const AdjTensorMeta *adj_plan_get_input (const AdjPlan *plan, guint index);
ADJ_PUBLIC guint adj_plan_get_n_outputs (const AdjPlan *plan);
/* As they are stored: @index < adj_plan_get_n_outputs(). */
ADJ_PUBLIC const AdjTensorMeta *adj_plan_get_output (const AdjPlan *plan, guint index);

/**
 * adj_plan_space_run_into:
 * @inputs: (array): memory of each input, from which its offset counts, aligned to 16 bytes; inputs
 *   that shared memory when the plan was made have the same pointer.  In-place writes go there.
 * @outputs: (array): memory for each output, with room for its strides, from offset 0
 *
 * Allocates nothing for the arena.  Two spaces may run in two threads at once; each thread has a
 * team of OpenMP's.
 *
 * Returns: %FALSE with the context of @space in error; ADJ_ERROR_UNSUPPORTED there when the graph
 *   returns values whose type is known only by running
 */
ADJ_PUBLIC gboolean adj_plan_space_run_into (AdjPlanSpace *space,
                                             gpointer const *inputs,
                                             gpointer const *outputs);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjPlan, adj_plan_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjPlanSpace, adj_plan_space_free)

G_END_DECLS
