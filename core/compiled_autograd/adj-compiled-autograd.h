/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/adj-autograd.h"
#include "call/adj-function.h"
#include "ir/adj-value.h"

G_BEGIN_DECLS

/* Compiled autograd (compiled_autograd/SPEC.md): while it is enabled, a backward is not walked node
 * by node, but captured as one graph, with the hooks as inputs, and that graph is run.  What was
 * captured is kept, and found again by what the next backward consists of. */

typedef struct _AdjCompiledAutograd AdjCompiledAutograd;
typedef struct _AdjCapture AdjCapture;

/* In which order the nodes of a captured graph stand. */
typedef enum
{
  ADJ_CAPTURE_ORDER_EAGER, /* as the engine runs them: hooks see what they see without capture */
  ADJ_CAPTURE_ORDER_2024,  /* last found first, then accumulations moved up, as PyTorch in 2024 */
  ADJ_CAPTURE_ORDER_2_6,   /* last found first, then the passes of PyTorch 2.6 */
  ADJ_CAPTURE_ORDER_2_15,  /* those of PyTorch 2.15: unpacking moves too, and writes stay */
  ADJ_N_CAPTURE_ORDERS,
} AdjCaptureOrder;

/* What a captured graph calls. */
typedef enum
{
  ADJ_CAPTURE_LEVEL_OPERATORS, /* the operators of each node's formula, as PyTorch until 2.6 */
  ADJ_CAPTURE_LEVEL_NODES,     /* each node as a whole, as PyTorch since 2.7 */
} AdjCaptureLevel;

typedef struct
{
  /* (nullable): makes of a captured graph what is called with (inputs, sizes, scalars, hooks), four
   * lists, or at the level of nodes five, with what hooks have packed at the end, and gives a list:
   * what targets of adj_grad() want.  None stands for a gradient that turns out undefined, and
   * strides may be others than those of the graph.  (transfer full) (nullable): %NULL with @error.
   * Without it, the interpreter, which lets each input go after its last use. */
  AdjFunction *(*compile) (AdjGraph *graph, gpointer data, GError **error);
  gpointer data;
  GDestroyNotify destroy; /* (nullable): of @data */
  AdjCaptureOrder order;
  AdjCaptureLevel level;
  gboolean dynamic;      /* sizes are symbols from the first capture on; else once they changed */
  gboolean move_scalars; /* scalars on the CPU go to the GPU where other inputs are there */
  gboolean write_gradients; /* gradients of writes through views are written, as by PyTorch: in the
                               order of 2.6 such a write is dropped; else they are new values */
  gboolean strict; /* what cannot be captured is an error, as in PyTorch; else it runs eagerly */
} AdjCompiledOptions;

/* (transfer full).  @options: (nullable), copied. */
ADJ_PUBLIC AdjCompiledAutograd *adj_compiled_autograd_new (const AdjCompiledOptions *options);
/* Not while it is enabled anywhere.  Captures that somebody holds stay. */
ADJ_PUBLIC void adj_compiled_autograd_free (AdjCompiledAutograd *self);

/* From now on backwards of @cx are captured by @self (nullable: by nobody), until
 * adj_compiled_autograd_restore(); nests.  %FALSE with the context in error: a backward runs. */
ADJ_PUBLIC gboolean adj_compiled_autograd_enable (AdjCompiledAutograd *self, AdjContext *cx);
ADJ_PUBLIC void adj_compiled_autograd_restore (AdjContext *cx);
/* Whether backwards of @cx are captured, and whether one runs that was. */
ADJ_PUBLIC gboolean adj_compiled_autograd_is_enabled (AdjContext *cx);
ADJ_PUBLIC gboolean adj_compiled_autograd_is_running (const AdjCompiledAutograd *self);
/* Forgets every capture and counts from 0 again.  %FALSE with
 * ADJ_ERROR_UNSUPPORTED while one runs. */
ADJ_PUBLIC gboolean adj_compiled_autograd_reset (AdjCompiledAutograd *self, GError **error);

typedef struct
{
  guint64 captures;  /* graphs made */
  guint64 hits;      /* backwards that ran one that was there */
  guint64 fallbacks; /* backwards that ran eagerly */
  guint64 evictions; /* captures that made room for others, and are made again if needed */
  gint64 lookup_ns;  /* of the last backward: collecting and finding */
  gint64 capture_ns; /* of the last capture */
  const char *fallback_reason; /* (nullable): of the last fallback; until the next one */
} AdjCompiledCounters;

/* Since it was made, or the last reset. */
ADJ_PUBLIC AdjCompiledCounters adj_compiled_autograd_get_counters (const AdjCompiledAutograd *self);

/* -- what was captured, in order, those too that gave way to others -- */

/* How many are kept: the last ones. */
ADJ_PUBLIC guint adj_compiled_autograd_get_n_captures (const AdjCompiledAutograd *self);
/* (transfer none) */
ADJ_PUBLIC AdjCapture *adj_compiled_autograd_get_capture (const AdjCompiledAutograd *self,
                                                          guint index);

ADJ_PUBLIC AdjCapture *adj_capture_ref (AdjCapture *capture); /* (transfer full) */
ADJ_PUBLIC void adj_capture_unref (AdjCapture *capture);      /* @capture: (nullable) */
/* (transfer none): as it is run, in the order asked for and without what nobody needs. */
ADJ_PUBLIC AdjGraph *adj_capture_get_graph (const AdjCapture *capture);
/* Why it was made, in words: "MulBackward (NodeCall 2): saved 'other' was f32, is f64". */
ADJ_PUBLIC const char *adj_capture_get_reason (const AdjCapture *capture);

/* How many nodes of the backward were replayed. */
ADJ_PUBLIC guint adj_capture_get_n_calls (const AdjCapture *capture);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjCompiledAutograd, adj_compiled_autograd_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjCapture, adj_capture_unref)

G_END_DECLS
