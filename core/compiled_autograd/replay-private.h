/* SPDX-License-Identifier: MIT */
#pragma once

#include "compiled_autograd/stand-ins-private.h"
#include "trace/adj-tracer.h"

G_BEGIN_DECLS

/* One replay, for both levels. */
typedef struct
{
  const Collection *collection;
  const GArray *rules; /* SizeRule */
  AdjContext *cx;      /* of the trace */
  AdjTracer *tracer;
  StandIns stand_ins;
  AdjCaptureLevel level;
  AdjNodeId lists[5];        /* placeholders: inputs, sizes, scalars, hooks, packed_data */
  GArray *sizes;             /* AdjNodeId, by size: the call that gives it, if it is passed */
  GHashTable *indices;       /* AdjGradNode → index of its call + 1 */
  AdjTensor ***grads;        /* by call and input (owned) (nullable) */
  AdjTensor **captured;      /* by target, owned */
  const CollectedCall *call; /* that is replayed, and its number */
  guint index;
} Replay;

AdjNodeId replay_add_call (
    Replay *self, const char *target, const AdjValue *args, guint n_args, const AdjValue *out);
/* Item @index of what @list gives. */
AdjNodeId replay_add_item (Replay *self, AdjNodeId list, guint index, const AdjValue *out);
/* A tensor without bytes that nobody has seen yet; borrowed from the scope. */
AdjTensor *replay_new_like (Replay *self, const AdjTensorMeta *meta);
/* (transfer full): "MulBackward (NodeCall 3)", below the place in the program; @hook: (nullable):
 * that is called. */
char *replay_make_origin (const Replay *self, const char *hook);

/* -- hooks (replay-hooks.c) -- */

AdjValue replay_value_of (AdjTensor *tensor);
/* @items: that it is made of. */
AdjValue replay_list_of (AdjTensor *const *tensors, guint n, AdjValue *items);
/* @slot holds @tensor instead. */
void replay_put (AdjTensor **slot, AdjTensor *tensor);
/* call_hook (@hook, *@args, hook_type=…); @object: which of all it is. */
AdjNodeId replay_add_call_of_hook (Replay *self,
                                   AdjNodeId hook,
                                   guint object,
                                   ObjectKind kind,
                                   const AdjValue *args,
                                   guint n_args,
                                   AdjValue *out);
/* As that, of an item of the hooks. */
AdjNodeId replay_add_hook_call (
    Replay *self, guint object, ObjectKind kind, const AdjValue *args, guint n_args, AdjValue *out);
/* Those on tensors, and gradients that are retained, from @object (inout) on: change @grads. */
gboolean
replay_tensor_hooks (Replay *self, const CollectedCall *call, AdjTensor **grads, guint *object);
/* Those on a node: each gives all of @grads again. */
gboolean replay_node_hooks (Replay *self,
                            const GPtrArray *hooks,
                            ObjectKind kind,
                            guint *object,
                            AdjTensor **grads,
                            guint n_grads,
                            AdjTensor *const *results,
                            guint n_results);
/* What the node of @call has packed. */
void replay_unpacking (Replay *self, const CollectedCall *call);

/* -- at the level of nodes (replay-nodes.c) -- */

/* What the node is called there. */
const char *replay_node_get_name (const Replay *self);
/* Calls of unwrap_maybe_dynamic_int, one for each item of the sizes. */
void replay_nodes_add_sizes (Replay *self, const GArray *sizes);
/* The call of a node that has a form, and what validate_outputs makes of it in @out. */
gboolean
replay_node (Replay *self, const CollectedCall *call, AdjTensor *const *grads, AdjTensor **out);
/* What goes before the graph of a compiled backward: it takes what the function kept and @grads,
 * and gives what that graph reads in their place; @object: the node among all objects
 * (replay-aot.c). */
void
replay_begin_compiled (Replay *self, const CollectedCall *call, AdjTensor **grads, guint object);
/* The calls from there on were those of that graph. */
void replay_end_compiled (Replay *self);
/* How size @index is read in the graph. */
AdjValue replay_get_size (const Replay *self, guint index);
/* Of gradients that something else gave: in place. */
void replay_node_validate (Replay *self, const CollectedCall *call, AdjTensor **out);
void replay_node_leaf (Replay *self, const CollectedCall *call, AdjTensor *leaf, AdjTensor *grad);
/* call_backward; @outs by edge. */
void replay_node_whole (
    Replay *self, const AdjValue *args, guint n_args, const AdjValue *outs, guint n_outs);
void replay_node_unpack (Replay *self, guint object, guint packed, AdjValue *out);

G_END_DECLS
