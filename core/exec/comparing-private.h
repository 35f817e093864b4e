/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-comparison.h"
#include "exec/adj-spill.h"
#include "exec/alias-versions-private.h"
#include "exec/verdict-private.h"

G_BEGIN_DECLS

/* A comparison under way. */
typedef struct
{
  const AdjComparisonRequest *request;
  AdjGraph *graph;
  AdjValue *candidate; /* (owned) result of every node; NONE when it has none */
  AdjValue *truth;     /* (owned) the same in float64 */
  AdjValue *peer;      /* (owned) the peer's value of every node; NONE: unknown */
  AdjValue
      *perturbation; /* (owned) (nullable): the same with every value moved; made when needed */
  AdjDType coarsest; /* the floating type of the graph's values with the fewest bits */
  gboolean cannot_perturb;   /* it cannot be made */
  AdjValue *filling;         /* which of them the run under way fills */
  AdjSpill *spill;           /* where both are kept */
  GError *full;              /* (owned) (nullable): why a value could not be kept */
  guint done, total;         /* nodes run so far in all runs */
  GCancellable *cancellable; /* (nullable) (unowned) */
  guint8 *verdicts;          /* AdjVerdict of each node */
  gboolean *alone;           /* of each node: there was no value to compare it with */
  gboolean *same;            /* of each node: the peer has the very same bits */
  gboolean *unset;           /* of each node: it holds uninitialised memory */
  AdjTensorData **returned;  /* (unowned): of each node, what the peer returned for it; %NULL: no */
  AliasVersions *versions;   /* (owned): by the nodes before the one that is compared */
  GHashTable *drawn;         /* node that draws → what from: GBytes of an AdjDrawState */
  GHashTable *items;         /* node → GArray of AdjVerdict, of those with several results */
} Comparing;

/* Whether the result of node @index is memory of its first input, so that it computes nothing. */
gboolean comparing_is_alias (const Comparing *comparing, guint index);

/* The node that stands for result @item of node @index: itself, or the getitem that takes it out.
 */
AdjNodeId comparing_get_item (const Comparing *comparing, guint index, guint item);

/* Sets the peer's value of node @index, after those of earlier nodes: the known one, or a view of
 * one. */
void comparing_note_peer (Comparing *comparing, guint index);

/* Runs the graph once and keeps the value of every node in @filling, which is one of the arrays of
 * @comparing.  @result: to be cleared. */
gboolean
comparing_run (Comparing *comparing, AdjValue *filling, AdjRunResult *result, GError **error);

/* Sets what rounding does to result @item of node @index; %NULL both where that is unknown. */
void comparing_perturb (Comparing *comparing, guint index, guint item, Leaf *leaf);

/* Sets the peer's values of returned nodes, except of those written after their node. */
void comparing_note_returned (Comparing *comparing);

/* (transfer none) (nullable): the peer's value of node @id or, with @float64, its recorded truth.
 */
AdjTensorData *comparing_get_expected (const Comparing *comparing, AdjNodeId id, gboolean float64);

/* Skips @value of node @id where it differs because either side draws by other operators, and not
 * because one of them is wrong. */
void comparing_settle_draws (const Comparing *comparing, AdjNodeId id, AdjValueComparison *value);

/* Both fill @comparison; %FALSE when cancelled, or when the outputs are not as many. */
gboolean comparing_compare_nodes (Comparing *comparing, AdjComparison *comparison, GError **error);
gboolean comparing_compare_outputs (Comparing *comparing,
                                    const AdjRunResult *result,
                                    AdjComparison *comparison,
                                    GError **error);
/* Gives an output that differs only by its distance from float64 the verdict on its node, where
 * that was compared and the peer returned the same value. */
void comparing_settle_outputs (Comparing *comparing, AdjComparison *comparison);

G_END_DECLS
