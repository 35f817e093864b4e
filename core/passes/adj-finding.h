/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-diag.h"
#include "ir/adj-value.h"

G_BEGIN_DECLS

/* Known ways in which a graph silently computes something wrong: one record and one function each.
 * A check reads the graphs of one compiled region and reports the nodes that show the mistake. */

typedef struct _AdjCheck AdjCheck;
typedef struct _AdjFindings AdjFindings;

/* The graphs and metadata of one compiled region; missing graphs are %NULL. */
typedef struct
{
  AdjGraph *dynamo, *inference, *joint, *forward, *backward;
  AdjGraph *replayed, *captured; /* a captured backward before and after its reordering */
  gint num_fwd_outputs;          /* of @forward; -1: unknown */
  const AdjValue *metadata;      /* (nullable): fw_metadata as a DICT */
} AdjCheckedRegion;

struct _AdjCheck
{
  const char *name;     /* "merged-random" */
  const char *summary;  /* one line: "equal random operators were merged into one draw" */
  const char *explain;  /* Markdown: what is wrong, how it arises, what to do */
  const char *versions; /* versions of PyTorch affected: "2.1 to 2.6" */
  void (*run) (const AdjCheck *check, const AdjCheckedRegion *region, AdjFindings *findings);
};

typedef struct
{
  const AdjCheck *check;
  AdjSeverity severity;
  AdjGraph *graph; /* (owned): one of the region's */
  char *message;   /* (owned): a sentence about these nodes, without full stop */
  guint n_nodes;
  AdjNodeId *nodes; /* (owned): most relevant first */
} AdjFinding;

ADJ_PUBLIC AdjFindings *adj_findings_new (void); /* (transfer full) */
ADJ_PUBLIC void adj_findings_free (AdjFindings *findings);
/* In the order in which they were found; valid as long as @findings. */
ADJ_PUBLIC guint adj_findings_get_n (const AdjFindings *findings);
ADJ_PUBLIC const AdjFinding *adj_findings_get (const AdjFindings *findings, guint index);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjFindings, adj_findings_free)

G_END_DECLS
