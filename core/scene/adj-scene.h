/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* A picture of a graph: boxes, orthogonal lines and texts with their places, without colours and
 * without a toolkit.  Immutable, counted atomically, shared by threads.  Coordinates are pixels at
 * zoom 1, y grows downwards.  Paint in the order of ADJ_BOX_GROUP boxes, edges, other boxes. */
typedef struct _AdjScene AdjScene;

#define ADJ_NODE_HEIGHT 36.0f /* height of a node's card; levels of detail depend on it */
#define ADJ_TITLE_SIZE 12.0f  /* font size in pixels; bold, regular for recompute copies */
#define ADJ_SUBTITLE_SIZE 10.0f
#define ADJ_CHIP_TEXT_SIZE 10.0f
#define ADJ_HEADER_TEXT_SIZE 13.0f
#define ADJ_STRIPE_WIDTH 5.0f
#define ADJ_CARD_RADIUS 6.0f
#define ADJ_GROUP_RADIUS 10.0f
#define ADJ_GROUP_TITLE_HEIGHT 28.0f
#define ADJ_CARD_CUT 8.0f /* of each corner of an object's card */
#define ADJ_NO_BOX G_MAXUINT32

/* The level of detail depends on the height of a node in pixels on the screen. */
#define ADJ_LOD_TEXTURE_PX 3.0f
#define ADJ_LOD_MODULES_PX 14.0f
#define ADJ_LOD_NAMES_PX 22.0f

typedef enum
{
  ADJ_LOD_TEXTURE, /* blocks and bridges, no text */
  ADJ_LOD_MODULES, /* group boxes with name, count, bytes; nodes plain */
  ADJ_LOD_NAMES,   /* names, stripes, signs */
  ADJ_LOD_FULL,    /* everything */
} AdjLod;

ADJ_PUBLIC AdjLod adj_lod_from_zoom (float zoom);

typedef struct
{
  float x, y;
} AdjPoint;

typedef struct
{
  float x, y, width, height;
} AdjRect;

typedef enum
{
  ADJ_BOX_GROUP,  /* frame of a module on one side; folded: a closed card */
  ADJ_BOX_NODE,   /* card */
  ADJ_BOX_PILL,   /* real input, tangent, output of the graph */
  ADJ_BOX_CHIP,   /* parameter, constant or result, stuck to the node that reads or makes it */
  ADJ_BOX_BRIDGE, /* size of what crosses the gutter */
  ADJ_BOX_HEADER, /* title of a column; the one of the gutter spans the height of its band */
  ADJ_N_BOX_KINDS,
} AdjBoxKind;

typedef enum
{
  ADJ_ROLE_NONE,
  ADJ_ROLE_SAVED,
  ADJ_ROLE_MUST_SAVE,
  ADJ_ROLE_RECOMPUTED,
  ADJ_ROLE_MUST_RECOMPUTE,
  ADJ_ROLE_RECOMPUTE_COPY,
  ADJ_ROLE_PLACEHOLDER,
  ADJ_ROLE_PARAMETER,
  ADJ_ROLE_GRADIENT,
  ADJ_ROLE_OUTPUT,
  ADJ_ROLE_HOOK,
  ADJ_ROLE_OPAQUE,
  ADJ_ROLE_CUSTOM_BACKWARD, /* a custom backward, called as a whole */
  ADJ_ROLE_ACCUMULATE,      /* accumulates the gradient of a leaf */
  ADJ_ROLE_CALLBACKS,       /* where queued callbacks run */
  ADJ_ROLE_OBJECT,          /* an opaque object, or a call of its method */
  ADJ_ROLE_OFFLOADED,       /* saved in the memory of the CPU */
  ADJ_ROLE_UPDATE,          /* an operator of the optimiser, in a whole step */
  ADJ_N_ROLES,
} AdjRole;

/* "saved", "must-save" … for legends and search. */
ADJ_PUBLIC const char *adj_role_name (AdjRole role);
/* "S", "S!", "R" …; "" for roles without one. */
ADJ_PUBLIC const char *adj_role_sign (AdjRole role);

typedef enum
{
  ADJ_SIDE_NONE,
  ADJ_SIDE_FORWARD,
  ADJ_SIDE_BACKWARD,
} AdjSide;

typedef enum
{
  ADJ_FOLD_NONE, /* cannot be folded */
  ADJ_FOLD_OPEN,
  ADJ_FOLD_CLOSED,
} AdjFold;

typedef struct
{
  AdjBoxKind kind;
  AdjRole role;
  AdjSide side;
  AdjFold fold;
  gboolean object; /* NODE: an opaque object or a call of its method, whatever its role: the card
                      has cut corners */
  AdjRect rect;
  guint32 group;        /* index of the innermost frame around it, or ADJ_NO_BOX */
  guint32 anchor;       /* CHIP: the card it is stuck to; else ADJ_NO_BOX */
  AdjNodeId node;       /* ADJ_NO_NODE for groups, headers and bundles */
  const char *title;    /* never %NULL; ellipsised to fit */
  const char *subtitle; /* never %NULL */
  const char *path;     /* GROUP: the module path that folds it; else "" */
  guint n_nodes;        /* number of nodes that the box represents, its own included */
  guint n_same;         /* GROUP: number of groups with the same content, this one included */
  gint64 bytes;         /* saved for backward by it; BRIDGE: what crosses; -1: nothing */
} AdjSceneBox;

