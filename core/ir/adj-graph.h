/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-diag.h"
#include "ir/adj-header.h"
#include "ir/adj-opcode.h"
#include "ir/adj-recompute.h"
#include "ir/adj-target.h"
#include "ir/adj-thread-state.h"

G_BEGIN_DECLS

/* A sealed graph: nodes in order of execution, immutable, atomically refcounted, shared by threads.
 * Only AdjBuilder makes graphs; passes make new ones. */

/* Values of partitioner_tag: a backward node, and one that must not be merged with an equal node of
 * forward. */
#define ADJ_IS_BACKWARD "is_backward"
#define ADJ_MUST_BE_IN_BACKWARD "must_be_in_backward"
/* Extra metadata, True: autograd made the node, in a graph that holds more than one phase. */
#define ADJ_AUTOGRAD_BACKWARD "autograd_backward"

typedef struct
{
  const char *file;
  guint line;
  const char *function;
  const char *code; /* the source line, trimmed; "" when the trace had none */
} AdjFrame;

typedef struct
{
  const char *path;       /* "h.0.attn" */
  const char *class_name; /* "Attention" */
} AdjModule;

/* Metadata of a node (ir/SPEC.md §4). Absent texts are %NULL. */
struct _AdjNodeMeta
{
  const char *stack_trace; /* as PyTorch wrote it, innermost frame last */
  guint n_frames;
  const AdjFrame *frames; /* @stack_trace, parsed */
  guint n_modules;
  const AdjModule *modules; /* outermost first */
  guint n_fwd_modules;
  const AdjModule *fwd_modules; /* of the forward node with the same seq_nr */
  gint64 seq_nr;                /* -1: none */
  gint64 ac_graph_id;           /* region of activation checkpointing; -1: none */
  AdjRecompute recompute;
  const char *partitioner_tag; /* ADJ_IS_BACKWARD */
  const char *original_aten;
  const char *source;    /* of a placeholder: "L['x']" */
  const char *parameter; /* of a placeholder: the path of its parameter, "h.0.attn.weight" */
  const char *hook;      /* of a captured backward: the hook that contains it, "hook_body_0" */
  const AdjValue *extra; /* DICT of keys that are kept but not interpreted */
};

struct _AdjNode
{
  const char *name;
  AdjOpcode opcode;
  const char *target; /* as in adj-target.h; method or attribute name; "output" */
  const AdjOp *op;    /* %NULL: an opaque target, shown but never run */
  AdjValue args;      /* TUPLE; of the output node: one entry */
  AdjValue kwargs;    /* DICT with STRING keys */
  AdjValue val;       /* META, or LIST/TUPLE of it, SIZE, INT …; NONE when unknown */
  AdjNodeMeta meta;
  AdjSpan span;     /* where it was read; line 0 when made */
  AdjNodeId origin; /* in the graph that this one was made from; or ADJ_NO_NODE */
  guint n_inputs;   /* each node once, in order of first mention, args before kwargs */
  const AdjNodeId *inputs;
  guint n_users; /* each node once, in order of execution */
  const AdjNodeId *users;
};

ADJ_PUBLIC AdjGraph *adj_graph_ref (AdjGraph *graph); /* (transfer full) */
ADJ_PUBLIC void adj_graph_unref (AdjGraph *graph);    /* not %NULL */

/* "GraphModule", "joint_helper", "<lambda>": need not be an identifier. */
ADJ_PUBLIC const char *adj_graph_get_name (const AdjGraph *graph);
ADJ_PUBLIC AdjSymbols *adj_graph_get_symbols (const AdjGraph *graph); /* (transfer none) */
/* How its text begins and ends. */
ADJ_PUBLIC AdjHeader adj_graph_get_header (const AdjGraph *graph);
/* The thread settings under which it is called; never %NULL. */
ADJ_PUBLIC const AdjThreadState *adj_graph_get_thread_state (const AdjGraph *graph);
/* The parameter list of a PYTREE header, "primals, tangents", or "x <- ([x], {})" when more than
 * that list is flattened; else %NULL. */
ADJ_PUBLIC const char *adj_graph_get_parameters (const AdjGraph *graph);

/* In order of execution.  A node is valid as long as @graph; @index < n_nodes. */
ADJ_PUBLIC guint adj_graph_get_n_nodes (const AdjGraph *graph);
ADJ_PUBLIC const AdjNode *adj_graph_get_node (const AdjGraph *graph, guint index);
/* By name; ADJ_NO_NODE: none is called so. */
ADJ_PUBLIC AdjNodeId adj_graph_find_node (const AdjGraph *graph, const char *name);
/* Placeholders, in order. */
ADJ_PUBLIC guint adj_graph_get_n_inputs (const AdjGraph *graph);
ADJ_PUBLIC AdjNodeId adj_graph_get_input (const AdjGraph *graph, guint index);
/* The one output node. */
ADJ_PUBLIC AdjNodeId adj_graph_get_output (const AdjGraph *graph);
/* The nodes that @error names, directly or as inputs and outputs, each once, in the order of the
 * error. (transfer full) (array length=n) */
ADJ_PUBLIC AdjNodeId *adj_graph_find_blamed (const AdjGraph *graph, const GError *error, guint *n);
/* Nodes without placeholders and output: what PyTorch's tools count. */
ADJ_PUBLIC guint adj_graph_get_n_calls (const AdjGraph *graph);
/* The last node that reads node @index in execution order; the node itself when it is unread. */
ADJ_PUBLIC AdjNodeId adj_graph_get_last_use (const AdjGraph *graph, guint index);

/* Graphs that get_attr nodes read; @name: (out) (optional): the attribute. */
ADJ_PUBLIC guint adj_graph_get_n_subgraphs (const AdjGraph *graph);
ADJ_PUBLIC AdjGraph *adj_graph_get_subgraph (const AdjGraph *graph,
                                             guint index,
                                             const char **name); /* (transfer none) */
ADJ_PUBLIC AdjGraph *adj_graph_find_subgraph (const AdjGraph *graph,
                                              const char *name); /* (transfer none) (nullable) */
/* Constants that get_attr nodes read, DATA or any other value; @name: (out) (optional): the
 * attribute. */
ADJ_PUBLIC guint adj_graph_get_n_attrs (const AdjGraph *graph);
ADJ_PUBLIC const AdjValue *
adj_graph_get_attr (const AdjGraph *graph, guint index, const char **name);
ADJ_PUBLIC const AdjValue *adj_graph_find_attr (const AdjGraph *graph,
                                                const char *name); /* (nullable) */

/* By tag; else by position: from the first node on that reads a tangent or, in the graph of a whole
 * step, that autograd made (ir/SPEC.md §2.4).  A graph with nothing of these is all forward. */
ADJ_PUBLIC gboolean adj_graph_is_backward (const AdjGraph *graph, guint index);
/* In a graph of a whole step: whether the node comes after all nodes that autograd made, as the
 * update of the parameters does. */
ADJ_PUBLIC gboolean adj_graph_is_update (const AdjGraph *graph, guint index);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjGraph, adj_graph_unref)

G_END_DECLS
