/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"
#include "call/adj-op.h"
#include "ir/adj-header.h"

G_BEGIN_DECLS

/* The record of a trace: nodes in the order in which they were called, and which node stands for
 * each tensor and each symbolic size (trace/SPEC.md §1).  Names are given as PyTorch gives them. It
 * hears of calls through adj_proxy_mode_new(); whoever captures more than operators (hooks,
 * gradients of an engine) adds those nodes himself. */
typedef struct _AdjTracer AdjTracer;

/* @name: of the graph; the record uses @cx, which must outlive it.  @items_when_read: where a call
 * has several results, each gets its operator.getitem when it is first read; else at once. */
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

/* From now on calls of @op are written as calls of @as, under the names that they would have; @as:
 * @op: no longer. */
void adj_tracer_write_as (AdjTracer *tracer, const AdjOp *op, const AdjOp *as);

/* Adds a call of @target that gave @result.  Several results come as LIST or TUPLE.  @args is a
 * TUPLE and @kwargs a DICT, or NONE, made by adj_tracer_take(). */
AdjNodeId adj_tracer_add_call (AdjTracer *tracer,
                               const char *target,
                               const AdjValue *args,
                               const AdjValue *kwargs,
                               const AdjValue *result);

/* Node @to stands for @size where node @from did. */
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

/* A name of the form @stem<number> for each of the @n @graphs, with one number for all, and their
 * get_attr nodes in @nodes, of NODE.  @identifier: (nullable): where a graph of that identifier is
 * the same one, it is that. */
void adj_tracer_add_subgraphs (AdjTracer *tracer,
                               const char *const *stems,
                               AdjGraph *const *graphs,
                               guint n,
                               const char *identifier,
                               AdjValue *nodes);

gboolean adj_tracer_add_output (AdjTracer *tracer, const AdjValue *value);

/* As adj_builder_set_header(). */
void adj_tracer_set_header (AdjTracer *tracer, AdjHeader header, const char *parameters);

/* Whether it is written as PyTorch records what its own formulas call: a tensor that is not given
 * is None also where that is the default, and the number of elements is asked for. */
void adj_tracer_set_formulas (AdjTracer *tracer, gboolean formulas);

/* Whether sealing leaves out what no output and no effect depends on. */
void adj_tracer_set_drop_dead (AdjTracer *tracer, gboolean drop_dead);

/* Drops unread nodes of sizes and seals the graph. (transfer full); afterwards the tracer can only
 * be freed. */
AdjGraph *adj_tracer_seal (AdjTracer *tracer, GError **error);

/* The mode that records every call in @tracer, which must outlive it, after the modes below have
 * made the results. */
AdjMode *adj_proxy_mode_new (AdjTracer *tracer);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjTracer, adj_tracer_free)

G_END_DECLS
