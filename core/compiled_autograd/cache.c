/* SPDX-License-Identifier: MIT */
/* The cache (compiled_autograd/SPEC.md §3.1): a tree of the calls of backwards; a path that ends is
 * a graph that was captured.  Calls between two forks are one node, whose keys stand in a row: a
 * backward that was there before is found by comparing bytes. */

#include <string.h>

#include "compiled_autograd/compiled-private.h"

static void
clear_call (gpointer data)
{
  CacheCall *call = data;

  g_strfreev (call->words);
  g_clear_pointer (&call->function, adj_function_unref);
}

CacheNode *
cache_node_new (void)
{
  CacheNode *node = g_new0 (CacheNode, 1);

  node->calls = g_array_new (FALSE, FALSE, sizeof (CacheCall));
  g_array_set_clear_func (node->calls, clear_call);
  return node;
}

/* The tree is as deep as backwards have forks, so it ends without recursion. */
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
      g_array_unref (node->calls);
      g_free (node->key);
      g_free (node);
    }
}

static const CacheCall *
get_call (const CacheNode *node, guint index)
{
  return &g_array_index (node->calls, CacheCall, index);
}

/* -- keys -- */

/* Where call @index, or with their number the end, is among the keys. */
static guint
get_begin (const CacheNode *node, guint index)
{
  return index > 0 ? get_call (node, index - 1)->end : 0;
}

static guint
get_key_begin (const Collection *collection, guint index)
{
  return index > 0 ? g_array_index (collection->calls, CollectedCall, index - 1).key_end : 0;
}

static gconstpointer
get_kind (const guint8 *key)
{
  KeyHead head;

  memcpy (&head, key, sizeof head);
  return head.kind;
}

