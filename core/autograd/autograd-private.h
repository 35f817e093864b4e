/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/adj-autograd.h"
#include "rules/adj-rule.h"

G_BEGIN_DECLS

typedef struct _Autograd Autograd;

/* -- hooks (hook.c) -- */

struct _AdjHook
{
  guint ref_count;
  gboolean removed;
  GCallback func;
  gpointer data;
  guint input; /* of a tensor hook on a node: which of its gradients */
};

/* Lists are made at the first hook; a snapshot is what runs in one turn. */
AdjHook *hook_list_add (GPtrArray **list, GCallback func, gpointer data, guint input);
GPtrArray *hook_list_snapshot (const GPtrArray *list); /* (transfer full) (nullable) */

/* -- nodes (node.c) -- */

typedef struct
{
  AdjGradNode *node; /* (owned) (nullable) */
  guint input;
} GradEdge;

typedef struct
{
  /* @out: entries are %NULL and stay so where the gradient is undefined or not @needed; what is
   * put there is owned by the caller. */
  gboolean (*apply) (AdjGradNode *node,
                     AdjContext *cx,
                     AdjTensor *const *grads,
                     const gboolean *needed,
                     AdjTensor **out);
  void (*release) (AdjGradNode *node); /* (nullable): lets saved values go */
  void (*finalize) (AdjGradNode *node);
} GradNodeClass;

struct _AdjGradNode
{
  const GradNodeClass *klass;
  guint ref_count;
  char *name;
  guint64 sequence;
  guint64 topological;
  guint n_edges;
  GradEdge *edges;
  guint n_inputs;
  AdjTensorMeta *inputs; /* what the gradients look like; dtype NONE: takes none */
  AdjTensor **retainers; /* (nullable): by input; tensors that keep their gradient, not owned */
  GPtrArray *tensor_hooks;
  GPtrArray *pre_hooks;
  GPtrArray *post_hooks;
  AdjPlace place;  /* of the operation in the user's program */
  AdjGraph *graph; /* (owned) (nullable): holds the texts of @place */
  char *file;      /* (owned) (nullable): its file when there is no graph */
};

/* Allocates @size bytes; sequence numbers come from @autograd. */
AdjGradNode *grad_node_new (Autograd *autograd, const GradNodeClass *klass, gsize size, char *name);
void grad_node_set_place (AdjGradNode *node, const AdjPlace *place);
void grad_node_set_edges (AdjGradNode *node, const GradEdge *edges, guint n);
void grad_node_set_inputs (AdjGradNode *node, guint n);

/* Leaves: the accumulator of @leaf, alive or made now. (transfer full) */
AdjGradNode *accumulator_get (AdjContext *cx, AdjTensor *leaf);
/* (transfer none) (nullable): the leaf when @node is an accumulator. */
AdjTensor *accumulator_get_leaf (const AdjGradNode *node);

/* -- what a tensor knows (variable.c) -- */

typedef struct
{
  AdjTensor *tensor; /* its tensor */
  gboolean requires_grad;
  AdjGradNode *node; /* (owned) (nullable): what made it */
  guint output;
  AdjTensor *grad;          /* (owned) (nullable) */
  AdjGradNode *accumulator; /* (nullable): not owned */
  gboolean retains;
  gboolean is_view;        /* shares the storage of another tensor */
  guint32 view_version;    /* of the storage when the view was made */
  GPtrArray *tensor_hooks; /* of a leaf */
  GPtrArray *leaf_hooks;
} Variable;

Variable *variable_find (const AdjTensor *tensor); /* (nullable) */
Variable *variable_get (AdjTensor *tensor);        /* made when there is none */
/* Makes @tensor result @output of @node; a retained gradient moves along. */
void variable_set_history (AdjTensor *tensor, AdjGradNode *node, guint output);
/* (transfer full): where its gradient goes; no node when it requires none. */
GradEdge variable_get_edge (AdjContext *cx, AdjTensor *tensor);

/* -- the mode (record.c) -- */

typedef struct _GraphTask GraphTask;

struct _Autograd
{
  AdjMode mode;
  gboolean enabled;
  guint64 next_sequence;
  GraphTask *task; /* (nullable): the innermost backward that runs */
};

Autograd *autograd_find (AdjContext *cx); /* (nullable) */
Autograd *autograd_get (AdjContext *cx);  /* %NULL with the context in error */

/* -- running (engine.c, validate.c) -- */

/* A wish for the gradient that arrives at an edge. */
typedef struct
{
  GradEdge edge; /* unowned */
  gboolean run;  /* the node itself is to run (backward); else its gradient is captured */
} GradTarget;

typedef struct
{
  AdjBackwardFlags flags;
  const GradEdge *roots;   /* unowned */
  AdjTensor *const *grads; /* by root */
  guint n_roots;
  const GradTarget *targets; /* none: everything runs */
  guint n_targets;
  AdjTensor **captured; /* by target; what is put there is owned by the caller */
} GradRequest;

gboolean engine_run (AdjContext *cx, Autograd *autograd, const GradRequest *request);

/* @tensor brought to the form of @meta: summed over broadcast dimensions, cast.  Borrowed from the
 * scope; %NULL with the context in error, which begins with @prefix. */
AdjTensor *grad_validate (
    AdjContext *cx, const char *prefix, guint index, AdjTensor *tensor, const AdjTensorMeta *meta);

G_END_DECLS
