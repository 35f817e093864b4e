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

/* One opened file: its graphs, the picture of the current one, what was selected and what came out
 * of running it.  Long work happens in other threads; a new request cancels the older one of its
 * kind.  Everything that it hands out is sealed data.
 *
 * Properties, all notified: "title", "bundle", "graph-index", "scene", "selected", "evaluation",
 * "error", "status" (of long work; with the fraction and whether something runs), "run-choice",
 * "history" (whether one can go back or forward changed), "arrangement", "lit", "chosen",
 * "problem", "unsaved", "runs" (those that are kept), "stepping" (where a backward waits that runs
 * event by event), "snapshot" (of the memory of a GPU, laid over what graphs hold).
 * Signals: "remark" (const char *text): what the user asked for was stopped or failed;
 * "saved" (gboolean written): saving ended; not @written where it was stopped or failed;
 * "exported" (GFile *file): the picture is written. */
#define ADJ_TYPE_DOCUMENT (adj_document_get_type ())
G_DECLARE_FINAL_TYPE (AdjDocument, adj_document, ADJ, DOCUMENT, GObject)

AdjDocument *adj_document_new (void);

/* -- opening -- */

/* A file or a folder; @graph_id (nullable): the graph to begin with. */
void adj_document_open (AdjDocument *self, GFile *file, const char *graph_id);
/* The same, going to where @link points. */
void adj_document_open_link (AdjDocument *self, const AdjLink *link);
/* Goes to the place of @link in the open file. */
void adj_document_follow_link (AdjDocument *self, const AdjLink *link);
/* The file that is opened next comes back as it was looked at last; ends with another.
 * @view: (transfer full) (nullable); @older: the file was written since, and what it says itself
 * comes first */
void adj_document_set_saved_view (AdjDocument *self, AdjSavedView *view, gboolean older);
/* How the file comes back that was opened.  (transfer full) (nullable): once */
AdjSavedView *adj_document_steal_restored (AdjDocument *self);
/* Opens pasted text: graphs, a console, a log. */
void adj_document_open_text (AdjDocument *self, GBytes *text);
/* The stages that passes make of the graph that @source shows.  @choice: (nullable) */
void adj_document_open_trace (AdjDocument *self, AdjDocument *source, const AdjTraceChoice *choice);
/* Its joint graph, taken apart like that; begins with the pair. */
void adj_document_open_partition (AdjDocument *self,
                                  AdjDocument *source,
                                  const AdjPartitionChoice *choice);
/* Traces the shown graph in place: its stages replace the graphs.  What is to be traced already is
 * traced anew as @choice says, from the first stage on that differs.  Its failure is a problem of
 * the graph. */
void adj_document_trace (AdjDocument *self, const AdjTraceChoice *choice);
/* How the stages were made here.  (transfer none) (nullable): they come from a file */
const AdjTraceChoice *adj_document_get_trace (AdjDocument *self);
/* Whether the stages can be made again in a moment, so that nothing is lost with them. */
gboolean adj_document_can_remake (AdjDocument *self);
GFile *adj_document_get_file (AdjDocument *self); /* (transfer none) (nullable): text has none */
const char *adj_document_get_title (AdjDocument *self); /* base name; "" when nothing is open */
AdjBundle *adj_document_get_bundle (AdjDocument *self); /* (transfer none) (nullable) */
/* Its graphs, and pairs of them.  (transfer none) (nullable) */
AdjGraphSet *adj_document_get_graphs (AdjDocument *self);
/* The place of @graph (nullable) among them; G_MAXUINT: it is none of them. */
guint adj_document_find_graph (AdjDocument *self, const AdjGraph *graph);
/* Why the last opening failed; %NULL when it did not. */
const GError *adj_document_get_error (AdjDocument *self);
/* Whether that which failed to open opens by itself once a program writes a graph to it; changes
 * with the property "error". */
