/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* A pass maps a sealed graph to a new sealed graph and never edits, so that the graphs before and
 * after both exist: stages, undo, the comparison of steps and the tests use them. */

typedef struct _AdjPassContext AdjPassContext;

typedef struct
{
  const char *name;     /* "dce": for the command line, golden folder and stage title */
  const char *argument; /* (nullable): argument of the pass, "TABLE" of "decompose=TABLE" */
  const char *summary;  /* one line, for lists and menus */
  const char *explain;  /* Markdown: why it exists, a before and an after */
  AdjGraph *(*run) (AdjGraph *in, AdjPassContext *context, GError **error);
} AdjPass;

/* Why a node was removed, added or changed. */
typedef struct
{
  AdjNodeId before; /* ADJ_NO_NODE for an added node */
  AdjNodeId after;  /* ADJ_NO_NODE for a removed node */
  char *reason;     /* (owned) */
} AdjPassNote;

/* One step of a pass. */
typedef struct
{
  char *name; /* (owned): "metadata" */
  char *note; /* (owned): its result, one or more lines; "": none */
  gint64 ns;  /* duration */
} AdjPassStep;

typedef struct
{
  AdjGraph *graph;  /* (owned): the resulting graph */
  const char *role; /* of the resulting graph: the name of the pass, unless it sets another */
  guint n_notes;
  AdjPassNote *notes; /* (owned) */
  guint n_steps;
  AdjPassStep *steps;  /* (owned) */
  GPtrArray *warnings; /* (owned) (nullable): of char * */
  gint64 ns;           /* duration */
} AdjPassResult;

/**
 * adj_pass_run:
 * @argument: (nullable): as in "decompose=inductor"; %NULL: the default of the pass
 * @result: (out caller-allocates): cleared with adj_pass_result_clear()
 *
 * Verifies @graph and runs the pass; sealing verifies the result.
 *
 * Returns: %FALSE with ADJ_ERROR_VERIFY for a graph that breaks a rule, ADJ_ERROR_UNSUPPORTED for
 * an unexpected argument, or the error of the pass; the message names the pass, and
 * @result is empty
 */
ADJ_PUBLIC gboolean adj_pass_run (const AdjPass *pass,
                                  const char *argument,
                                  AdjGraph *graph,
                                  AdjPassResult *result,
                                  GError **error);
/* Frees the members of @result, not @result itself. */
ADJ_PUBLIC void adj_pass_result_clear (AdjPassResult *result);

/* For passes. */
ADJ_PUBLIC void
adj_pass_note (AdjPassContext *context, AdjNodeId before, AdjNodeId after, const char *format, ...)
    G_GNUC_PRINTF (4, 5);
/* (nullable): the argument given after the name of the pass. */
ADJ_PUBLIC const char *adj_pass_context_get_argument (const AdjPassContext *context);

G_END_DECLS
