/* SPDX-License-Identifier: MIT */

/* Training: a network of two layers learns y = sin 3x.
 *
 * Parameters are leaves that require a gradient.  Each step computes the loss, which is recorded
 * on a tape; adj_tensor_backward() walks the tape and stores a gradient in every parameter; the
 * update is in place while recording is off, so that the parameters stay leaves.  A scope for
 * each step frees its temporaries; tensors that must outlive it are kept. */

#include "programs.h"

#define N_HIDDEN 16

static AdjTensor *
forward (AdjContext *cx, AdjTensor *x, AdjTensor *const *parameters)
{
  AdjTensor *hidden = adj_tanh (cx, adj_linear (cx, x, parameters[0], parameters[1]));

  return adj_linear (cx, hidden, parameters[2], parameters[3]);
}

static AdjTensor *
loss_of (AdjContext *cx, AdjTensor *x, AdjTensor *y, AdjTensor *const *parameters)
{
  return adj_mse_loss (cx, forward (cx, x, parameters), y, 1);
}

/* Makes thirty-two points, and parameters from a fixed seed. */
static void
make (AdjContext *cx, AdjTensor **x, AdjTensor **y, AdjTensor **parameters)
{
  static const gint64 sizes[4][2] = { { N_HIDDEN, 1 }, { N_HIDDEN }, { 1, N_HIDDEN }, { 1 } };
  const gint64 column[] = { 32, 1 };
  AdjTensor *steps = adj_mul_scalar (cx, adj_arange (cx, ADJ_INT (32)), ADJ_FLOAT (1 / 16.0));

  adj_generator_seed (adj_context_get_generator (cx), 1);
  *x = adj_view (cx, adj_sub_scalar (cx, steps, ADJ_INT (1), ADJ_INT (1)), column, 2);
  *y = adj_sin (cx, adj_mul_scalar (cx, *x, ADJ_INT (3)));
  for (guint i = 0; i < 4; i++)
    parameters[i] =
        adj_mul_scalar (cx, adj_randn (cx, sizes[i], i % 2 == 0 ? 2 : 1), ADJ_FLOAT (0.5));
}

static void
update (AdjContext *cx, AdjTensor *const *parameters, double rate)
{
  gboolean before = adj_context_set_grad_enabled (cx, FALSE);

  for (guint i = 0; i < 4; i++)
    {
      adj_add__full (cx, parameters[i], adj_tensor_get_grad (parameters[i]), ADJ_FLOAT (-rate));
      adj_tensor_set_grad (cx, parameters[i], NULL);
    }
  adj_context_set_grad_enabled (cx, before);
}

static gboolean
run (AdjContext *cx, GString *out)
{
  AdjTensor *x, *y, *parameters[4], *loss;

  make (cx, &x, &y, parameters);
  for (guint i = 0; i < 4; i++)
    adj_tensor_set_requires_grad (cx, parameters[i], TRUE);
  for (guint step = 0; step <= 400 && !adj_context_has_error (cx); step++)
    {
      adj_scope_begin (cx);
      loss = loss_of (cx, x, y, parameters);
      if (step % 100 == 0)
        g_string_append_printf (out, "step %3u  loss %.3f\n", step, adj_item (cx, loss));
      if (adj_tensor_backward (cx, loss))
        update (cx, parameters, 0.2);
      adj_scope_end (cx);
    }
  return !adj_context_has_error (cx);
}

/* The loss as a function of x, y and the parameters, which a compiler traces. */
static gboolean
call (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjTensor *parameters[4], *loss;

  for (guint i = 0; i < 4; i++)
    parameters[i] = args[2 + i].tensor;
  loss = loss_of (cx, args[0].tensor, args[1].tensor, parameters);
  *result = ADJ_TENSOR (adj_keep (loss));
  return loss != NULL;
}

static gboolean
inputs (AdjContext *cx, AdjProgramInputs *in)
{
  AdjTensor *x, *y, *parameters[4];

  make (cx, &x, &y, parameters);
  in->args[0] = ADJ_TENSOR (x);
  in->args[1] = ADJ_TENSOR (y);
  for (guint i = 0; i < 4; i++)
    {
      adj_tensor_set_requires_grad (cx, parameters[i], TRUE);
      in->args[2 + i] = ADJ_TENSOR (parameters[i]);
      in->leaves[in->n_leaves++] = parameters[i];
    }
  in->n_args = 6;
  return !adj_context_has_error (cx);
}

ADJ_PUBLIC const AdjProgram *adj_program_mlp (void);

const AdjProgram *
adj_program_mlp (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "mlp",
    .summary = "Training: two layers learn a sine",
    .run = run,
    .call = call,
    .inputs = inputs,
  };

  return &program;
}
