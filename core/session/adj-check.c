/* SPDX-License-Identifier: MIT */
/* The table of checks, and running all of them over the graphs of a bundle. */

#include "session/adj-check.h"

#include <gio/gio.h>
#include <stddef.h>

#include "passes/adj-check-internal.h"

static const AdjCheck *const checks[] = {
#define CHECK(name, file) &adj_check_##name,
#include "passes/checks.inc"
#undef CHECK
};

guint
adj_checks_get_n (void)
{
  return G_N_ELEMENTS (checks);
}

const AdjCheck *
adj_checks_get (guint index)
{
  g_return_val_if_fail (index < G_N_ELEMENTS (checks), NULL);

  return checks[index];
}

static const struct
{
  const char *role;
  gsize offset;
} places[] = {
  { "dynamo", offsetof (AdjCheckedRegion, dynamo) },
  { "user", offsetof (AdjCheckedRegion, dynamo) },
  { "inference", offsetof (AdjCheckedRegion, inference) },
  { "joint", offsetof (AdjCheckedRegion, joint) },
  { "forward", offsetof (AdjCheckedRegion, forward) },
  { "backward", offsetof (AdjCheckedRegion, backward) },
  { "replayed", offsetof (AdjCheckedRegion, replayed) },
  { "compiled_autograd", offsetof (AdjCheckedRegion, captured) },
};

static void
put_graph (AdjCheckedRegion *region, const AdjBundleGraph *graph)
{
  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    if (g_str_equal (places[i].role, graph->role))
      G_STRUCT_MEMBER (AdjGraph *, region, places[i].offset) = graph->graph;
}

static gboolean
run_checks (const AdjCheckedRegion *region,
            AdjFindings *findings,
            GCancellable *cancellable,
            GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (checks); i++)
    {
      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return FALSE;
      checks[i]->run (checks[i], region, findings);
    }
  return TRUE;
}

AdjFindings *
adj_bundle_check (const AdjBundle *bundle, GCancellable *cancellable, GError **error)
{
  g_autoptr (AdjFindings) findings = adj_findings_new ();

  for (guint i = 0; i < adj_bundle_get_n_regions (bundle); i++)
    {
      const AdjRegion *known = adj_bundle_get_region (bundle, i);
      AdjCheckedRegion region = { .num_fwd_outputs = known->num_fwd_outputs,
                                  .metadata = known->metadata };

      for (guint k = 0; k < known->n_graphs; k++)
        put_graph (&region, known->graphs[k]);
      if (!run_checks (&region, findings, cancellable, error))
        return NULL;
    }
  for (guint i = 0; i < adj_bundle_get_n_graphs (bundle); i++)
    {
      const AdjBundleGraph *graph = adj_bundle_get_graph (bundle, i);
      AdjCheckedRegion region = { .num_fwd_outputs = -1 };

      if (adj_bundle_find_region (bundle, graph) != NULL)
        continue;
      put_graph (&region, graph);
      if (!run_checks (&region, findings, cancellable, error))
        return NULL;
    }
  return g_steal_pointer (&findings);
}
