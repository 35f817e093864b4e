/* SPDX-License-Identifier: MIT */
#pragma once

#include "partition/joint-private.h"

G_BEGIN_DECLS

/* Which rules ban recomputation. */
typedef struct
{
  gboolean far_apart, long_chains, materialized, allowlist, reductions;
  gboolean recompute_views, free_parameters, forgets_tokens;
  gboolean compat;
  guint max_distance;
  GCancellable *cancellable; /* (nullable) */
} CutRules;

CutRules cut_rules_from_options (const AdjPartitionOptions *options);

typedef struct
{
  guint n;
  guint8 *ban;      /* per node: AdjPartitionRule */
  guint32 *because; /* per node: the node that caused its ban, or NOBODY */
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
/* Whether a backward node that does not fuse with @node, or with views of it, needs its value in
 * memory (partition/SPEC.md §3.2); @reader is set to that node. */
gboolean cut_is_materialized_backward (const Joint *joint, guint node, guint *reader);

/* Bans nodes, weighs edges and finds the cheapest cut (partition/SPEC.md §3.4). Fails with
 * ADJ_ERROR_UNSUPPORTED when every cut has infinite weight. */
Cut *cut_solve (const Joint *joint, const CutRules *rules, const guint8 *freed, GError **error);

/* The network that cut_solve() cuts, as an array of AdjFlowEdge; vertex 0 is the source, 1 the
 * sink. (transfer full) (nullable): %NULL when there is no finite cut. */
GArray *cut_list_edges (const Joint *joint, const CutRules *rules, guint *n_vertices);

G_END_DECLS
