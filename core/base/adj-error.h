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
  ADJ_ERROR_STALE,
} AdjError;

ADJ_PUBLIC GQuark adj_error_quark (void);

/* What an error blames besides saying so in words; errors of other domains blame nothing. */

/* The node @name, which stands at @index of its graph. */
ADJ_PUBLIC void adj_error_blame_node (GError *error, const char *name, guint index);
ADJ_PUBLIC void adj_error_blame_input (GError *error, guint input);
ADJ_PUBLIC void adj_error_blame_output (GError *error, guint output);
/* (nullable); @index: (out): in its graph */
ADJ_PUBLIC const char *adj_error_get_node (const GError *error, guint *index);
ADJ_PUBLIC guint adj_error_get_input (const GError *error);  /* G_MAXUINT: none */
ADJ_PUBLIC guint adj_error_get_output (const GError *error); /* G_MAXUINT: none */

G_END_DECLS
