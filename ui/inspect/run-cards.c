/* SPDX-License-Identifier: MIT */
/* Cards about a node's value in a run, and its comparison. */

#include "inspect/run-cards.h"

#include <glib/gi18n.h>
#include <math.h>

#include "inspect/adj-histogram.h"
#include "report/adj-properties.h"

#define FIRST_ELEMENTS 8

/* Adds each number with its limit, and the origin of the limit for its own error. */
static void
add_evidence (AdjPropertyCard *card, const AdjValueComparison *comparison)
{
  g_autoptr (GArray) rows = adj_value_comparison_explain (comparison);

  for (guint i = 0; i < rows->len; i++)
    {
      const AdjEvidence *row = &g_array_index (rows, AdjEvidence, i);
      g_autofree char *number = adj_properties_number (row->number);
      g_autofree char *limit = adj_properties_number (row->limit);
      g_autofree char *what = g_strdup (row->what);
      const char *sign = fabs (row->number) <= row->limit ? "≤" : ">";
      g_autofree char *both = isnan (row->limit)
                                  ? g_strdup (number)
                                  : g_strdup_printf ("%s %s %s", number, sign, limit);

      what[0] = g_ascii_toupper (what[0]);
      adj_property_card_add (card, what, both);
    }
  if (rows->len > 0)
    adj_property_card_add_text (card, g_array_index (rows, AdjEvidence, 0).origin, FALSE);
}

void
adj_run_card_fill_comparison (AdjPropertyCard *card, const AdjNodeSubject *s)
{
  const AdjValueComparison *c =
      s->evaluation != NULL ? adj_evaluation_find (s->evaluation, s->id) : NULL;
  g_autofree char *max_abs = NULL, *max_rel = NULL, *mismatch = NULL;

  if (c == NULL)
    return;
  max_abs = adj_properties_number (c->difference.max_abs);
  max_rel = adj_properties_number (c->difference.max_rel);
  mismatch = g_strdup_printf (_ ("%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT),
                              c->difference.n_not_close, c->difference.n);
  adj_property_card_add (card, _ ("Verdict"), adj_properties_comparison (c));
  if (c->verdict == ADJ_VERDICT_SKIPPED)
    return;
  adj_property_card_add (card, _ ("Max abs"), max_abs);
  adj_property_card_add (card, _ ("Max rel"), max_rel);
  add_evidence (card, c);
  adj_property_card_add (card, _ ("Not close"), mismatch);
  if (c->cause != ADJ_CAUSE_NONE)
    adj_property_card_add_text (card, adj_cause_describe (c->cause), FALSE);
  if (c->verdict == ADJ_VERDICT_DIFFERS && c->cause != ADJ_CAUSE_INPUT)
    adj_property_card_add_text (
        card,
        c->inputs_agree   ? _ ("Its inputs agree, so the difference begins here.")
        : c->inputs_alone ? _ ("Its inputs had no values to be compared with.")
                          : _ ("Its inputs differ already: this may only follow from them."),
        FALSE);
  else if (c->alone)
    adj_property_card_add_text (
        card, _ ("There was no value to compare it with: its own error decided."), FALSE);
}

/* The legend: which side the bars and the line are. */
static GtkWidget *
make_sides (const char *other)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  g_autofree char *line = g_strdup_printf ("━ %s", other);
  GtkWidget *own_label = gtk_label_new (_ ("▮ this run")), *other_label = gtk_label_new (line);

  gtk_widget_add_css_class (own_label, "own-side");
  gtk_widget_add_css_class (other_label, "other-side");
  gtk_label_set_ellipsize (GTK_LABEL (other_label), PANGO_ELLIPSIZE_END);
  gtk_box_append (GTK_BOX (box), own_label);
  gtk_box_append (GTK_BOX (box), other_label);
  return box;
}

/* Draws both sides over one range, where both are known and not equal. */
static void
add_histogram (AdjPropertyCard *card, const AdjNodeSubject *s, const AdjTensorStats *stats)
{
  AdjTensorData *value = adj_evaluation_get_value (s->evaluation, s->id);
  AdjTensorData *beside = adj_evaluation_get_beside (s->evaluation, s->id);
  const char *peer = adj_evaluation_get_peer (s->evaluation);
  AdjTensorStats own, other;

  if (beside == NULL)
    {
      adj_property_card_add_widget (card, adj_histogram_new (stats, NULL));
      return;
    }
  adj_tensor_stats_compute_both (value, beside, &own, &other);
  adj_property_card_add_widget (card, adj_histogram_new (&own, &other));
  adj_property_card_add_widget (card, make_sides (peer != NULL ? peer : _ ("recorded")));
}

void
adj_run_card_fill_result (AdjPropertyCard *card, const AdjNodeSubject *s)
{
  AdjTensorData *value =
      s->evaluation != NULL ? adj_evaluation_get_value (s->evaluation, s->id) : NULL;
  AdjTensorStats stats;
  g_autofree char *mean = NULL, *range = NULL, *min = NULL, *max = NULL, *deviation = NULL;
  g_autofree char *first = NULL, *spread = NULL;

  if (value == NULL)
    return;
  adj_tensor_stats_compute (value, &stats);
  mean = adj_properties_number (stats.mean);
  deviation = adj_properties_number (stats.deviation);
  spread = g_strdup_printf ("%s ± %s", mean, deviation);
  min = adj_properties_number (stats.min);
  max = adj_properties_number (stats.max);
  range = g_strdup_printf ("%s … %s", min, max);
  first = adj_tensor_stats_first (value, FIRST_ELEMENTS);
  adj_property_card_add (card, _ ("Mean"), spread);
  adj_property_card_add (card, _ ("Range"), range);
  if (stats.n_nan + stats.n_inf > 0)
    {
      g_autofree char *odd =
          g_strdup_printf ("%" G_GINT64_FORMAT " / %" G_GINT64_FORMAT, stats.n_nan, stats.n_inf);

      adj_property_card_add (card, _ ("NaN / Inf"), odd);
    }
  adj_property_card_add (card, _ ("First"), first);
  if (stats.n > 1)
    add_histogram (card, s, &stats);
}
