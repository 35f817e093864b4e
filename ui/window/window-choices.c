/* SPDX-License-Identifier: MIT */
/* Choices of view, tint, labels and inputs as states of actions. */

#include "window/window-choices.h"

#include <glib/gi18n.h>
#include <string.h>

#include "window/window-dialogs.h"

#define CALL_PREFIX "call-"

const AdjCommandTarget adj_view_targets[] = {
  [ADJ_VIEW_MIRROR] = { "mirror", N_ ("Mirror View") },
  [ADJ_VIEW_STACKED] = { "stacked", N_ ("Stacked View") },
  [ADJ_VIEW_FLOW] = { "flow", N_ ("Flow View") },
  { NULL, NULL },
};

const AdjCommandTarget adj_coloring_targets[] = {
  { "role", N_ ("Colour by Role") },
  { "bytes", N_ ("Colour by Bytes") },
  { "time", N_ ("Colour by Time") },
  { "error", N_ ("Colour by Error") },
  { NULL, NULL },
};
G_STATIC_ASSERT (G_N_ELEMENTS (adj_coloring_targets) == ADJ_N_COLORINGS + 1);

const AdjCommandTarget adj_labeling_targets[] = {
  { "nothing", N_ ("Nothing beside Lines") },
  { "shape", N_ ("Shapes beside Lines") },
  { "size", N_ ("Sizes beside Lines") },
  { NULL, NULL },
};
G_STATIC_ASSERT (G_N_ELEMENTS (adj_labeling_targets) == ADJ_N_LABELINGS + 1);

const AdjCommandTarget adj_page_targets[] = {
  { "source", N_ ("Show Source") },
  { "run", N_ ("Show How to Run") },
  { "values", N_ ("Show Values") },
  { "memory", N_ ("Show Memory") },
  { "backward", N_ ("Show Backward") },
  { "text", N_ ("Show Text") },
  { "changes", N_ ("Show Changes") },
  { "contract", N_ ("Show Contract") },
  { "partitions", N_ ("Show Partitions") },
  { "findings", N_ ("Show Findings") },
  { "facts", N_ ("Show Facts") },
  { "log", N_ ("Show Log") },
  { NULL, NULL },
};

GVariant *
adj_chosen_view (AdjDocument *document)
{
  return g_variant_new_string (
      adj_view_targets[adj_document_get_arrangement (document)->view].value);
}

void
adj_choose_view (AdjWindow *self, GVariant *value)
{
  for (guint i = 0; adj_view_targets[i].value != NULL; i++)
    if (g_str_equal (g_variant_get_string (value, NULL), adj_view_targets[i].value))
      {
        adj_graph_view_fit_next (adj_window_get_view (self), TRUE);
        adj_document_set_view (adj_window_get_document (self), i);
      }
}

GVariant *
adj_chosen_only_changed (AdjDocument *document)
{
  return g_variant_new_boolean (adj_document_get_arrangement (document)->only_changed);
}

void
adj_choose_only_changed (AdjWindow *self, GVariant *value)
{
  adj_graph_view_fit_next (adj_window_get_view (self), TRUE);
  adj_document_set_only_changed (adj_window_get_document (self), g_variant_get_boolean (value));
}

GVariant *
adj_chosen_coloring (AdjDocument *document)
{
  return g_variant_new_string (
      adj_coloring_name (adj_document_get_arrangement (document)->coloring));
}

void
adj_choose_coloring (AdjWindow *self, GVariant *value)
{
  AdjColoring coloring = adj_coloring_find (g_variant_get_string (value, NULL));

  if (coloring < ADJ_N_COLORINGS)
    adj_document_set_coloring (adj_window_get_document (self), coloring);
}

GVariant *
adj_chosen_labeling (AdjDocument *document)
{
  return g_variant_new_string (
      adj_labeling_name (adj_document_get_arrangement (document)->labeling));
}

void
adj_choose_labeling (AdjWindow *self, GVariant *value)
{
  AdjLabeling labeling = adj_labeling_find (g_variant_get_string (value, NULL));

  if (labeling < ADJ_N_LABELINGS)
    adj_document_set_labeling (adj_window_get_document (self), labeling);
}

GVariant *
adj_chosen_inputs (AdjDocument *document)
{
  AdjRunChoice choice = adj_document_get_run_choice (document);

  if (choice.kept != NULL)
    return g_variant_new_printf (ADJ_RUN_PREFIX "%s", choice.kept);
  if (choice.file != NULL)
    return g_variant_new_string ("file");
  return choice.random ? g_variant_new_string ("random")
                       : g_variant_new_printf (CALL_PREFIX "%u", choice.call);
}

/* @value: "call-0" …, or ADJ_RUN_PREFIX and a name, or "random", which asks for the seed, or
 * "file", which asks for one. */
void
adj_choose_inputs (AdjWindow *self, GVariant *value)
{
  AdjDocument *document = adj_window_get_document (self);
  AdjRunChoice choice = adj_document_get_run_choice (document);
  const char *name = g_variant_get_string (value, NULL);
  guint64 call;

  if (g_str_equal (name, "random"))
    {
      adj_window_ask_seed (self);
      return;
    }
  if (g_str_equal (name, "file"))
    {
      adj_window_ask_inputs (self);
      return;
    }
  if (g_str_has_prefix (name, ADJ_RUN_PREFIX))
    {
      choice.kept = g_intern_string (name + strlen (ADJ_RUN_PREFIX));
      adj_document_set_run_choice (document, choice);
      return;
    }
  if (!g_str_has_prefix (name, CALL_PREFIX) ||
      !g_ascii_string_to_unsigned (name + strlen (CALL_PREFIX), 10, 0, G_MAXUINT, &call, NULL))
    return;
  choice.random = FALSE;
  choice.file = NULL;
  choice.kept = NULL;
  choice.call = (guint) call;
  adj_document_set_run_choice (document, choice);
}

GVariant *
adj_chosen_float64 (AdjDocument *document)
{
  return g_variant_new_boolean (adj_document_get_run_choice (document).float64);
}

void
adj_choose_float64 (AdjWindow *self, GVariant *value)
{
  AdjDocument *document = adj_window_get_document (self);
  AdjRunChoice choice = adj_document_get_run_choice (document);

  choice.float64 = g_variant_get_boolean (value);
  adj_document_set_run_choice (document, choice);
}
