/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "layout/adj-captured.h"
#include "scene/adj-scene.h"

G_BEGIN_DECLS

/* The steps of a captured backward: their order, its sizes, and how long it holds its inputs.
 * Immutable, of one graph. */

/* A node of autograd, or a hook or an accumulation of it. */
typedef struct
{
  char *title;
  AdjNodeId node;
  AdjRole role;
  guint before;   /* its place in the other order */
  gboolean moved; /* of as few as possible whose places say that the orders differ */
} AdjBackwardStep;

/* An item of `sizes` or `scalars`, or a symbol of the tensors of `inputs` alone. */
typedef struct
{
  AdjNodeId node;
  char *symbol; /* "s4" */
  char *first;  /* (nullable): its value when the backward was captured before */
  char *now;    /* (nullable) */
  char *owner;  /* (nullable): "MulBackward0 (NodeCall 2)"; of a tensor, the first that has it */
} AdjBackwardSize;

/* An item of `inputs`. */
typedef struct
{
  AdjNodeId node;
  AdjNodeId last; /* that reads it last */
  AdjCapturedFrom from;
  gint64 bytes;
  gboolean stolen; /* the run owns it alone, and lets it go with its last use */
} AdjBackwardLife;

typedef struct
{
  AdjCaptured *captured;  /* (owned) */
  gboolean has_unordered; /* the other order is that before nodes were moved; else that of visits */
  gboolean is_before;     /* … and this graph is the one before */
  GArray *steps;          /* of AdjBackwardStep, in the order of the graph */
  guint n_moved;
  GArray *sizes;   /* of AdjBackwardSize */
  GArray *lives;   /* of AdjBackwardLife, those that are let go first first */
  guint first, n;  /* nodes that run: from @first up to @n */
  guint64 *held;   /* bytes of gradients and saved tensors at each node, until @n */
  guint n_unknown; /* inputs of unknown size, counted as 0 bytes */
  guint peak;
} AdjBackward;

/* (transfer full): @bundle: of @captured (nullable) */
AdjBackward *adj_backward_new (AdjCaptured *captured, AdjBundle *bundle);
void adj_backward_free (AdjBackward *backward);

/* The steps as they stand in the other order.  (transfer full): of guint, places in @steps */
guint *adj_backward_list_before (const AdjBackward *backward);
/* Why it was captured, in words that need no knowledge of PyTorch.  (transfer full) */
char *adj_backward_explain (const AdjBackward *backward, guint reason);
/* Whether that is a size that changed. */
gboolean adj_backward_reason_is_size (const AdjBackward *backward, guint reason);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjBackward, adj_backward_free)

G_END_DECLS
