/* SPDX-License-Identifier: MIT */

/* Results that are views.
 *
 * A write to the first result is a write to the argument, and a write to the second result also
 * changes the third.  A graph cannot return such aliases.  For a view of an argument only its
 * geometry is recorded; for two views of one intermediate value the graph returns that value
 * too.  Each call makes the views again, of the live argument and of the returned value.  The
 * fourth result is the only view of its base, so it cannot be distinguished from a tensor of its
 * own. */

#include "programs.h"

static gboolean
call (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjTensor *x = args[0].tensor, *twice, *sine;
  const gint64 flat[] = { 6 };

  twice = adj_mul_scalar (cx, x, ADJ_INT (2));
  sine = adj_sin (cx, x);
  return adj_program_give (cx, result, 4, adj_view (cx, x, flat, 1), adj_select (cx, twice, 0, 0),
                           adj_t (cx, twice), adj_view (cx, sine, flat, 1));
}

static gboolean
inputs (AdjContext *cx, AdjProgramInputs *in)
{
  const gint64 size[] = { 2, 3 };

  adj_program_take (cx, in, adj_view (cx, adj_arange (cx, ADJ_FLOAT (6)), size, 2),
                    ADJ_ARGUMENT_WRITTEN);
  return !adj_context_has_error (cx);
}

static gboolean
run (AdjContext *cx, GString *out)
{
  g_auto (AdjValue) result = ADJ_NONE;
  AdjProgramInputs in = { .n_args = 0 };

  if (!inputs (cx, &in) || !call (cx, in.args, in.n_args, &result))
    return FALSE;
  adj_program_print (cx, out, "x", in.args[0].tensor);
  adj_zero_ (cx, result.items[0].tensor);
  adj_program_print (cx, out, "x, when its view was cleared", in.args[0].tensor);
  adj_program_print (cx, out, "the second view of 2 x", result.items[2].tensor);
  adj_zero_ (cx, result.items[1].tensor);
  adj_program_print (cx, out, "it, when the first was cleared", result.items[2].tensor);
  return !adj_context_has_error (cx);
}

ADJ_PUBLIC const AdjProgram *adj_program_aliasing (void);

const AdjProgram *
adj_program_aliasing (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "aliasing",
    .summary = "Results that are views of arguments and of one another",
    .run = run,
    .call = call,
    .inputs = inputs,
  };

  return &program;
}
