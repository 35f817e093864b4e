/* SPDX-License-Identifier: MIT */
#pragma once

#include "layout/adj-layout.h"

G_BEGIN_DECLS

/* What each node is to the picture: its side, its role, and the node that it is folded into. */

typedef enum
{
  ADJ_CENSUS_CARD,
  ADJ_CENSUS_PILL,   /* real input, tangent */
  ADJ_CENSUS_CHIP,   /* parameter or constant: shown at each of its readers */
  ADJ_CENSUS_OUTPUT, /* the output node */
  ADJ_CENSUS_HIDDEN, /* not in the picture */
} AdjCensusKind;

typedef struct
{
  AdjCensusKind kind; /* of the host, for folded nodes */
  AdjSide side;
  AdjRole role;
  guint32 host;     /* the node that shows this one; itself when it is not folded */
  guint32 value;    /* the node whose storage this one views; itself when it makes one */
  guint32 twin;     /* forward node of a gradient and the reverse, or G_MAXUINT32 */
  guint32 original; /* forward node that this one computes again, or G_MAXUINT32 */
  gint64 bytes;     /* of its result; -1: unknown */
} AdjCensusEntry;

/* A value that leaves the graph. */
typedef struct
{
  guint32 node;
  gint32 primal;  /* node index of the input whose gradient it is, or -1 */
  guint position; /* in the flattened output */
} AdjCensusResult;

typedef struct
{
  const AdjGraph *graph;
  guint n;
  AdjCensusEntry *entries;
  GArray *results;        /* of AdjCensusResult */
  gboolean is_joint;      /* has tangents and forward results */
  gboolean only_backward; /* has tangents, but every result depends on them; mirrored */
  gboolean one_column;    /* not mirrored: everything stands on the forward side */
  const char *title;      /* of that column */
  AdjCaptured *captured;  /* (owned) (nullable): it is a captured backward */
} AdjCensus;

AdjCensus *adj_census_new (AdjGraph *graph, const AdjLayoutOptions *options);
void adj_census_free (AdjCensus *census);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjCensus, adj_census_free)

G_END_DECLS
