/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

#include "canvas/adj-camera.h"
#include "canvas/adj-heat.h"
#include "canvas/adj-marks.h"
#include "scene/adj-palette.h"
#include "widgets/context-menu.h"

G_BEGIN_DECLS

/* The canvas: paints a scene, and lets the user move, zoom and select in it.
 *
 * Signals: "node-activated" (Enter or double click on a node), "module-toggled" (const char *path),
 * "camera-changed"; "node-added" (guint node, gboolean toggle) and "nodes-chosen" (GArray *of
 * guint32): the user extends or replaces the selection; "hovered": the item under the pointer
 * changed.
 * Properties: "selected" (node index, G_MAXUINT for none), "role" (AdjRole that is lit). */
#define ADJ_TYPE_GRAPH_VIEW (adj_graph_view_get_type ())
G_DECLARE_FINAL_TYPE (AdjGraphView, adj_graph_view, ADJ, GRAPH_VIEW, GtkWidget)

GtkWidget *adj_graph_view_new (void);

/* Shows another picture.  The camera stays for another picture of the same graph, else the picture
 * is fitted.  Both may be %NULL. */
void adj_graph_view_set_scene (AdjGraphView *self, AdjScene *scene, AdjGraph *graph);
AdjScene *adj_graph_view_get_scene (AdjGraphView *self); /* (transfer none) (nullable) */

/* Announces that the next scene is another stage: common boxes stay in place, removed ones fade.
 * @origins: (nullable): per node of its graph the node of the shown graph that is its origin, or
 * G_MAXUINT32; of guint32; %NULL: nodes are matched by name. */
void adj_graph_view_step_next (AdjGraphView *self, GArray *origins);
AdjGraph *adj_graph_view_get_graph (AdjGraphView *self); /* (transfer none) (nullable) */

void adj_graph_view_set_selected (AdjGraphView *self, AdjNodeId node);
AdjNodeId adj_graph_view_get_selected (AdjGraphView *self);
/* Nodes that are selected together with it.  @nodes: (nullable): of guint32 */
void adj_graph_view_set_chosen (AdjGraphView *self, GArray *nodes);
/* Highlights the boxes of one role and dims the others; ADJ_ROLE_NONE: no highlight. */
void adj_graph_view_set_role (AdjGraphView *self, AdjRole role);
AdjRole adj_graph_view_get_role (AdjGraphView *self);
/* Highlights these nodes and dims the others, with precedence over the selection.  @nodes:
 * (nullable): of guint32 */
void adj_graph_view_set_lit (AdjGraphView *self, GArray *nodes);
GArray *adj_graph_view_get_lit (AdjGraphView *self); /* (transfer none) (nullable) */
/* (transfer full) (nullable): for the shown scene; dropped with it. */
void adj_graph_view_set_marks (AdjGraphView *self, AdjMarks *marks);
/* The change of each node by the stage, an AdjChangeKind each, shown as discs on cards.  @changes:
 * (nullable) */
void adj_graph_view_set_changes (AdjGraphView *self, GBytes *changes);
/* (transfer full) (nullable): tints the boxes of the shown scene; dropped with it. */
void adj_graph_view_set_heat (AdjGraphView *self, AdjHeat *heat);
AdjHeat *adj_graph_view_get_heat (AdjGraphView *self); /* (transfer none) (nullable) */
/* The labels of lines. */
void adj_graph_view_set_labeling (AdjGraphView *self, AdjLabeling labeling);

/* Registers a widget over the canvas, or a popover that may be: revealed nodes are kept clear of it
 * while it is visible. */
void adj_graph_view_add_cover (AdjGraphView *self, GtkWidget *cover);
/* To be called when a cover moves: a selected node under it is moved out when it is allocated. */
void adj_graph_view_uncover_soon (AdjGraphView *self);
/* Moves the camera only when the node is not well in view. */
void adj_graph_view_reveal (AdjGraphView *self, AdjNodeId node);
/* The visible rectangle of the scene, or the one around the selection; %FALSE: it is empty. */
gboolean adj_graph_view_get_visible (AdjGraphView *self, AdjRect *rect);
gboolean adj_graph_view_get_around_selected (AdjGraphView *self, AdjRect *rect);
void adj_graph_view_fit (AdjGraphView *self);
/* Fits the next scene, even if it is of the same graph; with @selected shows the selection at a
 * readable size. */
void adj_graph_view_fit_next (AdjGraphView *self, gboolean selected);
/* Whether the whole scene is visible. */
gboolean adj_graph_view_shows_all (AdjGraphView *self);
/* Keeps the middle in place when all modules open or close. */
void adj_graph_view_keep_middle (AdjGraphView *self);
void adj_graph_view_fit_selection (AdjGraphView *self);
void adj_graph_view_zoom_by (AdjGraphView *self, float factor);
void adj_graph_view_zoom_to (AdjGraphView *self, float zoom);
AdjCamera adj_graph_view_get_camera (AdjGraphView *self);
/* Sets the camera without animation. */
void adj_graph_view_set_camera (AdjGraphView *self, const AdjCamera *camera);
/* Restores a camera that was kept, maybe from a canvas of another size: where it shows nothing in
 * this one, the picture is shown around the selection. */
void adj_graph_view_restore_camera (AdjGraphView *self, const AdjCamera *camera);
/* Number of nodes that are at least partly visible. */
guint adj_graph_view_count_visible (AdjGraphView *self);

/* A keyboard command of the canvas. */
typedef struct
{
  const char *action; /* (nullable): of the widget: "canvas.counterpart" */
  const char *title;
  const char *keys; /* in the format of shortcuts in a GtkShortcutsShortcut */
  AdjMenu menus;    /* context menus that contain it */
} AdjCanvasCommand;

const AdjCanvasCommand *adj_graph_view_get_command (guint index); /* (nullable): past the last */
/* The actions of these commands, "counterpart" for "canvas.counterpart", for menus outside of the
 * canvas. */
GActionGroup *adj_graph_view_get_actions (AdjGraphView *self); /* (transfer none) */
/* Opens or closes a module, which stays in place. */
void adj_graph_view_toggle_module (AdjGraphView *self, const char *path);

/* The colours that fit the style of the desktop. */
AdjScheme adj_scheme_from_style (void);

G_END_DECLS
