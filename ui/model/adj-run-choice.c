/* SPDX-License-Identifier: MIT */
#include "model/adj-run-choice.h"

#include <glib/gi18n.h>

#define MAX_CALLS 20

guint
adj_run_choice_count_calls (const AdjGraphSet *graphs, const AdjBundleGraph *graph)
{
  guint n = 0;

  while (n < MAX_CALLS && adj_graph_set_find_call (graphs, graph, n) != NULL)
    n++;
  return n;
}

AdjRunChoice
adj_run_choice_fit (AdjRunChoice choice, const AdjGraphSet *graphs, const AdjBundleGraph *graph)
{
  if (adj_graph_set_find_call (graphs, graph, choice.call) == NULL)
    choice.call = 0;
  if (adj_graph_set_find_call (graphs, graph, choice.call) == NULL)
    choice.random = TRUE;
  return choice;
}

gboolean
adj_run_choice_equal (AdjRunChoice a, AdjRunChoice b)
{
  return a.random == b.random && (a.random ? a.seed == b.seed : a.call == b.call) &&
         a.float64 == b.float64;
}

char *
adj_run_choice_describe (AdjRunChoice choice)
{
  GString *text = g_string_new (NULL);

  if (choice.random)
    g_string_append_printf (text, _ ("random inputs, seed %u"), choice.seed);
  else if (choice.call > 0)
    g_string_append_printf (text, _ ("call %u"), choice.call + 1);
  if (choice.float64)
    g_string_append_printf (text, "%s%s", text->len > 0 ? " · " : "", "float64");
  return g_string_free (text, text->len == 0);
}
