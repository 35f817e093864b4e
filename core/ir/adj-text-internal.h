/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-arena.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"

G_BEGIN_DECLS

/* The warning of a value that is kept as text. */
#define ADJ_UNREAD_VALUE "'%s' is not understood; it is kept as text"

/* As adj_graph_parse(); @metadata (nullable) holds texts "{source: …}" by name of a placeholder of
 * the outermost module, as the lines `# adj: name {…}` would. */
AdjGraph *adj_graph_parse_with (const char *text,
                                gssize length,
                                AdjFindOpFunc find_op,
                                GHashTable *metadata,
                                AdjDiags *diags,
                                GError **error);

/* (transfer full) (nullable): @text without the escape sequences of terminal colours; %NULL if it
 * has none. */
char *adj_text_strip_colors (const char *text, gssize length);

/* Takes a Python stack trace text apart; frames and their texts live in @arena. */
guint adj_stack_trace_parse (const char *text, AdjArena *arena, const AdjFrame **frames);

/* The node type that PyTorch prints as " : list", kept in extra; %NULL when there is none. */
const char *adj_node_get_type_text (const AdjNode *node);

G_END_DECLS