typedef enum
{
  ADJ_EDGE_DATA,      /* inside a group, forward */
  ADJ_EDGE_BLOCK,     /* from group to group */
  ADJ_EDGE_BRIDGE,    /* saved for backward */
  ADJ_EDGE_GRADIENT,  /* in the backward column */
  ADJ_EDGE_RECOMPUTE, /* dashed: recomputed instead of saved */
  ADJ_EDGE_TURN,      /* from the results to the tangents */
  ADJ_EDGE_CONTROL,   /* dotted: order without a value */
  ADJ_EDGE_EFFECT,    /* long dashes: an effect token, which orders but carries no value */
  ADJ_N_EDGE_KINDS,
} AdjEdgeKind;

/* A polyline of horizontal and vertical pieces from the border of @from to the border of @to, with
 * an arrow head at the end.  Edges of one value share their first pieces; each shared piece is
 * drawn by one edge only. */
typedef struct
{
  AdjEdgeKind kind;
  guint32 from, to; /* boxes */
  AdjNodeId value;  /* the node whose value it carries; ADJ_NO_NODE for bundles */
  gint64 bytes;     /* -1: unknown */
  float width;
  guint n_shared; /* how many of its first pieces other edges of the value draw */
  guint n_points;
  const AdjPoint *points;
} AdjSceneEdge;

/* The outline of @rect without its corners, each cut off by @cut; clockwise. */
ADJ_PUBLIC void adj_rect_cut_corners (const AdjRect *rect, float cut, AdjPoint points[8]);

ADJ_PUBLIC AdjScene *adj_scene_ref (AdjScene *scene);
ADJ_PUBLIC void adj_scene_unref (AdjScene *scene);

/* As adj_role_name(), but "read by backward" instead of "saved" in a joint graph that is not
 * partitioned. */
ADJ_PUBLIC const char *adj_scene_get_role_name (const AdjScene *scene, AdjRole role);
ADJ_PUBLIC gboolean adj_scene_is_undecided (const AdjScene *scene);
/* The rectangle around everything; begins at (0, 0). */
ADJ_PUBLIC AdjRect adj_scene_get_bounds (const AdjScene *scene);
ADJ_PUBLIC guint adj_scene_get_n_boxes (const AdjScene *scene);
ADJ_PUBLIC const AdjSceneBox *adj_scene_get_box (const AdjScene *scene, guint index);
ADJ_PUBLIC guint adj_scene_get_n_edges (const AdjScene *scene);
ADJ_PUBLIC const AdjSceneEdge *adj_scene_get_edge (const AdjScene *scene, guint index);

/* Bytes that cross the gutter, each storage once, without inputs. */
ADJ_PUBLIC gint64 adj_scene_get_saved_bytes (const AdjScene *scene);

/* Calls @each, in index order, for everything that touches @rect; stops when it returns %FALSE.
 * Edges are tested by the pieces that they draw. */
typedef gboolean (*AdjSceneFunc) (guint index, gpointer data);
ADJ_PUBLIC void adj_scene_foreach_box (const AdjScene *scene,
                                       const AdjRect *rect,
                                       AdjSceneFunc each,
                                       gpointer data);
ADJ_PUBLIC void adj_scene_foreach_edge (const AdjScene *scene,
                                        const AdjRect *rect,
                                        AdjSceneFunc each,
                                        gpointer data);
/* The same for edges that touch @rect only by their first pieces, which other edges draw. */
ADJ_PUBLIC void adj_scene_foreach_passing_edge (const AdjScene *scene,
                                                const AdjRect *rect,
                                                AdjSceneFunc each,
                                                gpointer data);

/* The topmost box at a point, or ADJ_NO_BOX. */
ADJ_PUBLIC guint adj_scene_hit (const AdjScene *scene, float x, float y);
/* The edge within @tolerance of a point, or ADJ_NO_BOX. */
ADJ_PUBLIC guint adj_scene_hit_edge (const AdjScene *scene, float x, float y, float tolerance);

/* The box that shows @node: its own, or the chip, card or closed group that it is folded into. */
ADJ_PUBLIC guint adj_scene_find_node (const AdjScene *scene, AdjNodeId node);
/* The role of @node, also within a closed group; a folded node has the role of its host. */
ADJ_PUBLIC AdjRole adj_scene_get_role (const AdjScene *scene, AdjNodeId node);
/* The node's counterpart on the other side: the forward node of a gradient and the reverse; or
 * ADJ_NO_NODE. */
ADJ_PUBLIC AdjNodeId adj_scene_get_counterpart (const AdjScene *scene, AdjNodeId node);

/* The forward node that @node recomputes in backward, and the node that recomputes @node; or
 * ADJ_NO_NODE. */
ADJ_PUBLIC AdjNodeId adj_scene_get_original (const AdjScene *scene, AdjNodeId node);
ADJ_PUBLIC AdjNodeId adj_scene_get_copy (const AdjScene *scene, AdjNodeId node);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjScene, adj_scene_unref)

G_END_DECLS
