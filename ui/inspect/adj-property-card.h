/* SPDX-License-Identifier: MIT */
#pragma once

#include <adwaita.h>

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* A titled card of properties: keys with values, and links to nodes. */
#define ADJ_TYPE_PROPERTY_CARD (adj_property_card_get_type ())
G_DECLARE_FINAL_TYPE (AdjPropertyCard, adj_property_card, ADJ, PROPERTY_CARD, AdwBin)

AdjPropertyCard *adj_property_card_new (const char *title);
/* Nothing is added when @value is %NULL or "". */
void adj_property_card_add (AdjPropertyCard *self, const char *key, const char *value);
/* Adds a paragraph. */
void adj_property_card_add_text (AdjPropertyCard *self, const char *text, gboolean monospace);
/* A link that selects @node; @key before it and @trailing at the end of the line, both nullable. */
void adj_property_card_add_link (
    AdjPropertyCard *self, const char *key, const char *text, AdjNodeId node, const char *trailing);
/* A link that activates @action with @target (floating). */
void adj_property_card_add_action (AdjPropertyCard *self,
                                   const char *key,
                                   const char *text,
                                   const char *action,
                                   GVariant *target,
                                   const char *trailing);
void adj_property_card_add_widget (AdjPropertyCard *self, GtkWidget *widget);
gboolean adj_property_card_is_empty (AdjPropertyCard *self);

G_END_DECLS
