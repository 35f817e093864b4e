/* SPDX-License-Identifier: MIT */
/* A comparison in words: causes, counts, and the evidence for the verdict on one value. */

#include <math.h>

#include "exec/adj-comparison.h"

const char *
adj_cause_describe (AdjCause cause)
{
  static const char *const texts[] = {
    [ADJ_CAUSE_NONE] = "",
    [ADJ_CAUSE_TYPE] = "it has another shape or type",
    [ADJ_CAUSE_BITS] = "it is not the same, and does not round",
    [ADJ_CAUSE_CLASS] = "NaN or infinity is on one side only",
    [ADJ_CAUSE_OWN] = "it is not what its operator gives on the inputs it got",
    [ADJ_CAUSE_PEER] = "what it is compared with is not what the operator gives on its inputs",
    [ADJ_CAUSE_FURTHER] = "it is further from float64 than rounding explains",
    [ADJ_CAUSE_OTHER] = "what it is compared with is further from float64 than rounding explains",
    [ADJ_CAUSE_TOLERANCE] = "it is beyond the tolerance that was asked for",
    [ADJ_CAUSE_INPUT] = "what it was computed from differs, and nothing is there to lay it beside",
    [ADJ_CAUSE_ABSENT] = "there is a tensor on one side only",
    [ADJ_CAUSE_DRAWS] = "it depends on random numbers, which the other draws by other operators",
  };

  return texts[cause];
}

static guint *
find_count (AdjComparisonCounts *counts, const AdjValueComparison *value)
{
  if (value->verdict == ADJ_VERDICT_SKIPPED)
    return &counts->not_comparable;
  if (value->cause == ADJ_CAUSE_INPUT)
    return &counts->inherit;
  if (value->verdict == ADJ_VERDICT_DIFFERS)
    return &counts->differ;
  if (value->alone)
    return &counts->unrecorded;
  return value->verdict == ADJ_VERDICT_EQUAL ? &counts->equal : &counts->within;
}

AdjComparisonCounts
adj_comparison_count (const AdjValueComparison *values, guint n)
{
  AdjComparisonCounts counts = { .n = n };

  for (guint i = 0; i < n; i++)
    (*find_count (&counts, &values[i]))++;
  return counts;
}

static gboolean
has_cause (const AdjValueComparison *values, guint n, AdjCause cause)
{
  for (guint i = 0; i < n; i++)
    if (values[i].cause == cause)
      return TRUE;
  return FALSE;
}

gboolean
adj_comparison_draws_otherwise (const AdjComparison *comparison)
{
  return has_cause (comparison->outputs, comparison->n_outputs, ADJ_CAUSE_DRAWS) ||
         has_cause (comparison->nodes, comparison->n_nodes, ADJ_CAUSE_DRAWS);
}

char *
adj_comparison_summarize (const AdjComparison *comparison)
{
  gboolean nodes = comparison->nodes != NULL;
  AdjComparisonCounts counts =
      nodes ? adj_comparison_count (comparison->nodes, comparison->n_nodes)
            : adj_comparison_count (comparison->outputs, comparison->n_outputs);
  const struct
  {
    guint n;
    const char *what;
  } parts[] = { { counts.equal, "equal" },
                { counts.within, "within" },
                { counts.differ, "differ" },
                { counts.inherit, "inherit" },
                { counts.unrecorded,
                  comparison->of_graphs ? "without counterpart" : "nothing recorded" },
                { counts.not_comparable, "not comparable" } };
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "%u %s", counts.n, nodes ? "nodes" : "outputs");
  for (guint i = 0, n = 0; i < G_N_ELEMENTS (parts); i++)
    if (parts[i].n > 0)
      g_string_append_printf (text, "%s %u %s", n++ > 0 ? "," : ":", parts[i].n, parts[i].what);
  return g_string_free (text, FALSE);
}

const char *
adj_comparison_describe_alone (const AdjComparison *comparison)
{
  return comparison->of_graphs ? "the other graph has no counterpart of it"
                               : "nothing was recorded for it";
}

