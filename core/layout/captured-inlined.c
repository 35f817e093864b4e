/* SPDX-License-Identifier: MIT */

/* The backwards of compiled functions that a captured one has inlined. Their nodes are called as in
 * the graph they come from, after the number of the function: "aot0_mm", "aot0_1_mm" where it was
 * inlined before (PyTorch 2.6 to 2.15, _dynamo/compiled_autograd.py). */

#include <string.h>

#include "ir/adj-graph.h"
#include "layout/captured-private.h"

#define PROLOGUE "call_aot_bwd_prologue"

/* The name in the graph that @name comes from, with the number of its function.  (nullable) */
static const char *
parse_inlined (const char *name, guint *function)
{
  char *end;
  guint64 number;

  if (!g_str_has_prefix (name, "aot") || !g_ascii_isdigit (name[3]))
    return NULL;
  number = g_ascii_strtoull (name + 3, &end, 10);
  if (*end != '_' || number >= ADJ_CAPTURED_NONE)
    return NULL;
  *function = (guint) number;
  /* No name begins with a digit. */
  if (g_ascii_isdigit (end[1]))
    end = end + 1 + strspn (end + 1, "0123456789");
  return *end == '_' && end[1] != '\0' ? end + 1 : NULL;
}

void
captured_adopt_inlined (AdjCaptured *self)
{
  g_autoptr (GHashTable) calls = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < adj_graph_get_n_nodes (self->graph); i++)
    {
      const char *name = adj_graph_get_node (self->graph, i)->name;
      AdjCapturedNode *node = &self->nodes[i];
      guint function;
      const char *inlined = parse_inlined (name, &function);
      g_autofree char *prefix = inlined != NULL ? g_strndup (name, (gsize) (inlined - name)) : NULL;
      gpointer call;

      if (inlined == NULL)
        continue;
      if (node->call != ADJ_CAPTURED_NONE)
        g_hash_table_insert (calls, g_steal_pointer (&prefix), GUINT_TO_POINTER (node->call));
      else if (node->kind == ADJ_CAPTURED_OTHER &&
               g_hash_table_lookup_extended (calls, prefix, NULL, &call))
        {
          node->call = GPOINTER_TO_UINT (call);
          g_array_index (self->calls, AdjCapturedCall, node->call).n_nodes++;
        }
    }
}

/* -- the graph that was inlined -- */

/* Whether @backward has all nodes that are named after function @number. */
static gboolean
has_nodes (const AdjCaptured *self, const AdjBundleGraph *backward, guint number)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (self->graph); i++)
    {
      guint function;
      const char *name = parse_inlined (adj_graph_get_node (self->graph, i)->name, &function);

      if (name != NULL && function == number &&
          !adj_node_id_is_valid (adj_graph_find_node (backward->graph, name)))
        return FALSE;
    }
  return TRUE;
}

typedef struct
{
  const AdjCaptured *captured;
  guint number;                /* of the function */
  guint n;                     /* compiled functions seen so far */
  const AdjBundleGraph *exact; /* (nullable): has the number and all nodes */
  const AdjBundleGraph *found; /* (nullable): the last that has all nodes */
  guint n_found;
} Search;

static void
search_region (Search *self, const AdjRegion *region)
{
  for (guint i = 0; i < region->n_graphs; i++)
    {
      const AdjBundleGraph *graph = region->graphs[i];
      const gboolean backward = g_str_equal (graph->role, "backward");

      if (backward && has_nodes (self->captured, graph, self->number))
        {
          self->found = graph;
          self->n_found++;
          if (self->n == self->number)
            self->exact = graph;
        }
      self->n += backward || g_str_equal (graph->role, "inference");
    }
}

/* PyTorch numbers compiled functions of a process from 0.  Where the file lacks some of them, a
 * graph with all nodes is taken if it is the only one. */
static const AdjBundleGraph *
find_backward (const AdjCaptured *self, guint number)
{
  const AdjBundleGraph *own = adj_bundle_find_entry (self->bundle, self->graph);
  const AdjRegion *here = own != NULL ? adj_bundle_find_region (self->bundle, own) : NULL;
  Search search = { .captured = self, .number = number };

  for (guint i = 0; here != NULL && i < adj_bundle_get_n_regions (self->bundle); i++)
    {
      const AdjRegion *region = adj_bundle_get_region (self->bundle, i);

      if (region->rank == here->rank && region->process == here->process)
        search_region (&search, region);
    }
  if (search.exact != NULL)
    return search.exact;
  return search.n_found == 1 ? search.found : NULL;
}

/* -- what it saved -- */

/* The prologue that takes node @id among the saved values.  @place: (out): the index of that value
 * among its results, which begin with sizes.  (nullable) */
static const AdjNode *
find_prologue (const AdjCaptured *self, AdjNodeId id, guint *place)
{
  const AdjNode *node = adj_graph_get_node (self->graph, id.index);

  for (guint i = 0; i < node->n_users; i++)
    {
      const AdjNode *user = adj_graph_get_node (self->graph, node->users[i].index);
      const AdjValue *args = user->args.items;

      if (user->opcode != ADJ_OPCODE_CALL_FUNCTION || !g_str_has_suffix (user->target, PROLOGUE) ||
          user->args.n < 2 || !adj_value_is_container (&args[0]) ||
          !adj_value_is_container (&args[1]))
        continue;
      for (guint k = 0; k < args[0].n; k++)
        if (args[0].items[k].kind == ADJ_VALUE_NODE && args[0].items[k].node.index == id.index)
          {
            *place = args[1].n + k;
            return user;
          }
    }
  return NULL;
}

/* The number of the function of @prologue, by the names of the nodes that take its results. */
static gboolean
find_function (const AdjCaptured *self, const AdjNode *prologue, guint *function)
{
  for (guint i = 0; i < prologue->n_users; i++)
    {
      const AdjNode *user = adj_graph_get_node (self->graph, prologue->users[i].index);

      if (parse_inlined (user->name, function) != NULL)
        return TRUE;
    }
  return FALSE;
}

const AdjBundleGraph *
adj_captured_find_inlined (const AdjCaptured *captured, guint index, AdjNodeId *input)
{
  const AdjCapturedNode *node = adj_captured_get_node (captured, index);
  const AdjBundleGraph *backward;
  const AdjNode *prologue;
  const char *name;
  guint function, place;

  if (captured->bundle == NULL || node == NULL || node->kind != ADJ_CAPTURED_INPUT)
    return NULL;
  name = parse_inlined (adj_graph_get_node (captured->graph, index)->name, &function);
  prologue = name == NULL ? find_prologue (captured, (AdjNodeId){ index }, &place) : NULL;
  if (name == NULL && (prologue == NULL || !find_function (captured, prologue, &function)))
    return NULL;
  backward = find_backward (captured, function);
  if (backward == NULL)
    return NULL;
  if (name != NULL)
    *input = adj_graph_find_node (backward->graph, name);
  else if (place < adj_graph_get_n_inputs (backward->graph))
    *input = adj_graph_get_input (backward->graph, place);
  else
    return NULL;
  return backward;
}
