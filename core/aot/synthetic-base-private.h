/* SPDX-License-Identifier: MIT */
#pragma once

#include "aot/aot-private.h"

G_BEGIN_DECLS

#define AOT_NOT_MERGED G_MAXUINT

/* The mapping of an outer input. */
typedef struct
{
  guint base;             /* index of the inner input that it is a view of; AOT_NOT_MERGED */
  guint inner;            /* if not merged, index of its inner input */
  gboolean is_base;       /* it is the base itself */
  AdjShape shape;         /* of a merged one, over the program's symbols; offset from its base */
  gint returned;          /* its geometry was changed: index among the extra outputs; -1 */
  gboolean turns_no_grad; /* every such change was made with grad mode off */
} AotMember;

typedef struct
{
  AotStage parent;
  AdjSymbols *symbols;
  guint n; /* number of outer inputs */
  AotMember *members;
  guint n_bases; /* number of inner inputs that are bases; they come first */
  guint n_inner;
  guint n_outputs;  /* of the function */
  guint n_returned; /* and extra ones */
  gint *own;        /* by output: the merged input that it is; -1 */
} AotMerge;

/* An AotMerge in construction. */
typedef struct
{
  AotProgram *program;
  AotMerge *merge;
  const guint *next; /* result of chain_storages() */
  GArray *arguments; /* inner */
  GArray *inputs;    /* AdjAotInput, inner */
} AotMerging;

/* Replaces the metadata of the program by that of the inner function. */
void aot_merging_edit_metadata (const AotMerging *merging);

/* Runs the metadata pass again with the inputs made from their bases: a write through one input may
 * have given another one a history. */
gboolean aot_merge_collect_again (const AotMerge *merge, AotProgram *program, GError **error);

G_END_DECLS
