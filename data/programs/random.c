/* SPDX-License-Identifier: MIT */

/* Random numbers.
 *
 * A drawn number depends on all earlier draws, so the order of random nodes is part of a graph's
 * meaning.  The backward needs the mask that the forward drew: it is saved and never drawn
 * again. From the same generator state the compiled function draws what the eager one does, bit
 * for bit: `adjoint compare random@eager random@compiled`. */

#include "programs.h"

static gboolean
call (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjTensor *x = args[0].tensor, *w = args[1].tensor;
  AdjTensor *kept, *mask;

  if (!adj_native_dropout (cx, adj_mul (cx, x, w), 0.5, ADJ_BOOL (TRUE), &kept, &mask))
    return FALSE;
  return adj_program_give (cx, result, 2, adj_mul (cx, kept, adj_rand_like (cx, x)), mask);
}

static gboolean
inputs (AdjContext *cx, AdjProgramInputs *in)
{
  const gint64 size[] = { 2, 4 };

  adj_program_take (cx, in, adj_ones (cx, size, 2), ADJ_ARGUMENT_LEAF);
  adj_program_take (cx, in, adj_full (cx, size, 2, ADJ_FLOAT (3)), ADJ_ARGUMENT_LEAF);
  return !adj_context_has_error (cx);
}

static gboolean
run (AdjContext *cx, GString *out)
{
  for (guint i = 0; i < 3; i++)
    {
      g_auto (AdjValue) result = ADJ_NONE;
      AdjProgramInputs in = { .n_args = 0 };

      if (i != 1)
        adj_generator_seed (adj_context_get_generator (cx), 7);
      if (!inputs (cx, &in) || !call (cx, in.args, in.n_args, &result))
        return FALSE;
      adj_program_print (cx, out,
                         i == 0   ? "seed 7, what stays"
                         : i == 1 ? "again"
                                  : "seed 7 again",
                         result.items[1].tensor);
    }
  return TRUE;
}

ADJ_PUBLIC const AdjProgram *adj_program_random (void);

const AdjProgram *
adj_program_random (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "random",
    .summary = "Random numbers, the same in every way to run them",
    .run = run,
    .call = call,
    .inputs = inputs,
  };

  return &program;
}
