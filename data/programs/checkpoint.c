/* SPDX-License-Identifier: MIT */

/* Activation checkpointing: trades computation for memory.
 *
 * Four layers, tanh (x · W).  Without checkpoints every layer saves what its gradient needs.
 * Under adj_checkpoint() every two layers save only their input; when backward first needs a
 * value that was not saved, both layers run again.  The gradients are equal, bit for bit. */

#include "programs.h"

#define N_LAYERS 4
#define WIDTH 8

/* Two layers as a function, because a checkpoint takes a function. */
typedef struct
{
  AdjFunction parent;
  guint n_calls;
} Block;

static gboolean
block_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjTensor *x = args[0].tensor;

  ((Block *) function)->n_calls++;
  for (guint i = 1; i < n_args; i++)
    x = adj_tanh (cx, adj_mm (cx, x, args[i].tensor));
  *result = ADJ_TENSOR (adj_keep (x));
  return x != NULL;
}

static const AdjFunctionClass block_class = { .name = "block", .call = block_call };

static AdjTensor *
network (AdjContext *cx, Block *block, const AdjValue *args, gboolean checkpointed)
{
  AdjTensor *x = args[0].tensor;

  for (guint i = 0; i < N_LAYERS && x != NULL; i += 2)
    {
      const AdjValue inputs[] = { ADJ_TENSOR (x), args[1 + i], args[2 + i] };
      AdjValue result = ADJ_NONE;

      if (checkpointed)
        adj_checkpoint (cx, &block->parent, inputs, 3, NULL, &result);
      else
        adj_function_call (&block->parent, cx, inputs, 3, &result);
      x = result.kind == ADJ_VALUE_TENSOR ? adj_scope_add (cx, result.tensor) : NULL;
    }
  return adj_sum (cx, x);
}

/* Makes the input and four weights from a fixed seed. */
static gboolean
inputs (AdjContext *cx, AdjProgramInputs *in)
{
  const gint64 size[] = { WIDTH, WIDTH };

  adj_generator_seed (adj_context_get_generator (cx), 1);
  for (guint i = 0; i <= N_LAYERS; i++)
    adj_program_take (cx, in, adj_mul_scalar (cx, adj_randn (cx, size, 2), ADJ_FLOAT (0.4)),
                      i > 0 ? ADJ_ARGUMENT_LEAF : ADJ_ARGUMENT_PLAIN);
  return !adj_context_has_error (cx);
}

/* -- what is kept: hooks around everything see it -- */

static gpointer
count_kept (AdjContext *cx, AdjTensor *tensor, gpointer data)
{
  ++*(guint *) data;
  return adj_tensor_ref (tensor);
}

static AdjTensor *
give_back (AdjContext *cx, gpointer packed, gpointer data)
{
  return packed;
}

static AdjTensor *
show (AdjContext *cx, const AdjValue *args, gboolean checkpointed, GString *out)
{
  Block *block = (Block *) adj_function_new (&block_class, sizeof (Block));
  guint n_kept = 0, n_forward;
  const AdjSavedHooks hooks = { count_kept, give_back, (GDestroyNotify) adj_tensor_unref, &n_kept,
                                NULL };
  AdjTensor *weight = args[1].tensor, *loss, *grad = NULL;

  adj_autograd_push_saved_hooks (cx, &hooks);
  loss = network (cx, block, args, checkpointed);
  adj_autograd_pop_saved_hooks (cx);
  n_forward = block->n_calls;
  if (adj_grad (cx, &(AdjGradRoots){ .tensors = &loss, .n = 1 }, &weight, 1, 0, &grad))
    g_string_append_printf (
        out, "%s: %u tensors kept; blocks ran %u times in forward and %u in backward\n",
        checkpointed ? "checkpointed" : "as it is    ", n_kept, n_forward,
        block->n_calls - n_forward);
  adj_function_unref (&block->parent);
  return grad;
}

static gboolean
run (AdjContext *cx, GString *out)
{
  AdjProgramInputs in = { .n_args = 0 };
  AdjTensor *plain, *again;

  if (!inputs (cx, &in))
    return FALSE;
  plain = show (cx, in.args, FALSE, out);
  again = show (cx, in.args, TRUE, out);
  g_string_append_printf (out, "gradients of the first weight differ by %g\n",
                          adj_item (cx, adj_max (cx, adj_abs (cx, adj_sub (cx, plain, again)))));
  return !adj_context_has_error (cx);
}

/* In a trace each checkpointed function is a region: its nodes are tagged, and a partitioner
 * repeats them. */
static gboolean
call (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  Block *block = (Block *) adj_function_new (&block_class, sizeof (Block));
  AdjTensor *loss = network (cx, block, args, TRUE);

  adj_function_unref (&block->parent);
  *result = ADJ_TENSOR (adj_keep (loss));
  return loss != NULL;
}

ADJ_PUBLIC const AdjProgram *adj_program_checkpoint (void);

const AdjProgram *
adj_program_checkpoint (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "checkpoint",
    .summary = "Checkpointed layers: less is kept, more runs twice",
    .run = run,
    .call = call,
    .inputs = inputs,
  };

  return &program;
}
