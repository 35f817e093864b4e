/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"
#include "partition/adj-partition.h"

G_BEGIN_DECLS

/* The invariants of partition/SPEC.md §6 that can be checked on the result alone.  (I22 is decided
 * where the cut is made.  I21 and I23 to I30, I32 and I33 compare two runs or two plans;
 * tests/partition/test-invariants has them.) */

typedef struct
{
  const AdjPartition *partition;
  const AdjPartitionOptions *options;
  const AdjValue *joint_outputs, *forward_outputs, *backward_outputs;
  guint n_tensors, n_states, n_sizes; /* saved, in that order */
} Examined;

typedef struct
{
  const char *id;    /* "I7" */
  const char *claim; /* one sentence */
  /* Returns the name of a node that breaks the invariant, or %NULL when it holds. Adds the number
   * of nodes it examined to @n_cases. */
  const char *(*examine) (const Examined *self, guint *n_cases);
} Invariant;

guint invariants_get_n (void);
const Invariant *invariants_get (guint index);

Examined *examined_new (const AdjPartition *partition, const AdjPartitionOptions *options);
void examined_free (Examined *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Examined, examined_free)

/* -- for the rows -- */

/* The node that stands for joint node @index. */
guint examined_representative (const Examined *self, guint index);
const char *examined_joint_name (const Examined *self, guint index);
/* The call of @graph with that name; %NULL: none, or a placeholder. */
const AdjNode *examined_find_call (const AdjGraph *graph, const char *name);
gboolean examined_is_gradient (const Examined *self, guint index);

/* Inputs and outputs of the graphs. */
const char *examine_i1 (const Examined *self, guint *n_cases);
const char *examine_i2 (const Examined *self, guint *n_cases);
const char *examine_i3 (const Examined *self, guint *n_cases);
const char *examine_i4 (const Examined *self, guint *n_cases);
const char *examine_i5 (const Examined *self, guint *n_cases);
const char *examine_i6 (const Examined *self, guint *n_cases);
const char *examine_i7 (const Examined *self, guint *n_cases);
const char *examine_i8 (const Examined *self, guint *n_cases);
const char *examine_i9 (const Examined *self, guint *n_cases);
/* Calls. */
const char *examine_i10 (const Examined *self, guint *n_cases);
const char *examine_i11 (const Examined *self, guint *n_cases);
const char *examine_i12 (const Examined *self, guint *n_cases);
const char *examine_i13 (const Examined *self, guint *n_cases);
const char *examine_i14 (const Examined *self, guint *n_cases);
const char *examine_i15 (const Examined *self, guint *n_cases);
/* Decisions. */
const char *examine_i16 (const Examined *self, guint *n_cases);
const char *examine_i17 (const Examined *self, guint *n_cases);
const char *examine_i18 (const Examined *self, guint *n_cases);
const char *examine_i19 (const Examined *self, guint *n_cases);
const char *examine_i20 (const Examined *self, guint *n_cases);
const char *examine_i31 (const Examined *self, guint *n_cases);

G_END_DECLS
