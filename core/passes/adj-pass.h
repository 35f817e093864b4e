/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* A pass maps a sealed graph to a new sealed graph and never edits.  So before and after exist by
 * construction: stages, undo, the comparison of steps and the tests read them. */

typedef struct _AdjPassContext AdjPassContext;

typedef struct
{
  const char *name;     /* "dce": command line, golden folder, stage title */
  const char *argument; /* (nullable) what may follow the name, "TABLE" of "decompose=TABLE" */
  const char *summary;  /* one line, for lists and menus */
  const char *explain;  /* Markdown: why it exists, a before and an after */
  AdjGraph *(*run) (AdjGraph *in, AdjPassContext *context, GError **error);
} AdjPass;

/* Why a node was removed, added or changed. */
typedef struct
{
  AdjNodeId before; /* ADJ_NO_NODE for an added node */
  AdjNodeId after;  /* ADJ_NO_NODE for a node that went */
  char *reason;     /* (owned) */
} AdjPassNote;

/* The steps of a pass, in order. */
typedef struct
{
  char *name; /* (owned): "metadata" */
  char *note; /* (owned): its result, in one line or several; "": none */
  gint64 ns;  /* time it took */
} AdjPassStep;

typedef struct
{
  AdjGraph *graph;  /* (owned): what the pass made */
  const char *role; /* of the resulting graph: the name of the pass unless it sets another one */
  guint n_notes;
  AdjPassNote *notes; /* (owned) */
  guint n_steps;
  AdjPassStep *steps;  /* (owned) */
  GPtrArray *warnings; /* (owned) (nullable): of char * */
  gint64 ns;           /* time it took */
} AdjPassResult;

/**
 * adj_pass_run:
 * @argument: (nullable): as in "decompose=inductor"; %NULL: what the pass takes for granted
 * @result: (out caller-allocates): cleared with adj_pass_result_clear()
 *
 * Verifies and runs; who seals the graph that comes of it verifies that.
 *
 * Returns: %FALSE with ADJ_ERROR_VERIFY for a graph that breaks a rule, ADJ_ERROR_UNSUPPORTED for
 * an argument where none is taken, or the error of the pass; the message names the pass, and
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
/* (nullable): what followed the name of the pass. */
ADJ_PUBLIC const char *adj_pass_context_get_argument (const AdjPassContext *context);

G_END_DECLS
