/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"
#include "call/adj-op.h"
#include "ir/adj-header.h"

G_BEGIN_DECLS

/* The record of a trace: nodes in the order of calls, and the node that represents each tensor and
 * symbolic size (trace/SPEC.md §1).  Names are PyTorch's.  Calls are recorded by
 * adj_proxy_mode_new(); callers that capture more than operators (hooks, gradients of an engine)
 * add those nodes themselves. */
typedef struct _AdjTracer AdjTracer;

/* @name: of the graph; the tracer uses @cx, which must outlive it.  @items_when_read: each of
 * several results gets its operator.getitem node when first read; else at once. */
AdjTracer *adj_tracer_new (AdjContext *cx, const char *name, gboolean items_when_read);
/* Frees @tracer; tensors that outlive it belong to no trace any more. */
void adj_tracer_free (AdjTracer *tracer);

/* Adds a placeholder that represents the leaf @value. @name: used as it is; @stem: made unique when
 * @name is %NULL; @meta: (nullable), its texts must outlive the trace. */
AdjNodeId adj_tracer_add_placeholder (AdjTracer *tracer,
                                      const char *name,
                                      const char *stem,
                                      const AdjNodeMeta *meta,
                                      AdjNodeId origin,
                                      const AdjValue *value);

/* Records calls of @op as calls of @as from now on, under the names of @as; @as == @op ends that.
 */
void adj_tracer_write_as (AdjTracer *tracer, const AdjOp *op, const AdjOp *as);

/* Adds a call of @target that gave @result.  Several results come as LIST or TUPLE.  @args is a
 * TUPLE and @kwargs a DICT, or NONE, made by adj_tracer_take(). */
AdjNodeId adj_tracer_add_call (AdjTracer *tracer,
                               const char *target,
                               const AdjValue *args,
                               const AdjValue *kwargs,
                               const AdjValue *result);

/* Makes node @to represent @size instead of node @from. */
void adj_tracer_move_size (AdjTracer *tracer, AdjSize size, AdjNodeId from, AdjNodeId to);

/* Converts @value to an argument of a node: nodes for tensors and symbolic sizes, get_attr nodes
 * for tensors unknown to the trace. Borrowed from the tracer. %FALSE: the context is in error. */
gboolean adj_tracer_take (AdjTracer *tracer, const AdjValue *value, AdjValue *out);

/* The arguments of @call as PyTorch records them: defaults at the end are left out. */
gboolean adj_tracer_take_arguments (AdjTracer *tracer,
                                    const AdjOpCall *call,
                                    AdjValue *args,
                                    AdjValue *kwargs);

/* A call of getitem, arithmetic on sizes or a size read off a tensor, that gave @result. */
void adj_tracer_note_builtin (AdjTracer *tracer,
                              const char *target,
                              const AdjValue *args,
                              guint n_args,
                              const AdjValue *result);

/* Adds @n @graphs under the names STEM<number> of @stems, with one number for all, and get_attr
 * nodes for them to @nodes, of NODE.  @identifier: (nullable): an equal graph added with the
 * same identifier is reused. */
void adj_tracer_add_subgraphs (AdjTracer *tracer,
                               const char *const *stems,
                               AdjGraph *const *graphs,
                               guint n,
                               const char *identifier,
                               AdjValue *nodes);

gboolean adj_tracer_add_output (AdjTracer *tracer, const AdjValue *value);

/* As adj_builder_set_header(). */
void adj_tracer_set_header (AdjTracer *tracer, AdjHeader header, const char *parameters);

/* Whether calls are recorded as those in PyTorch's formulas: an absent tensor is None even if that
 * is the default, and the number of elements is read by sym_numel. */
void adj_tracer_set_formulas (AdjTracer *tracer, gboolean formulas);

/* Whether sealing drops nodes that no output and no effect depends on. */
void adj_tracer_set_drop_dead (AdjTracer *tracer, gboolean drop_dead);

/* Drops unread nodes of sizes and seals the graph. (transfer full); afterwards the tracer can only
 * be freed. */
AdjGraph *adj_tracer_seal (AdjTracer *tracer, GError **error);

/* The mode that records every call in @tracer, which must outlive it, after the modes below have
 * computed the results. */
AdjMode *adj_proxy_mode_new (AdjTracer *tracer);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjTracer, adj_tracer_free)

G_END_DECLS
