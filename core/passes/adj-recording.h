/* SPDX-License-Identifier: MIT */
#pragma once

#include "passes/adj-pass.h"

G_BEGIN_DECLS

/* Everything that a pipeline made, stage by stage: what the command line reports, the window steps
 * through, a file keeps and the tests read.  Counted; stages are added by the one who makes it,
 * before he shares it, and nothing changes afterwards. */
typedef struct _AdjRecording AdjRecording;

typedef struct
{
  char *name;      /* what made it, a pass ("joint") or half of a partition ("forward"); of the
                      first: "dynamo", "program" */
  char *summary;   /* (nullable): one line */
  AdjGraph *graph; /* %NULL when the stage failed */
  gint from;       /* the stage whose graph the origins of its nodes refer to; -1: the source */
  guint n_notes;
  AdjPassNote *notes; /* ids of @from's graph before, of this graph after */
  guint n_steps;
  AdjPassStep *steps; /* its steps */
  gint64 ns;          /* time it took; -1: unknown */
  char *failure;      /* (nullable): why there is no graph */
  guint n_blamed;
  AdjNodeId *blamed; /* nodes of @from's graph to blame for it, the most relevant first */
} AdjStage;

ADJ_PUBLIC AdjRecording *adj_recording_new (void);                    /* (transfer full) */
ADJ_PUBLIC AdjRecording *adj_recording_ref (AdjRecording *recording); /* (transfer full) */
ADJ_PUBLIC void adj_recording_unref (AdjRecording *recording);        /* not %NULL */

/* Copies texts and notes, references the graph.  Returns its index. */
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
