/* SPDX-License-Identifier: MIT */

/* A write through a view, and its gradient in a capture.
 *
 * y is a copy of x, two elements of which are doubled in place.  In PyTorch the gradient of
 * these two is written through a view of the whole gradient, and the result of that write has no
 * reader: PyTorch 2.6's capture removes it as dead, and x gets 1 instead of 2.  Here the
 * gradient is a new value (slice_scatter), which no reordering can lose:
 *
 *   adjoint compare written-view@eager written-view@captured-2.6
 *
 * `adjoint check` finds the loss in a graph captured by PyTorch (lost-write). */

#include "programs.h"

static AdjTensor *
loss_of (AdjContext *cx, AdjTensor *x)
{
  AdjTensor *y = adj_clone (cx, x);
  AdjTensor *part = adj_slice (cx, y, 0, ADJ_INT (1), ADJ_INT (3), 1);

  adj_mul__scalar (cx, part, ADJ_INT (2));
  return adj_sum (cx, y);
}

static gboolean
run (AdjContext *cx, GString *out)
{
  AdjTensor *x = adj_mul_scalar (cx, adj_arange (cx, ADJ_INT (4)), ADJ_FLOAT (1));

  adj_tensor_set_requires_grad (cx, x, TRUE);
  if (!adj_tensor_backward (cx, loss_of (cx, x)))
    return FALSE;
  adj_program_print (cx, out, "gradient of x", adj_tensor_get_grad (x));
  return !adj_context_has_error (cx);
}

static gboolean
call (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  return adj_program_give (cx, result, 1, loss_of (cx, args[0].tensor));
}

static gboolean
inputs (AdjContext *cx, AdjProgramInputs *in)
{
  AdjTensor *x = adj_mul_scalar (cx, adj_arange (cx, ADJ_INT (4)), ADJ_FLOAT (1));

  adj_program_take (cx, in, x, ADJ_ARGUMENT_LEAF);
  return !adj_context_has_error (cx);
}

ADJ_PUBLIC const AdjProgram *adj_program_written_view (void);

const AdjProgram *
adj_program_written_view (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "written-view",
    .summary = "The gradient of a write through a view, which PyTorch's capture loses",
    .run = run,
    .call = call,
    .inputs = inputs,
  };

  return &program;
}