/* How many calls of @node, from its first on, are those of @collection from @from on. */
static guint
count_same (const CacheNode *node, const Collection *collection, guint from)
{
  const guint8 *key = collection->key + get_key_begin (collection, from);
  const guint left = collection->n_key - get_key_begin (collection, from);
  guint n = 0;

  if (get_begin (node, node->calls->len) <= left &&
      memcmp (node->key, key, get_begin (node, node->calls->len)) == 0)
    return node->calls->len;
  while (n < node->calls->len && get_call (node, n)->end <= left &&
         memcmp (node->key + get_begin (node, n), key + get_begin (node, n),
                 get_call (node, n)->end - get_begin (node, n)) == 0)
    n++;
  return n;
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

/* (nullable): the call that was here last of the same kind of node, else of any. */
static const CacheCall *
find_sibling (const CacheNode *parent, gconstpointer kind)
{
  for (const CacheNode *node = parent->first; node != NULL; node = node->next)
    if (get_kind (node->key) == kind)
      return get_call (node, 0);
  return parent->first != NULL ? get_call (parent->first, 0) : NULL;
}

/* Why no child of @parent begins with call @index, whose key in words is @words. */
static char *
explain (const CacheNode *parent, const Collection *collection, guint index, const GStrv words)
{
  const AdjGradNode *node = g_array_index (collection->calls, CollectedCall, index).node;
  const CacheCall *sibling =
      find_sibling (parent, get_kind (collection->key + get_key_begin (collection, index)));
  g_autofree char *text = NULL;

  if (sibling == NULL && index == 0)
    return g_strdup ("the first backward");
  if (sibling == NULL)
    return g_strdup_printf ("%s (NodeCall %u) is new here: the backwards before ended earlier",
                            node->name, index);
  if (!g_str_equal (sibling->name, node->name))
    return g_strdup_printf ("NodeCall %u: was %s, is %s", index, sibling->name, node->name);
  text = compare_words (sibling->words, words);
  return g_strdup_printf ("%s (NodeCall %u): %s", node->name, index, text);
}

/* -- growing -- */

static void
add_child (CacheNode *parent, CacheNode *child)
{
  child->next = parent->first;
  parent->first = child;
}

/* All calls of @collection from @from on. */
static CacheNode *
add_branch (CacheNode *parent, const Collection *collection, guint from, char **reason)
{
  CacheNode *node = cache_node_new ();
  const guint begin = get_key_begin (collection, from);

  node->key = g_memdup2 (collection->key + begin, collection->n_key - begin);
  for (guint i = from; i < collection->calls->len; i++)
    {
      const CollectedCall *call = &g_array_index (collection->calls, CollectedCall, i);
      const CacheCall kept = { .end = call->key_end - begin,
                               .name = g_intern_string (call->node->name),
                               .words = call_describe (collection, i),
                               .function = call->function != NULL
                                               ? adj_function_ref (call->function)
                                               : NULL };

      g_array_append_val (node->calls, kept);
    }
  *reason = explain (parent, collection, from, get_call (node, 0)->words);
  add_child (parent, node);
  return node;
}

/* @node ends behind its first @n calls; the others are those of a child, which has all that came
 * behind. */
static void
split (CacheNode *node, guint n)
{
  CacheNode *rest = cache_node_new ();
  const guint begin = get_begin (node, n);

  rest->key = g_memdup2 (node->key + begin, get_begin (node, node->calls->len) - begin);
  for (guint i = n; i < node->calls->len; i++)
    {
      CacheCall *call = &g_array_index (node->calls, CacheCall, i);
      CacheCall moved = *call;

      moved.end -= begin;
      g_array_append_val (rest->calls, moved);
      *call = (CacheCall){ 0 };
    }
  g_array_set_size (node->calls, n);
  rest->first = g_steal_pointer (&node->first);
  rest->sizes = g_steal_pointer (&node->sizes);
  rest->captures = g_steal_pointer (&node->captures);
  rest->used = node->used;
  add_child (node, rest);
}

/* Few backwards part at one call, so branches are tried one after the other. */
CacheNode *
cache_find (CacheNode *root, const Collection *collection, char **reason)
{
  CacheNode *node = root;
  guint at = 0, same;

  *reason = NULL;
  while (at < collection->calls->len)
    {
      CacheNode *child = node->first;

      while (child != NULL && (same = count_same (child, collection, at)) == 0)
        child = child->next;
      if (child == NULL)
        return add_branch (node, collection, at, reason);
      if (same < child->calls->len)
        split (child, same);
      at += same;
      node = child;
    }
  return node;
}

/* -- shrinking -- */

typedef struct
{
  CacheNode *node;
  guint parent; /* its place in the walk */
} Visited;

/* (transfer full): Visited of all nodes below and including @root, parents first. */
static GArray *
walk (CacheNode *root)
{
  GArray *visited = g_array_new (FALSE, FALSE, sizeof (Visited));
  Visited next = { root, 0 };

  g_array_append_val (visited, next);
  for (guint i = 0; i < visited->len; i++)
    {
      next.parent = i;
      for (next.node = g_array_index (visited, Visited, i).node->first; next.node != NULL;
           next.node = next.node->next)
        g_array_append_val (visited, next);
    }
  return visited;
}

static void
remove_child (CacheNode *parent, CacheNode *child)
{
  CacheNode **link = &parent->first;

  while (*link != child)
    link = &(*link)->next;
  *link = child->next;
  cache_node_free (child);
}

guint
cache_evict (CacheNode *root, guint n)
{
  g_autoptr (GArray) visited = walk (root);
  guint n_ends = 0, oldest = 0, n_captures;

  for (guint i = 1; i < visited->len; i++)
    {
      const CacheNode *node = g_array_index (visited, Visited, i).node;

      if (node->captures == NULL || node->captures->len == 0)
        continue;
      n_ends++;
      if (oldest == 0 || node->used < g_array_index (visited, Visited, oldest).node->used)
        oldest = i;
    }
  if (n_ends <= n)
    return 0;
  root = g_array_index (visited, Visited, oldest).node;
  n_captures = root->captures->len;
  g_clear_pointer (&root->sizes, g_array_unref);
  g_clear_pointer (&root->captures, g_ptr_array_unref);
  for (guint i = oldest; i > 0 && root->first == NULL && root->captures == NULL;)
    {
      CacheNode *child = root;

      i = g_array_index (visited, Visited, i).parent;
      root = g_array_index (visited, Visited, i).node;
      remove_child (root, child);
    }
  return n_captures;
}
