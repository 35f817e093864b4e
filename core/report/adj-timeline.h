/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "formats/adj-memory-snapshot.h"
#include "ir/adj-value.h"

G_BEGIN_DECLS

#define ADJ_TIMELINE_GROUPS 8 /* modules shown apart; the last group has the rest */

/* What a graph holds at every step of its execution, by liveness: each storage from its node to the
 * last reader of it or of a view on it.  Immutable, of one graph. */
typedef struct
{
  AdjNodeId node;
  guint first; /* step that allocates it; inputs exist from the beginning */
  guint last;  /* step of the last reader */
  gint64 bytes;
  gint64 weight; /* bytes × steps that it is live */
  guint group;
  gint64 saved; /* bytes of it that backward reads of forward (layout/adj-saved-values.h) */
} AdjHeld;

typedef struct
{
  AdjGraph *graph; /* (owned) */
  guint n_steps;
  guint64 *live; /* of each step */
  guint peak;    /* the step with the most live bytes */
  guint turn;    /* the first step of backward; n_steps: there is none */
  guint n_groups;
  char *groups[ADJ_TIMELINE_GROUPS];    /* names: modules, then "other" */
  guint64 *stacks[ADJ_TIMELINE_GROUPS]; /* of each group at each step */
  GArray *held;                         /* of AdjHeld, heaviest first */
} AdjTimeline;

AdjTimeline *adj_timeline_new (AdjGraph *graph);
/* The same as measured by the allocator of a GPU in one run of @graph: allocations of its nodes,
 * not grouped, and the maximum in use at each step; inputs are counted by their annotations.
 * (transfer full) (nullable): %NULL with ADJ_ERROR_NOT_FOUND where @snapshot has no run of @graph
 */
AdjTimeline *
adj_timeline_new_measured (AdjGraph *graph, const AdjMemorySnapshot *snapshot, GError **error);
void adj_timeline_free (AdjTimeline *memory);

/* Whether the storage of @held is held at @step. */
gboolean adj_held_is_live (const AdjHeld *held, guint step);
/* Why the memory of @held, of a node of @graph, is held: "input", "saved for backward", "output",
 * "until mul_3".  (transfer full) */
char *adj_held_get_reason (const AdjHeld *held, const AdjGraph *graph);
/* The nodes that are alive at @step.  (transfer full): of guint32 */
GArray *adj_timeline_get_live (const AdjTimeline *memory, guint step);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjTimeline, adj_timeline_free)

/* One line of the ledger. */
#define ADJ_TYPE_HELD_ITEM (adj_held_item_get_type ())
G_DECLARE_FINAL_TYPE (AdjHeldItem, adj_held_item, ADJ, HELD_ITEM, GObject)

const AdjHeld *adj_held_item_get (AdjHeldItem *self);
AdjGraph *adj_held_item_get_graph (AdjHeldItem *self);
#define ADJ_TIMELINE_LEDGER 500 /* lines at most */

/* What is alive at @step, the largest first; @step G_MAXUINT: all, the heaviest by bytes × steps
 * first.  (transfer full): of AdjHeldItem */
GListModel *adj_timeline_make_ledger (const AdjTimeline *memory, guint step);

G_END_DECLS
