/* SPDX-License-Identifier: MIT */
/* Follows a file or a folder of logs while a program writes it. */

#include "watch.h"

#include <stdio.h>

#include "formats/adj-follower.h"
#include "ir/adj-graph.h"
#include "plugins.h"

#define INTERVAL (300 * G_TIME_SPAN_MILLISECOND)

/* Prints graphs that are new, or that grew because they were cut off before; @shown: id → number of
 * calls when printed, plus one. */
static void
print_new (const AdjBundle *bundle, GHashTable *shown)
{
  for (guint i = 0; i < adj_bundle_get_n_graphs (bundle); i++)
    {
      const AdjBundleGraph *entry = adj_bundle_get_graph (bundle, i);
      guint n = adj_graph_get_n_calls (entry->graph);

      if (GPOINTER_TO_UINT (g_hash_table_lookup (shown, entry->id)) == n + 1)
        continue;
      g_hash_table_replace (shown, g_strdup (entry->id), GUINT_TO_POINTER (n + 1));
      printf ("%-28s %-18s %12u %8u\n", entry->id, entry->role,
              adj_graph_get_n_inputs (entry->graph), n);
    }
  fflush (stdout);
}

AdjExit
adj_watch (const char *path, GError **error)
{
  g_autoptr (GHashTable) shown = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (AdjFollower) follower = adj_follower_new (path, NULL, plugins_get ());

  printf ("%-28s %-18s %12s %8s\n", "GRAPH", "ROLE", "PLACEHOLDERS", "NODES");
  while (ferror (stdout) == 0)
    {
      g_autoptr (GError) reason = NULL;
      g_autoptr (AdjBundle) bundle = adj_follower_next (follower, NULL, &reason);

      if (reason != NULL)
        {
          g_propagate_error (error, g_steal_pointer (&reason));
          return ADJ_EXIT_BAD_INPUT;
        }
      if (bundle != NULL)
        print_new (bundle, shown);
      g_usleep (INTERVAL);
    }
  return ADJ_EXIT_DONE;
}
