/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-size.h"

G_BEGIN_DECLS

/* The symbol table of a graph or context (tensor/SPEC.md §5): symbols with hint, range and source,
 * the hash-consed expressions over them, and the guards that were assumed.  Append-only: ids stay
 * valid, so tables are shared by reference.  Not locked: a table that is still growing belongs to
 * one thread; a sealed graph's table no longer grows.  Redefining a symbol makes hints and ranges
 * stale until the next question, so ask one before threads share the table. */

#define ADJ_SYMBOL_UNBACKED G_MININT64

typedef struct
{
  const char *name;   /* "s0", "u3" */
  gint64 hint;        /* ADJ_SYMBOL_UNBACKED: none */
  gint64 min, max;    /* inclusive; G_MININT64/G_MAXINT64: unbounded */
  const char *source; /* (nullable) "L['x'].size()[0]" */
} AdjSymbol;

typedef struct
{
  AdjSize condition;
  gboolean holds; /* the truth value that was assumed */
} AdjGuard;

ADJ_PUBLIC AdjSymbols *adj_symbols_new (void);                /* (transfer full) */
ADJ_PUBLIC AdjSymbols *adj_symbols_ref (AdjSymbols *symbols); /* (transfer full) */
ADJ_PUBLIC void adj_symbols_unref (AdjSymbols *symbols);      /* @symbols: (nullable) */

/* Adds @symbol, or updates hint, range and source of the one of that name; the texts are copied. */
ADJ_PUBLIC AdjSize adj_symbols_define (AdjSymbols *symbols, const AdjSymbol *symbol);
/* In the order in which they were defined; a record is valid as long as the table. */
ADJ_PUBLIC guint adj_symbols_get_n (const AdjSymbols *symbols);
ADJ_PUBLIC const AdjSymbol *adj_symbols_get (const AdjSymbols *symbols, guint index);
/* (nullable): the symbol of that name. */
ADJ_PUBLIC const AdjSymbol *adj_symbols_find (const AdjSymbols *symbols, const char *name);

/* How the size of an input is made a symbol. */
typedef enum
{
  ADJ_SIZES_STATIC,  /* it stays an integer */
  ADJ_SIZES_DUCK,    /* equal ones share a symbol; 0 and 1 stay, so that a symbol is at least 2 */
  ADJ_SIZES_DYNAMIC, /* a symbol of its own; 0 and 1 stay */
  ADJ_SIZES_UNSPECIFIED, /* a symbol of its own, any integer */
} AdjSizePolicy;

/* "s0", "s1", … for a size that is @hint now. */
ADJ_PUBLIC AdjSize adj_symbols_add_size (AdjSymbols *symbols,
                                         AdjSizePolicy policy,
                                         gint64 hint,
                                         const char *source);
/* "u0", "u1", … for a data-dependent size. */
ADJ_PUBLIC AdjSize adj_symbols_add_unbacked (AdjSymbols *symbols,
                                             gint64 min,
                                             gint64 max,
                                             const char *source);
/* @size with symbols replaced by the integers that guards fixed them to (s0 == 4). */
ADJ_PUBLIC AdjSize adj_symbols_simplify (AdjSymbols *symbols, AdjSize size);

/* The assumptions, in order, each once. */
ADJ_PUBLIC guint adj_symbols_get_n_guards (const AdjSymbols *symbols);
ADJ_PUBLIC AdjGuard adj_symbols_get_guard (const AdjSymbols *symbols, guint index);

/* The operation of a symbolic @size and its operands; %FALSE for a bare symbol. */
ADJ_PUBLIC gboolean adj_symbols_get_operands (
    const AdjSymbols *symbols, AdjSize size, AdjSizeOp *op, AdjSize *a, AdjSize *b);

/* The same expression in another table: symbols are matched by name, missing ones defined. */
ADJ_PUBLIC AdjSize adj_symbols_import (AdjSymbols *symbols, const AdjSymbols *from, AdjSize size);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjSymbols, adj_symbols_unref)

G_END_DECLS
