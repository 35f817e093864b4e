/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

#include "model/adj-document.h"

G_BEGIN_DECLS

/* The palette: a few letters find any command, graph, stage, module or node; Enter runs it or goes
 * there. */
#define ADJ_TYPE_COMMAND_PALETTE (adj_command_palette_get_type ())
G_DECLARE_FINAL_TYPE (AdjCommandPalette, adj_command_palette, ADJ, COMMAND_PALETTE, GtkPopover)

/* To be put below the title of an AdjWindow. */
AdjCommandPalette *adj_command_palette_new (void);
void adj_command_palette_open (AdjCommandPalette *self, AdjDocument *document);

G_END_DECLS
