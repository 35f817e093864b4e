/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-graph.h"
#include "base/adj-lexer.h"
#include "ir/adj-builder.h"
#include "ir/adj-text.h"

G_BEGIN_DECLS

/* -- Values (parse-reader.c, parse-value.c) ---- */

typedef struct _AdjStatement AdjStatement;

/* Reads values from a stream of tokens; @token is the next one.  Inside brackets newlines and
 * comments are skipped. */
typedef struct
{
  AdjLexer lexer;
  AdjToken token;
  AdjNameFunc resolve; /* (nullable) */
  gpointer data;
  AdjSymbols *symbols;     /* (nullable) */
  AdjStatement *statement; /* (nullable): values may be computed, by nodes of this statement */
  guint depth;
  guint brackets;      /* open around @token */
  gboolean quotes_raw; /* text that is not understood counts as mentioning a node, so that it is
                          quoted */
  gboolean raw_mentions_node; /* unread text mentions a node, or @quotes_raw is set */
  gboolean is_open;           /* a bracket or string has no end, nor has what contains it */
} AdjReader;

void adj_reader_init (AdjReader *reader, const char *text, gsize length, guint line);
void adj_reader_advance (AdjReader *reader);
/* Whether the next token is @punct. */
gboolean adj_reader_at (const AdjReader *reader, const char *punct);
/* Takes @punct if it is next. */
gboolean adj_reader_take (AdjReader *reader, const char *punct);
gboolean adj_reader_at_name (const AdjReader *reader, const char *name);
/* Whether the rest of the line is empty or a comment. */
gboolean adj_reader_at_end (const AdjReader *reader);
/* Whether a simple statement ends here: at the end of its line or before a semicolon. */
gboolean adj_reader_at_end_of_statement (const AdjReader *reader);
/* Whether @punct follows the next token. */
gboolean adj_reader_is_before (const AdjReader *reader, const char *punct);
/* Whether @token is a keyword of Python. */
gboolean adj_token_is_keyword (const AdjToken *token);
/* Reads values after an opening bracket, which is taken, up to @close, which is taken; appends them
 * to @items. */
gboolean adj_reader_read_items (AdjReader *reader, GArray *items, const char *close);

/* Reads a value up to a comma or closing bracket outside its own brackets; an unknown value becomes
 * RAW. %FALSE for an empty or unbalanced one. */
gboolean adj_reader_read (AdjReader *reader, AdjValue *out);
/* A value with nothing required to follow, so that an operator may; never RAW. */
gboolean adj_reader_read_operand (AdjReader *reader, AdjValue *out);
/* Reads a path below self: `self.a.b`, `self.a["b"]`, `getattr(self.a, "0").b`; @depth: of
 * brackets, 0. */
gboolean adj_reader_read_self_path (AdjReader *reader, GString *path, guint depth);
/* `a.b` after its first name, which is the last token taken; appended to @path with dots. */
gboolean adj_reader_read_parts (AdjReader *reader, GString *path);
/* Reads a value written as a call of @name, such as slice(1, 2); its opening bracket is next.
 * %FALSE, with nothing taken, when @name is none; else @ok tells whether it was read. */
gboolean
adj_reader_read_value_call (AdjReader *reader, const char *name, AdjValue *out, gboolean *ok);
/* None, torch.float32, torch.ops.aten.add.Tensor; no node and no call. */
gboolean adj_value_from_path (const char *path, AdjValue *out);

/* -- Numbers and strings (parse-literal.c) ---- */

gboolean adj_reader_read_signed (AdjReader *reader, AdjValue *out);
/* (1+2j), without the opening bracket. */
gboolean adj_reader_read_complex (AdjReader *reader, AdjValue *out);
gboolean adj_reader_read_string (AdjReader *reader, AdjValue *out);

/* -- Annotations and metadata (parse-metadata.c) ---- */

/* The metadata of a node while it is read; all members are owned. */
typedef struct
{
  AdjValue val;
  AdjNodeMeta meta;
  AdjValue extra; /* DICT */
  AdjValue kept;  /* LIST of values whose texts @meta borrows */
  AdjModule *modules;
  AdjModule *fwd_modules;
} AdjParsedMeta;

