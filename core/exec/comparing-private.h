/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-comparison.h"
#include "exec/adj-spill.h"
#include "exec/written-private.h"

G_BEGIN_DECLS

/* A comparison under way. */
typedef struct
{
  const AdjComparisonRequest *request;
  AdjGraph *graph;
  AdjValue *candidate; /* (owned) result of every node; NONE when it has none */
  AdjValue *truth;     /* (owned) the same in float64 */
  AdjValue *peer;      /* (owned) what the peer has for every node; NONE: not known */
  AdjValue *noise;     /* (owned) (nullable): the same with every value moved; made when needed */
  AdjDType coarsest;   /* the floating type of the graph's values with the fewest bits */
  gboolean no_noise;   /* it cannot be made */
  AdjValue *filling;   /* which of them the run under way fills */
  AdjSpill *spill;     /* where both are kept */
  GError *full;        /* (owned) (nullable): why a value could not be kept */
  guint done, total;   /* nodes run so far in all runs */
  GCancellable *cancellable; /* (nullable) (unowned) */
  guint8 *verdicts;          /* AdjVerdict of each node */
  gboolean *alone;           /* of each node: nothing was there to lay it beside */
  gboolean *same;            /* of each node: the peer has the very same bits */
  gboolean *unset;           /* of each node: it holds memory that nobody wrote */
  AdjTensorData **returned;  /* (unowned): of each node, what the peer returned for it; %NULL: no */
  Written *written;          /* (owned): by the nodes before the one that is compared */
  GHashTable *items;         /* node → GArray of AdjVerdict, of those with several results */
} Comparing;

/* Whether the result of @node is memory of its first input, so that it computes nothing. */
gboolean comparing_is_alias (const Comparing *comparing, guint index);

/* The node that stands for result @item of node @index: itself, or the getitem that takes it out.
 */
AdjNodeId comparing_get_item (const Comparing *comparing, guint index, guint item);

/* Notes what the peer has for node @index, after those before: what is known, or a view of it. */
void comparing_note_peer (Comparing *comparing, guint index);

/* Runs the graph once and keeps the value of every node in @filling, which is one of the arrays of
 * @comparing.  @result: to be cleared. */
gboolean
comparing_run (Comparing *comparing, AdjValue *filling, AdjRunResult *result, GError **error);

/* What rounding does to result @item of node @index: an L2 norm, 0 where it cannot be told. */
double comparing_measure_noise (Comparing *comparing, guint index, guint item);

/* Notes what the peer returned, where nobody wrote to it after its node. */
void comparing_note_returned (Comparing *comparing);

/* (transfer none) (nullable): what the peer computed for node @id, or what is true for it. */
AdjTensorData *comparing_get_expected (const Comparing *comparing, AdjNodeId id, gboolean float64);

/* Both fill @comparison; %FALSE when cancelled, or when the outputs are not as many. */
gboolean comparing_compare_nodes (Comparing *comparing, AdjComparison *comparison, GError **error);
gboolean comparing_compare_outputs (Comparing *comparing,
                                    const AdjRunResult *result,
                                    AdjComparison *comparison,
                                    GError **error);
/* An output that differs by its distance from float64 alone is what its node is, when that was
 * judged and the peer returned what it has there. */
void comparing_settle_outputs (Comparing *comparing, AdjComparison *comparison);

G_END_DECLS
