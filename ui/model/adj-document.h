/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "model/adj-arrangement.h"
#include "model/adj-evaluation.h"
#include "model/adj-link.h"
#include "model/adj-opening.h"
#include "model/adj-saved-view.h"
#include "model/adj-stepping.h"
#include "scene/adj-palette.h"

G_BEGIN_DECLS

/* One opened file: its graphs, the picture of the current one, the selection and results of runs.
 * Long work happens in other threads; a new request cancels the older one of its kind.  All data
 * that it returns is sealed.
 *
 * Properties, all notified: "title", "bundle", "graph-index", "scene", "selected", "evaluation",
 * "error", "status" (of long work; with the fraction and whether something runs), "run-choice",
 * "history" (whether one can go back or forward changed), "arrangement", "lit", "chosen",
 * "problem", "unsaved", "runs" (the kept ones), "stepping" (position of a backward that runs event
 * by event), "snapshot" (memory snapshot of a GPU, compared with the planned memory).
 * Signals: "remark" (const char *text): a request was stopped or failed;
 * "saved" (gboolean written): saving ended; %FALSE where it was stopped or failed;
 * "exported" (GFile *file): the picture is written. */
#define ADJ_TYPE_DOCUMENT (adj_document_get_type ())
G_DECLARE_FINAL_TYPE (AdjDocument, adj_document, ADJ, DOCUMENT, GObject)

AdjDocument *adj_document_new (void);

/* -- opening -- */

/* A file or a folder; @graph_id (nullable): the graph to begin with. */
void adj_document_open (AdjDocument *self, GFile *file, const char *graph_id);
/* Opens the file of @link and goes to its place. */
void adj_document_open_link (AdjDocument *self, const AdjLink *link);
/* Goes to the place of @link in the open file. */
void adj_document_follow_link (AdjDocument *self, const AdjLink *link);
/* The view to restore when the next file is opened; it is dropped with another file.
 * @view: (transfer full) (nullable); @older: the file was written after it, so that the view in the
 * file takes precedence */
void adj_document_set_saved_view (AdjDocument *self, AdjSavedView *view, gboolean older);
/* The view to restore for the file that was opened.  (transfer full) (nullable): only once */
AdjSavedView *adj_document_steal_restored (AdjDocument *self);
/* Opens pasted text: graphs, a console, a log. */
void adj_document_open_text (AdjDocument *self, GBytes *text);
/* Opens the stages that passes make from the graph that @source shows.  @choice: (nullable) */
void adj_document_open_trace (AdjDocument *self, AdjDocument *source, const AdjTraceChoice *choice);
/* Opens the joint graph of @source, partitioned by @choice, and shows the pair. */
void adj_document_open_partition (AdjDocument *self,
                                  AdjDocument *source,
                                  const AdjPartitionChoice *choice);
/* Traces the shown graph in place: its stages replace the graphs.  Stages of an earlier trace are
 * made again by @choice, from the first one that differs.  A failure becomes the problem of the
 * graph. */
void adj_document_trace (AdjDocument *self, const AdjTraceChoice *choice);
/* The choice by which the stages were made.  (transfer none) (nullable): they come from a file */
const AdjTraceChoice *adj_document_get_trace (AdjDocument *self);
/* Whether the stages can be made again quickly, so that they need not be saved. */
gboolean adj_document_can_remake (AdjDocument *self);
GFile *adj_document_get_file (AdjDocument *self); /* (transfer none) (nullable): pasted text */
const char *adj_document_get_title (AdjDocument *self); /* base name; "" when nothing is open */
AdjBundle *adj_document_get_bundle (AdjDocument *self); /* (transfer none) (nullable) */
/* Its graphs, and pairs of them.  (transfer none) (nullable) */
AdjGraphSet *adj_document_get_graphs (AdjDocument *self);
/* The index of @graph (nullable) among them; G_MAXUINT: it is not one of them. */
guint adj_document_find_graph (AdjDocument *self, const AdjGraph *graph);
/* Why the last opening failed; %NULL when it did not. */
const GError *adj_document_get_error (AdjDocument *self);
/* Whether the document opens by itself as soon as a program writes a graph to the path that failed
 * to open; changes with the property "error". */
