/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-cancellable.h"
#include "base/adj-macros.h"

G_BEGIN_DECLS

/* The log of torch.utils._debug_mode.DebugMode.save_logs(): the operator calls of one run, in
 * order, with hashes of their results (formats/SPEC.md §14).  Immutable. */
typedef struct _AdjDebugLog AdjDebugLog;

/* A tensor that a call gave. */
typedef struct
{
  const char *dtype;          /* (nullable): "f32"; %NULL: not recorded */
  guint rank;                 /* number of its sizes */
  const gint64 *sizes;        /* (nullable) */
  gboolean has_norm, has_xor; /* which of the two hashes were recorded: */
  double norm;                /* the sum of the magnitudes, in float64 */
  guint64 bits;               /* all elements as float64 or int64, combined by exclusive or */
} AdjDebugValue;

typedef struct
{
  const char *op;     /* "aten::sum.dim_IntList" */
  const char *module; /* (nullable): the innermost that it is in, "M.a" */
  gboolean single;    /* the result is one tensor, not a list of them */
  guint n;
  const AdjDebugValue *values;
} AdjDebugCall;

/* Whether the file at @path looks like one. */
ADJ_PUBLIC gboolean adj_debug_log_is (const char *path);
/* (transfer full) (nullable): %NULL with ADJ_ERROR_PARSE, ADJ_ERROR_LIMIT, ADJ_ERROR_UNSUPPORTED or
 * G_IO_ERROR; messages begin with @path. */
ADJ_PUBLIC AdjDebugLog *
adj_debug_log_load (const char *path, GCancellable *cancellable, GError **error);
/* The same of @text; messages begin with @name. */
ADJ_PUBLIC AdjDebugLog *
adj_debug_log_read (const char *text, gsize length, const char *name, GError **error);
ADJ_PUBLIC void adj_debug_log_free (AdjDebugLog *log);
ADJ_PUBLIC guint adj_debug_log_get_n (const AdjDebugLog *log);
ADJ_PUBLIC const AdjDebugCall *adj_debug_log_get (const AdjDebugLog *log, guint index);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjDebugLog, adj_debug_log_free)

G_END_DECLS
