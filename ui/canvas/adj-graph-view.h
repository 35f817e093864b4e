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
 * guint32): the user wants them selected too, or together; "hovered": the pointer is on something
 * else.
 * Properties: "selected" (node index, G_MAXUINT for none), "role" (AdjRole that is lit). */
#define ADJ_TYPE_GRAPH_VIEW (adj_graph_view_get_type ())
G_DECLARE_FINAL_TYPE (AdjGraphView, adj_graph_view, ADJ, GRAPH_VIEW, GtkWidget)

GtkWidget *adj_graph_view_new (void);

/* Shows another picture.  The camera stays for another picture of the same graph, else everything
 * is fitted.  Both may be %NULL. */
void adj_graph_view_set_scene (AdjGraphView *self, AdjScene *scene, AdjGraph *graph);
AdjScene *adj_graph_view_get_scene (AdjGraphView *self); /* (transfer none) (nullable) */

/* The next scene is of another stage of what is shown: what is in both stays where it is, what went
 * fades.  @origins: (nullable): of each node of its graph the one of the shown graph that it was,
 * or G_MAXUINT32; of guint32; %NULL: names tell. */
void adj_graph_view_step_next (AdjGraphView *self, GArray *origins);
AdjGraph *adj_graph_view_get_graph (AdjGraphView *self); /* (transfer none) (nullable) */

void adj_graph_view_set_selected (AdjGraphView *self, AdjNodeId node);
AdjNodeId adj_graph_view_get_selected (AdjGraphView *self);
/* Several that are selected together with it.  @nodes: (nullable): of guint32 */
void adj_graph_view_set_chosen (AdjGraphView *self, GArray *nodes);
/* Lights the boxes of one role and dims the others; ADJ_ROLE_NONE: all alike. */
void adj_graph_view_set_role (AdjGraphView *self, AdjRole role);
AdjRole adj_graph_view_get_role (AdjGraphView *self);
/* Lights these nodes and dims the others, before what is selected.  @nodes: (nullable): of guint32
 */
void adj_graph_view_set_lit (AdjGraphView *self, GArray *nodes);
GArray *adj_graph_view_get_lit (AdjGraphView *self); /* (transfer none) (nullable) */
/* (transfer full) (nullable): of the shown scene; gone with it. */
void adj_graph_view_set_marks (AdjGraphView *self, AdjMarks *marks);
/* What the stage did to each node of the graph, an AdjChangeKind each: discs on cards.  @changes:
 * (nullable) */
void adj_graph_view_set_changes (AdjGraphView *self, GBytes *changes);
/* (transfer full) (nullable): tints the boxes of the shown scene; gone with it. */
void adj_graph_view_set_heat (AdjGraphView *self, AdjHeat *heat);
AdjHeat *adj_graph_view_get_heat (AdjGraphView *self); /* (transfer none) (nullable) */
/* The labels of lines. */
void adj_graph_view_set_labeling (AdjGraphView *self, AdjLabeling labeling);

/* A widget that lies over the canvas, or a popover that may: what is revealed does not end under it
 * while it is shown. */
void adj_graph_view_add_cover (AdjGraphView *self, GtkWidget *cover);
/* A cover moves: what is selected comes out from under it when it has its place. */
void adj_graph_view_uncover_soon (AdjGraphView *self);
/* Moves only when the node is not well in view. */
void adj_graph_view_reveal (AdjGraphView *self, AdjNodeId node);
/* The rectangle of the scene that is in view, or around what is selected; %FALSE: it is empty. */
gboolean adj_graph_view_get_visible (AdjGraphView *self, AdjRect *rect);
gboolean adj_graph_view_get_around_selected (AdjGraphView *self, AdjRect *rect);
void adj_graph_view_fit (AdjGraphView *self);
/* Fits the next scene, also when it is of the same graph; with @selected shows what is selected at
 * a size that can be read. */
void adj_graph_view_fit_next (AdjGraphView *self, gboolean selected);
/* Whether nothing of the scene is out of view. */
gboolean adj_graph_view_shows_all (AdjGraphView *self);
/* What is in the middle stays there when all modules open or close. */
void adj_graph_view_keep_middle (AdjGraphView *self);
void adj_graph_view_fit_selection (AdjGraphView *self);
void adj_graph_view_zoom_by (AdjGraphView *self, float factor);
void adj_graph_view_zoom_to (AdjGraphView *self, float zoom);
AdjCamera adj_graph_view_get_camera (AdjGraphView *self);
/* Without animation. */
void adj_graph_view_set_camera (AdjGraphView *self, const AdjCamera *camera);
/* One that is kept from a canvas of perhaps another size: where it shows nothing in this one, the
 * picture begins around what is selected. */
void adj_graph_view_restore_camera (AdjGraphView *self, const AdjCamera *camera);
/* Nodes that the window shows a part of. */
guint adj_graph_view_count_visible (AdjGraphView *self);

/* What the canvas does by key. */
typedef struct
{
  const char *action; /* (nullable): of the widget: "canvas.counterpart" */
  const char *title;
  const char *keys; /* as GtkShortcutsShortcut has them */
  AdjMenu menus;    /* that contain it */
} AdjCanvasCommand;

const AdjCanvasCommand *adj_graph_view_get_command (guint index); /* (nullable): past the last */
/* The actions of these commands, "counterpart" for "canvas.counterpart", for menus elsewhere in the
 * window. */
GActionGroup *adj_graph_view_get_actions (AdjGraphView *self); /* (transfer none) */
/* Opens or closes a module, which stays where it is. */
void adj_graph_view_toggle_module (AdjGraphView *self, const char *path);

/* The colours that fit the style of the desktop. */
AdjScheme adj_scheme_from_style (void);

G_END_DECLS
