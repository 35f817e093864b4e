/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-bundle.h"

G_BEGIN_DECLS

/* Which inputs of a graph require a gradient, where its own text does not say: texts of logs never
 * do, and without it a trace would have no backward. */

typedef enum
{
  ADJ_GRADIENTS_SAID,       /* an input of the graph says so, or the graph is not one that is
                               differentiated */
  ADJ_GRADIENTS_FROM_JOINT, /* derived from what the joint graph of its region returns */
  ADJ_GRADIENTS_UNKNOWN,    /* not recorded */
} AdjGradientsKnown;

/**
 * adj_wanted_gradients_find:
 * @wanted: (out) (array): for each input of @graph, in order; freed by g_array_unref(), of gboolean
 *
 * Finds the inputs of @graph, of @bundle, that require a gradient.  UNKNOWN: @wanted has all that
 * could, or only the parameters where there are some.
 */
AdjGradientsKnown
adj_wanted_gradients_find (AdjBundle *bundle, const AdjBundleGraph *graph, GArray **wanted);

/**
 * adj_wanted_gradients_set:
 * @wanted: as adj_wanted_gradients_find() gave it
 *
 * Returns: (transfer full) (nullable): @graph with inputs that require a gradient as @wanted says;
 *   %NULL with ADJ_ERROR_VERIFY
 */
AdjGraph *adj_wanted_gradients_set (const AdjGraph *graph, const GArray *wanted, GError **error);

/* Which inputs require a gradient when a graph is traced. */
typedef enum
{
  ADJ_GRADIENTS_AS_KNOWN, /* those that its text or its joint graph says; none where neither does */
  ADJ_GRADIENTS_GUESSED,  /* the same, but where neither says, the parameters, or all inputs where
                             there are none */
  ADJ_GRADIENTS_NONE,     /* none: an inference graph */
} AdjGradientsChoice;

/* (transfer full) (nullable): @graph with the gradients to trace it with; the same graph where
 * nothing changes.  @known: (out) (optional).  %NULL with ADJ_ERROR_VERIFY */
AdjGraph *adj_wanted_gradients_apply (AdjBundle *bundle,
                                      const AdjBundleGraph *graph,
                                      AdjGradientsChoice choice,
                                      AdjGradientsKnown *known,
                                      GError **error);

G_END_DECLS
