/* SPDX-License-Identifier: MIT */

/* Writing to arguments.
 *
 * The function scales x in place and updates a running mean.  A compiler's graph has no writes
 * except at its end, and there are two cases.  The mean requires no gradient: its copy_ stays,
 * as the graph's last node.  x requires a gradient, which is that of its former value: the graph
 * takes a clone, returns the new value first, and the epilogue of every call copies it back into
 * x, in the caller's history.  `adjoint trace mutation --dump-after joint` shows both. */

#include "programs.h"

/* Arguments: x, a scale, a running mean */
static gboolean
call (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjTensor *x = args[0].tensor, *scale = args[1].tensor, *mean = args[2].tensor;

  adj_mul_ (cx, x, scale);
  adj_lerp__scalar (cx, mean, adj_detach (cx, x), ADJ_FLOAT (0.5));
  return adj_program_give (cx, result, 1, adj_sin (cx, adj_sub (cx, x, mean)));
}

static gboolean
inputs (AdjContext *cx, AdjProgramInputs *in)
{
  adj_program_take (cx, in, adj_arange (cx, ADJ_FLOAT (3)), ADJ_ARGUMENT_WRITTEN);
  adj_program_take (cx, in, adj_arange (cx, ADJ_FLOAT (3)), ADJ_ARGUMENT_LEAF);
  adj_program_take (cx, in, adj_ones_like (cx, in->args[0].tensor), ADJ_ARGUMENT_PLAIN);
  return !adj_context_has_error (cx);
}

static gboolean
run (AdjContext *cx, GString *out)
{
  g_auto (AdjValue) result = ADJ_NONE;
  AdjProgramInputs in = { .n_args = 0 };

  if (!inputs (cx, &in) || !call (cx, in.args, in.n_args, &result))
    return FALSE;
  adj_program_print (cx, out, "x, written", in.args[0].tensor);
  adj_program_print (cx, out, "the running mean", in.args[2].tensor);
  adj_program_print (cx, out, "result", result.items[0].tensor);
  return TRUE;
}

ADJ_PUBLIC const AdjProgram *adj_program_mutation (void);

const AdjProgram *
adj_program_mutation (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "mutation",
    .summary = "Writing to arguments: what stays in the graph, what the epilogue does",
    .run = run,
    .call = call,
    .inputs = inputs,
  };

  return &program;
}
