/* SPDX-License-Identifier: MIT */
#pragma once

#include "ops/adj-tile-program.h"

G_BEGIN_DECLS

typedef struct _Compiled Compiled;

/* An operator: a record of the table, a variant derived from one, or one of a program. */
typedef struct
{
  AdjOp op;            /* first member, so that an AdjOp of the table can be cast to its entry */
  const AdjOp *base;   /* (nullable): of a variant */
  const AdjExpr *body; /* (nullable): the parsed expr */
  Compiled *programs;  /* atomic: grows at the front, lives as long as the entry */
  gpointer rules;      /* (nullable), atomic: the rules that rules/ parsed from its texts */
  /* Of an operator that is not of the table. */
  AdjArena *arena;           /* (owned) (nullable) */
  GDestroyNotify free_rules; /* (nullable) */
} OpEntry;

static inline OpEntry *
op_entry (const AdjOp *op)
{
  return (OpEntry *) op;
}

/* Initialises @entry, which is zeroed, from @record with @schema; @arena owns what is parsed.
 * %FALSE with ADJ_ERROR_PARSE: schema or body cannot be parsed. */
gboolean op_entry_init (
    OpEntry *entry, AdjArena *arena, const AdjOp *record, const char *schema, GError **error);
/* Sets the missing functions of a record with a body. */
void op_entry_fill (OpEntry *entry);
/* Frees the programs that were compiled for @entry (pointwise.c). */
void op_entry_drop_programs (OpEntry *entry);

/* A family: the records of one .inc file, with the functions of its .c file. */
typedef struct
{
  const AdjOp *ops;
  guint n;
} OpFamily;

#define FAMILY(name) extern const OpFamily adj_family_##name;
#include "ops/families.inc"
#undef FAMILY

/* The functions of records with a body and none of their own (pointwise.c).  A record that names
 * adj_pointwise_meta() is traced with the strides of its kernel. */
gboolean adj_pointwise_meta (AdjOpCall *call);
void adj_pointwise_traced (AdjOpCall *call);
/* Whether one operand may be a number beside a tensor. */
gboolean adj_pointwise_takes_number (const AdjSchema *schema);
/* PyTorch's kernels have our first operand, a gradient or subtrahend, last: the strides of the next
 * one win. */
gboolean adj_pointwise_meta_first_last (AdjOpCall *call);
gboolean adj_pointwise_kernel (AdjOpCall *call);
double adj_pointwise_flops (const AdjOpCall *call);

/* Variants (variants.c): schemas, and the functions that run them. */
char *adj_variant_inplace_schema (const AdjOp *record, const AdjSchema *schema);
char *adj_variant_out_schema (const AdjOp *record, const AdjSchema *schema);
char *adj_variant_copy_schema (const AdjSchema *schema);
void adj_variant_init_write (AdjOp *op);
void adj_variant_init_prim (AdjOp *op);
void adj_variant_init_turn (AdjOp *op);
void adj_variant_init_copy (AdjOp *op);

G_END_DECLS
