/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-target-internal.h"
#include "ir/parse-private.h"

G_BEGIN_DECLS

/* A node that a statement makes; all is owned. */
typedef struct
{
  AdjOpcode opcode;
  char *target;
  GArray *args;   /* AdjValue */
  GArray *kwargs; /* AdjValue: key, value, … */
  AdjSpan span;
} AdjParsedNode;

/* A simple statement being parsed.  Values refer to its parsed nodes by the ids that follow those
 * of the graph; nothing is added until the whole statement is understood. */
struct _AdjStatement
{
  AdjModuleReader *module;
  AdjReader reader;
  AdjParsedMeta metadata;
  GArray *parsed_nodes; /* AdjParsedNode; the last one is the statement's own */
  const char *right;    /* (nullable): where an operation begins that PyTorch prints as one node */
};

void adj_statement_init (AdjStatement *s, AdjModuleReader *module, const AdjLine *line);
void adj_statement_clear (AdjStatement *s);
/* Takes the metadata in the comments of @text, if it has any. */
void adj_statement_read_metadata (AdjStatement *s, const char *text, gsize length);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AdjStatement, adj_statement_clear)

/* -- Parsed nodes (parse-nodes.c) ---- */

/* Appends one of @args and @kwargs (nullable), which are taken, and gives its node. */
AdjValue adj_statement_add_parsed (AdjStatement *s,
                                   AdjOpcode opcode,
                                   const char *target,
                                   GArray *args,
                                   GArray *kwargs,
                                   AdjSpan span);
/* Whether @value is the last parsed node. */
gboolean adj_statement_is_result (const AdjStatement *s, const AdjValue *value);
/* Adds the parsed nodes to the graph and empties them.  The last one gets the metadata, and @name
 * (nullable), which stands for it from now on. */
void adj_statement_commit (AdjStatement *s, const char *name, const AdjLine *line);
/* Adds the parsed nodes and an output node, which returns @value (taken) and gets the metadata. */
void adj_statement_add_output (AdjStatement *s, AdjValue *value, const AdjLine *line);
/* Adds a RAW node of the text in @line, with @metadata but for its deletes. */
void adj_module_add_raw (AdjModuleReader *module, const AdjLine *line, AdjParsedMeta *metadata);
/* -- Expressions (parse-expression.c, parse-call.c) ---- */

/* Reads the right side of `=`, with or without the brackets of a tuple. @is_operation: a single
 * operation there is a node, `slice(1, 2)` and `-1` included, not a value. */
gboolean adj_statement_read_right (AdjStatement *s, gboolean is_operation, AdjValue *out);
/* An expression up to anything that cannot continue it; never RAW. */
gboolean adj_expression_read (AdjReader *r, AdjValue *out);
/* The same as an item or argument: with nothing behind it but a comma or bracket. */
gboolean adj_expression_read_item (AdjReader *r, AdjValue *out);
/* A name, literal or bracket with all calls, attributes and indices that follow. */
gboolean adj_expression_read_primary (AdjReader *r, AdjValue *out);
/* Reads an index after `[`, which is taken, including `]`. */
gboolean adj_expression_read_index (AdjReader *r, AdjValue *out);
/* The target of the operator that is next; %NULL: none. */
const char *adj_reader_find_operator (const AdjReader *r, AdjFixity fixity);

G_END_DECLS
