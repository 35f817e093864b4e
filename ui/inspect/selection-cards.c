/* SPDX-License-Identifier: MIT */
/* Cards about several selected nodes: totals, roles, operators, verdicts. */

#include "inspect/selection-cards.h"

#include <glib/gi18n.h>

#include "ir/adj-graph.h"
#include "report/adj-properties.h"
#include "report/adj-selection-totals.h"

#define MAX_OPERATORS 8
#define MAX_LINKS 40

static void
append (GtkBox *cards, AdjPropertyCard *card)
{
  if (!adj_property_card_is_empty (card))
    gtk_box_append (cards, GTK_WIDGET (card));
  else
    g_object_unref (g_object_ref_sink (card));
}

static void
add_totals (GtkBox *cards, const AdjSelectionTotals *totals)
{
  AdjPropertyCard *card = adj_property_card_new (_ ("Together"));
  g_autofree char *bytes = adj_properties_bytes (totals->bytes);
  g_autofree char *saved = adj_properties_bytes (totals->saved_bytes);
  g_autofree char *time = totals->ns >= 0 ? adj_properties_time ((double) totals->ns) : NULL;
  g_autofree char *sides = g_strdup_printf (_ ("%u forward, %u backward"),
                                            totals->n - totals->n_backward, totals->n_backward);
  g_autofree char *unknown =
      totals->n_unknown > 0
          ? g_strdup_printf (_ ("%s and %u of unknown size"), bytes, totals->n_unknown)
          : NULL;

  adj_property_card_add (card, _ ("Nodes"), sides);
  adj_property_card_add (card, _ ("Bytes"), unknown != NULL ? unknown : bytes);
  if (totals->saved_bytes > 0)
    adj_property_card_add (card, _ ("Saved"), saved);
  adj_property_card_add (card, _ ("Time"), time);
  append (cards, card);
}

static void
add_verdicts (GtkBox *cards, const AdjSelectionTotals *totals)
{
  AdjPropertyCard *card = adj_property_card_new (_ ("Compared"));

  for (guint i = 0; totals->compared && i <= ADJ_VERDICT_SKIPPED; i++)
    if (totals->verdicts[i] > 0)
      {
        g_autofree char *count = g_strdup_printf ("%u", totals->verdicts[i]);

        adj_property_card_add (card, adj_properties_verdict (i), count);
      }
  append (cards, card);
}

static void
add_roles (GtkBox *cards, const AdjSelectionTotals *totals)
{
  AdjPropertyCard *card = adj_property_card_new (_ ("Roles"));

  for (guint i = ADJ_ROLE_NONE + 1; i < ADJ_N_ROLES; i++)
    if (totals->roles[i] > 0)
      {
        g_autofree char *count = g_strdup_printf ("%u", totals->roles[i]);

        adj_property_card_add (card, _ (adj_role_name (i)), count);
      }
  append (cards, card);
}

static void
add_operators (GtkBox *cards, const AdjSelectionTotals *totals)
{
  AdjPropertyCard *card = adj_property_card_new (_ ("Operators"));
  guint n = totals->operators->len;

  for (guint i = 0; i < MIN (n, MAX_OPERATORS); i++)
    {
      const AdjOperatorCount *count = &g_array_index (totals->operators, AdjOperatorCount, i);
      g_autofree char *times = g_strdup_printf ("×%u", count->n);

      adj_property_card_add (card, times, count->target);
    }
  if (n > MAX_OPERATORS)
    {
      g_autofree char *more = g_strdup_printf (_ ("and %u other operators"), n - MAX_OPERATORS);

      adj_property_card_add_text (card, more, FALSE);
    }
  append (cards, card);
}

static void
add_nodes (GtkBox *cards, const AdjGraph *graph, const GArray *nodes)
{
  AdjPropertyCard *card = adj_property_card_new (_ ("Selected"));
  GtkWidget *copy = gtk_button_new_with_mnemonic (_ ("_Copy Names"));

  gtk_actionable_set_action_name (GTK_ACTIONABLE (copy), "win.copy-names");
  gtk_widget_set_halign (copy, GTK_ALIGN_START);
  for (guint i = 0; i < MIN (nodes->len, MAX_LINKS); i++)
    {
      AdjNodeId id = { g_array_index (nodes, guint32, i) };
      const AdjNode *node = adj_graph_get_node (graph, id.index);
      g_autofree char *annotation = adj_properties_annotation (graph, node);

      adj_property_card_add_link (card, NULL, node->name, id, annotation);
    }
  if (nodes->len > MAX_LINKS)
    {
      g_autofree char *more = g_strdup_printf (_ ("and %u more"), nodes->len - MAX_LINKS);

      adj_property_card_add_text (card, more, FALSE);
    }
  adj_property_card_add_widget (card, copy);
  append (cards, card);
}

static void
add_run (AdjSelectionTotals *totals, const AdjEvaluation *evaluation, const GArray *nodes)
{
  const AdjRunResult *result = adj_evaluation_get_result (evaluation);

  for (guint i = 0; i < nodes->len; i++)
    {
      AdjNodeId id = { g_array_index (nodes, guint32, i) };
      gboolean timed = result->node_ns != NULL && id.index < result->n_nodes;

      adj_selection_totals_add_run (totals, timed ? result->node_ns[id.index] : -1,
                                    adj_evaluation_find (evaluation, id));
    }
}

void
adj_selection_cards_fill (GtkBox *cards, AdjDocument *document)
{
  const AdjEvaluation *evaluation = adj_document_get_evaluation (document);
  const AdjGraph *graph = adj_document_get_graph (document)->graph;
  GArray *nodes = adj_document_get_chosen (document);
  g_autoptr (AdjSelectionTotals) totals =
      adj_selection_totals_new (graph, adj_document_get_scene (document), nodes);

  if (evaluation != NULL)
    add_run (totals, evaluation, nodes);
  add_totals (cards, totals);
  add_verdicts (cards, totals);
  add_roles (cards, totals);
  add_operators (cards, totals);
  add_nodes (cards, graph, nodes);
}
