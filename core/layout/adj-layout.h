/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-cancellable.h"
#include "layout/adj-captured.h"
#include "scene/adj-scene.h"

G_BEGIN_DECLS

/* Places of blocks that were laid out before, by structure; shared by threads.  Blocks found here
 * need no Graphviz run, so folding a module costs nothing but moving rows. */
typedef struct _AdjLayoutCache AdjLayoutCache;

/**
 * adj_layout_cache_new:
 * @folder: (nullable): where to keep results between sessions; %NULL: memory alone
 */
ADJ_PUBLIC AdjLayoutCache *adj_layout_cache_new (const char *folder);
ADJ_PUBLIC AdjLayoutCache *adj_layout_cache_ref (AdjLayoutCache *cache);
ADJ_PUBLIC void adj_layout_cache_unref (AdjLayoutCache *cache);

typedef enum
{
  ADJ_VIEW_MIRROR,  /* forward left, down; backward right, up; a gutter between them */
  ADJ_VIEW_STACKED, /* one column, top to bottom */
  ADJ_VIEW_FLOW,    /* the nodes of @only in one block */
  ADJ_VIEW_DOT,     /* plain Graphviz of everything: for small graphs */
} AdjLayoutView;

/* @done of @total different blocks are laid out; @n_equal blocks share them.  Called on the thread
 * that lays out. */
typedef void (*AdjLayoutProgress) (guint done, guint total, guint n_equal, gpointer data);

/* As fold_depth: 1 of a graph of more than ADJ_MANY_NODES nodes, else 0. */
#define ADJ_FOLD_BY_SIZE G_MAXUINT
#define ADJ_MANY_NODES 1500

typedef struct
{
  AdjLayoutView view;
  gboolean undecided; /* a joint graph that is not partitioned: which values are saved for backward
                         is not decided yet */
  gboolean keep_aliases; /* show views and getitems as nodes of their own */
  guint fold_depth;      /* close modules nested this deep (outermost: 1), and stack equal ones that
                            follow each other; 0: none; ADJ_FOLD_BY_SIZE */
  const char *const *folded;   /* (nullable): module paths that are closed */
  const char *const *unfolded; /* (nullable): open in spite of @fold_depth */
  const GArray *only;          /* (nullable): of guint32, the nodes that are shown */
  AdjCaptured *captured;       /* (nullable): the meaning of a captured backward's nodes */
  AdjGraph *const *stages; /* MIRROR, (nullable): stages that @graph is one of; cards that similar
                              neighbouring stages have in common stand at the same place */
  guint n_stages;
  gint64 budget;              /* DOT: microseconds that Graphviz may take; 0: 10 s */
  AdjLayoutProgress progress; /* (nullable) */
  gpointer progress_data;
} AdjLayoutOptions;

/**
 * adj_flow_collect:
 * @max: at most so many nodes, the nearest
 *
 * The ancestors and descendants of @node, by distance.
 *
 * Returns: (transfer full): of guint32, in order of execution
 */
ADJ_PUBLIC GArray *adj_flow_collect (const AdjGraph *graph, AdjNodeId node, guint max);

/**
 * adj_layout_mirror:
 * @graph: any graph; without backward nodes it becomes one column
 * @options: (nullable)
 * @cache: (nullable)
 *
 * The mirror, whose equal blocks share one template, or another view.  Works without the helper
 * program, with plainer blocks; DOT alone needs it, and fails with ADJ_ERROR_LIMIT when its time is
 * over.
 *
 * Returns: (transfer full) (nullable): %NULL with G_IO_ERROR_CANCELLED or ADJ_ERROR_LIMIT
 */
ADJ_PUBLIC AdjScene *adj_layout_mirror (AdjGraph *graph,
                                        const AdjLayoutOptions *options,
                                        AdjLayoutCache *cache,
                                        GCancellable *cancellable,
                                        GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjLayoutCache, adj_layout_cache_unref)

G_END_DECLS
