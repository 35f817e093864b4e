/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/adj-checkpoint.h"
#include "autograd/adj-engine-internal.h"
#include "rules/adj-apply.h"
#include "rules/adj-rule.h"
#include "rules/adj-view-chain.h"
#include "tensor/adj-tensor-internal.h"

G_BEGIN_DECLS

typedef struct _Autograd Autograd;

/* -- nodes (node.c) -- */

/* Adds a hook; @list is created with the first one. */
AdjHook *hook_list_add (GPtrArray **list, GCallback func, gpointer data, guint input);

/* Allocates @size bytes; sequence numbers come from @autograd. */
AdjGradNode *grad_node_new (Autograd *autograd, const GradNodeClass *klass, gsize size, char *name);
void grad_node_set_place (AdjGradNode *node, const AdjPlace *place);
void grad_node_set_edges (AdjGradNode *node, const GradEdge *edges, guint n);
void grad_node_set_inputs (AdjGradNode *node, guint n);
gboolean grad_any_defined (AdjTensor *const *grads, guint n);

/* Leaves: the existing accumulator of @leaf, or a new one. (transfer full) */
AdjGradNode *accumulator_get (AdjContext *cx, AdjTensor *leaf);
/* Called when the leaf of @node is freed. */
void accumulator_forget_leaf (AdjGradNode *node);
/* -- what a tensor knows (variable.c) -- */

/* Why writing through a view has no gradient. */
typedef enum
{
  VIEW_DEFAULT,
  VIEW_NO_GRAD,      /* made with grad mode off */
  VIEW_MULTI_OUTPUT, /* one of several */
  VIEW_IN_CUSTOM,    /* made by a custom function */
} ViewCreation;

typedef struct
{
  AdjTensor *tensor; /* its tensor */
  gboolean requires_grad;
  AdjGradNode *node; /* (owned) (nullable): the node that made it */
  guint output;
  AdjTensor *grad;          /* (owned) (nullable) */
  AdjGradNode *accumulator; /* (nullable): not owned */
  gboolean retains;
  AdjTensor *base;         /* (owned) (nullable): @tensor is a view of this, which is no view */
  AdjViewChain *chain;     /* (owned) (nullable): the views from @base to it; %NULL: unknown */
  ViewCreation creation;   /* of a view */
  guint32 version;         /* of a view: version at which its history was made */
  guint turns;             /* number of metadata changes by t_() and the like */
  guint base_turns;        /* of @base: its turns when @chain was made */
  GPtrArray *savers;       /* (nullable): of Saved, unowned: those that saved it or a view of it */
  GPtrArray *tensor_hooks; /* of a leaf */
  GPtrArray *leaf_hooks;
  gboolean missed; /* a leaf: the last accumulation added nothing */
} Variable;

Variable *variable_find (const AdjTensor *tensor); /* (nullable) */
Variable *variable_get (AdjTensor *tensor); /* Returns the data of @tensor, created on first use. */
/* Makes @tensor result @output of @node; hooks for a retained gradient move to that node. */
void variable_set_history (AdjTensor *tensor, AdjGradNode *node, guint output);
/* (transfer full): the edge for the gradient of @tensor; without a node if it requires none. */
GradEdge variable_get_edge (AdjContext *cx, AdjTensor *tensor);

/* -- views (view-history.c) -- */

/* Records which results of @call, which has run, are views. */
void variable_mark_views (const AdjOpCall *call);
/* Records that @call, which has run, changed the metadata of its first argument; @recorded: and its
 * history. */
void variable_turn (const AdjOpCall *call, gboolean recorded);
void variable_forget_base (Variable *variable);
/* Recreates the history of a view if its base was written since.  %FALSE: the context is in error.
 */
gboolean variable_refresh (AdjContext *cx, AdjTensor *tensor);
/* (transfer full) (nullable): the reason why a recorded operation may not write @tensor in place.
 */
char *variable_why_not_write (const AdjTensor *tensor);
/* Updates the history after a write: @tensor is result @output of @node, or becomes a view of a
 * base written by it. @self: edge of @node to the written tensor; the number of edges when there is
 * none. */
gboolean variable_rebase_history (
    AdjContext *cx, AdjTensor *tensor, AdjGradNode *node, guint output, guint self);

/* -- what a node keeps for its backward (saved.c) -- */

typedef struct _SavedHooks SavedHooks;

typedef enum
{
  SAVED_ARGUMENT,
  SAVED_RESULT, /* result of the node that saves it: detached when saved, connected again when
                   unpacked */
  SAVED_AS_IS,  /* a result without a gradient */
} SavedKind;

GPtrArray *saved_list_new (void); /* of Saved, owned */
/* %FALSE: the context is in error. */
gboolean
saved_add (GPtrArray *list, AdjContext *cx, AdjTensor *tensor, guint index, SavedKind kind);
/* Drops tensors that were saved before a write gave @variable's tensor a new history: they are
 * stale, and their references would form cycles. */
void saved_drop_stale (Variable *variable);
void saved_unwatch (Variable *variable); /* Called when @variable is freed. */
void saved_hooks_unref (SavedHooks *hooks);

/* -- checkpointing (checkpoint.c, checkpoint-options.c) -- */

