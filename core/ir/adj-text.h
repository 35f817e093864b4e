/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-diag.h"
#include "ir/adj-target.h"
#include "ir/adj-value.h"

G_BEGIN_DECLS

/* Graph text: the print_readable form of structured traces (ir/SPEC.md §5, TEXT.md).  We read what
 * PyTorch 2.1 and later print, and print as 2.6 does. */

typedef enum
{
  ADJ_PRINT_DEFAULT = 0,
  ADJ_PRINT_NO_METADATA = 1 << 0, /* without the "# adj: {…}" comments */
  ADJ_PRINT_NO_COMMENTS = 1 << 1, /* without "# File:" lines and their blank lines */
} AdjPrintFlags;

/* Statement of one node, without indentation: "add: \"f32[4][1]cpu\" = torch.ops.…;  x = None". */
ADJ_PUBLIC void adj_node_print (const AdjGraph *graph, guint index, GString *out);
/* A value as graph text writes it: Python repr, nodes by name.  @graph (nullable) names nodes. */
ADJ_PUBLIC void adj_value_print (const AdjValue *value, const AdjGraph *graph, GString *out);

/**
 * adj_graph_print:
 *
 * print (parse (x)) == x for every x that this function made.  Where @lines is given, lines[i] is
 * set to the line (from 1) of node i's statement, 0 for nodes without one.
 *
 * Returns: (transfer full): text ending in a newline
 */
ADJ_PUBLIC char *adj_graph_print (const AdjGraph *graph, AdjPrintFlags flags, guint *lines);

/**
 * adj_graph_parse:
 * @text: UTF-8; its first module, possibly with nested ones (they become subgraphs)
 * @find_op: (nullable): as of adj_builder_new()
 * @diags: (nullable): gets warnings and errors with their places
 *
 * A statement that cannot be read becomes a RAW node with a warning, so that the rest loads.
 *
 * Returns: (transfer full) (nullable): %NULL with ADJ_ERROR_PARSE "line:column: …"
 */
ADJ_PUBLIC AdjGraph *adj_graph_parse (
    const char *text, gssize length, AdjFindOpFunc find_op, AdjDiags *diags, GError **error);

#define ADJ_MAX_PARSED 10000 /* graphs in one text */

/* One graph of a text that holds several. */
typedef struct
{
  AdjGraph *graph; /* (owned) */
  GBytes *text;    /* (owned) of its module */
  guint line;      /* where that begins, from 1 */
} AdjParsedGraph;

/**
 * adj_graph_parse_all:
 *
 * As adj_graph_parse(), for each module of the text; what stands before, between and behind them is
 * passed over.  A graph that cannot be read is left out with an error in @diags.
 *
 * Returns: (transfer full) (nullable) (element-type AdjParsedGraph): at least one; %NULL with
 *   ADJ_ERROR_PARSE when there is none
 */
ADJ_PUBLIC GArray *adj_graph_parse_all (
    const char *text, gssize length, AdjFindOpFunc find_op, AdjDiags *diags, GError **error);

/* @out: (out) (transfer full): one value, e.g. "[1, 'a', torch.float32]"; names resolve through
 * @resolve, else RAW.  %FALSE with ADJ_ERROR_PARSE. */
typedef gboolean (*AdjNameFunc) (const char *name, AdjValue *out, gpointer data);
ADJ_PUBLIC gboolean adj_value_parse (const char *text,
                                     gssize length,
                                     AdjNameFunc resolve,
                                     gpointer data,
                                     AdjValue *out,
                                     GError **error);

G_END_DECLS
