/* SPDX-License-Identifier: MIT */
#pragma once

#include "passes/adj-finding.h"

G_BEGIN_DECLS

/* Reading fw_metadata as captures keep it: a DICT of what ViewAndMutationMeta holds. */

/* (nullable): entry @index of the list @key. */
const AdjValue *metadata_get_entry (const AdjValue *dict, const char *key, guint index);
guint metadata_count (const AdjValue *dict, const char *key);
gboolean metadata_is (const AdjValue *dict, const char *key);          /* a true BOOL */
gint64 metadata_get_int (const AdjValue *dict, const char *key);       /* -1: none */
const char *metadata_get_text (const AdjValue *dict, const char *key); /* "" when there is none */

/* How the graph hands on a write to an input (aot/SPEC.md §2.3). */
typedef enum
{
  METADATA_NOT_MUTATED,
  METADATA_IN_GRAPH,     /* a copy_ node */
  METADATA_OUT_OF_GRAPH, /* a leading output */
} MetadataMutation;

MetadataMutation metadata_get_mutation (const AdjValue *metadata, guint input);
/* Outputs before those of the user: tokens and new values of inputs. */
guint metadata_count_leading (const AdjValue *metadata);
/* (nullable): the graph of @region whose outputs begin with those of the function. */
AdjGraph *metadata_find_forward (const AdjCheckedRegion *region);

G_END_DECLS