gboolean adj_document_is_waiting (AdjDocument *self);
/* The document that was traced, when the last opening failed because of one of its nodes.
 * (nullable) */
AdjDocument *adj_document_get_blamed (AdjDocument *self);
/* The failure of the last run or trace of a graph, if a node is to blame, or of a stage.
 * (transfer none) (nullable)
 * @graph: (out): index of its graph, as adj_document_get_graph_index()
 * @node: (out): the node to show; ADJ_NO_NODE: none is to blame */
const GError *adj_document_get_problem (AdjDocument *self, guint *graph, AdjNodeId *node);
void adj_document_forget_problem (AdjDocument *self);
/* Makes the failure of stage @stage of the recording the problem, and shows the node to blame. */
void adj_document_show_failure (AdjDocument *self, guint stage);
/* The stage whose failure is the current problem; -1: none. */
gint adj_document_get_failed_stage (AdjDocument *self);
/* Sets the memory snapshot that is compared with the planned memory of the shown graph; opening
 * another file removes it.
 * @path: (nullable) */
void adj_document_set_snapshot (AdjDocument *self, const char *path);
const char *adj_document_get_snapshot (AdjDocument *self); /* (transfer none) (nullable) */
GListStore *adj_document_get_log (AdjDocument *self);      /* (transfer none): of AdjLogItem */

/* -- the picture -- */

/* G_MAXUINT when there is none.  The graph that was requested last; graph and scene change when
 * its picture is ready. */
guint adj_document_get_graph_index (AdjDocument *self);
void adj_document_set_graph_index (AdjDocument *self, guint index);
/* Shows graph @index, and selects node @node (or ADJ_NO_NODE) when its picture is ready. */
void adj_document_show (AdjDocument *self, guint index, AdjNodeId node);
/* The same with several nodes; @nodes: of guint32, the current one last. */
void adj_document_show_nodes (AdjDocument *self, guint index, const GArray *nodes);
/* The graph that the scene shows. */
const AdjBundleGraph *adj_document_get_graph (AdjDocument *self); /* (nullable) */
/* The meaning of its nodes, if compiled autograd captured it.  (transfer none) (nullable) */
AdjCaptured *adj_document_get_captured (AdjDocument *self);
AdjScene *adj_document_get_scene (AdjDocument *self); /* (transfer none) (nullable) */
const AdjArrangement *adj_document_get_arrangement (AdjDocument *self);
/* FLOW follows the selected node. */
void adj_document_set_view (AdjDocument *self, AdjLayoutView view);
/* Whether only what the shown stage changed, its inputs and its users are shown; remains while
 * stepping. */
void adj_document_set_only_changed (AdjDocument *self, gboolean only);
void adj_document_toggle_module (AdjDocument *self, const char *path);
void adj_document_set_fold_depth (AdjDocument *self, guint depth); /* 0: all open */
void adj_document_set_coloring (AdjDocument *self, AdjColoring coloring);
void adj_document_set_labeling (AdjDocument *self, AdjLabeling labeling);
gboolean adj_document_can_undo (AdjDocument *self, gint step); /* -1: undo, 1: redo */
void adj_document_undo (AdjDocument *self, gint step);
/* Writes the shown picture to @path, in the format of its extension (.svg, .png or .pdf).  @part:
 * (nullable): only this rectangle */
void
adj_document_export (AdjDocument *self, const char *path, const AdjRect *part, AdjScheme scheme);

/* Writes a page of HTML about the shown graph and the results of its run to @path. */
void adj_document_report (AdjDocument *self, const char *path);

/* -- saving -- */

/* Writes graphs, calls and stages to @path, an .adjoint, with the state of the view (@view,
 * nullable); afterwards the document is that of the file.  Results of runs are written only if they
 * are kept. */
void adj_document_save (AdjDocument *self, const char *path, const AdjSavedView *view);
gboolean adj_document_is_saving (AdjDocument *self);
/* Whether something is in no file: graphs of a trace or partition, pasted text, or kept or removed
 * runs.  The state of the view does not count. */
gboolean adj_document_is_unsaved (AdjDocument *self);
/* Whether it was read from or saved to a file that can be overwritten. */
gboolean adj_document_has_own_file (AdjDocument *self);
/* Whether another program has written that file since. */
gboolean adj_document_is_changed_outside (AdjDocument *self);

