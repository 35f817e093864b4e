/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

#include "model/adj-document.h"

G_BEGIN_DECLS

/* The palette: fuzzy search for commands, graphs, stages, modules and nodes; Enter runs the command
 * or goes to the item. */
#define ADJ_TYPE_COMMAND_PALETTE (adj_command_palette_get_type ())
G_DECLARE_FINAL_TYPE (AdjCommandPalette, adj_command_palette, ADJ, COMMAND_PALETTE, GtkPopover)

/* To be placed below the title of an AdjWindow. */
AdjCommandPalette *adj_command_palette_new (void);
void adj_command_palette_open (AdjCommandPalette *self, AdjDocument *document);

G_END_DECLS
