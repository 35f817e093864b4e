/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-lexer.h"
#include "ir/adj-builder.h"
#include "ir/adj-text.h"

G_BEGIN_DECLS

/* -- Values (parse-reader.c, parse-value.c) ---- */

typedef struct _AdjStatement AdjStatement;

/* Reads values off a stream of tokens; @token is the next one.  In brackets the ends of lines and
 * comments are passed over. */
typedef struct
{
  AdjLexer lexer;
  AdjToken token;
  AdjNameFunc resolve; /* (nullable) */
  gpointer data;
  AdjSymbols *symbols;     /* (nullable) */
  AdjStatement *statement; /* (nullable): values may be computed, by nodes of this statement */
  guint depth;
  guint brackets;             /* open around @token */
  gboolean raw_mentions_node; /* an unread stretch of text names a node */
  gboolean is_open;           /* a bracket or string does not end: nor does what is around it */
} AdjReader;

void adj_reader_init (AdjReader *reader, const char *text, gsize length, guint line);
void adj_reader_advance (AdjReader *reader);
/* Whether the next token is @punct. */
gboolean adj_reader_at (const AdjReader *reader, const char *punct);
/* Takes @punct if it is next. */
gboolean adj_reader_take (AdjReader *reader, const char *punct);
gboolean adj_reader_at_name (const AdjReader *reader, const char *name);
/* Whether nothing but a comment is left of the line. */
gboolean adj_reader_at_end (const AdjReader *reader);
/* Whether a simple statement ends here: so does its line, or a semicolon follows. */
gboolean adj_reader_at_end_of_statement (const AdjReader *reader);
/* Whether @punct follows the next token. */
gboolean adj_reader_is_before (const AdjReader *reader, const char *punct);
/* Whether @token is a word that Python keeps for itself. */
gboolean adj_token_is_keyword (const AdjToken *token);
/* What stands between a bracket that is taken and @close, which is taken: appended to @items. */
gboolean adj_reader_read_items (AdjReader *reader, GArray *items, const char *close);

/* One value, up to a comma or a closing bracket that is not its own; what is no value we know
 * becomes RAW.  %FALSE when not even that: empty, or its brackets do not match. */
gboolean adj_reader_read (AdjReader *reader, AdjValue *out);
/* A value with nothing required to follow, so that an operator may; never RAW. */
gboolean adj_reader_read_operand (AdjReader *reader, AdjValue *out);
/* What stands below self: `self.a.b`, `self.a["b"]`, `getattr(self.a, "0").b`; @depth: of brackets,
 * 0. */
gboolean adj_reader_read_self_path (AdjReader *reader, GString *path, guint depth);
/* `a.b` after its first name, which is the last token taken; appended to @path with dots. */
gboolean adj_reader_read_parts (AdjReader *reader, GString *path);
/* A value that looks like a call of @name, such as slice(1, 2); its opening bracket is next.
 * %FALSE, and nothing is taken, when there is none of that name; else @ok says how it went. */
gboolean
adj_reader_read_value_call (AdjReader *reader, const char *name, AdjValue *out, gboolean *ok);
/* None, torch.float32, torch.ops.aten.add.Tensor; no node and no call. */
gboolean adj_value_from_path (const char *path, AdjValue *out);

/* -- Numbers and strings (parse-literal.c) ---- */

gboolean adj_reader_read_signed (AdjReader *reader, AdjValue *out);
/* (1+2j), without the opening bracket. */
gboolean adj_reader_read_complex (AdjReader *reader, AdjValue *out);
gboolean adj_reader_read_string (AdjReader *reader, AdjValue *out);

/* -- Annotations and facts (parse-facts.c) ---- */

/* What is gathered about a node before it is added; everything is owned. */
typedef struct
{
  AdjValue val;
  AdjNodeMeta meta;
  AdjValue extra; /* DICT */
  AdjValue kept;  /* LIST of values whose texts @meta borrows */
  AdjModule *modules;
  AdjModule *fwd_modules;
} AdjNodeFacts;

void adj_node_facts_init (AdjNodeFacts *facts);
void adj_node_facts_clear (AdjNodeFacts *facts);
/* The text of an annotation: `"f32[4]"` or `list`; %FALSE when it is neither. */
gboolean
adj_node_facts_annotate (AdjNodeFacts *facts, const char *text, gsize length, AdjSymbols *symbols);
/* "{recompute: MUST_SAVE, …}"; what is malformed is left out. */
gboolean
adj_node_facts_parse (AdjNodeFacts *facts, const char *text, gsize length, AdjSymbols *symbols);
/* Settings that we do not know are passed over. */
void adj_ambient_facts_parse (const char *text, gsize length, AdjSymbols *symbols, AdjAmbient *out);
void adj_symbol_facts_parse (const char *name, const char *text, gsize length, AdjSymbols *symbols);
/* Adds a key to what is kept; takes @value. */
void adj_node_facts_keep (AdjNodeFacts *facts, const char *key, AdjValue *value);

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
/* What `# adj: ` is followed by in the last such comment of @text; %NULL: there is none. */
const char *adj_tail_find_facts (const char *text, gsize length, gsize *n_facts);

