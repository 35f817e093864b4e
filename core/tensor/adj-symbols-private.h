/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-expr.h"
#include "tensor/adj-symbols.h"

G_BEGIN_DECLS

/* Operations of an AdjSizeNode beyond AdjSizeOp.  A SPELLING is another text for its operand a and
 * behaves as a in computations. */
#define ADJ_SIZE_SYMBOL ADJ_N_SIZE_OPS
#define ADJ_SIZE_SPELLING (ADJ_N_SIZE_OPS + 1)

/* Inclusive; G_MININT64 and G_MAXINT64 stand for no bound. */
typedef struct
{
  gint64 min;
  gint64 max;
} AdjRange;

#define ADJ_RANGE_ANY ((AdjRange){ G_MININT64, G_MAXINT64 })

/* One expression.  Operands are integers or expressions with smaller ids. */
typedef struct
{
  guint8 op; /* AdjSizeOp, ADJ_SIZE_SYMBOL or ADJ_SIZE_SPELLING */
  AdjSize a, b;
  guint symbol;     /* SYMBOL: index into symbols */
  guint n_nodes;    /* of the expression written out as a tree, saturating */
  const char *text; /* (nullable): as it was parsed; OPAQUE: always */
  gint64 hint;      /* ADJ_SYMBOL_UNBACKED: none */
  AdjRange range;
} AdjSizeNode;

struct _AdjSymbols
{
  gatomicrefcount ref_count;
  AdjArena *arena;
  GPtrArray *symbols;   /* of AdjSymbol, in the arena */
  GArray *symbol_nodes; /* of AdjSize: the expression of each symbol */
  GHashTable *by_name;  /* name → index + 1 */
  GArray *nodes;        /* of AdjSizeNode */
  GHashTable *consed;   /* of node ids, hashed and compared by the node's structure */
  guint stale_from;     /* id from which hints and ranges of nodes are out of date */
  GArray *guards;       /* of AdjGuard */
  GHashTable *guarded;  /* words of the conditions in guards */
  guint n_pinned;       /* number of symbols fixed to one integer */
  gboolean by_sign;     /* Max and Min are decided by signs of symbols, not by ranges */
};

AdjSize adj_symbols_intern (AdjSymbols *symbols, AdjSizeOp op, AdjSize a, AdjSize b);
AdjSize adj_symbols_intern_opaque (AdjSymbols *symbols, const char *text, gsize length);
/* @size with @text as its spelling. */
AdjSize adj_symbols_spell (AdjSymbols *symbols, AdjSize size, const char *text, gsize length);
AdjSize adj_symbols_unspell (const AdjSymbols *symbols, AdjSize size);
/* The symbol @name; a new one has the hint and range that its prefix implies. */
AdjSize adj_symbols_get_or_define (AdjSymbols *symbols, const char *name);
/* %NULL for integers. */
const AdjSizeNode *adj_symbols_node (const AdjSymbols *symbols, AdjSize size);
AdjRange adj_symbols_range (AdjSymbols *symbols, AdjSize size);
void adj_symbols_add_guard (AdjSymbols *symbols, AdjSize condition, gboolean holds);
/* Records @a == @b: a symbol for which one integer is left becomes that integer. */
void adj_symbols_pin (AdjSymbols *symbols, AdjSize a, AdjSize b);
/* A fixed order of expressions: symbols by name, then the others. */
gint adj_symbols_order (const AdjSymbols *symbols, AdjSize a, AdjSize b);

/* Integer arithmetic; %FALSE on overflow, division by zero and for operations without a value. */
gboolean adj_size_fold (AdjSizeOp op, gint64 a, gint64 b, gint64 *out);
AdjRange adj_range_apply (AdjSizeOp op, AdjRange a, AdjRange b);

/* -- A sum of coefficients times products, while it is being worked on ----------------------- */

typedef struct
{
  gint64 factor;
  AdjSize product; /* without an integer factor; never a sum */
} AdjTerm;

typedef struct
{
  GArray *terms; /* of AdjTerm, ordered, no two of one product, no factor 0 */
  gint64 constant;
} AdjLinear;

/* These fail on overflow; @linear is then as good as cleared. */
gboolean adj_linear_add (AdjSymbols *symbols, AdjLinear *linear, AdjSize size, gint64 factor);
/* @linear / @divisor when that is exact. */
gboolean adj_linear_divide (AdjSymbols *symbols,
                            const AdjLinear *linear,
                            const AdjTerm *divisor,
                            AdjLinear *out);
/* The largest term that divides both; it is positive. */
AdjTerm adj_linear_common (AdjSymbols *symbols, const AdjLinear *a, const AdjLinear *b);
AdjRange adj_linear_range (AdjSymbols *symbols, const AdjLinear *linear);
AdjSize adj_linear_finish (AdjSymbols *symbols, const AdjLinear *linear);
void adj_linear_init (AdjLinear *linear);
void adj_linear_clear (AdjLinear *linear);
/* @a * @b for two products without integer factors. */
gboolean adj_product_multiply (AdjSymbols *symbols, AdjSize a, AdjSize b, AdjSize *out);

/* @op: MIN or MAX */
AdjSize adj_size_extremum (AdjSymbols *symbols, AdjSizeOp op, AdjSize a, AdjSize b);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AdjLinear, adj_linear_clear)

G_END_DECLS
