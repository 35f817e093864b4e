/* SPDX-License-Identifier: MIT */
#pragma once

#include "passes/adj-pass.h"

G_BEGIN_DECLS

/* All graphs of a pipeline, stage by stage, for the command line, the window, files and tests.
 * Counted; only its creator adds stages, before sharing it; then it is immutable. */
typedef struct _AdjRecording AdjRecording;

typedef struct
{
  char *name; /* the pass ("joint") or half of a partition ("forward") that made it; of the first:
                 "dynamo", "program" */
  char *summary;   /* (nullable): one line */
  AdjGraph *graph; /* %NULL when the stage failed */
  gint from;       /* index of the stage to whose graph the nodes' origins refer; -1: the source */
  guint n_notes;
  AdjPassNote *notes; /* ids of @from's graph before, of this graph after */
  guint n_steps;
  AdjPassStep *steps; /* its steps */
  gint64 ns;          /* duration; -1: unknown */
  char *failure;      /* (nullable): why there is no graph */
  guint n_blamed;
  AdjNodeId *blamed; /* nodes of @from's graph that @failure blames, the most relevant first */
} AdjStage;

ADJ_PUBLIC AdjRecording *adj_recording_new (void);                    /* (transfer full) */
ADJ_PUBLIC AdjRecording *adj_recording_ref (AdjRecording *recording); /* (transfer full) */
ADJ_PUBLIC void adj_recording_unref (AdjRecording *recording);        /* not %NULL */

/* Copies texts and notes and takes a reference on the graph.  Returns its index. */
ADJ_PUBLIC guint adj_recording_add (AdjRecording *recording, const AdjStage *stage);

/* In order; valid as long as @recording. */
ADJ_PUBLIC guint adj_recording_get_n_stages (const AdjRecording *recording);
ADJ_PUBLIC const AdjStage *adj_recording_get_stage (const AdjRecording *recording, guint index);
/* The last stage of that name; -1: none. */
ADJ_PUBLIC gint adj_recording_find (const AdjRecording *recording, const char *name);

/* Follows origins from node @id of stage @stage to stage @ancestor. ADJ_NO_NODE: the node was added
 * in between, or @ancestor is no ancestor. */
ADJ_PUBLIC AdjNodeId adj_recording_trace_origin (const AdjRecording *recording,
                                                 guint stage,
                                                 AdjNodeId id,
                                                 guint ancestor);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjRecording, adj_recording_unref)

G_END_DECLS
