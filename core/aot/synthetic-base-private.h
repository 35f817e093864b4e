/* SPDX-License-Identifier: MIT */
#pragma once

#include "aot/aot-private.h"

G_BEGIN_DECLS

#define AOT_NOT_MERGED G_MAXUINT

/* Where an outer input went. */
typedef struct
{
  guint base;             /* inner input that it is a view of; AOT_NOT_MERGED */
  guint inner;            /* else its inner input */
  gboolean is_base;       /* it is that tensor itself */
  AdjShape shape;         /* of a merged one, over the program's symbols; offset from its base */
  gint returned;          /* its geometry was changed: position among the extra outputs; -1 */
  gboolean turns_no_grad; /* always while grad mode was off */
} AotMember;

typedef struct
{
  AotStage parent;
  AdjSymbols *symbols;
  guint n; /* outer inputs */
  AotMember *members;
  guint n_bases; /* inner inputs that are bases; they come first */
  guint n_inner;
  guint n_outputs;  /* of the function */
  guint n_returned; /* and extra ones */
  gint *own;        /* by output: the merged input that it is; -1 */
} AotMerge;

/* An AotMerge while it is made. */
typedef struct
{
  AotProgram *program;
  AotMerge *merge;
  const guint *next; /* by chain_storages() */
  GArray *arguments; /* inner */
  GArray *inputs;    /* AdjAotInput, inner */
} AotMerging;

/* The metadata of the program becomes that of the inner function. */
void aot_merging_edit_metadata (const AotMerging *merging);

/* Runs the metadata pass again with the inputs made of their bases: a write through one input may
 * have given another one a history. */
gboolean aot_merge_collect_again (const AotMerge *merge, AotProgram *program, GError **error);

G_END_DECLS