static void
add (GArray *rows, const char *what, double number, double limit, char *origin)
{
  AdjEvidence evidence = { what, number, limit, origin };

  g_array_append_val (rows, evidence);
}

/* "sums of 768 terms: 13.6 u, u = 5.96e-08 of f32". */
static char *
describe_band (const AdjValueComparison *value, const AdjDeviation *deviation)
{
  static const char *const classes[] = {
    [ADJ_BAND_EXACT] = "computes nothing: its bits",
    [ADJ_BAND_ROUNDED] = "rounds once or twice",
    [ADJ_BAND_SMOOTH] = "a smooth function",
    [ADJ_BAND_PLACES] = "blends at computed places",
    [ADJ_BAND_SUM] = "a sum",
    [ADJ_BAND_PRODUCT] = "sums of products",
    [ADJ_BAND_LINALG] = "transforms and factorizations",
  };
  AdjDType dtype = adj_dtype_get_real (value->dtype);
  double u = adj_dtype_unit_roundoff (dtype);
  GString *text = g_string_new (classes[value->band]);

  if (value->band >= ADJ_BAND_SUM)
    g_string_append_printf (text, " of %g terms", value->reduction);
  if (u > 0 && deviation->rel_l2_limit > 0)
    g_string_append_printf (text, ": %.3g u, u = %.3g of %s", deviation->rel_l2_limit / u, u,
                            adj_dtype_info (dtype)->code);
  if (deviation->terms > 2)
    g_string_append_printf (text, ", its terms cancel: they are %.3g times as large",
                            deviation->terms);
  return g_string_free (text, FALSE);
}

static void
add_deviation (GArray *rows,
               const AdjValueComparison *value,
               const AdjDeviation *deviation,
               const char *const what[4])
{
  if (!deviation->measured)
    return;
  add (rows, what[0], deviation->rel_l2, deviation->rel_l2_limit, describe_band (value, deviation));
  if (deviation->n_class_mismatch > 0)
    add (rows, what[3], (double) deviation->n_class_mismatch, 0,
         g_strdup ("NaN or infinite on one side only"));
  if (deviation->rel_l2_limit == 0)
    return;
  add (rows, what[1], deviation->slope, deviation->slope_limit,
       g_strdup_printf ("between half the band and all of it, by %.4g elements that round "
                        "independently",
                        deviation->independent));
  add (rows, what[2], deviation->element, ADJ_ELEMENT_LIMIT,
       deviation->element_index < 0
           ? g_strdup ("u of the absolute values of its terms")
           : g_strdup_printf ("u of the absolute values of its terms, at element %" G_GINT64_FORMAT,
                              deviation->element_index));
}

static void
clear_evidence (gpointer evidence)
{
  g_free (((AdjEvidence *) evidence)->origin);
}

GArray *
adj_value_comparison_explain (const AdjValueComparison *value)
{
  static const char *const own[] = { "own error", "own slope", "own worst element",
                                     "own odd elements" };
  static const char *const peer[] = { "peer's error", "peer's slope", "peer's worst element",
                                      "peer's odd elements" };
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (AdjEvidence));

  g_array_set_clear_func (rows, clear_evidence);
  add_deviation (rows, value, &value->own, own);
  add_deviation (rows, value, &value->peer_own, peer);
  if (!isnan (value->accumulated))
    add (rows, "to float64", value->accumulated, value->accumulated_limit,
         g_strdup (isnan (value->accumulated_limit)
                       ? "not asked: its operator decides"
                       : "two or three times the peer's and 4 u, or 16 times what rounding does"));
  if (!isnan (value->peer))
    add (rows, "peer to float64", value->peer, value->peer_limit,
         g_strdup (isnan (value->peer_limit)
                       ? "not asked"
                       : "a hundred times the other's and 4 u, or 16 times what rounding does"));
  if (!isnan (value->perturbation))
    add (rows, "rounding", value->perturbation, NAN,
         g_strdup ("what rounding every value of the float64 run does here"));
  return rows;
}
