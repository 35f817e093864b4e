/* SPDX-License-Identifier: MIT */
/* The table of symbols of a graph, and the expressions over them, each stored once. */

#include "tensor/adj-symbols.h"

#include <string.h>

#include "tensor/adj-symbols-internal.h"
#include "tensor/adj-symbols-private.h"

/* An expression larger than this when written out as a tree becomes opaque: with shared operands a
 * small graph may otherwise print a text of exponential length. */
#define MAX_NODES_OF_EXPRESSION 4096

#define FIRST_ID G_MININT64

static AdjSizeNode *
node_at (const AdjSymbols *symbols, guint id)
{
  return &g_array_index (symbols->nodes, AdjSizeNode, id);
}

static guint
id_of (AdjSize size)
{
  return (guint) ((guint64) size.word - (guint64) FIRST_ID);
}

static AdjSize
size_of (guint id)
{
  return (AdjSize){ FIRST_ID + (gint64) id };
}

const AdjSizeNode *
adj_symbols_node (const AdjSymbols *symbols, AdjSize size)
{
  if (adj_size_is_int (size))
    return NULL;
  g_assert (symbols != NULL && id_of (size) < symbols->nodes->len);
  return node_at (symbols, id_of (size));
}

/* -- The table ----------------------------------------------------------------------------- */

AdjSymbols *
adj_symbols_new (void)
{
  AdjSymbols *symbols = g_new0 (AdjSymbols, 1);

  g_atomic_ref_count_init (&symbols->ref_count);
  symbols->arena = adj_arena_new ();
  symbols->symbols = g_ptr_array_new ();
  symbols->symbol_nodes = g_array_new (FALSE, FALSE, sizeof (AdjSize));
  symbols->by_name = g_hash_table_new (g_str_hash, g_str_equal);
  symbols->nodes = g_array_new (FALSE, FALSE, sizeof (AdjSizeNode));
  symbols->consed =
      g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL);
  symbols->guards = g_array_new (FALSE, FALSE, sizeof (AdjGuard));
  symbols->guarded = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  return symbols;
}

AdjSymbols *
adj_symbols_ref (AdjSymbols *symbols)
{
  g_return_val_if_fail (symbols != NULL, NULL);

  g_atomic_ref_count_inc (&symbols->ref_count);
  return symbols;
}

void
adj_symbols_unref (AdjSymbols *symbols)
{
  if (symbols == NULL || !g_atomic_ref_count_dec (&symbols->ref_count))
    return;

  g_ptr_array_unref (symbols->symbols);
  g_array_unref (symbols->symbol_nodes);
  g_hash_table_unref (symbols->by_name);
  g_array_unref (symbols->nodes);
  g_hash_table_unref (symbols->consed);
  g_array_unref (symbols->guards);
  g_hash_table_unref (symbols->guarded);
  adj_arena_free (symbols->arena);
  g_free (symbols);
}

guint
adj_symbols_get_n (const AdjSymbols *symbols)
{
  return symbols->symbols->len;
}

const AdjSymbol *
adj_symbols_get (const AdjSymbols *symbols, guint index)
{
  g_return_val_if_fail (index < symbols->symbols->len, NULL);

  return g_ptr_array_index (symbols->symbols, index);
}

const AdjSymbol *
adj_symbols_find (const AdjSymbols *symbols, const char *name)
{
  guint index = GPOINTER_TO_UINT (g_hash_table_lookup (symbols->by_name, name));

  return index > 0 ? g_ptr_array_index (symbols->symbols, index - 1) : NULL;
}

/* -- Expressions --------------------------------------------------------------------------- */

static guint
count_nodes (const AdjSymbols *symbols, AdjSize size)
{
  const AdjSizeNode *node = adj_symbols_node (symbols, size);

  return node != NULL ? node->n_nodes : 1;
}

