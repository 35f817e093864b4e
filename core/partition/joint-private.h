/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-arena.h"
#include "ir/adj-graph.h"
#include "partition/adj-partition.h"
#include "partition/op-traits-private.h"

G_BEGIN_DECLS

/* The joint graph for partitioning, as arrays indexed by node; equal nodes are merged and dead ones
 * gone. */

#define FAR_FROM_BACKWARD 1000000000u
#define NOBODY G_MAXUINT32

typedef enum
{
  NODE_PRIMAL,
  NODE_TANGENT,
  NODE_FORWARD_RNG,
  NODE_BACKWARD_RNG,
  NODE_ATTRIBUTE,
  NODE_CALL,
  NODE_OUTPUT,
} NodeKind;

typedef enum
{
  VALUE_NONE,
  VALUE_TENSOR,
  VALUE_MANY, /* list, tuple or dict */
  VALUE_SIZE, /* SymInt, SymBool */
  VALUE_FLOAT,
} ValueKind;

typedef struct
{
  guint32 *begin; /* n + 1 entries */
  guint32 *items;
} Adjacency;

typedef struct
{
  AdjGraph *graph; /* (unowned) */
  AdjSymbols *symbols;
  guint n;
  guint output;
  guint n_outputs, n_forward_outputs;
  guint n_tokens;          /* primals that are tokens of effects; they come first */
  const AdjValue *outputs; /* NODE or constants */

  /* of every node */
  guint8 *kind;  /* NodeKind */
  guint8 *value; /* ValueKind */
  guint16 *traits;
  guint8 *draws; /* takes numbers from the generator when it runs */
  guint8 *gone;  /* dead, or merged into another node */
  guint32 *rep;  /* the node that it was merged into, or itself */
  guint64 *bytes;
  guint8 *has_memory;
  guint32 *owner;    /* the node that made its storage; itself without memory */
  guint8 *recompute; /* AdjRecompute, after cleanup */
  guint8 *tag_rule;  /* AdjPartitionRule: which rule set the tag */
  guint32 *tag_because;
  gint64 *region;

  Adjacency inputs, users; /* between nodes that are not gone; the output is a user */

  /* classification */
  guint8 *in_backward; /* required_bw: depends on a tangent, or is a gradient */
  guint8 *in_forward;  /* required_fw */
  guint32 *because;    /* the tangent that it depends on */
  gint32 *order;       /* among in_forward; -1 */
  guint32 *distance;
  gboolean keeps_draws;  /* random calls stay, even unread ones, to keep the numbers of later calls;
                            PyTorch drops unread ones */
  gboolean has_backward; /* any node is in_backward */
  gboolean has_tags;     /* any node, even a dead one, is tagged must_recompute */

  AdjArena *arena; /* (owned): all of the above */
} Joint;

/* Reads @graph, drops dead nodes, merges equal ones, applies the demands of @options, cleans tags
 * and classifies every node. (transfer full) (nullable): %NULL with @error set. */
Joint *joint_new (AdjGraph *graph, const AdjPartitionOptions *options, GError **error);
void joint_free (Joint *joint);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Joint, joint_free)

/* The steps of joint_new(). */
void joint_merge_equal (Joint *joint, const AdjPartitionOptions *options);
gboolean joint_apply_demands (Joint *joint, const AdjPartitionOptions *options, GError **error);
/* What calls with an effect give in forward must be saved: @all of it, as PyTorch 2.15 has it, or
 * what a tag asks to be computed again, as a call with an effect cannot be. */
void joint_save_effects (Joint *joint, gboolean all);
void joint_clean_tags (Joint *joint);
void joint_classify (Joint *joint);

static inline gboolean
joint_must_recompute (const Joint *joint, guint i)
{
  return joint->recompute[i] == ADJ_RECOMPUTE_MUST_RECOMPUTE ||
         joint->recompute[i] == ADJ_RECOMPUTE_PREFER_RECOMPUTE;
}

static inline gboolean
joint_is_input (const Joint *joint, guint i)
{
  return joint->kind[i] == NODE_PRIMAL || joint->kind[i] == NODE_FORWARD_RNG;
}

static inline gboolean
joint_is_placeholder (const Joint *joint, guint i)
{
  return joint->kind[i] < NODE_ATTRIBUTE;
}

static inline gboolean
joint_is_symbol (const Joint *joint, guint i)
{
  return joint->value[i] >= VALUE_SIZE;
}

static inline const char *
joint_name (const Joint *joint, guint i)
{
  return adj_graph_get_node (joint->graph, i)->name;
}

/* Records node @i in @error as the one to blame. */
static inline void
joint_blame (const Joint *joint, guint i, GError **error)
{
  if (error != NULL)
    adj_error_blame_node (*error, joint_name (joint, i), i);
}

/* Bytes that saving the node keeps allocated; 0 for inputs and views of them. */
static inline guint64
joint_held_bytes (const Joint *joint, guint i)
{
  guint32 owner = joint->owner[i];

  return joint_is_input (joint, owner) ? 0 : joint->bytes[owner];
}

/* Whether the node must run for the state of the generator. */
static inline gboolean
joint_moves_generator (const Joint *joint, guint i)
{
  return joint->draws[i] && joint->keeps_draws;
}

/* " (region 7)", or "" for a node outside of all.  (transfer full) */
char *joint_print_region (const Joint *joint, guint i);
/* Whether the node must stay in backward by its tag, whatever it depends on. */
gboolean joint_stays_backward (const Joint *joint, guint i);
/* PyTorch's rule for what fuses (partition/SPEC.md §1.3). */
gboolean joint_fusible (const Joint *joint, guint a, guint b);
/* The representative of the node that is flat output @index; NOBODY for a constant. */
guint joint_output (const Joint *joint, guint index);

G_END_DECLS
