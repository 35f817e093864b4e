/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"
#include "call/adj-op.h"

G_BEGIN_DECLS

/* What a mode is made of: a layer that the calls of a context pass through. */

typedef struct _AdjHigherCall AdjHigherCall;
typedef struct _AdjWrappedCall AdjWrappedCall;
typedef struct _AdjObjectCall AdjObjectCall;
typedef struct _AdjEffectCall AdjEffectCall;

/* A torch.autograd.Function in a graph. */
typedef struct
{
  AdjFunction *forward;   /* (unowned): of @args; gives (output, [what is saved]) */
  AdjFunction *backward;  /* (unowned): of a gradient for each output and what was saved; gives the
                             gradient of each input, the only one as it is */
  gboolean takes_context; /* both: a None before all else, for its ctx */
  const AdjValue *args;   /* (unowned): the inputs, what the forward reads besides */
  guint n_args;
  guint n_inputs;
  guint n_outputs;                    /* leaves of the output */
  const AdjValue *non_differentiable; /* (unowned) (nullable): LIST of outputs by number */
} AdjFunctionApply;

/* The steps of functions that torch.func transforms, as Dynamo leaves them in graphs: levels of
 * gradients, of batches and of forward mode, and what goes in and out of them. */
typedef enum
{
  ADJ_TRANSFORM_BEGIN_BATCH, /* (size, …) gives the level, a number */
  ADJ_TRANSFORM_BEGIN_GRADIENTS,
  ADJ_TRANSFORM_BEGIN_FORWARD,
  ADJ_TRANSFORM_END,           /* of the innermost level */
  ADJ_TRANSFORM_ADD_DIM,       /* (tensor, dim, level): hides a dimension */
  ADJ_TRANSFORM_REMOVE_DIM,    /* (tensor, level, size, dim): shows it again */
  ADJ_TRANSFORM_WRAP,          /* (tensor, level) */
  ADJ_TRANSFORM_UNWRAP,        /* (tensor, level) */
  ADJ_TRANSFORM_TRACK,         /* (tensor): requires a gradient */
  ADJ_TRANSFORM_DIFFERENTIATE, /* (outputs, inputs, gradients of outputs or None) */
  ADJ_TRANSFORM_MAKE_DUAL,     /* (primal, tangent) */
  ADJ_TRANSFORM_UNPACK_DUAL,   /* (tensor) gives (primal, tangent or None) */
  ADJ_N_TRANSFORMS
} AdjTransform;

/* A layer that operator calls pass through, outermost first: autograd record → composite tensors
 * → functionalize → composite decomposition → proxy trace → (fake | eager kernels). */
typedef struct
{
  const char *name;
  gboolean traces;     /* calls are written down: composites are taken apart as PyTorch traces them,
                          which is not always as it runs them */
  gboolean transforms; /* a level of torch.func: composites are taken apart as PyTorch does there */
  /* Handles a call, or passes it on with adj_mode_call_below().  @call has bound arguments and no
   * results yet; afterwards it has results with tensors.  %FALSE: the context is in error. */
  gboolean (*call) (AdjMode *mode, AdjOpCall *call);
  /* (nullable): handles a call of a higher-order operator, or passes it on with
   * adj_mode_call_higher_below(); without it, it is passed on.  %FALSE: the context is in error. */
  gboolean (*higher) (AdjMode *mode, AdjHigherCall *call);
  /* (nullable): hears of what a graph calls beside operators, getitem and arithmetic on sizes. */
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
  /* (nullable): calls the forward so that its gradient is what the backward gives; @result
   * (transfer full): the output.  %FALSE: the context is in error. */
  gboolean (*apply) (AdjMode *mode,
                     AdjContext *cx,
                     const AdjFunctionApply *apply,
                     AdjValue *result);
  /* (nullable): has @body called with each gradient of @tensor and then @more; what it gives,
   * unless that is None, takes the gradient's place.  @name: of errors and traces.  %FALSE: the
   * context is in error. */
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
  /* (nullable): handles a call of an operator that is called for its effect, or passes it on with
   * adj_mode_call_effect_below(); without it, it is passed on.  %FALSE: the context is in error. */
  gboolean (*effect) (AdjMode *mode, AdjEffectCall *call);
  /* (nullable): takes a step of torch.func; @result (transfer full).  %FALSE: the context is in
   * error. */
  gboolean (*transform) (AdjMode *mode,
                         AdjContext *cx,
                         AdjTransform step,
                         const AdjValue *args,
                         guint n_args,
                         AdjValue *result);
  /* (nullable): adds @grad (nullable: undefined) to the gradient of @leaf.  %FALSE: the context is
   * in error. */
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
/* Calls that a mode makes for itself enter at @mode from now on; %NULL: at the outermost.  Returns
 * (transfer none) (nullable) where they entered before. */
ADJ_PUBLIC AdjMode *adj_context_set_entry (AdjContext *cx, AdjMode *mode);

/* (transfer full): the mode that runs meta functions and CPU kernels, and the one that runs meta
 * functions alone. */
ADJ_PUBLIC AdjMode *adj_eager_mode_new (void);
ADJ_PUBLIC AdjMode *adj_fake_mode_new (void);
/* (transfer full): runs in float64: every floating dtype argument and default becomes float64;
 * integers, bool and recorded random values stay. */
ADJ_PUBLIC AdjMode *adj_float64_mode_new (void);

/* -- places: where in the user's program we are -- */

/* Texts are borrowed for as long as the place is current. */
typedef struct
{
  const char *file;
  guint line;
  const char *function;    /* (nullable): of C */
  const char *node;        /* (nullable): the graph node being interpreted */
  const char *stack_trace; /* (nullable): that node's trace */
  const AdjGraph *graph;   /* (nullable): that node's graph */
  AdjNodeId id;            /* in @graph */
  const AdjGraph *outer;   /* (nullable): that was called; %NULL: @graph itself */
  AdjNodeId outer_id;      /* the node of @outer in which @node stands */
  const char *original;    /* (nullable): the operator that is being decomposed */
  guint64 running;         /* number of the autograd node that runs, plus one; 0: none does */
  const char *hook;        /* (nullable): the hook that runs in it */
  const char *tag;         /* (nullable): a literal; where a partitioner may put what is called */
  gboolean accumulates;    /* its gradients are being added to those that arrived before */
} AdjPlace;

/* Where in the program the next calls are, for errors and traces; @place: (nullable), copied. */
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
