/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "model/adj-document.h"
#include "model/adj-history.h"
#include "model/adj-task-list.h"
#include "model/adj-undo.h"

G_BEGIN_DECLS

struct _AdjDocument
{
  GObject parent_instance;

  GFile *file;
  char *title;
  AdjGraphSet *graphs;
  GError *error;
  GListStore *log;
  char *wanted_graph;      /* (nullable): id to begin with */
  char *wanted_name;       /* (nullable): of a node in it */
  guint wanted_stage;      /* from 1: the graph to begin with where no id was given; 0: none */
  AdjSavedView *saved;     /* (nullable): for what is being opened */
  gboolean saved_is_older; /* than the file, which may say better */
  AdjSavedView *restored;  /* (nullable): what was opened comes back so */
  char *etag;              /* (nullable): of the file when it was read or written */
  gboolean unsaved;        /* no file has these graphs */
  GPtrArray *saved_runs;   /* (owned) (nullable): the runs that the file keeps */
  GPtrArray *written_runs; /* (owned) (nullable): those that are being written to it */

  guint graph_index;
  const AdjBundleGraph *graph; /* (unowned): of @graphs */
  AdjCaptured *captured;       /* (owned) (nullable): what is known of it, once somebody asks */
  AdjScene *scene;
  AdjArrangement *arrangement;
  AdjUndo undo;
  AdjLayoutCache *layouts;

  AdjNodeId selected;
  GArray *wanted; /* (nullable): of guint32: to select when the picture of another graph is ready */
  AdjHistory history;
  GArray *lit; /* (nullable): of guint32 */

  GError *problem; /* (nullable): of the last run or trace, or why a stage failed */
  guint problem_graph;
  GArray *problem_nodes;  /* of guint32: that it blames, the one to look at last */
  gint failed_stage;      /* -1: it is none of a stage */
  AdjDocument *source;    /* (weak) (nullable): whose graph was traced */
  AdjGraph *source_graph; /* (owned) (nullable) */
  gboolean blames_source; /* the error of opening is a problem of @source */

  AdjGraphSet *traced_from;         /* (owned) (nullable): the stages begin with a graph of it: */
  const AdjBundleGraph *traced;     /* that one */
  AdjTraceChoice trace_choice;      /* as it was traced */
  AdjTraceChoice next_trace_choice; /* as it is being traced again */
  gint64 trace_age;                 /* microseconds that it took */
  AdjGraphSet *shown_from;          /* (owned) (nullable): that @graph is of while it is replaced */

  AdjRunChoice run_choice; /* what was asked for; graphs may not have it */
  GHashTable *evaluations; /* AdjGraph → AdjEvaluation */
  AdjStepping *stepping;   /* (owned) (nullable): of @captured, once somebody asks */
  char *snapshot;          /* (owned) (nullable) */
  AdjFollower *follower;   /* (owned) (nullable): of a log that may still be written */
  AdjTask *growing;        /* (owned) (nullable): while it is looked at again */
  AdjGraphSet *grown;      /* (owned) (nullable): what it became, until that can be shown */
  guint look_again;        /* a source */
  AdjTaskList tasks;
};

enum
{
  PROP_TITLE = 1,
  PROP_BUNDLE,
  PROP_GRAPH_INDEX,
  PROP_SCENE,
  PROP_SELECTED,
  PROP_EVALUATION,
  PROP_ERROR,
  PROP_STATUS,
  PROP_RUN_CHOICE,
  PROP_HISTORY,
  PROP_ARRANGEMENT,
  PROP_LIT,
  PROP_CHOSEN,
  PROP_PROBLEM,
  PROP_UNSAVED,
  PROP_RUNS,
  PROP_STEPPING,
  PROP_SNAPSHOT,
  N_PROPS
};

/* Notifies. */
void adj_document_changed (AdjDocument *self, guint property);
/* Emits "remark", "saved" and "exported". */
void adj_document_remark (AdjDocument *self, const char *text);
void adj_document_announce_save (AdjDocument *self, gboolean written);
void adj_document_announce_export (AdjDocument *self, GFile *file);
/* To the log, and as a remark. */
void adj_document_report_problem (AdjDocument *self, const GError *error);

/* Drops everything of the old file.  @title: (transfer full): of the new one */
void adj_document_reset (AdjDocument *self, GFile *file, char *title, const char *graph_id);
/* Shows what was opened, or why it was not. */
void adj_document_on_loaded (GObject *source, GAsyncResult *result, gpointer data);

/* document-following.c: what @opening has opened is shown as it grows, until another file is; a log
 * without a graph, once there is one. */
void adj_document_follow (AdjDocument *self, AdjTask *opening);
void adj_document_stop_following (AdjDocument *self);

/* document-tracing.c */
void adj_document_forget_trace (AdjDocument *self);

/* document-saving.c */
/* What the document has now is, or is not, in its file. */
void adj_document_set_unsaved (AdjDocument *self, gboolean unsaved);

/* document-runs.c */
/* Takes over those that the file of the document keeps. */
void adj_document_take_runs (AdjDocument *self);
/* What is kept is what the arrangement says now. */
void adj_document_follow_runs (AdjDocument *self);

/* document-stepping.c: what waits is stopped. */
void adj_document_forget_stepping (AdjDocument *self);

/* document-problems.c */
/* Makes @error the problem and goes to the node of @graph that it blames; %FALSE: it blames none.
 */
gboolean adj_document_blame (AdjDocument *self, const AdjGraph *graph, const GError *error);
/* What is opened comes from @graph of @source, which errors may blame. */
void adj_document_set_source (AdjDocument *self, AdjDocument *source, AdjGraph *graph);
void adj_document_forget_source (AdjDocument *self);
void adj_document_blame_source (AdjDocument *self);
/* Of what was opened: every stage that failed is in the log, and the last one is the problem. */
void adj_document_blame_stages (AdjDocument *self);

/* document-visits.c: what is selected becomes what @before had not. */
void adj_document_follow_chosen (AdjDocument *self, const AdjArrangement *before);
/* @nodes: (transfer full) (nullable): to select with the next picture */
void adj_document_want (AdjDocument *self, GArray *nodes);
void adj_document_take_wanted (AdjDocument *self);

/* document-picture.c */
/* A copy of the arrangement to be changed; what is can be undone to. */
AdjArrangement *adj_document_begin_change (AdjDocument *self);
/* Takes over @next (transfer full), laying out where that shows. */
void adj_document_arrange (AdjDocument *self, AdjArrangement *next);
void adj_document_request_layout (AdjDocument *self);
/* Folds and flows are of one graph; how it looks stays. */
void adj_document_forget_folds (AdjDocument *self);

G_END_DECLS
