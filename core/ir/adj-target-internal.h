/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-target.h"

G_BEGIN_DECLS

/* As adj_target_get_stem() of a method, module or attribute, whose whole path counts. */
char *adj_target_get_path_stem (const char *target);

typedef enum
{
  ADJ_FIXITY_INFIX,
  ADJ_FIXITY_PREFIX,
  ADJ_FIXITY_INPLACE,
} AdjFixity;

/* The infix, prefix or in-place symbol of "operator.add" ("+"), or %NULL. */
const char *adj_target_get_symbol (const char *target, AdjFixity *fixity);
/* The reverse: "operator.add" for "+" and INFIX. */
const char *adj_target_from_symbol (const char *symbol, AdjFixity fixity);

/* Whether @target names an in-place function by PyTorch's conventions: `add_`, `operator.iadd`,
 * `torch.ops.aten.mul_.Tensor`; for callables without a schema. */
gboolean adj_target_names_write (const char *target);

/* Callables other than operators in the graph of a captured backward. The last one stands for a
 * call that a trace keeps whole (interpreter/SPEC.md §5.4). */
#define ADJ_TARGET_CALL_HOOK "torch._dynamo.external_utils.call_hook"
#define ADJ_TARGET_CALL_BACKWARD "torch._dynamo.external_utils.call_backward"
#define ADJ_TARGET_FINAL_CALLBACKS "torch._dynamo.external_utils._exec_final_callbacks_stub"
#define ADJ_TARGET_ACCUMULATE "torch.ops.inductor.accumulate_grad_.default"
/* Since PyTorch 2.7. */
#define ADJ_TARGET_CALL_ACCUMULATE "torch._dynamo.external_utils.call_accumulate_grad"
#define ADJ_TARGET_SELF_INVOKE "torch._dynamo._trace_wrapped_higher_order_op.self_invoke"
/* A hook of a tensor, as the frontend leaves it (interpreter/SPEC.md §5.2). */
#define ADJ_TARGET_REGISTER_HOOK "torch.ops.higher_order.register_hook"

/* (transfer full): what graph text prints for a private callable: dots flattened to underscores
 * (torch._dynamo.external_utils.call_hook → torch__dynamo_external_utils_call_hook); public ones
 * are returned as they are. */
char *adj_target_get_printed (const char *target);

/* (transfer full): the callable that is printed as @printed, if it belongs to a module that graphs
 * of compiled autograd call; else a copy of @printed. */
char *adj_target_from_printed (const char *printed);

G_END_DECLS
