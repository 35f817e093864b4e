/* SPDX-License-Identifier: MIT */
#pragma once

#include "interpreter/adj-higher.h"

G_BEGIN_DECLS

/* One file for each operator. */
extern const AdjHigherOp adj_higher_associative_scan;
extern const AdjHigherOp adj_higher_cond;
extern const AdjHigherOp adj_higher_invoke_subgraph;
extern const AdjHigherOp adj_higher_map_impl;
extern const AdjHigherOp adj_higher_out_dtype;
extern const AdjHigherOp adj_higher_scan;
extern const AdjHigherOp adj_higher_scan_along;
extern const AdjHigherOp adj_higher_while_loop;

/* Appends @tensor[…, index, …], of dimension @dim, to @inputs.  %FALSE: the context is in error. */
gboolean higher_append_slice (
    const AdjHigherCall *call, const AdjValue *tensor, gint64 dim, gint64 index, GArray *inputs);
/* Whether all of @group are tensors with the same integer size > 0 in dimension @dim, stored in
 * @length.  %FALSE: the context is in error. */
gboolean
higher_get_length (const AdjHigherCall *call, const AdjValue *group, gint64 dim, gint64 *length);
void higher_append_all (const AdjValue *group, GArray *inputs);
/* Stacks value @index of the @n containers @parts along a new first dimension; None if all of them
 * are.  @out (transfer full). */
gboolean higher_stack (
    const AdjHigherCall *call, const AdjValue *parts, guint n, guint index, AdjValue *out);
/* Repeats the tensors of @value @length times along a new first dimension. @out (transfer full). */
gboolean
higher_repeat (const AdjHigherCall *call, const AdjValue *value, gint64 length, AdjValue *out);

G_END_DECLS
