/* SPDX-License-Identifier: MIT */
#pragma once

#include "canvas/adj-graph-view.h"
#include "canvas/adj-heat.h"
#include "canvas/adj-highlight.h"
#include "canvas/adj-morph.h"
#include "canvas/adj-scene-painter.h"

G_BEGIN_DECLS

#define ADJ_READABLE_ZOOM 0.62f /* zoom at which cards show all details */

struct _AdjGraphView
{
  GtkWidget parent_instance;

  AdjScene *scene; /* (owned) (nullable) */
  AdjGraph *graph; /* (owned) (nullable) */
  AdjMarks *marks; /* (owned) (nullable): of @scene */
  GBytes *changes; /* (owned) (nullable): of each node of @graph */
  AdjHeat *heat;   /* (owned) (nullable): of @scene */
  AdjLabeling labeling;
  GArray *lit;    /* (owned) (nullable): of guint32 */
  GArray *chosen; /* (owned) (nullable): of guint32 */
  AdjHighlight *highlight;
  AdjTextCache *texts;
  GHashTable *arrows;
  AdjNodeId selected;
  AdjRole role;
  guint hovered;      /* box under the pointer */
  guint hovered_edge; /* edge under the pointer, where there is no card */

  AdjCamera camera;
  AdjCamera from, to; /* ends of the running camera movement */
  gint64 moving_since;
  guint tick;
  guint announcing;        /* id of the tick that announces the camera */
  gboolean wants_fit;      /* fits the picture at the next allocation */
  gboolean wants_sight;    /* … only if nothing of the picture is visible then */
  gboolean fits_next;      /* the next scene is fitted, whatever it shows */
  gboolean wants_selected; /* … or shown around the selected node at a readable size */
  guint anchor;            /* box of @scene that the next scene of the graph keeps in place */

  gboolean keeps_place; /* the next scene is another stage of the same graph */
  GArray *origins; /* (owned) (nullable): origins of its nodes, as adj_graph_view_step_next() */
  AdjNodeId kept;  /* of @graph: the selected node, if the last transition kept it in place */
  AdjMorph *morph; /* (owned) (nullable): the running transition from the scene before */
  gint64 morphing_since;       /* frame time; 0: no frame yet */
  guint morphing;              /* id of the tick */
  GPtrArray *covers;           /* (owned): of GtkWidget */
  int last_width, last_height; /* of the last allocation */
  gboolean cuts_selected;      /* the last allocation cut off the selection */
  guint uncovering;            /* id of the tick that moves the selection from under a cover */
  guint uncovering_frames;     /* frames until it does */

  GSimpleActionGroup *actions; /* (owned): actions of the keyboard commands */

  AdjNodeId value; /* the value whose users Tab steps through; none when the selection changed
                      otherwise */
  guint user;      /* index of the selected user of @value */

  gint64 chord;           /* time at which C was pressed: the next letter chooses the tint */
  AdjPoint pointer;       /* in pixels of the widget */
  gboolean is_pointing;   /* the selected item is under the pointer, so the picture must not move */
  int n_modified;         /* clicks in a series, up to the last one with Shift or Ctrl */
  gboolean wants_band;    /* the drag began with Shift */
  gboolean banding;       /* a selection band is being drawn */
  AdjRect band;           /* in pixels of the widget */
  AdjCamera grabbed;      /* camera at the start of a drag or pinch */
  float speed_x, speed_y; /* of inertia, pixels per second */
};

/* Gestures, wheel and keys. */
void adj_graph_view_add_controllers (AdjGraphView *self);
void adj_graph_view_install_keys (GtkWidgetClass *klass);
void adj_graph_view_add_actions (AdjGraphView *self);
/* Enables the actions that the selection allows. */
void adj_graph_view_update_actions (AdjGraphView *self);
/* The lines at a point of the widget; none where box @hit at that point is a card.
 * (transfer full): of guint32; may be empty */
GArray *adj_graph_view_line_at (AdjGraphView *self, guint hit, float x, float y);
/* Whether the point is inside open frame @hit and not on its title, which alone reacts to the
 * pointer. */
gboolean adj_graph_view_is_inside (AdjGraphView *self, guint hit, float y);
/* An AdjMenuAsked: selects the item at the point and opens its menu. */
void adj_graph_view_ask_menu (GtkWidget *widget, double x, double y, gpointer data);

/* Moves the camera, animated if the desktop allows animations. */
void adj_graph_view_move_to (AdjGraphView *self, const AdjCamera *camera);
void adj_graph_view_stop_moving (AdjGraphView *self);
/* Shows a graph for the first time, in a widget of that size. */
void adj_graph_view_fit_first (AdjGraphView *self, int width, int height);
/* Continues the movement after a drag or a flick. */
void adj_graph_view_glide (AdjGraphView *self, float speed_x, float speed_y);
void adj_graph_view_camera_changed (AdjGraphView *self);
/* Whether the canvas is visible and the desktop allows animations. */
gboolean adj_graph_view_may_animate (AdjGraphView *self);
/* The module that is opened or closed: its corner stays on the canvas, or comes into view. */
void adj_graph_view_keep_box (AdjGraphView *self, const AdjRect *before, const AdjRect *after);
/* -- graph-view-morph.c: from one stage to the next -- */

/* Moves the camera so that the selection, or else the middle, stays in place if it is in both
 * scenes, and animates the rest where the desktop allows animations; %FALSE: nothing is in both,
 * and the camera did not move. */
gboolean adj_graph_view_morph_to (AdjGraphView *self, AdjScene *next, const AdjGraph *graph);
void adj_graph_view_stop_morph (AdjGraphView *self);

/* Handles a new size of the widget; a selection that is out of view then is revealed by the next
 * frame, which calls adj_graph_view_show_cut(). */
void adj_graph_view_resized (AdjGraphView *self, int width, int height);
void adj_graph_view_show_cut (AdjGraphView *self);
/* Sets the items under the pointer; ADJ_NO_BOX for neither. */
void adj_graph_view_hover (AdjGraphView *self, guint box, guint edge);
/* -- graph-view-selection.c -- */

/* Announces the selection to screen readers and actions. */
void adj_graph_view_announce_selection (AdjGraphView *self);
/* Updates the highlight from the selected, chosen or lit nodes, or the role. */
void adj_graph_view_update_highlight (AdjGraphView *self);
/* Selects a node by click or key; notifies. */
void adj_graph_view_choose (AdjGraphView *self, AdjNodeId node);
/* The same with Shift or Ctrl. */
void adj_graph_view_add (AdjGraphView *self, AdjNodeId node, gboolean toggle);
/* Selects only this one of several selected nodes. */
void adj_graph_view_choose_only (AdjGraphView *self, AdjNodeId node);
/* Replaces the selection. @nodes: of guint32 */
void adj_graph_view_choose_nodes (AdjGraphView *self, GArray *nodes);
/* Selects all nodes in @rect of the scene; %NULL: all. */
void adj_graph_view_choose_in (AdjGraphView *self, const AdjRect *rect);
/* Whether a box represents a value of another graph: an input of backward that forward saved, shown
 * at its readers. */
gboolean adj_graph_view_is_link (AdjGraphView *self, guint box);
/* Enter and double click: activates a node, opens or closes a module. */
void adj_graph_view_activate_box (AdjGraphView *self, guint box);

G_END_DECLS
