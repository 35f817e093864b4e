/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-text.h"
#include "ir/adj-thread-state.h"

G_BEGIN_DECLS

/* In the signature, between the parameters and the flattened expression: "x <- ([x], {})". */
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
/* Whether @text can be printed between the quotes of an annotation. */
gboolean adj_text_is_annotation (const char *text, gsize length);

/* Appends "{recompute: MUST_SAVE, …}"; %FALSE, and nothing appended, when @node has no metadata. */
gboolean adj_metadata_print (const AdjGraph *graph, const AdjNode *node, GString *out);
gboolean adj_thread_state_print (const AdjThreadState *thread_state, GString *out);
gboolean adj_symbol_metadata_print (const AdjSymbol *symbol, GString *out);
/* The default minimum of a symbol whose range the text does not give. */
gint64 adj_symbol_default_min (const char *name);

G_END_DECLS
