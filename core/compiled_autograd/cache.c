/* SPDX-License-Identifier: MIT */
/* The cache (compiled_autograd/SPEC.md §3.1): a tree with one level for each call of a backward; a
 * path that ends is a graph that was captured. */

#include <string.h>

#include "compiled_autograd/compiled-private.h"

CacheNode *
cache_node_new (void)
{
  return g_new0 (CacheNode, 1);
}

/* A path is as long as a backward, so it ends without recursion. */
void
cache_node_free (CacheNode *node)
{
  g_autoptr (GPtrArray) nodes = g_ptr_array_new ();

  g_ptr_array_add (nodes, node);
  while (nodes->len > 0)
    {
      node = g_ptr_array_steal_index_fast (nodes, nodes->len - 1);
      for (CacheNode *child = node->first; child != NULL; child = child->next)
        g_ptr_array_add (nodes, child);
      g_clear_pointer (&node->sizes, g_array_unref);
      g_clear_pointer (&node->captures, g_ptr_array_unref);
      g_strfreev (node->words);
      g_clear_pointer (&node->function, adj_function_unref);
      g_free (node->key);
      g_free (node);
    }
}

/* -- why there is no branch -- */

/* The line where two keys part, as "what: was …, is …". */
static char *
compare_words (const GStrv before, const GStrv now)
{
  guint i = 0;

  while (before[i] != NULL && now[i] != NULL && g_str_equal (before[i], now[i]))
    i++;
  if (before[i] == NULL && now[i] == NULL)
    return g_strdup ("it differs in what only its key says");
  if (before[i] == NULL)
    return g_strdup_printf ("new: %s", now[i]);
  if (now[i] == NULL)
    return g_strdup_printf ("no longer: %s", before[i]);
  return g_strdup_printf ("was %s, is %s", before[i], now[i]);
}

/* (nullable): the last one that was made of the same kind of node, else of any. */
static const CacheNode *
find_sibling (const CacheNode *parent, gconstpointer kind)
{
  for (const CacheNode *node = parent->first; node != NULL; node = node->next)
    if (node->kind == kind)
      return node;
  return parent->first;
}

static char *
explain (const CacheNode *parent,
         const CollectedCall *call,
         gconstpointer kind,
         guint index,
         const GStrv words)
{
  const CacheNode *sibling = find_sibling (parent, kind);
  g_autofree char *text = NULL;

  if (sibling == NULL && index == 0)
    return g_strdup ("the first backward");
  if (sibling == NULL)
    return g_strdup_printf ("%s (NodeCall %u) is new here: the backwards before ended earlier",
                            call->node->name, index);
  if (!g_str_equal (sibling->name, call->node->name))
    return g_strdup_printf ("NodeCall %u: was %s, is %s", index, sibling->name, call->node->name);
  text = compare_words (sibling->words, words);
  return g_strdup_printf ("%s (NodeCall %u): %s", call->node->name, index, text);
}

/* -- going down -- */

static CacheNode *
add_branch (CachePath *path,
            const Collection *collection,
            const CollectedCall *call,
            gconstpointer kind)
{
  CacheNode *node = cache_node_new ();
  const guint index = collection->calls->len - 1;

  node->kind = kind;
  node->n_key = collection->n_key;
  node->key = g_memdup2 (collection->key, node->n_key);
  node->function = call->function != NULL ? adj_function_ref (call->function) : NULL;
  node->words = call_describe (collection, call);
  node->name = g_intern_string (call->node->name);
  if (path->reason == NULL)
    path->reason = explain (path->node, call, kind, index, node->words);
  node->next = path->node->first;
  path->node->first = node;
  return node;
}

/* Few backwards part at one call, so branches are tried one after the other. */
void
cache_descend (const Collection *collection,
               const CollectedCall *call,
               gconstpointer kind,
               gpointer data)
{
  CachePath *path = data;
  CacheNode *node = path->node->first;

  while (node != NULL && (node->kind != kind || node->n_key != collection->n_key ||
                          memcmp (node->key, collection->key, node->n_key) != 0))
    node = node->next;
  path->node = node != NULL ? node : add_branch (path, collection, call, kind);
}
