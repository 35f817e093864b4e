/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "layout/adj-captured.h"
#include "scene/adj-scene.h"

G_BEGIN_DECLS

/* The steps of a captured backward: their order, its sizes, and how long it holds its inputs.
 * Immutable, of one graph. */

/* An autograd node, or a hook or an accumulation. */
typedef struct
{
  char *title;
  AdjNodeId node;
  AdjRole role;
  guint before;   /* position in the other order */
  gboolean moved; /* in the smallest set of steps whose moves explain the difference */
} AdjBackwardStep;

/* An item of `sizes` or `scalars`, or a symbol that occurs only in tensors of `inputs`. */
typedef struct
{
  AdjNodeId node;
  char *symbol; /* "s4" */
  char *first;  /* (nullable): value in the earlier capture */
  char *now;    /* (nullable) */
  char *owner;  /* (nullable): "MulBackward0 (NodeCall 2)"; for a symbol of tensors, that of the
                   first */
} AdjBackwardSize;

/* An item of `inputs`. */
typedef struct
{
  AdjNodeId node;
  AdjNodeId last; /* the last node that reads it */
  AdjCapturedFrom from;
  gint64 bytes;
  gboolean stolen; /* the run is its only owner, and frees it after its last use */
} AdjBackwardLife;

typedef struct
{
  AdjCaptured *captured;  /* (owned) */
  gboolean has_unordered; /* the other order is that before reordering; else that of autograd's
                             visits */
  gboolean is_before;     /* this graph is the one before reordering */
  GArray *steps;          /* of AdjBackwardStep, in the order of the graph */
  guint n_moved;
  GArray *sizes;   /* of AdjBackwardSize */
  GArray *lives;   /* of AdjBackwardLife, those freed first come first */
  guint first, n;  /* nodes that run: from @first to before @n */
  guint64 *held;   /* bytes of gradients and saved tensors at each node, until @n */
  guint n_unknown; /* inputs of unknown size, counted as 0 bytes */
  guint peak;
} AdjBackward;

/* (transfer full): @bundle: of @captured (nullable) */
AdjBackward *adj_backward_new (AdjCaptured *captured, AdjBundle *bundle);
void adj_backward_free (AdjBackward *backward);

/* (transfer full): the steps in the other order: of guint, indices in the member `steps` */
guint *adj_backward_list_before (const AdjBackward *backward);
/* (transfer full): the reason for the capture, in words that need no knowledge of PyTorch. */
char *adj_backward_explain (const AdjBackward *backward, guint reason);
/* Whether @reason is a size that changed. */
gboolean adj_backward_reason_is_size (const AdjBackward *backward, guint reason);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjBackward, adj_backward_free)

G_END_DECLS
