/* SPDX-License-Identifier: MIT */
#pragma once

#include "objects/adj-extensions.h"

G_BEGIN_DECLS

/* (transfer none) (nullable): the operator that was added as @target,
 * "torch.ops.mine.cube.default".
 */
const AdjOp *adj_extensions_find_op (const AdjExtensions *extensions, const char *target);
/* (transfer none) (nullable): the class of values whose object stands so in the text of a graph:
 * "Scale(2.0)" of the class "module.Scale"; @inside (out): behind the parenthesis. */
const AdjObjectClass *adj_extensions_find_written (const AdjExtensions *extensions,
                                                   const char *text,
                                                   const char **inside);

/* -- the graphs and values of one file (extend.c) -- */

typedef struct _AdjExtender AdjExtender;

/* @diags: (nullable): loses what it says of texts that are read after all; both must outlive it. */
AdjExtender *adj_extender_new (const AdjExtensions *extensions, AdjDiags *diags);
void adj_extender_free (AdjExtender *extender);

/* What a file has of classes and operators that the extensions know: text, "Scale(2.0)", and
 * states become objects that can be called, the same where they were the same, and calls are of the
 * operator.  The rest stays as it is.  %NULL or %FALSE with ADJ_ERROR_PARSE, or the error of read()
 * or unflatten(), naming class, text and node. */
AdjGraph *adj_extender_take_graph (AdjExtender *extender,
                                   AdjGraph *graph,
                                   GError **error); /* (transfer full) (nullable) */
/* @value: changed in place. */
gboolean adj_extender_take_value (AdjExtender *extender, AdjValue *value, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjExtender, adj_extender_free)

G_END_DECLS
