/* SPDX-License-Identifier: MIT */
#pragma once

#include "layout/adj-block-template.h"
#include "layout/adj-display-list.h"

G_BEGIN_DECLS

/* The display list while it is laid out; every stage adds coordinates. */

#define MIRROR_HEADERS_HEIGHT 44.0f /* of what stands above the rows */
#define ADJ_NO_PATH G_MAXUINT32

typedef struct _MirrorRoutes MirrorRoutes;

/* One half of a row. */
typedef struct
{
  guint32 row;
  AdjSide side;
  guint32 first_item, n_items;
  GArray *links;   /* guint32[2] of Port */
  GArray *entries; /* guint32: items elsewhere on this side, or of this block (against the flow) */
  GArray *exits;   /* guint32: cards of this block, with AGAINST_FLOW where they read from another
                      block */
  GArray *pins;    /* of AdjTemplatePin */
  AdjTemplateSpec *spec;
  char *key;
  const AdjBlockTemplate *template; /* (unowned) */
  guint n_same;
  float x, y; /* left upper corner; x from the left of the column */
} Block;

/* Where the pieces of a link are drawn: indices into the paths of the templates of both ends. */
typedef struct
{
  guint32 out, in;  /* ADJ_NO_PATH where there is none; inside one block only @out */
  gboolean against; /* to a row where the data of its side comes from: it leaves its block where
                       others enter, and the reverse */
} LinkPaths;

/* The frame of a module on both sides. */
typedef struct
{
  guint32 module;
  guint32 parent; /* frame, or ADJ_NO_BOX */
  guint32 first_row, last_row;
  gboolean only; /* one frame of its module */
  float top, bottom;
} Frame;

/* A horizontal band between rows, where lines go from block to block. */
typedef struct
{
  float top, height;
} Zone;

/* What crosses the gutter from one item. */
typedef struct
{
  guint32 item;
  guint32 first_link, end_link; /* [first, end) of the links; some may stay on the side */
  guint32 first_shown;          /* the first link that is not absent; ADJ_NO_BOX: all are */
  float source_y, pill_y;
  float pill_width;
  float left_x, right_x; /* vertical pieces before and behind the pill */
  gboolean only_copies;  /* all readers are copies, drawn as threads */
  guint n_values;
  gint64 bytes;
  const char *title;
  AdjRole role;
} Bridge;

typedef struct
{
  float left, right;
} Column;

typedef struct
{
  const AdjDisplayList *display;
  const AdjNodeRoles *roles;
  const AdjRows *rows;
  guint n_rows;
  Block *blocks;         /* 2 × n_rows: forward, backward */
  LinkPaths *paths;      /* of each link of the display list */
  GHashTable *templates; /* key → AdjBlockTemplate (owned) */
  GArray *frames;        /* of Frame, outer before inner */
  guint32 *frame_of;     /* of each row: innermost frame */
  Zone *zones;           /* n_rows + 1: above row i */
  Column columns[2];
  float inner_lanes[2]; /* how far lanes reach beyond the inner border of each column */
  gboolean has_side[2]; /* with what is absent */
  gboolean shows_side[2];
  GArray *bridges; /* of Bridge */
  MirrorRoutes *routes;
  float band_left, band_right;
  float header_y, bottom;
  GArray *hops;            /* of AdjPoint: pieces between blocks */
  AdjTemplatePath *hop_of; /* of each link: its piece between the blocks */
  guint *hop_shared; /* of each link: how many of its first points belong to pieces that other links
                        draw */
} Mirror;

#define FRAME_PADDING 14.0f

static inline Block *
mirror_block (const Mirror *self, guint32 row, AdjSide side)
{
  return &self->blocks[2 * row + (side == ADJ_SIDE_BACKWARD)];
}

static inline Block *
mirror_block_of_item (const Mirror *self, guint32 item)
{
  const AdjDisplayItem *i = adj_display_item (self->display, item);

  return mirror_block (self, i->row, i->side);
}

/* blocks.c */
void mirror_make_blocks (Mirror *self);
void mirror_clear_blocks (Mirror *self);
/* The absolute rectangle of an item. */
AdjRect mirror_item_rect (const Mirror *self, guint32 item);

/* stack.c */
void mirror_stack (Mirror *self);
void mirror_clear_stack (Mirror *self);

/* routes.c: the first assigns lanes, before rows are stacked; the second draws the hops, after
 * that. */
void mirror_plan_routes (Mirror *self);
void mirror_draw_routes (Mirror *self);
void mirror_clear_routes (Mirror *self);
/* Height that the lines in the zone above row @zone need. */
float mirror_zone_need (const Mirror *self, guint zone);
gboolean mirror_zone_has_tracks (const Mirror *self, guint zone);

/* lanes.c */

/* A vertical piece of a line from one zone to another. */
typedef struct
{
  guint low, high;   /* zones; low < high */
  float left, right; /* of where the line begins and ends */
  float x;           /* (out): from the left border of the column, as these */
} MirrorLane;

void mirror_place_lanes (Mirror *self, guint side, MirrorLane *lanes, guint n);

/* gutter.c */
void mirror_plan_gutter (Mirror *self);
/* Where a link that crosses reaches the border of the block that reads it. */
float mirror_target_y (const Mirror *self, guint32 link, float pill_y);
/* Width of the widest pill between the columns. */
float mirror_widest_bridge (const AdjDisplayList *display);

/* emit-scene.c */
AdjScene *mirror_emit (const Mirror *self);

G_END_DECLS
