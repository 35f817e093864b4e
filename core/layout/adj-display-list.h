/* SPDX-License-Identifier: MIT */
#pragma once

#include "layout/adj-rows.h"

G_BEGIN_DECLS

/* What will be drawn, before it has a place: items in rows, chips on items, links between items. */

#define ADJ_CHIP_HEIGHT 16.0f
#define ADJ_CHIP_DISTANCE 4.0f /* between chips */
#define ADJ_CHIP_GAP 10.0f     /* between chips and their card */
#define ADJ_MAX_CHIPS 2        /* stuck to one side of a card; the last one stands for the rest */

typedef struct
{
  AdjBoxKind kind; /* NODE, PILL, or GROUP for a closed module */
  AdjRole role;
  AdjSide side;
  gboolean object; /* as a box's */
  gboolean absent; /* in another stage: it has its place and is not drawn */
  AdjNodeId node;  /* ADJ_NO_NODE for a closed module */
  guint32 row;
  guint32 module; /* of a closed module */
  const char *title, *subtitle;
  guint n_nodes;
  gint64 bytes;               /* that backward reads from it; -1: none */
  gint64 kept;                /* of them, without what is computed again */
  guint n_read, n_recomputed; /* storages that backward reads; of them computed again */
  float width, height;
  guint32 first_chip[2], n_chips[2]; /* at the left (0) and the right (1) */
  float chips_width[2];
} AdjDisplayItem;

typedef struct
{
  AdjRole role;
  AdjNodeId node;
  const char *title;
  guint n_nodes;
  float width;
} AdjDisplayChip;

typedef struct
{
  guint32 from, to; /* items */
  AdjNodeId value;  /* the first value that it carries */
  guint n_values;   /* 0: from a node to its copy that computes it again */
  gint64 bytes;     /* each storage once */
  gboolean control; /* nothing is read */
  gboolean effect;  /* nothing but tokens is read */
  gboolean absent;  /* as of an item */
} AdjDisplayLink;

typedef struct
{
  const AdjNodeRoles *roles;
  const AdjRows *rows;
  AdjArena *texts;
  GArray *items;        /* of AdjDisplayItem, by row, side and order of execution */
  GArray *chips;        /* of AdjDisplayChip */
  GArray *links;        /* of AdjDisplayLink, by from and to */
  guint32 *item_of;     /* of each node: its item or ADJ_NO_BOX */
  guint *n_above;       /* of each item: those of its side above it */
  guint *n_far_readers; /* of each item: those that read it from far away */
  guint *n_far_makers;  /* of each item: those that it reads from far away */
  guint32 *chip_of;     /* of each node that is shown by chips alone, the first; or ADJ_NO_BOX */
  gint64 saved_bytes; /* as AdjSavedValues has them; of a backward alone what is computed for it */
  gint64 input_bytes; /* of inputs that backward reads beside them */
  gint64 offloaded_bytes; /* of @saved_bytes, those in the memory of the CPU */
  float widest_bridge;    /* of all stages that share the picture; 0: it has its own */
} AdjDisplayList;

#define adj_display_item(self, index) (&g_array_index ((self)->items, AdjDisplayItem, (index)))
#define adj_display_chip(self, index) (&g_array_index ((self)->chips, AdjDisplayChip, (index)))
#define adj_display_link(self, index) (&g_array_index ((self)->links, AdjDisplayLink, (index)))

/* Both are borrowed and must outlive the display list. */
AdjDisplayList *adj_display_list_new (const AdjNodeRoles *roles, const AdjRows *rows);
void adj_display_list_free (AdjDisplayList *display);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjDisplayList, adj_display_list_free)

G_END_DECLS