/* -- Statements (parse-statement.c, parse-names.c, parse-return.c) ---- */

/* The words of the whole text, collected when a name must be made up that is none of them. */
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
  GHashTable *names;   /* (owned) name in the text → AdjValue, which it stands for */
  GHashTable *targets; /* (owned) set of those of placeholders */
  guint n_targets;     /* how far they are numbered, where the text has one twice */
  char *stack_trace;   /* (nullable) of the statements that follow */
  char *notes;         /* (nullable) facts of the statements that follow */
  GString *block;      /* (nullable) facts of the next statement, without braces */
  guint n_leaves;      /* of inputs, when a function shuffles them and outputs */
} AdjModuleReader;

GHashTable *adj_module_names_new (void);
/* @out: (transfer full) */
gboolean adj_module_resolve (const char *name, AdjValue *out, gpointer data);
/* @name stands for @value from now on, which is copied. */
void adj_module_set (AdjModuleReader *module, const char *name, const AdjValue *value);
/* Adds the nodes of the statements in @line, which may go over several lines of the text; for what
 * is not understood a RAW one. */
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
/* What a placeholder called @name gets as its target, which is that of no other: @target, or one
 * like @name. */
char *adj_module_take_target (AdjModuleReader *module,
                              const char *target,
                              const char *name,
                              AdjSpan span);
/* A name for a node that the text calls otherwise, or not at all. */
char *adj_module_make_up_name (AdjModuleReader *module, const char *candidate);
/* What a node is called that the text calls @name: that, or like it. */
char *adj_module_take_name (AdjModuleReader *module, const char *name, AdjSpan span);
/* Binds @name in the text to a new node, and gives the node's name: @name, or one like it. */
char *adj_module_bind (AdjModuleReader *module, const char *name, AdjSpan span);

/* -- Nodes in lines, `str(graph)` (parse-lines.c) ---- */

/* Whether @line is `graph(…):`. */
gboolean adj_lines_begin (const AdjLine *line);
/* The placeholders that it names. */
void adj_lines_read_parameters (AdjModuleReader *module, const AdjLine *line);
/* Adds the node of `%name : …`, RAW at worst; %FALSE when @line is none. */
gboolean adj_lines_read_node (AdjModuleReader *module, const AdjLine *line);
/* Adds the output of `return …`; %FALSE when @line is none. */
gboolean adj_lines_read_return (AdjModuleReader *module, const AdjLine *line);

/* -- Headers (parse-header.c) ---- */

/* What the placeholders are made from.  All members are owned. */
typedef struct
{
  AdjModuleReader *module; /* (unowned) */
  GPtrArray *parameters;   /* placeholders once they are added */
  GHashTable *by_target;   /* name without stars → parameter */
  GPtrArray *bindings;     /* annotations of what a pytree unpacks into */
  GHashTable *facts;       /* node name → text of its facts */
  GHashTable *given;       /* (unowned) (nullable): the same, where the text says nothing */
  char *signature;         /* (nullable) "primals, tangents", when it is a pytree's */
  char *return_type;
  gboolean is_boxed;
  gboolean has_ended; /* the placeholders are added */
} AdjHeaderReader;

void adj_header_init (AdjHeaderReader *header, AdjModuleReader *module);
void adj_header_clear (AdjHeaderReader *header);
/* `(self, a: "f32[2]", b = None) -> T` and comes to the colon; over several lines if need be. */
gboolean adj_header_read (AdjHeaderReader *header, AdjReader *r);
/* A line below that makes or names placeholders; %FALSE when it is none. */
gboolean adj_header_read_line (AdjHeaderReader *header, const AdjReader *r);
/* Adds the placeholders, once. */
void adj_header_end (AdjHeaderReader *header);

/* -- Comments (parse-comment.c) ---- */

void adj_comment_read (AdjHeaderReader *header, const AdjLine *line);
/* A line of a block in triple quotes, which is about the next statement. */
void adj_block_read (AdjModuleReader *module, const AdjLine *line);
/* What the comments above say of a statement; @facts (nullable): of nothing. */
void adj_notes_apply (AdjModuleReader *module, AdjNodeFacts *facts);
/* "# PlainAOTInput(idx=0)" → STRING, or NONE when it is empty. */
AdjValue adj_description_new (const char *comment, gsize length);

/* -- Exported programs (parse-export.c) ---- */

/* What the signature behind a module says: of parameters into @facts, ranges into @symbols. */
void adj_export_read (const char *text, gsize length, GHashTable *facts, AdjSymbols *symbols);

G_END_DECLS