/* Computes hint and range from the operands, which are up to date. */
static void
refresh_node (AdjSymbols *symbols, AdjSizeNode *node)
{
  const AdjSizeNode *a;
  const AdjSizeNode *b;
  gint64 hint_a;
  gint64 hint_b;

  if (node->op == ADJ_SIZE_SYMBOL)
    {
      const AdjSymbol *symbol = adj_symbols_get (symbols, node->symbol);

      node->hint = symbol->hint;
      node->range = (AdjRange){ symbol->min, symbol->max };
      return;
    }
  if (node->op == ADJ_SIZE_OPAQUE)
    return;

  a = adj_symbols_node (symbols, node->a);
  b = adj_symbols_node (symbols, node->b);
  if (node->op == ADJ_SIZE_SPELLING)
    {
      node->hint = a != NULL ? a->hint : node->a.word;
      node->range = a != NULL ? a->range : (AdjRange){ node->a.word, node->a.word };
      return;
    }
  hint_a = a != NULL ? a->hint : node->a.word;
  hint_b = b != NULL ? b->hint : node->b.word;
  if (hint_a == ADJ_SYMBOL_UNBACKED || hint_b == ADJ_SYMBOL_UNBACKED ||
      !adj_size_fold (node->op, hint_a, hint_b, &node->hint))
    node->hint = ADJ_SYMBOL_UNBACKED;
  node->range =
      adj_range_apply (node->op, a != NULL ? a->range : (AdjRange){ node->a.word, node->a.word },
                       b != NULL ? b->range : (AdjRange){ node->b.word, node->b.word });
}

static void
refresh (AdjSymbols *symbols)
{
  for (; symbols->stale_from < symbols->nodes->len; symbols->stale_from++)
    refresh_node (symbols, node_at (symbols, symbols->stale_from));
}

static AdjSize
append_node (AdjSymbols *symbols, const AdjSizeNode *node)
{
  g_array_append_vals (symbols->nodes, node, 1);
  refresh (symbols);
  return size_of (symbols->nodes->len - 1);
}

/* The identity of an expression for hash-consing. */
typedef struct
{
  gint64 op;
  gint64 a, b;
} Key;

static gboolean
find_consed (AdjSymbols *symbols, GBytes *key, AdjSize *out)
{
  gpointer id;

  if (!g_hash_table_lookup_extended (symbols->consed, key, NULL, &id))
    return FALSE;
  *out = size_of (GPOINTER_TO_UINT (id));
  return TRUE;
}

AdjSize
adj_symbols_intern_opaque (AdjSymbols *symbols, const char *text, gsize length)
{
  g_autoptr (GBytes) key = g_bytes_new (text, length);
  AdjSizeNode node = {
    .op = ADJ_SIZE_OPAQUE,
    .n_nodes = 1,
    .hint = ADJ_SYMBOL_UNBACKED,
    .range = ADJ_RANGE_ANY,
  };
  AdjSize size;

  if (find_consed (symbols, key, &size))
    return size;
  node.text = adj_arena_strndup (symbols->arena, text, length);
  if (strcmp (node.text, "True") == 0 || strcmp (node.text, "False") == 0)
    {
      node.hint = node.text[0] == 'T';
      node.range = (AdjRange){ node.hint, node.hint };
    }
  size = append_node (symbols, &node);
  g_hash_table_insert (symbols->consed, g_steal_pointer (&key), GUINT_TO_POINTER (id_of (size)));
  return size;
}

AdjSize
adj_symbols_intern (AdjSymbols *symbols, AdjSizeOp op, AdjSize a, AdjSize b)
{
  Key content = { op, a.word, b.word };
  g_autoptr (GBytes) key = g_bytes_new (&content, sizeof content);
  AdjSizeNode node = { .op = op, .a = a, .b = b };
  AdjSize size;

  if (find_consed (symbols, key, &size))
    return size;

  node.n_nodes = 1 + count_nodes (symbols, a) + count_nodes (symbols, b);
  if (node.n_nodes > MAX_NODES_OF_EXPRESSION)
    {
      g_autofree char *text = g_strdup_printf ("large%u", symbols->nodes->len);

      size = adj_symbols_intern_opaque (symbols, text, strlen (text));
    }
  else
    size = append_node (symbols, &node);
  g_hash_table_insert (symbols->consed, g_steal_pointer (&key), GUINT_TO_POINTER (id_of (size)));
  return size;
}

static AdjSize
intern_spelling (AdjSymbols *symbols, AdjSize size, const char *text)
{
  gsize length = strlen (text);
  GByteArray *content = g_byte_array_new ();
  g_autoptr (GBytes) key = NULL;
  AdjSizeNode node = { .op = ADJ_SIZE_SPELLING, .a = size };
  AdjSize spelling;

  g_byte_array_append (content, (const guint8 *) &size.word, sizeof size.word);
  g_byte_array_append (content, (const guint8 *) text, (guint) length + 1);
  key = g_byte_array_free_to_bytes (content);
  if (find_consed (symbols, key, &spelling))
    return spelling;

  node.text = adj_arena_strndup (symbols->arena, text, length);
  node.n_nodes = count_nodes (symbols, size);
  spelling = append_node (symbols, &node);
  g_hash_table_insert (symbols->consed, g_steal_pointer (&key),
                       GUINT_TO_POINTER (id_of (spelling)));
  return spelling;
}

