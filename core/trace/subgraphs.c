/* SPDX-License-Identifier: MIT */

/* Functions of a higher-order operator become subgraphs, each recorded by a tracer of its own. */

#include "ir/adj-compare.h"
#include "ir/adj-graph.h"
#include "trace/tracer-private.h"

void
adj_traced_graph_clear (gpointer graph)
{
  TracedGraph *traced = graph;

  g_free (traced->name);
  g_free (traced->identifier);
  adj_graph_unref (traced->graph);
}

static const TracedGraph *
find_by_name (const AdjTracer *tracer, const char *name)
{
  for (guint i = 0; i < tracer->subgraphs->len; i++)
    if (g_str_equal (g_array_index (tracer->subgraphs, TracedGraph, i).name, name))
      return &g_array_index (tracer->subgraphs, TracedGraph, i);
  return NULL;
}

static const TracedGraph *
find_same (const AdjTracer *tracer, const char *identifier, const AdjGraph *graph)
{
  for (guint i = 0; identifier != NULL && i < tracer->subgraphs->len; i++)
    {
      const TracedGraph *traced = &g_array_index (tracer->subgraphs, TracedGraph, i);

      if (g_strcmp0 (traced->identifier, identifier) == 0 &&
          adj_graph_equal_structure (traced->graph, graph))
        return traced;
    }
  return NULL;
}

/* The first number with which none of @stems is in use. */
static guint
find_number (const AdjTracer *tracer, const char *const *stems, guint n)
{
  for (guint number = 0;; number++)
    {
      gboolean free = TRUE;

      for (guint i = 0; i < n; i++)
        {
          g_autofree char *name = g_strdup_printf ("%s%u", stems[i], number);

          free = free && find_by_name (tracer, name) == NULL;
        }
      if (free)
        return number;
    }
}

static AdjValue
add_get_attr (AdjTracer *tracer, const char *name)
{
  AdjTracedNode node = { .opcode = ADJ_OPCODE_GET_ATTR };

  node.target = adj_arena_intern (tracer->arena, name);
  return ADJ_NODE (adj_tracer_add (tracer, &node, node.target));
}

void
adj_tracer_add_subgraphs (AdjTracer *tracer,
                          const char *const *stems,
                          AdjGraph *const *graphs,
                          guint n,
                          const char *identifier,
                          AdjValue *nodes)
{
  guint number = find_number (tracer, stems, n);

  for (guint i = 0; i < n; i++)
    {
      const TracedGraph *same = find_same (tracer, identifier, graphs[i]);
      TracedGraph traced;

      if (same == NULL)
        {
          traced = (TracedGraph){ g_strdup_printf ("%s%u", stems[i], number), g_strdup (identifier),
                                  adj_graph_ref (graphs[i]) };
          g_array_append_val (tracer->subgraphs, traced);
          same = &traced;
        }
      nodes[i] = add_get_attr (tracer, same->name);
    }
}
