/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-executor.h"
#include "model/adj-graph-set.h"

G_BEGIN_DECLS

/* The inputs, executor, precision and tolerances of a run.  All zero: the first recorded call, in
 * its own precision, compared by the bands of the operators. */
typedef struct
{
  guint call;         /* recorded call, from 0 */
  gboolean random;    /* random inputs from @seed instead */
  const char *file;   /* (nullable) instead of both: a safetensors file of inputs; interned */
  const char *kept;   /* (nullable) instead of all: name of the kept run; interned */
  const char *values; /* (nullable): a safetensors file to compare with; interned */
  guint32 seed;
  gboolean float64;
  const AdjExecutor *executor; /* (nullable): the interpreter */
  gboolean close;              /* compare by |a - r| <= atol + rtol |r| instead */
  double rtol, atol;
} AdjRunChoice;

/* Number of recorded calls of @graph, up to a bound that menus can show. */
guint adj_run_choice_count_calls (const AdjGraphSet *graphs, const AdjBundleGraph *graph);

/* The choice adapted to @graph: its first call when it has fewer, random inputs when it has none.
 */
AdjRunChoice
adj_run_choice_fit (AdjRunChoice choice, const AdjGraphSet *graphs, const AdjBundleGraph *graph);

/* Whether the inputs are recorded ones. */
gboolean adj_run_choice_is_recorded (AdjRunChoice choice);
/* Whether there are recorded or kept results for these inputs to compare with. */
gboolean adj_run_choice_has_results (AdjRunChoice choice);
gboolean adj_run_choice_equal (AdjRunChoice a, AdjRunChoice b);

/* "call 2 · float64"; %NULL for the default choice.  (transfer full) */
char *adj_run_choice_describe (AdjRunChoice choice);

/* -- from session to session: a group of a key file -- */

void adj_run_choice_save (AdjRunChoice choice, GKeyFile *keys, const char *group);
/* Loads a choice; invalid values are replaced by defaults. */
AdjRunChoice adj_run_choice_load (GKeyFile *keys, const char *group);

G_END_DECLS
