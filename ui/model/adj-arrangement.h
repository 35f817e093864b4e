/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "layout/adj-layout.h"
#include "model/adj-task.h"

G_BEGIN_DECLS

/* What the cards of the canvas are tinted by. */
typedef enum
{
  ADJ_COLOR_BY_ROLE,
  ADJ_COLOR_BY_BYTES,
  ADJ_COLOR_BY_TIME,
  ADJ_COLOR_BY_ERROR,
  ADJ_N_COLORINGS,
} AdjColoring;

/* The labels of lines. */
typedef enum
{
  ADJ_LABEL_NOTHING,
  ADJ_LABEL_SHAPE,
  ADJ_LABEL_SIZE,
  ADJ_N_LABELINGS,
} AdjLabeling;

/* "role", "bytes" …; "nothing", "shape" …: the names in actions and saved views. */
const char *adj_coloring_name (AdjColoring coloring);
const char *adj_labeling_name (AdjLabeling labeling);
/* ADJ_N_COLORINGS, ADJ_N_LABELINGS for unknown names. */
AdjColoring adj_coloring_find (const char *name);
AdjLabeling adj_labeling_find (const char *name);

/* How the user arranged a picture: the state that undo and saved views keep, kept runs included. */
typedef struct
{
  AdjLayoutView view;
  AdjNodeId flow;      /* FLOW: the node whose ancestors and descendants are shown */
  GArray *flow_chosen; /* (owned) (nullable): of guint32: replaces @flow when there are several */
  GArray *chosen; /* (owned) (nullable): of guint32: two or more nodes that are selected together;
                     the last is the current one.  Never modified, only replaced */
  gboolean only_changed; /* other than in FLOW: only what the stage changed, with its inputs and
                            users; all if it changed nothing */
  guint fold_depth;      /* as of AdjLayoutOptions */
  GHashTable *folded, *unfolded; /* module paths */
  AdjColoring coloring;
  AdjLabeling labeling;
  GPtrArray *runs; /* (owned) (nullable): AdjRecordedCall of the kept runs, as for
                      adj_bundle_set_runs().  Never modified, only replaced */
} AdjArrangement;

AdjArrangement *adj_arrangement_new (void);
AdjArrangement *adj_arrangement_copy (const AdjArrangement *arrangement);
void adj_arrangement_free (AdjArrangement *arrangement);

/* @chosen: (nullable) */
void adj_arrangement_set_chosen (AdjArrangement *arrangement, GArray *chosen);

/* @depth: modules of this depth and deeper are closed; 0: all are open; ADJ_FOLD_BY_SIZE, the
 * initial value: the outermost modules of a large graph are closed. */
void adj_arrangement_set_fold_depth (AdjArrangement *arrangement, guint depth);
/* Toggles a module. @scene (nullable): gives its current state. */
void adj_arrangement_toggle (AdjArrangement *arrangement, const AdjScene *scene, const char *path);
/* Whether both give the same boxes and lines. */
gboolean adj_arrangement_same_layout (const AdjArrangement *a, const AdjArrangement *b);

/* What is laid out. */
typedef struct
{
  const AdjBundleGraph *graph;
  AdjGraph *before;  /* (nullable): the graph that it was made from */
  GPtrArray *stages; /* of AdjGraph: the stages that it may share a layout with */
  AdjBundle *bundle; /* (nullable): of @graph */
} AdjArrangementSubject;

/* Lays out @subject in another thread; the result is an AdjScene.  @tag is returned by
 * adj_arrangement_get_tag(). */
AdjTask *adj_arrangement_start (const AdjArrangement *arrangement,
                                const AdjArrangementSubject *subject,
                                AdjLayoutCache *cache,
                                GObject *owner,
                                guint tag,
                                GAsyncReadyCallback done);
guint adj_arrangement_get_tag (AdjTask *task);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjArrangement, adj_arrangement_free)

G_END_DECLS
