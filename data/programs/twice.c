/* SPDX-License-Identifier: MIT */

/* The gradient of a gradient.
 *
 * With ADJ_BACKWARD_CREATE_GRAPH backward is recorded too, because its rules call operators like
 * any program; its results can therefore be differentiated again.  For y = x³: y' = 3x², y'' =
 * 6x, y''' = 6. */

#include "programs.h"

static gboolean
run (AdjContext *cx, GString *out)
{
  const gint64 size[] = { 2 };
  AdjTensor *x = adj_full (cx, size, 1, ADJ_FLOAT (2));
  AdjTensor *y;

  adj_tensor_set_requires_grad (cx, x, TRUE);
  y = adj_mul (cx, adj_mul (cx, x, x), x);
  adj_program_print (cx, out, "y   ", y);
  for (guint order = 1; order <= 3; order++)
    {
      static const char *const names[] = { "y'  ", "y'' ", "y'''" };
      AdjTensor *total = adj_sum (cx, y), *grad;

      if (!adj_grad (cx, &(AdjGradRoots){ .tensors = &total, .n = 1 }, &x, 1,
                     ADJ_BACKWARD_CREATE_GRAPH, &grad))
        return FALSE;
      adj_program_print (cx, out, names[order - 1], grad);
      y = grad;
    }
  return !adj_context_has_error (cx);
}

ADJ_PUBLIC const AdjProgram *adj_program_twice (void);

const AdjProgram *
adj_program_twice (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "twice",
    .summary = "Gradients of gradients",
    .run = run,
  };

  return &program;
}
