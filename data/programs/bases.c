/* SPDX-License-Identifier: MIT */

/* Overlapping arguments.
 *
 * The arguments are two views of one buffer, and the first is written, which changes two
 * elements of the second.  The graph takes the buffer as its input instead of the views (a
 * synthetic base), makes the views from it, and returns the new buffer, which the epilogue
 * copies back.  Every call finds the buffer again as the base of its arguments. */

#include "programs.h"

static gboolean
call (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjTensor *left = args[0].tensor, *right = args[1].tensor;

  adj_mul__scalar (cx, left, ADJ_INT (3));
  return adj_program_give (cx, result, 1, adj_mul (cx, left, adj_sin (cx, right)));
}

static gboolean
inputs (AdjContext *cx, AdjProgramInputs *in)
{
  AdjTensor *buffer = adj_program_writable (cx, in, adj_arange (cx, ADJ_FLOAT (6)));

  adj_program_take (cx, in, adj_narrow (cx, buffer, 0, 0, 4), ADJ_ARGUMENT_PLAIN);
  adj_program_take (cx, in, adj_narrow (cx, buffer, 0, 2, 4), ADJ_ARGUMENT_PLAIN);
  return !adj_context_has_error (cx);
}

static gboolean
run (AdjContext *cx, GString *out)
{
  g_auto (AdjValue) result = ADJ_NONE;
  AdjProgramInputs in = { .n_args = 0 };

  if (!inputs (cx, &in))
    return FALSE;
  adj_program_print (cx, out, "the right window", in.args[1].tensor);
  if (!call (cx, in.args, in.n_args, &result))
    return FALSE;
  adj_program_print (cx, out, "when the left one was written", in.args[1].tensor);
  adj_program_print (cx, out, "result", result.items[0].tensor);
  return TRUE;
}

ADJ_PUBLIC const AdjProgram *adj_program_bases (void);

const AdjProgram *
adj_program_bases (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "bases",
    .summary = "Arguments that overlap, and are written",
    .run = run,
    .call = call,
    .inputs = inputs,
  };

  return &program;
}
