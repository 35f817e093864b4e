/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/adj-autograd.h"
#include "call/adj-mode.h"
#include "rules/adj-node-op.h"

G_BEGIN_DECLS

/* Internals of the tape and the engine, for layers that walk a backward themselves. */

/* -- hooks (hook.c) -- */

struct _AdjHook
{
  guint ref_count;
  gboolean removed;
  char *name; /* (owned) (nullable) */
  GCallback func;
  gpointer data;
  GDestroyNotify destroy; /* (nullable): of @data */
  gboolean is_traced;     /* traces enter it */
  gboolean of_leaf;       /* runs after a leaf has its gradient */
  guint input;            /* of a tensor hook on a node: index of the gradient */
};

const char *hook_get_name (const AdjHook *hook);
/* The hooks of @list, copied before they run.  @list: (nullable); (transfer full) (nullable) */
GPtrArray *hook_list_snapshot (const GPtrArray *list);

/* -- nodes (node.c) -- */

typedef struct
{
  AdjGradNode *node; /* (owned) (nullable) */
  guint input;
} GradEdge;

typedef struct _Saved Saved;

/* Visits the values that a node saves, in a deterministic order. */
typedef struct _GradVisitor GradVisitor;
struct _GradVisitor
{
  AdjContext *cx; /* (unowned): for errors */
  void (*saved) (GradVisitor *visitor, const char *name, AdjGradNode *node, Saved *saved);
  /* Called for other saved values, for a container before its items. It may change @leaf: a META to
   * one of other sizes; a TENSOR, or a number where a tensor is expected (@is_tensor), to a tensor.
   */
  void (*leaf) (GradVisitor *visitor, const char *name, AdjValue *leaf, gboolean is_tensor);
  void (*meta) (GradVisitor *visitor, const char *name, AdjTensorMeta *meta);
  /* A tensor that the node holds itself; it may be replaced. */
  void (*tensor) (GradVisitor *visitor, const char *name, AdjTensor **tensor);
  /* A size, INT or SIZE, used in the computation; it may be replaced. */
  void (*size) (GradVisitor *visitor, const char *name, AdjValue *size);
  /* A function that the node calls. */
  void (*function) (GradVisitor *visitor, const char *name, AdjFunction *function);
};

typedef struct
{
  /* Fills @out with gradients (transfer full). An entry stays %NULL where the gradient is undefined
   * or not @needed. */
  gboolean (*apply) (AdjGradNode *node,
                     AdjContext *cx,
                     AdjTensor *const *grads,
                     const gboolean *needed,
                     AdjTensor **out);
  /* (nullable): as @apply, with @saved instead of the saved tensors. Compiled autograd calls such a
   * node as a whole, where it captures other nodes operator by operator. */
  gboolean (*apply_to) (AdjGradNode *node,
                        AdjContext *cx,
                        AdjTensor *const *saved,
                        AdjTensor *const *grads,
                        const gboolean *needed,
                        AdjTensor **out);
  /* (nullable): visits the saved values; without it they are unknown. %FALSE: they were released,
   * or the visitor's context is in error. */
  gboolean (*visit) (AdjGradNode *node, GradVisitor *visitor);
  /* (nullable): the description of the forward's argument at an edge, %NULL for a non-tensor.
   * Without this function, gradients that are not needed are dropped. */
  const AdjTensorMeta *(*get_argument) (const AdjGradNode *node, guint edge);
  /* (nullable): identifies the operation without its saved values: nodes of equal kind compute the
   * same function. */
  gconstpointer (*get_kind) (const AdjGradNode *node);
  /* (nullable): prefetches what @visit reads, in steps from 0 on; each step may follow pointers
   * that the previous ones have loaded. */
  void (*prefetch) (const AdjGradNode *node, guint step);
  void (*release) (AdjGradNode *node);         /* (nullable): releases saved values */
  GPtrArray *(*get_saved) (AdjGradNode *node); /* (nullable) (transfer none): of Saved */
  void (*finalize) (AdjGradNode *node);
} GradNodeClass;

typedef struct _GraphTask GraphTask;
typedef struct _TaskNode TaskNode;

