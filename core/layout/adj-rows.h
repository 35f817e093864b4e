/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-arena.h"
#include "layout/adj-layout.h"
#include "layout/adj-node-roles.h"

G_BEGIN_DECLS

#define ADJ_NO_MODULE G_MAXUINT32
#define ADJ_NO_ROW G_MAXUINT32

/* A module of the program or, where the graph names none, a run of nodes ("stretch"). */
typedef struct
{
  const char *path;  /* "h.0.attn"; "" for the root, which is index 0; "#3" for a stretch */
  const char *class; /* "Attention", or the source lines of a stretch */
  guint32 parent;
  guint depth;      /* 0: root */
  guint height;     /* levels of modules inside; 0: none */
  guint n_cards;    /* on the side that decides the rows */
  guint n_nodes[2]; /* nodes that name the module, forward and backward; 0 for a stretch */
  gboolean closed;
  gboolean opened; /* a stack with a module that was opened by hand */
} AdjRowsModule;

/* One row of the mirror: what one module does, forward and backward. */
typedef struct
{
  guint32 module; /* innermost frame around the row; closed: the row is its closed box */
  gboolean closed;
  GArray *nodes[2]; /* guint32, forward and backward, in order of execution */
} AdjRow;

typedef struct
{
  AdjArena *texts;
  GArray *modules; /* of AdjRowsModule */
  GArray *rows;    /* of AdjRow */
  guint32 begin;   /* the first row that has more than inputs */
  guint32 *row_of; /* of each node that is a card, pill or the output; else ADJ_NO_ROW */
} AdjRows;

#define adj_rows_module(self, index) (&g_array_index ((self)->modules, AdjRowsModule, (index)))
#define adj_rows_row(self, index) (&g_array_index ((self)->rows, AdjRow, (index)))

AdjRows *adj_rows_new (const AdjNodeRoles *roles, const AdjLayoutOptions *options);
void adj_rows_free (AdjRows *rows);

/* "h.0.attn Attention", "model.py:88–89" of a stretch; with "backward" behind it. (transfer full)
 */
char *adj_rows_describe_module (const AdjRowsModule *module, gboolean backward);
/* "37 of 84 nodes": those of one side, and all that name the module; "37 nodes" where these are
 * all. (transfer full) */
char *adj_rows_describe_count (const AdjRowsModule *module, guint n);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjRows, adj_rows_free)

G_END_DECLS
