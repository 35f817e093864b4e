/* SPDX-License-Identifier: MIT */
#pragma once

#include "passes/adj-finding.h"

G_BEGIN_DECLS

/* Reads fw_metadata of captures: a DICT with the members of ViewAndMutationMeta. */

/* (nullable): entry @index of the list @key. */
const AdjValue *metadata_get_entry (const AdjValue *dict, const char *key, guint index);
guint metadata_count (const AdjValue *dict, const char *key);
gboolean metadata_is (const AdjValue *dict, const char *key);          /* a true BOOL */
gint64 metadata_get_int (const AdjValue *dict, const char *key);       /* -1: none */
const char *metadata_get_text (const AdjValue *dict, const char *key); /* "" when there is none */

/* How the graph returns a mutation of an input (aot/SPEC.md §2.3). */
typedef enum
{
  METADATA_NOT_MUTATED,
  METADATA_IN_GRAPH,     /* a copy_ node */
  METADATA_OUT_OF_GRAPH, /* a leading output */
} MetadataMutation;

MetadataMutation metadata_get_mutation (const AdjValue *metadata, guint input);
/* Number of outputs before the user's: tokens and mutated inputs. */
guint metadata_count_leading (const AdjValue *metadata);
/* (nullable): the graph of @region whose outputs begin with the function's. */
AdjGraph *metadata_find_forward (const AdjCheckedRegion *region);

G_END_DECLS
