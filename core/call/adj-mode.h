/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"
#include "call/adj-op.h"

G_BEGIN_DECLS

/* Modes: the layers that the calls of a context pass through. */

typedef struct _AdjHigherCall AdjHigherCall;
typedef struct _AdjWrappedCall AdjWrappedCall;
typedef struct _AdjObjectCall AdjObjectCall;
typedef struct _AdjEffectCall AdjEffectCall;

/* A torch.autograd.Function in a graph. */
typedef struct
{
  AdjFunction *forward;   /* (unowned): called with @args; gives (output, [saved values]) */
  AdjFunction *backward;  /* (unowned): called with a gradient for each output and the saved values;
                             gives the gradient of each input, a single one without a tuple */
  gboolean takes_context; /* both get None for ctx as first argument */
  const AdjValue *args;   /* (unowned): the inputs, then other values that the forward reads */
  guint n_args;
  guint n_inputs;
  guint n_outputs;                    /* leaves of the output */
  const AdjValue *non_differentiable; /* (unowned) (nullable): LIST of indices of outputs */
} AdjFunctionApply;

/* The steps of functions that torch.func transforms, as Dynamo leaves them in graphs: levels of
 * gradients, of batches and of forward mode, and the values wrapped for a level. */
typedef enum
{
  ADJ_TRANSFORM_BEGIN_BATCH, /* (size, …) → the level, an integer */
  ADJ_TRANSFORM_BEGIN_GRADIENTS,
  ADJ_TRANSFORM_BEGIN_FORWARD,
  ADJ_TRANSFORM_END,        /* ends the innermost level */
  ADJ_TRANSFORM_ADD_DIM,    /* (tensor, dim, level): makes dim a hidden batch dimension */
  ADJ_TRANSFORM_REMOVE_DIM, /* (tensor, level, size, dim): restores the hidden dimension as dim */
  ADJ_TRANSFORM_WRAP,       /* (tensor, level) */
  ADJ_TRANSFORM_UNWRAP,     /* (tensor, level) */
  ADJ_TRANSFORM_TRACK,      /* (tensor): requires a gradient */
  ADJ_TRANSFORM_DIFFERENTIATE, /* (outputs, inputs, gradients of outputs or None) */
  ADJ_TRANSFORM_MAKE_DUAL,     /* (primal, tangent) */
  ADJ_TRANSFORM_UNPACK_DUAL,   /* (tensor) → (primal, tangent or None) */
  ADJ_N_TRANSFORMS
} AdjTransform;

/* A layer that operator calls pass through, outermost first: autograd record → composite tensors
 * → functionalize → composite decomposition → proxy trace → (fake | eager kernels). */
typedef struct
{
  const char *name;
  gboolean traces;     /* records calls: composites are decomposed as PyTorch traces them, which may
                          differ from how it runs them */
  gboolean transforms; /* a level of torch.func: composites are decomposed as PyTorch does there */
  /* Handles a call, or passes it on with adj_mode_call_below().  @call has bound arguments and no
   * results yet; afterwards it has results with tensors.  %FALSE: the context is in error. */
  gboolean (*call) (AdjMode *mode, AdjOpCall *call);
  /* (nullable): handles a call of a higher-order operator, or passes it on with
   * adj_mode_call_higher_below(); without it, it is passed on.  %FALSE: the context is in error. */
  gboolean (*higher) (AdjMode *mode, AdjHigherCall *call);
  /* (nullable): is notified of builtins that a graph calls other than operators, getitem and size
   * arithmetic. */
  void (*builtin) (AdjMode *mode,
                   const char *target,
                   const AdjValue *args,
                   guint n_args,
                   const AdjValue *result);
  /* (nullable): runs @body without keeping what it saves for backward.  @args: TUPLE; @kwargs: DICT
   * or NONE, of checkpoint() itself (interpreter/SPEC.md §5.3); @result (transfer full). */
  gboolean (*checkpoint) (AdjMode *mode,
                          AdjContext *cx,
                          AdjFunction *body,
                          const AdjValue *args,
                          const AdjValue *kwargs,
                          AdjValue *result);
  /* (nullable): calls the forward and registers the backward as its gradient; @result (transfer
   * full): the output.  %FALSE: the context is in error. */
  gboolean (*apply) (AdjMode *mode,
                     AdjContext *cx,
                     const AdjFunctionApply *apply,
                     AdjValue *result);
  /* (nullable): registers @body to be called with each gradient of @tensor and then @more; its
   * result, unless None, replaces the gradient.  @name: for errors and traces.  %FALSE: the context
   * is in error. */
  gboolean (*hook) (AdjMode *mode,
                    AdjContext *cx,
                    AdjTensor *tensor,
                    AdjFunction *body,
                    const char *name,
                    const AdjValue *more,
                    guint n_more);
  /* (nullable): handles a call of trace_wrapped, or passes it on with
   * adj_mode_call_wrapped_below(); without it, it is passed on.  %FALSE: the context is in error.
   */
  gboolean (*wrapped) (AdjMode *mode, AdjWrappedCall *call);
  /* (nullable): handles a call of a method of an object, or passes it on with
   * adj_mode_call_object_below(); without it, it is passed on.  %FALSE: the context is in error. */
  gboolean (*object) (AdjMode *mode, AdjObjectCall *call);
  /* (nullable): handles a call of an operator with side effects, or passes it on with
   * adj_mode_call_effect_below(); without it, it is passed on.  %FALSE: the context is in error. */
  gboolean (*effect) (AdjMode *mode, AdjEffectCall *call);
  /* (nullable): performs a step of torch.func; @result (transfer full).  %FALSE: the context is in
   * error. */
  gboolean (*transform) (AdjMode *mode,
                         AdjContext *cx,
                         AdjTransform step,
                         const AdjValue *args,
                         guint n_args,
                         AdjValue *result);
  /* (nullable): accumulates @grad (nullable: undefined) into the gradient of @leaf.  %FALSE: the
   * context is in error. */
  gboolean (*accumulate) (AdjMode *mode, AdjContext *cx, AdjTensor *leaf, AdjTensor *grad);
  void (*finalize) (AdjMode *mode); /* (nullable): frees what is beyond the struct */
} AdjModeClass;

