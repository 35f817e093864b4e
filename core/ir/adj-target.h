/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* Names of what a node calls.  The IR knows targets by name; the operator table (core/ops) says
 * which of them we have.  This is the one question that the IR asks upwards. */

/* The operator that "torch.ops.aten.add.Tensor" names; %NULL: an opaque target. */
ADJ_PUBLIC const AdjOp *adj_op_find (const char *target);

/* The candidate name of a node that calls @target, before it is made unique (graph-ir §2.1):
 * the packet for traced nodes ("add" for torch.ops.aten.add.Tensor). */
ADJ_PUBLIC char *adj_target_get_stem (const char *target);
/* The same for a method, module or attribute, whose whole path counts. */
char *adj_target_get_path_stem (const char *target);

/* What graph text prints for a private callable: dots flattened to underscores
 * (torch._dynamo.external_utils.call_hook → torch__dynamo_external_utils_call_hook); public ones
 * are returned as they are. */
ADJ_PUBLIC char *adj_target_get_printed (const char *target);

/* The infix, prefix or in-place symbol of "operator.add" ("+"), or %NULL. */
typedef enum
{
  ADJ_FIXITY_INFIX,
  ADJ_FIXITY_PREFIX,
  ADJ_FIXITY_INPLACE,
} AdjFixity;

const char *adj_target_get_symbol (const char *target, AdjFixity *fixity);
/* The reverse: "operator.add" for "+" and INFIX. */
const char *adj_target_from_symbol (const char *symbol, AdjFixity fixity);

G_END_DECLS
