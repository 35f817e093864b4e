/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-text.h"

G_BEGIN_DECLS

/* In the signature, between parameters and what of them is flattened: "x <- ([x], {})". */
#define ADJ_FLATTENED_MARK " <- "

/* A frame of a stack trace, as stretches of its text. */
typedef struct
{
  const char *file;
  const char *function;
  const char *code;
  gsize file_length;
  gsize function_length;
  gsize code_length;
  guint line;
} AdjPlace;

/* The frame that PyTorch prints: the last one that a line follows. */
gboolean adj_stack_trace_innermost (const char *text, AdjPlace *out);

/* "self.a.b", or getattr(self.a, "0") where a part is no identifier. */
void adj_print_path (GString *out, const char *base, const char *path);
gboolean adj_text_is_identifier (const char *text, gsize length);
/* Whether @text can stand between the quotes of an annotation. */
gboolean adj_text_is_annotation (const char *text, gsize length);

/* Appends "{recompute: MUST_SAVE, …}"; %FALSE, and nothing appended, when @node has no facts. */
gboolean adj_facts_print (const AdjGraph *graph, const AdjNode *node, GString *out);
gboolean adj_ambient_facts_print (const AdjAmbient *ambient, GString *out);
gboolean adj_symbol_facts_print (const AdjSymbol *symbol, GString *out);
/* The least value of a symbol of which text says nothing. */
gint64 adj_symbol_default_min (const char *name);

/* The node type that PyTorch prints as " : list", kept in extra; %NULL when there is none. */
const char *adj_node_get_type_text (const AdjNode *node);

G_END_DECLS