struct _AdjMode
{
  const AdjModeClass *klass;
  AdjMode *below; /* (owned): set when pushed */
};

/* @mode: (transfer full).  Takes @mode; popping frees it.  Modes are popped in reverse order. */
ADJ_PUBLIC void adj_context_push_mode (AdjContext *cx, AdjMode *mode);
ADJ_PUBLIC void adj_context_pop_mode (AdjContext *cx);
/* (transfer none) (nullable): the outermost mode. */
ADJ_PUBLIC AdjMode *adj_context_get_mode (AdjContext *cx);
/* Passes @call on; %FALSE: the context is in error. */
ADJ_PUBLIC gboolean adj_mode_call_below (AdjMode *mode, AdjOpCall *call);
/* Sets @mode as the entry of later calls; %NULL: the outermost mode.  Returns the previous entry
 * (transfer none) (nullable). */
ADJ_PUBLIC AdjMode *adj_context_set_entry (AdjContext *cx, AdjMode *mode);

/* (transfer full): the mode that runs meta functions and CPU kernels, and the one that only runs
 * meta functions. */
ADJ_PUBLIC AdjMode *adj_eager_mode_new (void);
ADJ_PUBLIC AdjMode *adj_fake_mode_new (void);
/* (transfer full): runs in float64: every floating dtype argument and default becomes float64;
 * integers, bool and recorded random values are unchanged. */
ADJ_PUBLIC AdjMode *adj_float64_mode_new (void);

/* -- places: where in the user's program we are -- */

/* Texts are borrowed for as long as the place is current. */
typedef struct
{
  const char *file;
  guint line;
  const char *function;    /* (nullable): the C function */
  const char *node;        /* (nullable): the graph node being interpreted */
  const char *stack_trace; /* (nullable): that node's trace */
  const AdjGraph *graph;   /* (nullable): that node's graph */
  AdjNodeId id;            /* in @graph */
  const AdjGraph *outer;   /* (nullable): outermost graph that was called; %NULL: @graph itself */
  AdjNodeId outer_id;      /* the node of @outer in whose call @node runs */
  const char *original;    /* (nullable): the operator that is being decomposed */
  guint64 running;         /* number of the running autograd node, plus one; 0: none */
  const char *hook;        /* (nullable): the hook that the node runs */
  const char *tag;         /* (nullable): a literal; partitioner_tag for the calls */
  gboolean accumulates;    /* a gradient is being added to those that arrived before */
} AdjPlace;

/* Sets the program position of the next calls, for errors and traces; @place: (nullable), copied.
 */
ADJ_PUBLIC void adj_context_set_place (AdjContext *cx, const AdjPlace *place);
ADJ_PUBLIC const AdjPlace *adj_context_get_place (const AdjContext *cx);

/* -- calls that a mode makes -- */

/* (transfer none): bytes, zeroed, that live as long as the innermost scope. */
ADJ_PUBLIC gpointer adj_scope_alloc (AdjContext *cx, gsize n_bytes);
/* The same as adj_call() with arguments in schema order, none left out, as in an AdjOpCall. */
ADJ_PUBLIC gboolean adj_call_bound (AdjContext *cx,
                                    const AdjOp *op,
                                    const AdjValue *args,
                                    AdjValue *result);

G_END_DECLS
