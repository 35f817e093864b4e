/* SPDX-License-Identifier: MIT */
#pragma once

#include "objects/adj-extensions.h"

G_BEGIN_DECLS

/* (transfer none) (nullable): the operator added as @target, "torch.ops.mine.cube.default". */
const AdjOp *adj_extensions_find_op (const AdjExtensions *extensions, const char *target);
/* (transfer none) (nullable): the class of value objects whose text in a graph this is:
 * "Scale(2.0)" for the class "module.Scale"; @inside (out): after the parenthesis. */
const AdjObjectClass *adj_extensions_find_written (const AdjExtensions *extensions,
                                                   const char *text,
                                                   const char **inside);

/* -- the graphs and values of one file (extend.c) -- */

typedef struct _AdjExtender AdjExtender;

/* @diags: (nullable): its messages about texts that are now read are removed; both must outlive it.
 */
AdjExtender *adj_extender_new (const AdjExtensions *extensions, AdjDiags *diags);
void adj_extender_free (AdjExtender *extender);

/* Converts the parts of a file that belong to known classes and operators: texts such as
 * "Scale(2.0)" and states become callable objects, equal ones the same object, and calls get their
 * operator.  The rest is unchanged.  %NULL or %FALSE with ADJ_ERROR_PARSE, or the error of read()
 * or unflatten(), naming class, text and node. */
AdjGraph *adj_extender_take_graph (AdjExtender *extender,
                                   AdjGraph *graph,
                                   GError **error); /* (transfer full) (nullable) */
/* @value: changed in place. */
gboolean adj_extender_take_value (AdjExtender *extender, AdjValue *value, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjExtender, adj_extender_free)

G_END_DECLS