/* -- selection -- */

AdjNodeId adj_document_get_selected (AdjDocument *self);
/* Selects only this node. */
void adj_document_set_selected (AdjDocument *self, AdjNodeId node);
/* Selects several nodes; the last is the current one.  Can be undone.  @nodes: of guint32 */
void adj_document_choose (AdjDocument *self, GArray *nodes);
/* Adds @node to the selection; with @toggle removes it when it is selected. */
void adj_document_choose_more (AdjDocument *self, AdjNodeId node, gboolean toggle);
/* (nullable) (transfer none): of guint32: two or more nodes; %NULL: at most one is selected */
GArray *adj_document_get_chosen (AdjDocument *self);
/* Selects the inputs of the selected nodes or, with @users, their users. Does nothing when there
 * are none. */
void adj_document_choose_neighbours (AdjDocument *self, gboolean users);
/* The names of the selected nodes, one per line.  (transfer full) (nullable) */
char *adj_document_list_names (AdjDocument *self);
/* Highlights nodes while nothing is selected: nodes alive at a step, search results. @nodes:
 * (nullable): of guint32 */
void adj_document_set_lit (AdjDocument *self, GArray *nodes);
GArray *adj_document_get_lit (AdjDocument *self);            /* (transfer none) (nullable) */
gboolean adj_document_can_go (AdjDocument *self, gint step); /* -1: back, 1: forward */
void adj_document_go (AdjDocument *self, gint step);

/* -- running -- */

/* The choice for the next run of the shown graph. Setting another one drops the results of the last
 * run. */
AdjRunChoice adj_document_get_run_choice (AdjDocument *self);
/* The choice as it was set; the shown graph may not support it. */
AdjRunChoice adj_document_get_wanted_choice (AdjDocument *self);
void adj_document_set_run_choice (AdjDocument *self, AdjRunChoice choice);
/* Runs the shown graph.  @compare: with the recorded results, or with those of the kept run whose
 * inputs are chosen. */
void adj_document_run (AdjDocument *self, gboolean compare);
/* Runs it and compares with the file of values of the run choice. */
void adj_document_run_against_values (AdjDocument *self);
/* Runs @other of @others on the same inputs, and compares with it. */
void adj_document_run_against (AdjDocument *self, AdjGraphSet *others, const AdjBundleGraph *other);
/* Keeps the last result of the shown graph as a run, replacing one of that name; saving the
 * document writes it.  @values: with the values of nodes.  Can be undone, like the removal. */
void adj_document_keep_run (AdjDocument *self, const char *name, gboolean values);
void adj_document_remove_run (AdjDocument *self, const char *name);
/* The stepping of the shown graph, if compiled autograd captured it.  (transfer none) (nullable) */
AdjStepping *adj_document_get_stepping (AdjDocument *self);
/* Runs the captured backward to its next event, or (@continues) to its next breakpoint or its end.
 */
void adj_document_step_backward (AdjDocument *self, gboolean continues);
/* Whether it runs or waits at an event. */
gboolean adj_document_is_stepping (AdjDocument *self);
/* Toggles the breakpoint of the step that the selected node belongs to. */
void adj_document_toggle_breakpoint (AdjDocument *self);
/* Cancels the running task, and a captured backward that is stepped. */
void adj_document_stop (AdjDocument *self);
gboolean adj_document_is_running (AdjDocument *self);
/* Whether any task is running. */
gboolean adj_document_is_busy (AdjDocument *self);
/* Whether a running layout takes long and one with closed modules would be quick:
 * adj_document_set_fold_depth() replaces it. */
gboolean adj_document_can_show_modules (AdjDocument *self);
/* The last result for the shown graph. (transfer none) (nullable) */
AdjEvaluation *adj_document_get_evaluation (AdjDocument *self); /* (transfer none) (nullable) */
/* The result of the last run of @graph, which need not be shown.  (transfer none) (nullable) */
AdjEvaluation *adj_document_find_evaluation (AdjDocument *self, const AdjGraph *graph);
const char *adj_document_get_status (AdjDocument *self); /* (nullable) */
double adj_document_get_fraction (AdjDocument *self);    /* -1: unknown */

G_END_DECLS
