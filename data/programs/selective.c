/* SPDX-License-Identifier: MIT */

/* A selective region: a policy decides for each operator whether its result is saved.
 *
 * Products are expensive, so they are saved; sines are cheap, so they are recomputed.  The
 * policy is asked in forward, and again for each call when the region is recomputed: then a
 * saved result is used, and the operator does not run.  A result can be used once: such a region
 * supports one backward. */

#include "call/adj-op.h"
#include "ops/adj-op-table.h"
#include "programs.h"

#include <string.h>

static gboolean
body_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjTensor *x = args[0].tensor, *w = args[1].tensor, *y;

  y = adj_sin (cx, adj_mm (cx, adj_sin (cx, adj_mm (cx, x, w)), w));
  *result = ADJ_TENSOR (adj_keep (y));
  return y != NULL;
}

static AdjRecompute
keep_products (
    const AdjOp *op, const AdjValue *args, guint n_args, gboolean is_recompute, gpointer data)
{
  gboolean keeps = op == adj_op_find ("torch.ops.aten.mm.default");

  if (data != NULL)
    g_string_append_printf (data, "%s %s: %s\n", is_recompute ? "again  " : "forward",
                            adj_op_get_schema (op)->name, keeps ? "kept" : "not kept");
  return keeps ? ADJ_RECOMPUTE_MUST_SAVE : ADJ_RECOMPUTE_PREFER_RECOMPUTE;
}

/* @log: (nullable): gets the policy's questions. */
static AdjTensor *
region (AdjContext *cx, const AdjValue *args, GString *log)
{
  static const AdjFunctionClass klass = { .name = "body", .call = body_call };
  const AdjCheckpointOptions options = { .policy = keep_products, .policy_data = log };
  g_autoptr (AdjFunction) body = adj_function_new (&klass, sizeof (AdjFunction));
  AdjValue result = ADJ_NONE;

  adj_checkpoint (cx, body, args, 2, &options, &result);
  return result.kind == ADJ_VALUE_TENSOR ? adj_scope_add (cx, result.tensor) : NULL;
}

static gboolean
inputs (AdjContext *cx, AdjProgramInputs *in)
{
  const gint64 size[] = { 4, 4 };

  adj_generator_seed (adj_context_get_generator (cx), 1);
  adj_program_take (cx, in, adj_randn (cx, size, 2), ADJ_ARGUMENT_PLAIN);
  adj_program_take (cx, in, adj_randn (cx, size, 2), ADJ_ARGUMENT_LEAF);
  return !adj_context_has_error (cx);
}

static gboolean
run (AdjContext *cx, GString *out)
{
  g_autoptr (GError) error = NULL;
  AdjProgramInputs in = { .n_args = 0 };
  AdjTensor *loss;

  if (!inputs (cx, &in))
    return FALSE;
  loss = adj_sum (cx, region (cx, in.args, out));
  if (!adj_backward (cx, &(AdjGradRoots){ .tensors = &loss, .n = 1 }, NULL, 0,
                     ADJ_BACKWARD_RETAIN_GRAPH))
    return FALSE;
  g_string_append (out, "a second backward\n");
  adj_tensor_backward (cx, loss);
  if (adj_context_take_error (cx, &error))
    g_string_append_printf (out, "%.*s\n", (int) strcspn (error->message, ";"), error->message);
  return error != NULL;
}

/* In a trace the policy's answers are tags on nodes. */
static gboolean
call (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjTensor *y = region (cx, args, NULL);

  *result = ADJ_TENSOR (adj_keep (y));
  return y != NULL;
}

ADJ_PUBLIC const AdjProgram *adj_program_selective (void);

const AdjProgram *
adj_program_selective (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "selective",
    .summary = "A selective region: products are kept, sines computed again",
    .run = run,
    .call = call,
    .inputs = inputs,
  };

  return &program;
}
