/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-macros.h"

G_BEGIN_DECLS

#define ADJ_ERROR (adj_error_quark ())

/**
 * AdjError:
 * @ADJ_ERROR_PARSE: text or a file is malformed; the message names place and reason
 * @ADJ_ERROR_VERIFY: a graph breaks an invariant; the message names the node and the rule
 * @ADJ_ERROR_SHAPE: shapes, dtypes or arguments of a call do not fit its operator
 * @ADJ_ERROR_UNSUPPORTED: well formed, but not something that we can run
 * @ADJ_ERROR_DEVICE: it cannot run here: no such device
 * @ADJ_ERROR_MEMORY: it cannot run here: the estimate exceeds the memory limit
 * @ADJ_ERROR_LIMIT: the input exceeds a bound that protects the reader
 * @ADJ_ERROR_NOT_FOUND: no graph, node, operator or entry of that name
 * @ADJ_ERROR_UNRECORDED: it cannot be judged: nothing was recorded for it
 * @ADJ_ERROR_STALE: a guard no longer holds
 *
 * Codes say what a caller can do.  Input/output and cancellation stay G_IO_ERROR.
 */
typedef enum
{
  ADJ_ERROR_PARSE,
  ADJ_ERROR_VERIFY,
  ADJ_ERROR_SHAPE,
  ADJ_ERROR_UNSUPPORTED,
  ADJ_ERROR_DEVICE,
  ADJ_ERROR_MEMORY,
  ADJ_ERROR_LIMIT,
  ADJ_ERROR_NOT_FOUND,
  ADJ_ERROR_UNRECORDED,
  ADJ_ERROR_STALE,
} AdjError;

ADJ_PUBLIC GQuark adj_error_quark (void); /* what ADJ_ERROR stands for */

/* -- what an error blames, besides saying so in words: of the graph that was run or traced -- */

typedef enum
{
  ADJ_BLAME_NODE,
  ADJ_BLAME_INPUT,
  ADJ_BLAME_OUTPUT,
} AdjBlameKind;

typedef struct
{
  AdjBlameKind kind;
  guint index; /* its index among the nodes, inputs or outputs */
  char *name;  /* name of a node, by which nodes of other graphs are told apart; else %NULL */
} AdjBlame;

/* The first one blamed is shown first.  Errors of other domains blame nothing. */
ADJ_PUBLIC void adj_error_blame_node (GError *error, const char *name, guint index);
ADJ_PUBLIC void adj_error_blame_input (GError *error, guint input);
ADJ_PUBLIC void adj_error_blame_output (GError *error, guint output);
/* (nullable) (transfer none) (array length=n) */
ADJ_PUBLIC const AdjBlame *adj_error_get_blame (const GError *error, guint *n);

G_END_DECLS