AdjSize
adj_symbols_spell (AdjSymbols *symbols, AdjSize size, const char *text, gsize length)
{
  g_autofree char *wanted = g_strndup (text, length);
  g_autoptr (GString) printed = NULL;
  AdjSizeNode *node;

  /* The first text parsed for an expression becomes its own. */
  if (!adj_size_is_int (size))
    {
      node = node_at (symbols, id_of (size));
      if (node->text == NULL && node->op != ADJ_SIZE_SYMBOL)
        node->text = adj_arena_strndup (symbols->arena, text, length);
    }

  printed = g_string_new (NULL);
  adj_size_print (symbols, size, printed);
  return strcmp (printed->str, wanted) == 0 ? size : intern_spelling (symbols, size, wanted);
}

AdjSize
adj_symbols_unspell (const AdjSymbols *symbols, AdjSize size)
{
  const AdjSizeNode *node = adj_symbols_node (symbols, size);

  return node != NULL && node->op == ADJ_SIZE_SPELLING ? node->a : size;
}

AdjRange
adj_symbols_range (AdjSymbols *symbols, AdjSize size)
{
  if (adj_size_is_int (size))
    return (AdjRange){ size.word, size.word };
  refresh (symbols);
  return adj_symbols_node (symbols, size)->range;
}

gboolean
adj_symbols_is_at_most (AdjSymbols *symbols, AdjSize size, gint64 max)
{
  AdjRange range = adj_symbols_range (symbols, size);

  return range.max <= max && range.max < G_MAXINT64;
}

gboolean
adj_size_get_hint (AdjSymbols *symbols, AdjSize size, gint64 *out)
{
  const AdjSizeNode *node = adj_symbols_node (symbols, size);

  if (node == NULL)
    {
      *out = size.word;
      return TRUE;
    }
  refresh (symbols);
  if (node->hint == ADJ_SYMBOL_UNBACKED)
    return FALSE;
  *out = node->hint;
  return TRUE;
}

gboolean
adj_symbols_get_operands (
    const AdjSymbols *symbols, AdjSize size, AdjSizeOp *op, AdjSize *a, AdjSize *b)
{
  const AdjSizeNode *node;

  node = adj_symbols_node (symbols, adj_symbols_unspell (symbols, size));
  if (node == NULL || node->op == ADJ_SIZE_SYMBOL)
    return FALSE;
  *op = node->op;
  *a = node->a;
  *b = node->b;
  return TRUE;
}

/* Symbols, then sums, then the rest. */
static gint
rank_of (const AdjSizeNode *node)
{
  if (node->op == ADJ_SIZE_SYMBOL)
    return -2;
  return node->op == ADJ_SIZE_ADD ? -1 : node->op;
}

gint
adj_symbols_order (const AdjSymbols *symbols, AdjSize a, AdjSize b)
{
  const AdjSizeNode *na = adj_symbols_node (symbols, a);
  const AdjSizeNode *nb = adj_symbols_node (symbols, b);
  gint order;

  if (adj_size_same (a, b))
    return 0;
  if (na == NULL || nb == NULL)
    return na == nb ? (a.word > b.word) - (a.word < b.word) : (na != NULL) - (nb != NULL);
  if (rank_of (na) != rank_of (nb))
    return rank_of (na) - rank_of (nb);
  if (na->op == ADJ_SIZE_SYMBOL)
    return strcmp (adj_symbols_get (symbols, na->symbol)->name,
                   adj_symbols_get (symbols, nb->symbol)->name);
  if (na->op == ADJ_SIZE_OPAQUE)
    return strcmp (na->text, nb->text);

  order = adj_symbols_order (symbols, na->a, nb->a);
  return order != 0 ? order : adj_symbols_order (symbols, na->b, nb->b);
}

/* -- Symbols and guards -------------------------------------------------------------------- */

static gboolean
is_same_symbol (const AdjSymbol *a, const AdjSymbol *b)
{
  return a->hint == b->hint && a->min == b->min && a->max == b->max;
}