gboolean adj_document_is_waiting (AdjDocument *self);
/* The document that was traced, when the last opening failed at a node of its.  (nullable) */
AdjDocument *adj_document_get_blamed (AdjDocument *self);
/* Why the last run or trace of a graph failed, when a node is to blame, or why a stage failed.
 * (transfer none) (nullable)
 * @graph: (out): its place, as of the shown one
 * @node: (out): the one to look at; ADJ_NO_NODE: none is to blame */
const GError *adj_document_get_problem (AdjDocument *self, guint *graph, AdjNodeId *node);
void adj_document_forget_problem (AdjDocument *self);
/* Makes the failure of stage @stage of the recording the problem, and goes to what it blames. */
void adj_document_show_failure (AdjDocument *self, guint stage);
/* The stage whose failure is the current problem; -1: none. */
gint adj_document_get_failed_stage (AdjDocument *self);
/* The file whose snapshot of memory is laid over what the shown graph holds; ends with another
 * file.
 * @path: (nullable) */
void adj_document_set_snapshot (AdjDocument *self, const char *path);
const char *adj_document_get_snapshot (AdjDocument *self); /* (transfer none) (nullable) */
GListStore *adj_document_get_log (AdjDocument *self);      /* (transfer none): of AdjLogItem */

/* -- the picture -- */

/* G_MAXUINT when there is none.  This is what was asked for last; @graph and @scene follow when
 * the picture is ready. */
guint adj_document_get_graph_index (AdjDocument *self);
void adj_document_set_graph_index (AdjDocument *self, guint index);
/* Graph @index, and in it node @node (or ADJ_NO_NODE) as soon as its picture is there. */
void adj_document_show (AdjDocument *self, guint index, AdjNodeId node);
/* The same of several; @nodes: of guint32, the one to look at last. */
void adj_document_show_nodes (AdjDocument *self, guint index, const GArray *nodes);
/* The graph that the scene shows. */
const AdjBundleGraph *adj_document_get_graph (AdjDocument *self); /* (nullable) */
/* What its nodes are when compiled autograd captured it.  (transfer none) (nullable) */
AdjCaptured *adj_document_get_captured (AdjDocument *self);
AdjScene *adj_document_get_scene (AdjDocument *self); /* (transfer none) (nullable) */
const AdjArrangement *adj_document_get_arrangement (AdjDocument *self);
/* FLOW follows the selected node. */
void adj_document_set_view (AdjDocument *self, AdjLayoutView view);
void adj_document_toggle_module (AdjDocument *self, const char *path);
void adj_document_set_fold_depth (AdjDocument *self, guint depth); /* 0: all open */
void adj_document_set_coloring (AdjDocument *self, AdjColoring coloring);
void adj_document_set_labeling (AdjDocument *self, AdjLabeling labeling);
gboolean adj_document_can_undo (AdjDocument *self, gint step); /* -1: undo, 1: redo */
void adj_document_undo (AdjDocument *self, gint step);
/* Writes the shown picture to @path, by extension as .svg, .png or .pdf.  @part: (nullable): that
 * rectangle of it */
void
adj_document_export (AdjDocument *self, const char *path, const AdjRect *part, AdjScheme scheme);

/* Writes a page of HTML about the shown graph and what came out of running it to @path. */
void adj_document_report (AdjDocument *self, const char *path);

/* -- saving -- */

/* Writes graphs, calls and stages to @path, an .adjoint, with how they are looked at (@view,
 * nullable), and is the document of that file then.  What runs computed is only written of those
 * that are kept. */
void adj_document_save (AdjDocument *self, const char *path, const AdjSavedView *view);
gboolean adj_document_is_saving (AdjDocument *self);
/* Whether there is something that no file has: graphs of a trace, a partition, what was pasted, or
 * runs that were kept or removed.  How they are looked at does not count. */
gboolean adj_document_is_unsaved (AdjDocument *self);
/* Whether it came from, or went to, a file that it can be written over. */
gboolean adj_document_has_own_file (AdjDocument *self);
/* Whether somebody else wrote that file since. */
gboolean adj_document_is_changed_outside (AdjDocument *self);

/* -- selection -- */

