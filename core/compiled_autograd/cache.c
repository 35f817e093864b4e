/* SPDX-License-Identifier: MIT */
/* The cache (compiled-autograd §2.4): a tree with one level for each call of a backward; a path
 * that ends is a graph that was captured. */

#include <string.h>

#include "compiled_autograd/compiled-private.h"

typedef struct
{
  gconstpointer kind;
  guint n;
  const guint8 *bytes; /* of a key in the tree: right behind it */
} CacheKey;

static guint
key_hash (gconstpointer data)
{
  const CacheKey *key = data;
  guint hash = g_direct_hash (key->kind);

  for (guint i = 0; i < key->n; i++)
    hash = hash * 31 + key->bytes[i];
  return hash;
}

static gboolean
key_equal (gconstpointer a, gconstpointer b)
{
  const CacheKey *left = a, *right = b;

  return left->kind == right->kind && left->n == right->n &&
         memcmp (left->bytes, right->bytes, left->n) == 0;
}

static CacheKey *
key_copy (const CacheKey *key)
{
  CacheKey *copy = g_malloc (sizeof (CacheKey) + key->n);

  *copy = *key;
  copy->bytes = (const guint8 *) (copy + 1);
  memcpy (copy + 1, key->bytes, key->n);
  return copy;
}

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
      GHashTableIter iter;
      gpointer child;

      node = g_ptr_array_steal_index_fast (nodes, nodes->len - 1);
      if (node->children != NULL)
        {
          g_hash_table_iter_init (&iter, node->children);
          while (g_hash_table_iter_next (&iter, NULL, &child))
            g_ptr_array_add (nodes, child);
        }
      g_clear_pointer (&node->children, g_hash_table_unref);
      g_clear_pointer (&node->sizes, g_array_unref);
      g_clear_pointer (&node->captures, g_ptr_array_unref);
      g_strfreev (node->words);
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

/* (nullable): one that was made of the same kind of node, else any. */
static const CacheNode *
find_sibling (const CacheNode *parent, gconstpointer kind)
{
  const CacheNode *any = NULL;
  GHashTableIter iter;
  gpointer key, node;

  g_hash_table_iter_init (&iter, parent->children);
  while (g_hash_table_iter_next (&iter, &key, &node))
    {
      any = node;
      if (((const CacheKey *) key)->kind == kind)
        return node;
    }
  return any;
}

static char *
explain (const CacheNode *parent,
         const CollectedCall *call,
         gconstpointer kind,
         guint index,
         const GStrv words)
{
  const CacheNode *sibling = parent->children != NULL ? find_sibling (parent, kind) : NULL;
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
            const CacheKey *key)
{
  CacheNode *node = cache_node_new ();
  const guint index = collection->calls->len - 1;

  node->words = call_describe (collection, call);
  node->name = g_intern_string (call->node->name);
  if (path->reason == NULL)
    path->reason = explain (path->node, call, key->kind, index, node->words);
  if (path->node->children == NULL)
    path->node->children = g_hash_table_new_full (key_hash, key_equal, g_free, NULL);
  g_hash_table_insert (path->node->children, key_copy (key), node);
  return node;
}

void
cache_descend (const Collection *collection,
               const CollectedCall *call,
               gconstpointer kind,
               gpointer data)
{
  CachePath *path = data;
  const CacheKey key = { kind, collection->key->len, collection->key->data };
  CacheNode *next =
      path->node->children != NULL ? g_hash_table_lookup (path->node->children, &key) : NULL;

  path->node = next != NULL ? next : add_branch (path, collection, call, &key);
}