void adj_parsed_meta_init (AdjParsedMeta *metadata);
void adj_parsed_meta_clear (AdjParsedMeta *metadata);
/* The text of an annotation: `"f32[4]"` or `list`; %FALSE when it is neither. */
gboolean adj_parsed_meta_annotate (AdjParsedMeta *metadata,
                                   const char *text,
                                   gsize length,
                                   AdjSymbols *symbols);
/* Parses "{recompute: MUST_SAVE, …}"; malformed entries are left out. */
gboolean adj_parsed_meta_parse (AdjParsedMeta *metadata,
                                const char *text,
                                gsize length,
                                AdjSymbols *symbols);
/* Parses thread settings; unknown ones are ignored. */
void
adj_thread_state_parse (const char *text, gsize length, AdjSymbols *symbols, AdjThreadState *out);
void
adj_symbol_metadata_parse (const char *name, const char *text, gsize length, AdjSymbols *symbols);
/* Keeps @key, which has no member of its own, in the member `extra`; takes @value. */
void adj_parsed_meta_keep (AdjParsedMeta *metadata, const char *key, AdjValue *value);

/* -- Lines ---- */

typedef struct
{
  const char *at;
  gsize length; /* without a newline, carriage return and blanks at the end */
  guint number;
  guint indent;
} AdjLine;

AdjSpan adj_line_get_span (const AdjLine *line);

/* -- Ends of statements (parse-tail.c) ---- */

/* Takes `;  x = y = None`, or nothing.  @last (nullable) is set to the last name before None. */
gboolean adj_tail_read (AdjReader *r, char **last);
/* Takes `x = (y) = None`, appending the names to @names; %FALSE for anything else. */
gboolean adj_tail_read_deletes (AdjReader *r, GPtrArray *names);
/* The same of `del x, y`. */
gboolean adj_tail_read_del (AdjReader *r, GPtrArray *names);
/* The stretch of @text before its deletes, of which there may be several; @last is the last name
 * in the last of them. */
gsize adj_tail_find_deletes (const char *text, gsize length, char **last);
/* The text after `# adj: ` in the last such comment of @text; %NULL: there is none. */
const char *adj_tail_find_metadata (const char *text, gsize length, gsize *n_metadata);

/* -- Statements (parse-statement.c, parse-names.c, parse-return.c) ---- */

/* The words of the whole text, collected when a made-up name must differ from all of them. */
typedef struct
{
  const char *text;
  gsize length;
  GHashTable *set; /* (owned) (nullable) */
} AdjWords;

/* One class in the text, being read. */
typedef struct
{
  AdjWords *words; /* shared by all classes */
  AdjBuilder *builder;
  AdjSymbols *symbols;
  AdjDiags *diags;     /* (nullable) */
  GHashTable *names;   /* (owned) name in the text → AdjValue that it denotes */
  GHashTable *targets; /* (owned) set of those of placeholders */
  guint n_targets;     /* last number given to a duplicate target */
  char *stack_trace;   /* (nullable) of the statements that follow */
  char *notes;         /* (nullable) metadata for the statements that follow */
  GString *block;      /* (nullable) metadata for the next statement, without braces */
  guint n_leaves;      /* of the inputs that a shuffling function passes to the outputs */
  gboolean quotes_raw; /* text that is not understood is kept in quotes */
} AdjModuleReader;

GHashTable *adj_module_names_new (void);
/* @out: (transfer full) */
gboolean adj_module_resolve (const char *name, AdjValue *out, gpointer data);
/* Binds @name to a copy of @value. */
void adj_module_set (AdjModuleReader *module, const char *name, const AdjValue *value);
/* Adds the nodes of the statements in @line, which may continue on further lines; a RAW node for a
 * statement that is not understood. */
