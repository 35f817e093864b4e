/* SPDX-License-Identifier: MIT */
#pragma once

#include <adwaita.h>

#include "ir/adj-graph.h"

G_BEGIN_DECLS

/* A titled card of facts: keys with values, and links to nodes. */
#define ADJ_TYPE_FACT_CARD (adj_fact_card_get_type ())
G_DECLARE_FINAL_TYPE (AdjFactCard, adj_fact_card, ADJ, FACT_CARD, AdwBin)

AdjFactCard *adj_fact_card_new (const char *title);
/* Nothing is added when @value is %NULL or "". */
void adj_fact_card_add (AdjFactCard *self, const char *key, const char *value);
/* A line of its own. */
void adj_fact_card_add_text (AdjFactCard *self, const char *text, gboolean monospace);
/* A link that selects @node; @key before it and @trailing at the end of the line, both nullable. */
void adj_fact_card_add_link (
    AdjFactCard *self, const char *key, const char *text, AdjNodeId node, const char *trailing);
/* A link that activates @action with @target (floating). */
void adj_fact_card_add_action (AdjFactCard *self,
                               const char *key,
                               const char *text,
                               const char *action,
                               GVariant *target,
                               const char *trailing);
void adj_fact_card_add_widget (AdjFactCard *self, GtkWidget *widget);
gboolean adj_fact_card_is_empty (AdjFactCard *self);

G_END_DECLS
