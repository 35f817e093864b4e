/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-error.h"

G_BEGIN_DECLS

/* A stretch of text; lines and columns count from 1, columns in bytes. line 0: no place known. */
typedef struct
{
  guint line;
  guint column;
  guint length;
} AdjSpan;

typedef enum
{
  ADJ_SEVERITY_NOTE,
  ADJ_SEVERITY_WARNING,
  ADJ_SEVERITY_ERROR,
} AdjSeverity;

typedef struct
{
  AdjSeverity severity;
  AdjSpan span;
  char *message; /* (owned) one sentence, no trailing stop */
} AdjDiag;

/* The diagnostics of a reader about its input, in order.  At most ADJ_DIAGS_MAX are kept and the
 * rest only counted, so that a hostile file cannot fill memory. */
typedef struct _AdjDiags AdjDiags;

#define ADJ_DIAGS_MAX 1000

ADJ_PUBLIC AdjDiags *adj_diags_new (void); /* (transfer full) */
/* @diags: (nullable) */
ADJ_PUBLIC void adj_diags_free (AdjDiags *diags);
/* The kept diagnostics; one of them (@index below their number) is valid as long as @diags. */
ADJ_PUBLIC guint adj_diags_get_n (const AdjDiags *diags);
ADJ_PUBLIC const AdjDiag *adj_diags_get (const AdjDiags *diags, guint index);
/* How many were added, kept or not, of severity @at_least or worse. */
ADJ_PUBLIC guint adj_diags_count (const AdjDiags *diags, AdjSeverity at_least);

/* @diags may be %NULL: the message is dropped. */
ADJ_PUBLIC void
adj_diags_add (AdjDiags *diags, AdjSeverity severity, AdjSpan span, const char *format, ...)
    G_GNUC_PRINTF (4, 5);

/* Sets @error to the first error in @diags, ADJ_ERROR_PARSE "@file:line:column: message"; %FALSE
 * when there is none.  @file may be %NULL. */
ADJ_PUBLIC gboolean adj_diags_to_error (const AdjDiags *diags, const char *file, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjDiags, adj_diags_free)

G_END_DECLS
