/* SPDX-License-Identifier: MIT */

/* One backward from two ends, twice.
 *
 * sin x and cos x get a gradient of their own each, and x the sum of both.  A second backward finds
 * the gradient of x there and adds to it; captured, that is another graph, because what is
 * accumulated into is an input.  A third one is as the second.
 *
 *   adjoint trace two-roots */

#include "programs.h"

static gboolean
walk_back (AdjContext *cx, AdjTensor *x, GString *out)
{
  AdjTensor *roots[2] = { adj_sin (cx, x), adj_cos (cx, x) };
  AdjTensor *grads[2] = { adj_ones_like (cx, x), adj_full_like (cx, x, ADJ_FLOAT (2)) };

  if (adj_context_has_error (cx) ||
      !adj_backward (cx, &(AdjGradRoots){ .tensors = roots, .grads = grads, .n = 2 }, NULL, 0, 0))
    return FALSE;
  adj_program_print (cx, out, "gradient of x", adj_tensor_get_grad (x));
  return TRUE;
}

static gboolean
run (AdjContext *cx, GString *out)
{
  AdjTensor *x = adj_mul_scalar (cx, adj_arange (cx, ADJ_INT (3)), ADJ_FLOAT (0.5));

  adj_tensor_set_requires_grad (cx, x, TRUE);
  for (guint i = 0; i < 3; i++)
    if (!walk_back (cx, x, out))
      return FALSE;
  return TRUE;
}

ADJ_PUBLIC const AdjProgram *adj_program_two_roots (void);

const AdjProgram *
adj_program_two_roots (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "two-roots",
    .summary = "A backward from two ends, and why its second run is captured again",
    .run = run,
  };

  return &program;
}
