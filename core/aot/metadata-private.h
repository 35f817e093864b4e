/* SPDX-License-Identifier: MIT */
#pragma once

#include "aot/adj-aot-metadata.h"

G_BEGIN_DECLS

/* Metadata operations for the stages. */

/* (transfer full): all zero, with room for as many. */
AdjAotMetadata *adj_aot_metadata_new (guint n_inputs, guint n_outputs);

/* (transfer full) */
AdjAotMetadata *adj_aot_metadata_copy (const AdjAotMetadata *metadata);

/* Sets each input's mutation (aot/SPEC.md §2.3) and the derived members; call it again after every
 * edit. */
void adj_aot_metadata_derive (AdjAotMetadata *metadata);

/* Compares infos, bases, switches, and shape and dtype of tangents.  @difference (nullable) gets a
 * sentence about the first difference. */
gboolean
adj_aot_metadata_equal (const AdjAotMetadata *a, const AdjAotMetadata *b, GString *difference);

/* Whether forward return @index (mutated inputs, outputs, bases) has a tangent. */
gboolean adj_aot_metadata_has_tangent (const AdjAotMetadata *metadata, guint index);

/* Whether the metadata of @input, which is not returned, was changed and changed back, which shows
 * only in its gradient. */
gboolean adj_aot_input_hides_turn (const AdjAotInput *input);

/* Whether output @index is, or aliases, the input that is its base. */
gboolean adj_aot_metadata_shows_input (const AdjAotMetadata *metadata, guint index);

G_END_DECLS