AdjNodeId adj_document_get_selected (AdjDocument *self);
/* This one alone. */
void adj_document_set_selected (AdjDocument *self, AdjNodeId node);
/* Several together; the last is the one that is looked at.  Can be undone.  @nodes: of guint32 */
void adj_document_choose (AdjDocument *self, GArray *nodes);
/* Adds @node to the selection; with @toggle removes it when it is selected. */
void adj_document_choose_more (AdjDocument *self, AdjNodeId node, gboolean toggle);
/* (nullable) (transfer none): of guint32: two or more; %NULL: one is selected or none */
GArray *adj_document_get_chosen (AdjDocument *self);
/* Selects what the selected nodes read; @users: what reads them. Does nothing when there is none.
 */
void adj_document_choose_neighbours (AdjDocument *self, gboolean users);
/* The names of what is selected, one a line.  (transfer full) (nullable) */
char *adj_document_list_names (AdjDocument *self);
/* Nodes that are to stand out while nothing is selected: those alive at a moment, those found.
 * @nodes: (nullable): of guint32 */
void adj_document_set_lit (AdjDocument *self, GArray *nodes);
GArray *adj_document_get_lit (AdjDocument *self);            /* (transfer none) (nullable) */
gboolean adj_document_can_go (AdjDocument *self, gint step); /* -1: back, 1: forward */
void adj_document_go (AdjDocument *self, gint step);

/* -- running -- */

/* The choice for the next run of the shown graph. Setting another one drops the results of the old
 * one. */
AdjRunChoice adj_document_get_run_choice (AdjDocument *self);
/* The choice that was made, which the shown graph may not support. */
AdjRunChoice adj_document_get_wanted_choice (AdjDocument *self);
void adj_document_set_run_choice (AdjDocument *self, AdjRunChoice choice);
/* Of the shown graph.  @compare: with what was recorded, or with the kept run whose inputs are
 * chosen. */
void adj_document_run (AdjDocument *self, gboolean compare);
/* Compares with the file of values that the choice names. */
void adj_document_run_against_values (AdjDocument *self);
/* Runs @other of @others on the same inputs, and compares. */
void adj_document_run_against (AdjDocument *self, AdjGraphSet *others, const AdjBundleGraph *other);
/* Keeps what came out last for the shown graph, in the place of a run of that name; saving the
 * document writes it.  @values: with the values of nodes.  Can be undone, as the removal can. */
void adj_document_keep_run (AdjDocument *self, const char *name, gboolean values);
void adj_document_remove_run (AdjDocument *self, const char *name);
/* Of the shown graph, when compiled autograd captured it.  (transfer none) (nullable) */
AdjStepping *adj_document_get_stepping (AdjDocument *self);
/* Runs that to its next event, or (@continues) to its next breakpoint or its end. */
void adj_document_step_backward (AdjDocument *self, gboolean continues);
/* Whether it runs, or waits. */
gboolean adj_document_is_stepping (AdjDocument *self);
/* Of the step that the selected node belongs to. */
void adj_document_toggle_breakpoint (AdjDocument *self);
/* Cancels the running task, and a backward that runs event by event. */
void adj_document_stop (AdjDocument *self);
gboolean adj_document_is_running (AdjDocument *self);
/* Whether anything is under way. */
gboolean adj_document_is_busy (AdjDocument *self);
/* A layout takes long, and one of closed modules would not: adj_document_set_fold_depth() stops it
 * for that. */
gboolean adj_document_can_show_modules (AdjDocument *self);
/* The last result for the shown graph. (transfer none) (nullable) */
AdjEvaluation *adj_document_get_evaluation (AdjDocument *self); /* (transfer none) (nullable) */
/* Of the last run of @graph, shown or not.  (transfer none) (nullable) */
AdjEvaluation *adj_document_find_evaluation (AdjDocument *self, const AdjGraph *graph);
const char *adj_document_get_status (AdjDocument *self); /* (nullable) */
double adj_document_get_fraction (AdjDocument *self);    /* -1: unknown */

G_END_DECLS