AdjSize
adj_symbols_define (AdjSymbols *symbols, const AdjSymbol *symbol)
{
  AdjSymbol *known;
  AdjSizeNode node = { .op = ADJ_SIZE_SYMBOL, .n_nodes = 1 };
  AdjSize size;
  guint index;

  g_return_val_if_fail (symbols != NULL && symbol->name != NULL, ADJ_SIZE (0));

  index = GPOINTER_TO_UINT (g_hash_table_lookup (symbols->by_name, symbol->name));
  if (index > 0)
    {
      known = g_ptr_array_index (symbols->symbols, index - 1);
      size = g_array_index (symbols->symbol_nodes, AdjSize, index - 1);
      if (!is_same_symbol (known, symbol))
        symbols->stale_from = MIN (symbols->stale_from, id_of (size));
      known->hint = symbol->hint;
      known->min = symbol->min;
      known->max = symbol->max;
      if (symbol->source != NULL && g_strcmp0 (known->source, symbol->source) != 0)
        known->source = adj_arena_strdup (symbols->arena, symbol->source);
      return size;
    }

  known = adj_arena_memdup (symbols->arena, symbol, sizeof *symbol);
  known->name = adj_arena_strdup (symbols->arena, symbol->name);
  known->source = adj_arena_strdup (symbols->arena, symbol->source);
  node.symbol = symbols->symbols->len;
  g_ptr_array_add (symbols->symbols, known);
  size = append_node (symbols, &node);
  g_array_append_val (symbols->symbol_nodes, size);
  g_hash_table_insert (symbols->by_name, (gpointer) known->name,
                       GUINT_TO_POINTER (symbols->symbols->len));
  return size;
}

AdjSize
adj_symbols_get_or_define (AdjSymbols *symbols, const char *name)
{
  guint index = GPOINTER_TO_UINT (g_hash_table_lookup (symbols->by_name, name));
  AdjSymbol symbol = {
    .name = name,
    .hint = ADJ_SYMBOL_UNBACKED,
    .min = G_MININT64,
    .max = G_MAXINT64,
  };

  if (index > 0)
    return g_array_index (symbols->symbol_nodes, AdjSize, index - 1);

  /* Sizes 0 and 1 are constants in traced graphs, so that a size symbol is at least 2. */
  if (name[0] == 's' && g_ascii_isdigit (name[1]))
    symbol.min = 2;
  return adj_symbols_define (symbols, &symbol);
}

guint
adj_symbols_get_n_guards (const AdjSymbols *symbols)
{
  return symbols->guards->len;
}

AdjGuard
adj_symbols_get_guard (const AdjSymbols *symbols, guint index)
{
  g_return_val_if_fail (index < symbols->guards->len, ((AdjGuard){ ADJ_SIZE (1), TRUE }));

  return g_array_index (symbols->guards, AdjGuard, index);
}

void
adj_symbols_add_guard (AdjSymbols *symbols, AdjSize condition, gboolean holds)
{
  AdjGuard guard = { condition, holds };

  if (g_hash_table_contains (symbols->guarded, &condition.word))
    return;
  g_hash_table_add (symbols->guarded, g_memdup2 (&condition.word, sizeof condition.word));
  g_array_append_val (symbols->guards, guard);
}

/* -- Between tables ------------------------------------------------------------------------ */

static AdjSize
import_symbol (AdjSymbols *symbols, const AdjSymbol *symbol)
{
  guint index = GPOINTER_TO_UINT (g_hash_table_lookup (symbols->by_name, symbol->name));

  if (index > 0)
    return g_array_index (symbols->symbol_nodes, AdjSize, index - 1);
  return adj_symbols_define (symbols, symbol);
}

AdjSize
adj_symbols_import (AdjSymbols *symbols, const AdjSymbols *from, AdjSize size)
{
  AdjSize imported;
  AdjSizeNode node;

  if (adj_size_is_int (size) || symbols == from)
    return size;
  g_return_val_if_fail (symbols != NULL && from != NULL, ADJ_SIZE (0));

  symbols->by_sign |= from->by_sign;
  node = *adj_symbols_node (from, size);
  if (node.op == ADJ_SIZE_SYMBOL)
    return import_symbol (symbols, adj_symbols_get (from, node.symbol));
  if (node.op == ADJ_SIZE_OPAQUE)
    return adj_symbols_intern_opaque (symbols, node.text, strlen (node.text));

  imported = adj_symbols_import (symbols, from, node.a);
  if (node.op != ADJ_SIZE_SPELLING)
    imported =
        adj_size_apply (symbols, node.op, imported, adj_symbols_import (symbols, from, node.b));
  if (node.text == NULL)
    return imported;
  return adj_symbols_spell (symbols, imported, node.text, strlen (node.text));
}
