/* SPDX-License-Identifier: MIT */

/* One tensor passed twice.
 *
 * The function writes to a; since b is the same tensor, b changes too.  A graph with two inputs
 * would miss that, so the duplicate is dropped: the graph has one input, and every call checks
 * that the same arguments are identical again.  If a were not written, the graph could keep both
 * inputs, each with its own gradient, and autograd would add them. */

#include "programs.h"

static gboolean
call (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjTensor *a = args[0].tensor, *b = args[1].tensor;

  adj_add__scalar (cx, a, ADJ_INT (1), ADJ_INT (1));
  return adj_program_give (cx, result, 1, adj_mul (cx, a, adj_sin (cx, b)));
}

static gboolean
inputs (AdjContext *cx, AdjProgramInputs *in)
{
  adj_program_take (cx, in, adj_arange (cx, ADJ_FLOAT (3)), ADJ_ARGUMENT_WRITTEN);
  in->args[in->n_args++] = in->args[0];
  return !adj_context_has_error (cx);
}

static gboolean
run (AdjContext *cx, GString *out)
{
  g_auto (AdjValue) result = ADJ_NONE;
  AdjProgramInputs in = { .n_args = 0 };

  if (!inputs (cx, &in) || !call (cx, in.args, in.n_args, &result))
    return FALSE;
  adj_program_print (cx, out, "a, which is b", in.args[1].tensor);
  adj_program_print (cx, out, "a sin b", result.items[0].tensor);
  return TRUE;
}

ADJ_PUBLIC const AdjProgram *adj_program_duplicates (void);

const AdjProgram *
adj_program_duplicates (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "duplicates",
    .summary = "One tensor given twice, and written",
    .run = run,
    .call = call,
    .inputs = inputs,
  };

  return &program;
}
