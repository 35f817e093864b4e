/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

#include "call/adj-generator.h"

G_BEGIN_DECLS

/* How a release of PyTorch differs from others in tracing and partitioning. */
typedef struct
{
  const char *name;              /* "2.6" */
  const char *joint;             /* the step that makes the joint graph as this release does */
  const char *formulas;          /* the same step with the release's formulas alone */
  gboolean free_parameters;      /* AdjPartitionOptions.free_parameters, if not recorded */
  AdjRandomSource random_source; /* source of random numbers, where the file does not record it */
  /* As in AdjPartitionOptions. */
  gboolean merge_by_need, recompute_splits, save_effects, forgets_tokens;
} AdjRelease;

/* (transfer none): the known release nearest to @torch_version ("2.15.0+cu132"); 2.6 for %NULL and
 * texts that are no version.  @known (out): whether that release itself is known. */
ADJ_PUBLIC const AdjRelease *adj_release_find (const char *torch_version, gboolean *known);

G_END_DECLS
