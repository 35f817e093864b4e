/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/parse-private.h"

G_BEGIN_DECLS

/* The whole text. */
typedef struct
{
  const char *at; /* the next line */
  const char *end;
  guint number; /* of the next line, from 1 */
  guint n_nodes;
  gsize n_wasted; /* bytes scanned for the end of a logical line without finding it */
  AdjSymbols *symbols;
  AdjFindOpFunc find_op; /* (nullable) */
  AdjDiags *diags;
  AdjWords words;
  gboolean is_export;   /* the next module is of an exported program */
  gboolean quotes_raw;  /* what is not understood is kept in quotes */
  GHashTable *metadata; /* (unowned) (nullable) name → text, of the outermost placeholders */
} AdjText;

/* Fails when @at is no UTF-8; @diags (nullable). */
gboolean
adj_text_init (AdjText *text, const char *at, gssize length, AdjDiags *diags, GError **error);
void adj_text_clear (AdjText *text);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AdjText, adj_text_clear)

/* %FALSE at the end. */
gboolean adj_text_peek_line (const AdjText *text, AdjLine *line);
void adj_text_skip_line (AdjText *text);

gboolean adj_line_starts_with (const AdjLine *line, const char *word);
/* Extends @line, which is the next one, by the lines that belong to its statement, and advances
 * past them.  Returns whether it is a block: `if`, `with` and the like with their bodies. */
gboolean adj_text_take_statement (AdjText *text, AdjLine *line);
/* The name between "class " and "(torch.nn.Module):", which may follow a file's name. */
gboolean adj_line_find_class (const AdjLine *line, gsize *start, gsize *length);
/* Sets @error to "line:column: @message". */
void adj_line_fail (GError **error, AdjError code, const AdjLine *line, const char *message);

/* -- Modules (parse-module.c) ---- */

/* Reads the class of @class_line, which is the next line, and those inside of it; or a function
 * without a class. */
AdjGraph *adj_text_parse_module (
    AdjText *text, const AdjLine *class_line, guint depth, char **name, GError **error);
/* Reads one node per line, below @first, which is the next line. */
AdjGraph *adj_text_parse_lines (AdjText *text, const AdjLine *first, GError **error);

G_END_DECLS