void adj_module_read_statements (AdjModuleReader *module, const AdjLine *line);
/* Adds a RAW node for @line as a whole. */
void adj_module_keep_raw (AdjModuleReader *module, const AdjLine *line);
/* Adds the output node.  @type (nullable) is that of the function; @descriptions, what comments say
 * of each item, is taken. */
void adj_module_read_return (AdjModuleReader *module,
                             const AdjLine *line,
                             const char *type,
                             AdjValue *descriptions);
/* Adds a RAW node for a `return` that is not understood, and an output node that returns it. */
void adj_module_return_raw (AdjModuleReader *module, const AdjLine *line);
/* The target of a placeholder called @name: @target, made unique. (transfer full) */
char *adj_module_take_target (AdjModuleReader *module,
                              const char *target,
                              const char *name,
                              AdjSpan span);
/* A name for a node that has another name in the text, or none. */
char *adj_module_make_up_name (AdjModuleReader *module, const char *candidate);
/* The name of a node that the text calls @name: that name, made unique. (transfer full) */
char *adj_module_take_name (AdjModuleReader *module, const char *name, AdjSpan span);
/* Binds @name in the text to a new node, and gives the node's name: @name, or one like it. */
char *adj_module_bind (AdjModuleReader *module, const char *name, AdjSpan span);

/* -- Nodes in lines, `str(graph)` (parse-lines.c) ---- */

/* Whether @line is `graph(…):`. */
gboolean adj_lines_begin (const AdjLine *line);
/* Adds the placeholders that it names. */
void adj_lines_read_parameters (AdjModuleReader *module, const AdjLine *line);
/* Adds the node of `%name : …`, RAW at worst; %FALSE when @line is none. */
gboolean adj_lines_read_node (AdjModuleReader *module, const AdjLine *line);
/* Adds the output of `return …`; %FALSE when @line is none. */
gboolean adj_lines_read_return (AdjModuleReader *module, const AdjLine *line);

/* -- Headers (parse-header.c) ---- */

/* What placeholders are made from.  All members are owned. */
typedef struct
{
  AdjModuleReader *module; /* (unowned) */
  GPtrArray *parameters;   /* placeholders once they are added */
  GHashTable *by_target;   /* name without stars → parameter */
  GPtrArray *bindings;     /* annotations of what a pytree unpacks into */
  GHashTable *metadata;    /* node name → text of its metadata */
  GHashTable *given; /* (unowned) (nullable): the same, for names without metadata in the text */
  char *signature;   /* (nullable) "primals, tangents", when it is a pytree's */
  char *return_type;
  gboolean is_boxed;
  gboolean has_ended; /* the placeholders are added */
} AdjHeaderReader;

void adj_header_init (AdjHeaderReader *header, AdjModuleReader *module);
void adj_header_clear (AdjHeaderReader *header);
/* Reads `(self, a: "f32[2]", b = None) -> T` up to the colon, over several lines if necessary. */
gboolean adj_header_read (AdjHeaderReader *header, AdjReader *r);
/* Reads a line below the header that makes or names placeholders; %FALSE if it does not. */
gboolean adj_header_read_line (AdjHeaderReader *header, const AdjReader *r);
/* Adds the placeholders, once. */
void adj_header_end (AdjHeaderReader *header);

/* -- Comments (parse-comment.c) ---- */

void adj_comment_read (AdjHeaderReader *header, const AdjLine *line);
/* Reads a line of a block in triple quotes, which describes the next statement. */
void adj_block_read (AdjModuleReader *module, const AdjLine *line);
/* Applies the comments above a statement to @metadata; %NULL: drops them. */
void adj_notes_apply (AdjModuleReader *module, AdjParsedMeta *metadata);
/* "# PlainAOTInput(idx=0)" → STRING, or NONE when it is empty. */
AdjValue adj_description_new (const char *comment, gsize length);

/* -- Exported programs (parse-export.c) ---- */

/* Reads the signature after a module: metadata of parameters into @metadata, ranges into @symbols.
 */
void adj_export_read (const char *text, gsize length, GHashTable *metadata, AdjSymbols *symbols);

G_END_DECLS
