/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-bundle.h"

G_BEGIN_DECLS

/* Which inputs of a graph require a gradient, where its own text does not say: texts of logs never
 * do, and a trace of such a graph would have no backward. */

typedef enum
{
  ADJ_GRADIENTS_SAID,       /* some input says so, or it is no graph that is differentiated */
  ADJ_GRADIENTS_FROM_JOINT, /* by what the joint graph of its region returns */
  ADJ_GRADIENTS_UNKNOWN,    /* nothing says */
} AdjGradientsKnown;

/**
 * adj_wanted_gradients_find:
 * @wanted: (out) (array): for each input of @graph, in order; freed by g_array_unref(), of gboolean
 *
 * The inputs of @graph, of @bundle, that require a gradient.  UNKNOWN: all that could are in
 * @wanted, parameters alone where there are some.
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

/* How a graph is traced. */
typedef enum
{
  ADJ_GRADIENTS_AS_KNOWN, /* as its text or its joint graph says; where neither does, of nothing */
  ADJ_GRADIENTS_GUESSED,  /* where neither says, of parameters, or where there are none of all */
  ADJ_GRADIENTS_NONE,     /* of nothing: an inference graph */
} AdjGradientsChoice;

/* (transfer full) (nullable): @graph as it is to be traced; the same one where nothing has to be
 * set.  @known: (out) (optional).  %NULL with ADJ_ERROR_VERIFY */
AdjGraph *adj_wanted_gradients_apply (AdjBundle *bundle,
                                      const AdjBundleGraph *graph,
                                      AdjGradientsChoice choice,
                                      AdjGradientsKnown *known,
                                      GError **error);

G_END_DECLS