/* Members that a walk over many nodes reads are last, so that they are next to those of OpNode. */
struct _AdjGradNode
{
  guint ref_count;
  char *name;
  guint64 topological;
  AdjPlace place;          /* of the operation in the user's program */
  AdjGraph *graph, *outer; /* (owned) (nullable): hold the texts of @place */
  char *file;              /* (owned) (nullable): its file when there is no graph */
  AdjGradNode
      *induced_by; /* (owned) (nullable): in anomaly mode, the node whose backward made this one */
  const GradNodeClass *klass;
  TaskNode *task_node; /* (unowned) (nullable): its state in the innermost running backward */
  guint64 sequence;
  guint n_edges;
  guint n_inputs;
  GradEdge *edges;
  AdjTensorMeta *inputs; /* metadata of the gradients; dtype NONE: takes none */
  AdjTensor **retainers; /* (nullable): by input: tensors that retain their gradient, not owned */
  GPtrArray *tensor_hooks;
  GPtrArray *pre_hooks;
  GPtrArray *post_hooks;
  GradEdge few[2]; /* storage of @edges, if these suffice */
};

/* Whether @node accumulates into a leaf; @leaf (out) (transfer none): %NULL when it is freed. */
gboolean grad_node_is_accumulator (const AdjGradNode *node, AdjTensor **leaf);
/* (transfer none) (nullable): the leaf when @node is an accumulator. */
AdjTensor *accumulator_get_leaf (const AdjGradNode *node);
/* (transfer none) (nullable): hooks of @node on gradients that arrive; for an accumulator those of
 * the leaf. */
const GPtrArray *grad_node_get_tensor_hooks (const AdjGradNode *node);
/* (transfer none) (nullable): hooks that run after the gradient of @leaf was accumulated. */
const GPtrArray *leaf_get_hooks (const AdjTensor *leaf);
gboolean leaf_run_hook (AdjContext *cx, const AdjHook *hook, AdjTensor *leaf);
/* Adds @grad (nullable: undefined) to the gradient of @leaf, or stores it without a copy if it has
 * only @n_holders references. %FALSE with the context in error: @leaf is no leaf any more. */
gboolean leaf_add (AdjContext *cx, AdjTensor *leaf, AdjTensor *grad, guint n_holders);
/* Whether the last leaf_add() added nothing: the gradient was undefined, or @leaf no longer
 * requires one. */
gboolean leaf_was_missed (const AdjTensor *leaf);

/* -- nodes as PyTorch writes them, one call each (op-form.c) -- */

/* (nullable): %NULL: @node is not of an operator, or PyTorch has no node for it, or one that saves
 * less than our rule reads. */
const AdjNodeForm *grad_node_get_form (const AdjGradNode *node);
/* Visits what PyTorch's node would save, in its order, each size by @visitor's size.  %FALSE: it
 * was released. */
gboolean grad_node_visit_form (AdjGradNode *node, GradVisitor *visitor);
/* Number of edges of input @input of the form; @first (out): index of the first. */
guint grad_node_get_form_edges (const AdjGradNode *node, guint input, guint *first);

/* A write into a view; the first edge leads to the base. */
typedef struct
{
  AdjGradNode *inner; /* the node of the writing operation */
  guint input;        /* its input that gets the gradient of the view */
  const AdjShape *base, *view;
} WrittenView;

/* %FALSE: @node is not such a write, or the base is at another edge. */
gboolean grad_node_get_written_view (const AdjGradNode *node, WrittenView *out);

/* As GradNodeClass.prefetch. */
void saved_prefetch (const Saved *saved, guint step);
Saved *saved_ref (Saved *saved); /* (transfer full) */
void saved_unref (Saved *saved);
const AdjTensorMeta *saved_get_meta (const Saved *saved);
/* (nullable): the metadata of the tensor that hooks have packed; %NULL: it was saved without hooks.
 */
const AdjTensorMeta *saved_get_packed (const Saved *saved);
/* Borrowed from the scope; %NULL with the context in error.  @schema: (nullable): names it in
 * errors. */
AdjTensor *
saved_unpack (const Saved *saved, AdjContext *cx, AdjGradNode *node, const AdjSchema *schema);
/* Makes unpacking give @tensor (unowned) instead; %NULL ends that. */
void saved_stand_in (Saved *saved, AdjTensor *tensor);
/* Sets the error of a backward after the release; returns %FALSE. */
gboolean saved_fail_released (AdjContext *cx, const AdjGradNode *node);

