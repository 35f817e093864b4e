/* SPDX-License-Identifier: MIT */

/* A training loop whose backwards are captured.
 *
 * Every step accumulates the gradients of two small batches, and a hook on each parameter makes
 * the update as soon as the second gradient is accumulated: the optimiser is part of the
 * backward.  From the fourth step on the batches are longer.
 *
 *   adjoint trace training
 *
 * prints how often a backward was captured, and why: the second backward finds gradients that
 * the first one did not have, and the longer batches turn a size into a symbol; all others reuse
 * a capture. In the order of PyTorch 2.6 the second weight is updated before its last use, and
 * the first one learns a different value:
 *
 *   adjoint compare training@eager training@captured-2.6 */

#include "programs.h"

#define RATE 0.1
#define N_STEPS 8

typedef struct
{
  guint n_arrived;
} Parameter;

/* On the second of two gradients: updates the leaf and clears its gradient. */
static void
update (AdjContext *cx, AdjTensor *leaf, gpointer data)
{
  Parameter *parameter = data;
  gboolean before;

  if (++parameter->n_arrived % 2 != 0)
    return;
  before = adj_context_set_grad_enabled (cx, FALSE);
  adj_add__full (cx, leaf, adj_tensor_get_grad (leaf), ADJ_FLOAT (-RATE));
  adj_tensor_set_grad (cx, leaf, NULL);
  adj_context_set_grad_enabled (cx, before);
}

static AdjTensor *
make_leaf (AdjContext *cx, gint64 rows, gint64 columns, Parameter *parameter)
{
  const gint64 sizes[] = { rows, columns };
  AdjTensor *leaf = adj_mul_scalar (cx, adj_randn (cx, sizes, 2), ADJ_FLOAT (0.5));
  AdjHook *hook;

  if (!adj_tensor_set_requires_grad (cx, leaf, TRUE))
    return NULL;
  hook = adj_tensor_add_leaf_hook (cx, leaf, update, parameter);
  adj_hook_set_name (hook, "update");
  adj_hook_unref (hook);
  return leaf;
}

/* The loss of a model that learns the product of two numbers. */
static AdjTensor *
loss_of (AdjContext *cx, AdjTensor *first, AdjTensor *second, gint64 n)
{
  const gint64 sizes[] = { n, 2 };
  AdjTensor *x = adj_randn (cx, sizes, 2);
  AdjTensor *y = adj_prod_dim (cx, x, 1, TRUE);

  return adj_mse_loss (cx, adj_mm (cx, adj_tanh (cx, adj_mm (cx, x, first)), second), y, 1);
}

static gboolean
run (AdjContext *cx, GString *out)
{
  Parameter parameters[2] = { { 0 } };
  AdjTensor *first, *second, *loss;

  adj_generator_seed (adj_context_get_generator (cx), 1);
  first = make_leaf (cx, 2, 8, &parameters[0]);
  second = first != NULL ? make_leaf (cx, 8, 1, &parameters[1]) : NULL;
  if (second == NULL)
    return FALSE;
  for (guint step = 0; step < N_STEPS && !adj_context_has_error (cx); step++)
    for (guint half = 0; half < 2; half++)
      {
        adj_scope_begin (cx);
        loss = loss_of (cx, first, second, step < 3 ? 16 : 24);
        g_string_append_printf (out, "step %u, batch %u: loss %.4f\n", step, half,
                                adj_item (cx, loss));
        adj_tensor_backward (cx, loss);
        adj_scope_end (cx);
      }
  adj_program_print (cx, out, "second weight", second);
  return !adj_context_has_error (cx);
}

ADJ_PUBLIC const AdjProgram *adj_program_training (void);

const AdjProgram *
adj_program_training (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "training",
    .summary = "Updates inside the backward, of two batches each, captured whole",
    .run = run,
  };

  return &program;
}
