/* SPDX-License-Identifier: MIT */
#pragma once

#include "partition/cut-private.h"

G_BEGIN_DECLS

/* A partition before its graphs are built: the saved nodes, and the sides of all nodes. */
typedef struct
{
  const Joint *joint;
  const AdjPartitionOptions *options;
  const char *partitioner;
  Cut *cut;             /* (owned) (nullable) */
  GArray *tensors;      /* guint32: saved, in order */
  GArray *sizes;        /* guint32: saved symbolic scalars */
  GArray *states;       /* guint32: random nodes that run again with their state */
  guint8 *rule;         /* per node: AdjPartitionRule, if the cut alone did not decide */
  guint32 *because;     /* per node */
  guint8 *in_forward;   /* per node: forward computes it */
  guint8 *in_backward;  /* per node: backward computes it */
  guint8 *is_written;   /* per node: a copy of it is saved, because forward writes to it */
  GArray *order;        /* guint32: what backward computes, in order */
  gboolean keeps_order; /* backward is not reordered */
  gboolean is_complete; /* plan_complete() has run */
  gboolean is_optimal;  /* as in AdjPartitionCost */
  guint n_plans;
} Plan;

Plan *plan_new (const Joint *joint, const AdjPartitionOptions *options, const char *partitioner);
void plan_free (Plan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Plan, plan_free)

/* Saves @node, which is a tensor or a symbolic scalar; harmless when it is saved already. */
void plan_save (Plan *plan, guint node);
/* Saves what @cut cuts, in order, and keeps @cut (transfer full). */
void plan_take_cut (Plan *plan, Cut *cut);

/* Computes from the saved nodes: where each node is computed, saved sizes and random states,
 * copies, and the order of backward (partition/SPEC.md §4). */
gboolean plan_complete (Plan *plan, GError **error);
/* Makes the graphs; (transfer full). */
AdjPartition *plan_emit (Plan *plan, GError **error);

/* Records in @partition the decision on every node and the list of saved values. */
void plan_record (const Plan *plan, AdjPartition *partition);

/* -- the steps -- */

/* The nodes that compute outputs from given nodes (partition/SPEC.md §4.1). */
typedef struct
{
  const guint8 *given;    /* per node: whether its value is an input of this graph */
  const guint32 *outputs; /* NOBODY entries are skipped */
  guint n_outputs;
  gboolean backward;
} Extraction;

/* Sets @used of every node that is needed, given ones included.  ADJ_ERROR_UNSUPPORTED if an output
 * cannot be computed. */
gboolean
plan_extract (const Joint *joint, const Extraction *extraction, guint8 *used, GError **error);
/* Saves the symbols in the sizes of saved values and tangents. */
void plan_bind_symbols (Plan *plan);
/* Computes the order of backward (partition/SPEC.md §4.6). */
void plan_order_backward (Plan *plan);
/* Finds the saved values that need a copy. */
void plan_find_written (Plan *plan);
/* Bytes that stay allocated because @node is saved. */
guint64 plan_held_bytes (const Plan *plan, guint node);
/* Finds the random nodes that need their state (partition/SPEC.md §4.4). */
void plan_find_random (Plan *plan);

static inline guint32
plan_item (const GArray *array, guint index)
{
  return g_array_index (array, guint32, index);
}

G_END_DECLS
