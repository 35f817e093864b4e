/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

#include "model/adj-document.h"

G_BEGIN_DECLS

/* An entry of the palette: an action with its target. */
#define ADJ_TYPE_PALETTE_ENTRY (adj_palette_entry_get_type ())
G_DECLARE_FINAL_TYPE (AdjPaletteEntry, adj_palette_entry, ADJ, PALETTE_ENTRY, GObject)

const char *adj_palette_entry_get_title (AdjPaletteEntry *self);
const char *adj_palette_entry_get_detail (AdjPaletteEntry *self); /* "Node, aten.mm.default" */
const char *adj_palette_entry_get_keys (AdjPaletteEntry *self);   /* "Ctrl+O"; "" */
const char *adj_palette_entry_get_action (AdjPaletteEntry *self);
GVariant *adj_palette_entry_get_target (AdjPaletteEntry *self); /* (nullable) */

/* All entries that are possible for a document at present. */
typedef struct _AdjPaletteEntries AdjPaletteEntries;

AdjPaletteEntries *adj_palette_entries_new (AdjDocument *document);
void adj_palette_entries_free (AdjPaletteEntries *entries);
/* The best matches of the query by adj_fuzzy_match(); only commands for an empty query.
 * (transfer full): of AdjPaletteEntry */
GListStore *adj_palette_entries_find (AdjPaletteEntries *entries, const char *query);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjPaletteEntries, adj_palette_entries_free)

G_END_DECLS
