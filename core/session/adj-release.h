/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

#include "call/adj-generator.h"

G_BEGIN_DECLS

/* What differs between releases of PyTorch in how a graph is traced and taken apart. */
typedef struct
{
  const char *name;              /* "2.6" */
  const char *joint;             /* the step that makes the joint graph, with its habits */
  const char *formulas;          /* that step with its formulas alone */
  gboolean free_parameters;      /* where the file does not say it (AdjPartitionOptions) */
  AdjRandomSource random_source; /* the same */
  gboolean merge_by_need, recompute_splits, save_effects; /* (AdjPartitionOptions) */
} AdjRelease;

/* (transfer none): the known release nearest to @torch_version ("2.15.0+cu132"); 2.6 for %NULL and
 * what is no version.  @known (out): whether that release itself is known. */
ADJ_PUBLIC const AdjRelease *adj_release_find (const char *torch_version, gboolean *known);

G_END_DECLS
