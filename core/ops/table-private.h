/* SPDX-License-Identifier: MIT */
#pragma once

#include "ops/adj-tile-program.h"

G_BEGIN_DECLS

typedef struct _Compiled Compiled;

/* An operator of the table: a record, or a twin derived from one. */
typedef struct
{
  AdjOp op;            /* first, so that an AdjOp of the table is its entry */
  const AdjOp *base;   /* (nullable): of a twin */
  const AdjExpr *body; /* (nullable): the parsed expr */
  Compiled *programs;  /* atomic: grows at the front, lives as long as the table */
} OpEntry;

static inline OpEntry *
op_entry (const AdjOp *op)
{
  return (OpEntry *) op;
}

/* A family: the records of one .inc file, with the functions of its .c file. */
typedef struct
{
  const AdjOp *ops;
  guint n;
} OpFamily;

extern const OpFamily adj_family_pointwise;
extern const OpFamily adj_family_activation;
extern const OpFamily adj_family_view;
extern const OpFamily adj_family_create;
extern const OpFamily adj_family_random;
extern const OpFamily adj_family_randint;
extern const OpFamily adj_family_bernoulli;
extern const OpFamily adj_family_distribution;
extern const OpFamily adj_family_seeded;
extern const OpFamily adj_family_copy;
extern const OpFamily adj_family_matmul;
extern const OpFamily adj_family_reduce;
extern const OpFamily adj_family_glu;
extern const OpFamily adj_family_sort;
extern const OpFamily adj_family_softmax;
extern const OpFamily adj_family_norm;
extern const OpFamily adj_family_batch_norm;
extern const OpFamily adj_family_group_norm;
extern const OpFamily adj_family_conv;
extern const OpFamily adj_family_pool;
extern const OpFamily adj_family_adaptive_pool;
extern const OpFamily adj_family_resample;
extern const OpFamily adj_family_shuffle;
extern const OpFamily adj_family_mask;
extern const OpFamily adj_family_distance;
extern const OpFamily adj_family_im2col;
extern const OpFamily adj_family_grid_sample;
extern const OpFamily adj_family_affine_grid;
extern const OpFamily adj_family_weight_norm;
extern const OpFamily adj_family_trilinear;
extern const OpFamily adj_family_rrelu;
extern const OpFamily adj_family_search;
extern const OpFamily adj_family_pad;
extern const OpFamily adj_family_attention;
extern const OpFamily adj_family_attention_cuda;
extern const OpFamily adj_family_loss;
extern const OpFamily adj_family_embedding;
extern const OpFamily adj_family_gather;
extern const OpFamily adj_family_index;
extern const OpFamily adj_family_scatter;
extern const OpFamily adj_family_nonzero;
extern const OpFamily adj_family_embedding_bag;
extern const OpFamily adj_family_assemble;
extern const OpFamily adj_family_foreach;
extern const OpFamily adj_family_optimizer;
extern const OpFamily adj_family_effect;
extern const OpFamily adj_family_composite;

/* What records with a body and without functions of their own get (pointwise.c). */
gboolean adj_pointwise_meta (AdjOpCall *call);
gboolean adj_pointwise_kernel (AdjOpCall *call);
double adj_pointwise_flops (const AdjOpCall *call);

/* The program for this call, compiled at first use and then shared by all threads. */
const AdjTileProgram *adj_op_call_get_program (const AdjOpCall *call, guint result);

/* Twins (twin.c): the schema of one, and what runs it. */
char *adj_twin_inplace_schema (const AdjOp *record, const AdjSchema *schema);
char *adj_twin_out_schema (const AdjOp *record, const AdjSchema *schema);
char *adj_twin_copy_schema (const AdjSchema *schema);
void adj_twin_init_write (AdjOp *op);
void adj_twin_init_turn (AdjOp *op);
void adj_twin_init_copy (AdjOp *op);

G_END_DECLS