/* As adj_autograd_connect(), for an operation whose backward can be captured operator by operator:
 * it calls operators on values that @visit shows, and nothing else.  @visit: as
 * GradNodeClass.visit. */
gboolean autograd_connect_open (AdjContext *cx,
                                const AdjCustomGrad *custom,
                                gboolean (*visit) (gpointer data, GradVisitor *visitor),
                                AdjTensor *const *inputs,
                                guint n_inputs,
                                AdjTensor *const *outputs,
                                guint n_outputs);

/* -- around one node; %FALSE or %NULL: the context is in error -- */

/* Whether @hook may replace @old by @new; both may be %NULL. */
gboolean
node_check_replacement (AdjContext *cx, const AdjHook *hook, AdjTensor *old, AdjTensor *new);
/* Retains @grad as the gradient of @tensor. */
gboolean node_retain (AdjContext *cx, AdjTensor *tensor, AdjTensor *grad);
/* -- one backward (task.c) -- */

/* A request for the gradient that arrives at an edge. */
typedef struct
{
  GradEdge edge; /* unowned */
  gboolean run;  /* the node itself runs (backward); else its gradient is captured */
} GradTarget;

typedef struct
{
  AdjBackwardFlags flags;
  const GradEdge *roots;   /* unowned */
  AdjTensor *const *grads; /* by root */
  guint n_roots;
  const GradTarget *targets; /* none: everything runs */
  guint n_targets;
  AdjTensor **captured; /* by target: the captured gradient, owned by the caller */
} GradRequest;

const GradRequest *task_get_request (const GraphTask *task);
/* Whether the backward reaches @node. */
gboolean task_reaches (const GraphTask *task, const AdjGradNode *node);
/* Whether @node runs; if not, only the gradients that arrive at it are needed. */
gboolean task_needs (const GraphTask *task, const AdjGradNode *node);
/* (nullable): of guint: indices of the targets that capture the gradients arriving at @node. */
const GArray *task_get_captures (const GraphTask *task, const AdjGradNode *node);
/* A number for @node, in the order of first look-ups. */
guint task_look_up (GraphTask *task, const AdjGradNode *node);
/* (transfer full): all nodes that the backward reaches in topological order: in the order of the
 * engine or, with @last_first, depth first. */
GPtrArray *task_list_nodes (GraphTask *task, gboolean last_first);

/* Makes @node (nullable) the running node, which errors name; returns (transfer none) the previous
 * one. */
const AdjGradNode *engine_enter_node (AdjContext *cx, const AdjGradNode *node);
/* The flags set by adj_autograd_set_flags(); none without an autograd mode. */
AdjAutogradFlags autograd_flags (AdjContext *cx);
/* Whether the running backward reaches @node. */
gboolean engine_reaches (AdjContext *cx, const AdjGradNode *node);
/* Runs the callbacks that were queued for the end of the backward. */
gboolean engine_run_callbacks (AdjContext *cx);

/* Replaces the engine's walk over the nodes of a backward. */
typedef struct _BackwardWalker BackwardWalker;
struct _BackwardWalker
{
  /* Whether it walks @task; else the engine does. */
  gboolean (*accepts) (BackwardWalker *walker, AdjContext *cx, GraphTask *task);
  /* %FALSE with the context in error, or without if it declines; then it has had no effect. */
  gboolean (*walk) (BackwardWalker *walker, AdjContext *cx, GraphTask *task);
};

/* Lets @walker (nullable: none) walk the backwards of @cx instead of the engine; nests.  %FALSE
 * with the context in error: a backward runs. */
gboolean engine_push_walker (AdjContext *cx, BackwardWalker *walker);
void engine_pop_walker (AdjContext *cx);
BackwardWalker *engine_get_walker (AdjContext *cx); /* (nullable) */

/* Is notified of every accumulation into a leaf, in order. */
typedef void (*AccumulationFunc) (AdjTensor *leaf, AdjTensor *grad, gpointer data);
/* Sets the listener for accumulations, replacing the last one. @func: (nullable): none. */
void engine_watch_accumulation (AdjContext *cx, AccumulationFunc func, gpointer data);

G_END_DECLS
