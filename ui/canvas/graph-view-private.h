/* SPDX-License-Identifier: MIT */
#pragma once

#include "canvas/adj-graph-view.h"
#include "canvas/adj-heat.h"
#include "canvas/adj-highlight.h"
#include "canvas/adj-morph.h"
#include "canvas/adj-scene-painter.h"

G_BEGIN_DECLS

#define ADJ_READABLE_ZOOM 0.62f /* where cards show all they have */

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
  guint hovered;      /* box */
  guint hovered_edge; /* where there is no card */

  AdjCamera camera;
  AdjCamera from, to; /* of the movement under way */
  gint64 moving_since;
  guint tick;
  guint announcing;        /* id of the tick that announces the camera */
  gboolean wants_fit;      /* at the next allocation */
  gboolean wants_sight;    /* … if nothing of the picture is in view then */
  gboolean fits_next;      /* the next scene is fitted, whatever it shows */
  gboolean wants_selected; /* … or shown around the selected node */
  guint anchor;            /* box of @scene that the next scene of the graph keeps in place */

  gboolean keeps_place; /* the next scene is of another stage of the same graph */
  GArray *origins;      /* (owned) (nullable): of its nodes, as adj_graph_view_step_next() */
  AdjNodeId kept;       /* of @graph: what was selected in the stage before, where it was */
  AdjMorph *morph;      /* (owned) (nullable): while the scene comes from the one before */
  gint64 morphing_since;
  guint morphing;              /* id of the tick */
  GPtrArray *covers;           /* (owned): of GtkWidget */
  int last_width, last_height; /* of the last allocation */
  gboolean cuts_selected;      /* it cut off what is selected */
  guint uncovering;            /* id of the tick that brings out what is selected */
  guint uncovering_frames;     /* until it does */

  GSimpleActionGroup *actions; /* (owned): of what keys do */

  AdjNodeId value; /* whose users Tab steps through; none when it was reached otherwise */
  guint user;      /* of @value, the one that is selected */

  gint64 chord;           /* when C was pressed: a letter that follows chooses the tint */
  AdjPoint pointer;       /* in pixels of the widget */
  gboolean is_pointing;   /* the selected item is under the pointer, and stays there */
  int n_modified;         /* clicks of a series up to the last one with Shift or Ctrl */
  gboolean wants_band;    /* the drag began with Shift */
  gboolean banding;       /* a selection band is being drawn */
  AdjRect band;           /* in pixels of the widget */
  AdjCamera grabbed;      /* at the begin of a drag or pinch */
  float speed_x, speed_y; /* of inertia, pixels per second */
};

/* Gestures, wheel and keys. */
void adj_graph_view_add_controllers (AdjGraphView *self);
void adj_graph_view_install_keys (GtkWidgetClass *klass);
void adj_graph_view_add_actions (AdjGraphView *self);
/* Enables the actions that the selection allows. */
void adj_graph_view_update_actions (AdjGraphView *self);
/* The line at a place of the widget where box @hit is: none where that is a card.  (transfer full):
 * of guint32; empty: there is none */
GArray *adj_graph_view_line_at (AdjGraphView *self, guint hit, float x, float y);
/* Whether only the inside of open frame @hit is there: its title is what can be pointed at. */
gboolean adj_graph_view_is_inside (AdjGraphView *self, guint hit, float y);
/* An AdjMenuAsked: selects what is there and opens its menu. */
void adj_graph_view_ask_menu (GtkWidget *widget, double x, double y, gpointer data);

/* Moves there, softly when the desktop allows animations. */
void adj_graph_view_move_to (AdjGraphView *self, const AdjCamera *camera);
void adj_graph_view_stop_moving (AdjGraphView *self);
/* Shows a graph for the first time, in a widget of that size. */
void adj_graph_view_fit_first (AdjGraphView *self, int width, int height);
/* Lets the view glide on after a drag or a flick. */
void adj_graph_view_glide (AdjGraphView *self, float speed_x, float speed_y);
void adj_graph_view_camera_changed (AdjGraphView *self);
/* Whether somebody sees the canvas, on a desktop that moves things. */
gboolean adj_graph_view_may_animate (AdjGraphView *self);
/* The module that opens or closes: its corner stays on the canvas, or comes into view. */
void adj_graph_view_keep_box (AdjGraphView *self, const AdjRect *before, const AdjRect *after);
/* -- graph-view-morph.c: from one stage to the next -- */

/* Moves the camera so that what is selected, or stands in the middle, and is in both scenes stays,
 * and begins to move and fade the rest, where the desktop allows animations; %FALSE: nothing is in
 * both, and the camera is where it was. */
gboolean adj_graph_view_morph_to (AdjGraphView *self, AdjScene *next, const AdjGraph *graph);
void adj_graph_view_stop_morph (AdjGraphView *self);

/* The widget gets another size; what is selected and no longer in it is shown again by the next
 * frame, which calls adj_graph_view_show_cut(). */
void adj_graph_view_resized (AdjGraphView *self, int width, int height);
void adj_graph_view_show_cut (AdjGraphView *self);
/* What the pointer is on; ADJ_NO_BOX for neither. */
void adj_graph_view_hover (AdjGraphView *self, guint box, guint edge);
/* -- graph-view-selection.c -- */

/* Tells screen readers and actions what is selected. */
void adj_graph_view_announce_selection (AdjGraphView *self);
/* What stands out follows what is selected, chosen, lit or of the role. */
void adj_graph_view_update_highlight (AdjGraphView *self);
/* A click or key on a node; notifies. */
void adj_graph_view_choose (AdjGraphView *self, AdjNodeId node);
/* … with Shift or Ctrl. */
void adj_graph_view_add (AdjGraphView *self, AdjNodeId node, gboolean toggle);
/* A click on one of several. */
void adj_graph_view_choose_only (AdjGraphView *self, AdjNodeId node);
/* Replaces the selection. @nodes: of guint32 */
void adj_graph_view_choose_nodes (AdjGraphView *self, GArray *nodes);
/* Selects all nodes in @rect of the scene; %NULL: all. */
void adj_graph_view_choose_in (AdjGraphView *self, const AdjRect *rect);
/* Whether a box represents a value of another graph: what backward takes from forward, at its
 * readers. */
gboolean adj_graph_view_is_link (AdjGraphView *self, guint box);
/* Enter and double clicks: a node is activated, a module opened or closed. */
void adj_graph_view_activate_box (AdjGraphView *self, guint box);

G_END_DECLS
