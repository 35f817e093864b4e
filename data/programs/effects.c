/* SPDX-License-Identifier: MIT */

/* Effects, and the tokens that order them.
 *
 * Printing returns no value, so a graph of values neither orders it nor shows that it must be
 * kept.  A traced print therefore takes a token and returns the next one: the token is the
 * graph's first input and its first output, and the chain of tokens is the order.  What is
 * printed while gradients are computed has a chain of its own in the backward graph.  Callers
 * pass no token, and the printed text is the same: `adjoint trace effects --dump-after joint`. */

#include "programs.h"

static gboolean
forward (AdjCustomCall *call,
         AdjTensor *const *inputs,
         guint n_inputs,
         AdjTensor **outputs,
         guint n_outputs)
{
  AdjContext *cx = adj_custom_call_get_context (call);

  adj__print (cx, "forward");
  outputs[0] = adj_mul_scalar (cx, inputs[0], ADJ_INT (3));
  return outputs[0] != NULL;
}

static gboolean
backward (AdjCustomCall *call,
          AdjTensor *const *grads,
          guint n_grads,
          AdjTensor **grad_inputs,
          guint n_inputs)
{
  AdjContext *cx = adj_custom_call_get_context (call);

  adj__print (cx, "backward");
  grad_inputs[0] = adj_mul_scalar (cx, grads[0], ADJ_INT (3));
  return grad_inputs[0] != NULL;
}

static gboolean
call (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  static const AdjCustomClass loud = { .name = "Loud", .forward = forward, .backward = backward };
  AdjTensor *x = args[0].tensor, *y;

  adj__print (cx, "before");
  if (!adj_custom_apply (cx, &loud, NULL, NULL, &x, 1, &y, 1))
    return FALSE;
  y = adj_sin (cx, y);
  adj__print (cx, "after");
  return adj_program_give (cx, result, 1, y);
}

static gboolean
inputs (AdjContext *cx, AdjProgramInputs *in)
{
  adj_program_take (cx, in, adj_arange (cx, ADJ_FLOAT (3)), ADJ_ARGUMENT_LEAF);
  return !adj_context_has_error (cx);
}

static void
append (const char *text, gpointer data)
{
  g_string_append (data, text);
}

static gboolean
run (AdjContext *cx, GString *out)
{
  g_auto (AdjValue) result = ADJ_NONE;
  AdjProgramInputs in = { .n_args = 0 };
  AdjTensor *total, *grad;

  adj_context_set_print (cx, append, out);
  if (!inputs (cx, &in) || !call (cx, in.args, in.n_args, &result))
    return FALSE;
  total = adj_sum (cx, result.items[0].tensor);
  if (!adj_grad (cx, &(AdjGradRoots){ .tensors = &total, .n = 1 }, in.leaves, 1, 0, &grad))
    return FALSE;
  adj_program_print (cx, out, "gradient", grad);
  return TRUE;
}

ADJ_PUBLIC const AdjProgram *adj_program_effects (void);

const AdjProgram *
adj_program_effects (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "effects",
    .summary = "Printing from a graph, forwards and backwards, in order",
    .run = run,
    .call = call,
    .inputs = inputs,
  };

  return &program;
}
