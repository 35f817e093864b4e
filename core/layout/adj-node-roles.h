/* SPDX-License-Identifier: MIT */
#pragma once

#include "layout/adj-layout.h"

G_BEGIN_DECLS

/* The role of each node in the picture: its side, its kind, and the node that it is folded into. */

typedef enum
{
  ADJ_NODE_ROLE_CARD,
  ADJ_NODE_ROLE_PILL,   /* real input, tangent */
  ADJ_NODE_ROLE_CHIP,   /* parameter or constant: shown at each of its readers */
  ADJ_NODE_ROLE_OUTPUT, /* the output node */
  ADJ_NODE_ROLE_HIDDEN, /* not in the picture */
} AdjNodeRoleKind;

typedef struct
{
  AdjNodeRoleKind kind; /* of the host, for folded nodes */
  AdjSide side;
  AdjRole role;
  guint32 host;        /* the node that shows this one; itself when it is not folded */
  guint32 value;       /* the node whose storage this one views; itself when it makes one */
  guint32 counterpart; /* forward node of a gradient and the reverse, or G_MAXUINT32 */
  guint32 original;    /* forward node that this one computes again, or G_MAXUINT32 */
  gint64 bytes;        /* of its result; -1: unknown */
  gboolean object;     /* it is an opaque object or calls a method of one */
  gboolean token;      /* it is a token that orders effects */
} AdjNodeRole;

/* A value that leaves the graph. */
typedef struct
{
  guint32 node;
  gint32 primal;  /* node index of the input whose gradient it is, or -1 */
  guint position; /* in the flattened output */
} AdjResultRole;

typedef struct
{
  const AdjGraph *graph;
  guint n;
  AdjNodeRole *entries;
  GArray *results;        /* of AdjResultRole */
  gboolean is_joint;      /* has tangents and forward results */
  gboolean undecided;     /* as in the options */
  gboolean only_backward; /* has tangents, and every result depends on them: a backward graph;
                             mirrored */
  gboolean one_column;    /* not mirrored: all nodes are on the forward side */
  const char *title;      /* of that column */
  AdjCaptured *captured;  /* (owned) (nullable): set for a captured backward */
} AdjNodeRoles;

AdjNodeRoles *adj_node_roles_new (AdjGraph *graph, const AdjLayoutOptions *options);
void adj_node_roles_free (AdjNodeRoles *roles);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjNodeRoles, adj_node_roles_free)

G_END_DECLS
