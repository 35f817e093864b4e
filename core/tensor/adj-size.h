/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-error.h"

G_BEGIN_DECLS

/* A size, stride or offset: an integer, or the id of an expression in an AdjSymbols table.
 *
 * One 64-bit word; the 2^32 values from G_MININT64 up are expression ids, so that every integer a
 * tensor can have is itself.  Equal words of one table are the same expression, and expressions
 * that were computed are equal when their words are (they are hash-consed).  Only an expression
 * that was parsed and is spelled unusually may have a word of its own; adj_size_test() compares it
 * by value. */
typedef struct
{
  gint64 word;
} AdjSize;

typedef struct _AdjSymbols AdjSymbols;

#define ADJ_SIZE(i) ((AdjSize){ (i) })

/* Whether it is an integer, its word. */
static inline gboolean
adj_size_is_int (AdjSize size)
{
  return size.word >= G_MININT64 + (G_GINT64_CONSTANT (1) << 32);
}

static inline gboolean
adj_size_same (AdjSize a, AdjSize b)
{
  return a.word == b.word;
}

typedef enum
{
  ADJ_SIZE_ADD,
  ADJ_SIZE_SUB,
  ADJ_SIZE_MUL,
  ADJ_SIZE_FLOORDIV, /* rounds down, as Python */
  ADJ_SIZE_MOD,      /* sign of the divisor, as Python */
  ADJ_SIZE_POW,
  ADJ_SIZE_MIN,
  ADJ_SIZE_MAX,
  ADJ_SIZE_EQ, /* comparisons give 0 or 1 */
  ADJ_SIZE_NE,
  ADJ_SIZE_LT,
  ADJ_SIZE_LE,
  ADJ_SIZE_GT,
  ADJ_SIZE_GE,
  ADJ_SIZE_AND,
  ADJ_SIZE_OR,
  ADJ_SIZE_NOT,    /* unary: second operand ignored */
  ADJ_SIZE_NEG,    /* unary */
  ADJ_SIZE_OPAQUE, /* a function we only keep: text is verbatim, no arithmetic */
  ADJ_N_SIZE_OPS,
} AdjSizeOp;

/**
 * adj_size_apply:
 * @symbols: (nullable): needed when an operand is symbolic
 *
 * Integers fold at once; overflow and division by zero give a symbolic node when @symbols is
 * given, else saturate, so that no caller computes with a wrapped size.
 */
ADJ_PUBLIC AdjSize adj_size_apply (AdjSymbols *symbols, AdjSizeOp op, AdjSize a, AdjSize b);

static inline AdjSize
adj_size_add (AdjSymbols *symbols, AdjSize a, AdjSize b)
{
  AdjSize out;

  if (adj_size_is_int (a) && adj_size_is_int (b) &&
      !__builtin_add_overflow (a.word, b.word, &out.word) && adj_size_is_int (out))
    return out;
  return adj_size_apply (symbols, ADJ_SIZE_ADD, a, b);
}

static inline AdjSize
adj_size_sub (AdjSymbols *symbols, AdjSize a, AdjSize b)
{
  AdjSize out;

  if (adj_size_is_int (a) && adj_size_is_int (b) &&
      !__builtin_sub_overflow (a.word, b.word, &out.word) && adj_size_is_int (out))
    return out;
  return adj_size_apply (symbols, ADJ_SIZE_SUB, a, b);
}

static inline AdjSize
adj_size_mul (AdjSymbols *symbols, AdjSize a, AdjSize b)
{
  AdjSize out;

  if (adj_size_is_int (a) && adj_size_is_int (b) &&
      !__builtin_mul_overflow (a.word, b.word, &out.word) && adj_size_is_int (out))
    return out;
  return adj_size_apply (symbols, ADJ_SIZE_MUL, a, b);
}

static inline AdjSize
adj_size_floordiv (AdjSymbols *symbols, AdjSize a, AdjSize b)
{
  return adj_size_apply (symbols, ADJ_SIZE_FLOORDIV, a, b);
}

/* Answers a comparison.  Integers: directly.  Symbolic: from value ranges when they decide it, else
 * from hints, and then the assumption is recorded as a guard of @symbols; a symbol that it leaves
 * one value becomes that integer.  %FALSE: undecided, since it depends on data (unbacked). */
ADJ_PUBLIC gboolean
adj_size_decide (AdjSymbols *symbols, AdjSizeOp comparison, AdjSize a, AdjSize b, gboolean *holds);
/* The same; an undecided comparison is false (the size-oblivious default). */
ADJ_PUBLIC gboolean adj_size_test (AdjSymbols *symbols, AdjSizeOp comparison, AdjSize a, AdjSize b);

static inline gboolean
adj_size_is (AdjSymbols *symbols, AdjSize a, gint64 b)
{
  return adj_size_is_int (a) ? a.word == b : adj_size_test (symbols, ADJ_SIZE_EQ, a, ADJ_SIZE (b));
}

/* The concrete value: the integer, or its value by the hints.  %FALSE when unbacked. */
ADJ_PUBLIC gboolean adj_size_get_hint (AdjSymbols *symbols, AdjSize size, gint64 *out);

/* "8", "s0", "2*s0 + 1", "(s0//2)", as sympy writes them; text that was parsed prints back
 * verbatim.  Parsing gives %FALSE with ADJ_ERROR_PARSE. */
ADJ_PUBLIC void adj_size_print (const AdjSymbols *symbols, AdjSize size, GString *out);
ADJ_PUBLIC gboolean
adj_size_parse (AdjSymbols *symbols, const char *text, gssize length, AdjSize *out, GError **error);

G_END_DECLS
