/* SPDX-License-Identifier: MIT */
#pragma once

#include "partition/joint-private.h"

G_BEGIN_DECLS

/* Which rules ban recomputation. */
typedef struct
{
  gboolean far_apart, long_chains, materialized, allowlist, reductions;
  gboolean recompute_views;
  gboolean compat;
  guint max_distance;
  GCancellable *cancellable; /* (nullable) */
} CutRules;

CutRules cut_rules_from_options (const AdjPartitionOptions *options);

typedef struct
{
  guint n;
  guint8 *ban;      /* per node: AdjPartitionRule */
  guint32 *because; /* per node: whom the ban speaks of, or NOBODY */
  gint64 *weight;   /* per node; CUT_NEVER: cannot be saved */
  guint8 *saved;    /* per node */
  gint64 value;
} Cut;

#define CUT_NEVER G_MAXINT64

Cut *cut_new (guint n);
void cut_free (Cut *cut);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Cut, cut_free)

/* Fills ban and because.  @freed (nullable): nodes that may not be banned. */
void cut_ban (Cut *cut, const Joint *joint, const CutRules *rules, const guint8 *freed);
/* Whether @node's value exists in memory in backward anyway (partition/SPEC.md §3.2); @reader gets
 * who needs it there. */
gboolean cut_is_materialized_backward (const Joint *joint, guint node, guint *reader);

/* Bans, weighs, and finds the cheapest cut (partition/SPEC.md §3.4).  ADJ_ERROR_UNSUPPORTED when
 * there is none. */
Cut *cut_solve (const Joint *joint, const CutRules *rules, const guint8 *freed, GError **error);

/* The network that cut_solve() cuts, as AdjFlowEdge between vertex 0, the source, and 1, the sink;
 * %NULL when there is no cut.  (transfer full) */
GArray *cut_list_edges (const Joint *joint, const CutRules *rules, guint *n_vertices);

G_END_DECLS