/* Reads the keyword arguments of checkpoint(), a DICT or NONE.  %FALSE: the context is in error. */
gboolean
checkpoint_options_read (AdjCheckpointOptions *options, AdjContext *cx, const AdjValue *kwargs);
/* Frees the policy's data; @options: (nullable). */
void checkpoint_options_clear (const AdjCheckpointOptions *options);
/* As adj_checkpoint(), also for traces. */
gboolean checkpoint_run (AdjContext *cx,
                         AdjFunction *function,
                         const AdjValue *args,
                         guint n_args,
                         const AdjCheckpointOptions *options,
                         AdjValue *result);
/* The same, but a policy alone is asked where a trace is made. */
gboolean checkpoint_run_region (AdjContext *cx,
                                AdjFunction *function,
                                const AdjValue *args,
                                guint n_args,
                                const AdjCheckpointOptions *options,
                                AdjValue *result);

/* Whether @tensor represents a node of a graph that is being traced. */
static inline gboolean
tensor_is_traced (AdjTensor *tensor)
{
  return adj_tensor_get_slot (tensor, ADJ_SLOT_PROXY) != NULL ||
         adj_tensor_get_slot (tensor, ADJ_SLOT_FUNCTIONAL) != NULL;
}

/* -- selective checkpointing (selective.c) -- */

typedef struct _Selective Selective;

Selective *selective_new (const AdjCheckpointOptions *options);
void selective_free (Selective *self);
void selective_set_recompute (Selective *self, gboolean is_recompute);
/* Replaces adj_mode_call_below() in a selective region. */
gboolean selective_call (Selective *self, AdjMode *mode, AdjOpCall *call);

/* -- the node of an operator (op-node.c); %FALSE: the context is in error -- */

typedef struct _OpNode OpNode;

/* @in_place: the first argument is written, whatever the schema says. */
OpNode *op_node_new (Autograd *autograd, const AdjOpCall *call, gboolean in_place);
void op_node_unref (OpNode *self);
guint64 op_node_get_sequence (const OpNode *self);
/* Called before the operator: sets the edges and saves arguments. @found (out): whether any
 * argument requires a gradient; else the node is not needed. */
gboolean op_node_prepare (OpNode *self, const AdjOpCall *call, gboolean *found);
/* Called after the operator: gives the results their history. */
gboolean op_node_complete (OpNode *self, const AdjOpCall *call);

/* -- the mode (record.c) -- */

struct _Autograd
{
  AdjMode mode;
  AdjAutogradFlags flags;
  guint64 next_sequence;
  GPtrArray *saved_hooks; /* stack of SavedHooks, owned; a %NULL entry turns the hooks below off */
  gboolean packs;         /* a pack hook is running */
  Selective *selective;   /* (unowned) (nullable): the selective checkpoint that runs */
  GraphTask *task;        /* (nullable): the innermost running backward */
  GPtrArray *function_hooks; /* of FunctionHook, unowned: those that hold values */
  GPtrArray *walkers; /* stack of BackwardWalker, unowned; a %NULL entry turns those below off */
  guint64 n_tasks;
  guint n_nested;         /* number of running backwards inside others */
  AccumulationFunc watch; /* (nullable) */
  gpointer watch_data;
};

Autograd *autograd_find (AdjContext *cx); /* (nullable) */
Autograd *autograd_get (AdjContext *cx);  /* %NULL with the context in error */

/* -- running (engine.c) -- */

gboolean engine_run (AdjContext *cx, Autograd *autograd, const GradRequest *request);

/* %FALSE: no backward is running. */
gboolean engine_get_task (const Autograd *autograd, guint64 *id);
/* Whether the running backward reaches @node. */
gboolean engine_will_run (const Autograd *autograd, const AdjGradNode *node);
/* (transfer none) (nullable): the running node. */
AdjGradNode *engine_get_node (const Autograd *autograd);

/* -- hooks that a trace enters (function-hook.c) -- */

gboolean function_hook_add (AdjMode *mode,
                            AdjContext *cx,
                            AdjTensor *tensor,
                            AdjFunction *body,
                            const char *name,
                            const AdjValue *more,
                            guint n_more);
/* Releases the values of all function hooks. */
void function_hooks_let_go (Autograd *autograd);

/* -- hooks that a trace does not look into (deferred.c) -- */

/* A stand-in for the result of @hook on @grad, a traced tensor: borrowed from the scope; %NULL with
 * the context in error. */
AdjTensor *hook_defer (AdjContext *cx, AdjHook *hook, AdjTensor *grad);

/* -- around one node (node-hooks.c); %FALSE: the context is in error -- */

/* Replaces *@slot by @new; @slot owns its reference. */
gboolean node_replace_grad (AdjContext *cx, const AdjHook *hook, AdjTensor **slot, AdjTensor *new);
gboolean node_run_tensor_hooks (AdjContext *cx, AdjGradNode *node, AdjTensor **grads);
gboolean node_run_retainers (AdjContext *cx, AdjGradNode *node, AdjTensor **grads);
gboolean node_run_hooks (AdjContext *cx,
                         const GPtrArray *list,
                         AdjTensor **grads,
                         guint n_grads,
                         AdjTensor *const *results,
                         guint n_results);

/* -- anomaly mode (anomaly.c) -- */

/* Appends the place of the forward call of @node to the context's error. */
void anomaly_explain (AdjContext *cx, const AdjGradNode *node);
gboolean anomaly_check (AdjContext *cx,
                        const Autograd *autograd,
                        const AdjGradNode *node,
                        AdjTensor *const *out);

G_END_DECLS
