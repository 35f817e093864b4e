/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-bundle.h"

G_BEGIN_DECLS

/* The meaning of each node of a captured backward, by its calling convention and by the recording:
 * the autograd node it belongs to, the hook it calls, the origin of each input. Immutable, counted
 * atomically. */
typedef struct _AdjCaptured AdjCaptured;

#define ADJ_CAPTURED_NONE G_MAXUINT32

typedef enum
{
  ADJ_CAPTURED_OTHER,
  ADJ_CAPTURED_LIST,       /* placeholder: `inputs`, `sizes`, `scalars`, `hooks` */
  ADJ_CAPTURED_INPUT,      /* item of `inputs` */
  ADJ_CAPTURED_SIZE,       /* item of `sizes` or `scalars` */
  ADJ_CAPTURED_HOOK_ITEM,  /* item of `hooks` */
  ADJ_CAPTURED_HOOK,       /* calls a hook */
  ADJ_CAPTURED_BACKWARD,   /* calls a custom backward as a whole */
  ADJ_CAPTURED_ACCUMULATE, /* adds to the gradient of a leaf */
  ADJ_CAPTURED_CALLBACKS,  /* where callbacks run that were queued meanwhile */
} AdjCapturedKind;

typedef struct
{
  AdjCapturedKind kind;
  guint32 item; /* index in its list; LIST: its length; HOOK, BACKWARD: index in `hooks`; or NONE */
  guint32 leaf; /* ACCUMULATE and hooks after it: index in `inputs`; or NONE */
  guint32 added; /* ACCUMULATE: the node whose value is added; or NONE */
  guint32 after; /* hook after an accumulation: the ACCUMULATE node; or NONE */
  guint32 call;  /* NodeCall that it belongs to; or NONE */
} AdjCapturedNode;

/* The origin of an item of `inputs`. */
typedef enum
{
  ADJ_FROM_GRADIENT, /* given to the backward as a gradient */
  ADJ_FROM_SAVED,    /* saved by @call */
  ADJ_FROM_LEAF,     /* leaf that @call accumulates into */
  ADJ_FROM_GRAD,     /* gradient that leaf @of has before the backward */
} AdjCapturedFrom;

typedef struct
{
  AdjNodeId node; /* the node that takes it out of the list */
  AdjCapturedFrom from;
  guint32 call;      /* or NONE */
  guint32 of;        /* GRAD: index of the leaf in `inputs`; or NONE */
  const char *name;  /* (nullable): of a leaf */
  gboolean recorded; /* whether it was recorded; else inferred from the graph */
} AdjCapturedInput;

/* A node of autograd, by the order in which it was captured. */
typedef struct
{
  const char *name; /* (nullable): "MulBackward0"; %NULL: unknown */
  guint n_nodes;    /* nodes of the graph, without those that take items of lists */
  guint n_hooks;
  AdjNodeId first; /* or ADJ_NO_NODE */
} AdjCapturedCall;

/* (transfer full) (nullable): %NULL when @graph is not a captured backward.  @bundle (nullable):
 * the file of the graph, with what was recorded. */
ADJ_PUBLIC AdjCaptured *adj_captured_new (AdjGraph *graph, AdjBundle *bundle);
ADJ_PUBLIC AdjCaptured *adj_captured_ref (AdjCaptured *captured); /* (transfer full) */
ADJ_PUBLIC void adj_captured_unref (AdjCaptured *captured);

/* Results are valid as long as @captured. */

ADJ_PUBLIC AdjGraph *adj_captured_get_graph (const AdjCaptured *captured); /* (transfer none) */
ADJ_PUBLIC const AdjCapturedNode *adj_captured_get_node (const AdjCaptured *captured, guint index);
ADJ_PUBLIC guint adj_captured_get_n_inputs (const AdjCaptured *captured);
ADJ_PUBLIC const AdjCapturedInput *adj_captured_get_input (const AdjCaptured *captured,
                                                           guint index);
ADJ_PUBLIC guint adj_captured_get_n_calls (const AdjCaptured *captured);
ADJ_PUBLIC const AdjCapturedCall *adj_captured_get_call (const AdjCaptured *captured, guint index);
/* The backward graph of a compiled function that was inlined, where node @index is an item of
 * `inputs` that this function saved; @input: the index of that graph's input.  (transfer none)
 * (nullable): %NULL also where several graphs of the bundle match. */
ADJ_PUBLIC const AdjBundleGraph *
adj_captured_find_inlined (const AdjCaptured *captured, guint index, AdjNodeId *input);
/* The reasons for which it was captured, in PyTorch's words. */
ADJ_PUBLIC guint adj_captured_get_n_reasons (const AdjCaptured *captured);
ADJ_PUBLIC const char *adj_captured_get_reason (const AdjCaptured *captured, guint index);
/* The recorded call, and what surrounded it as backward-private.h has it. (nullable) */
ADJ_PUBLIC const AdjRecordedCall *adj_captured_get_recorded (const AdjCaptured *captured);
/* The text member @key of entry @item of list @list in the recorded call. (nullable) */
ADJ_PUBLIC const char *
adj_captured_get_text (const AdjCaptured *captured, const char *list, guint item, const char *key);
/* The recorded result of a hook. (nullable) */
ADJ_PUBLIC const AdjValue *adj_captured_get_result (const AdjCaptured *captured, guint node);

/* -- in words; (transfer full) -- */

/* "MulBackward0 (NodeCall 3)". */
ADJ_PUBLIC char *adj_captured_name_call (const AdjCaptured *captured, guint call);
/* "clip · tensor pre-hook", "accumulate fc1.weight", "inputs[3]"; %NULL: use the node's name. */
ADJ_PUBLIC char *adj_captured_name_node (const AdjCaptured *captured, guint index);
/* "tensor pre-hook". */
ADJ_PUBLIC char *adj_captured_name_hook_type (const AdjCaptured *captured, guint index);
/* "fc1.weight", else "inputs[8]". */
ADJ_PUBLIC char *adj_captured_name_leaf (const AdjCaptured *captured, guint input);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjCaptured, adj_captured_unref)

G_END_DECLS
