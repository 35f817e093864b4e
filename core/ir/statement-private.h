/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-target-internal.h"
#include "ir/parse-private.h"

G_BEGIN_DECLS

/* A statement being taken apart. */
typedef struct
{
  AdjModuleReader *module;
  AdjReader reader;
  AdjNodeFacts facts;
  char *name;     /* on the left side */
  char *own_name; /* of a RAW node without one */
  gboolean is_bound_first;
  char *target; /* %NULL until the expression is understood */
  AdjOpcode opcode;
  GArray *args;   /* AdjValue */
  GArray *kwargs; /* AdjValue: key, value, … */
} AdjStatement;

void adj_statement_init (
    AdjStatement *s, AdjModuleReader *module, const char *text, gsize length, guint line);
void adj_statement_clear (AdjStatement *s);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AdjStatement, adj_statement_clear)

/* Appends @value, which becomes NONE. */
void adj_statement_take (GArray *values, AdjValue *value);
void adj_statement_understand (AdjStatement *s, AdjOpcode opcode, const char *target);
/* Takes the nodes that @text mentions as arguments, each once, and appends it to @out with their
 * names in place of those that the text gives them. */
void adj_statement_mention_nodes (AdjStatement *s, const char *text, gsize length, GString *out);
/* Adds its node, which stands in @line. */
void adj_statement_add (AdjStatement *s, const AdjLine *line);

/* -- Right sides (parse-expression.c) ---- */

gboolean adj_statement_read_expression (AdjStatement *s);
/* One more argument. */
gboolean adj_statement_read_operand (AdjStatement *s);
/* The target of the operator that is next; %NULL: none. */
const char *adj_statement_find_operator (const AdjReader *r, AdjFixity fixity);

G_END_DECLS
