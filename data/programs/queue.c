/* SPDX-License-Identifier: MIT */

/* A queue of tensors.
 *
 * An object has a state outside of any tensor.  A trace cannot look inside its methods: it calls
 * a fake queue, made from the state of the real one, and records each call as a node:
 *
 *   adjoint trace queue --dump-after inference
 *
 * Values do not define the order of the calls, so each takes a token and returns the next. The
 * result of size() is a number of the program and is fixed when it is traced; the real queue is
 * not changed by the trace. */

#include "programs.h"

static gboolean
call (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjTensor *cosine = adj_cos (cx, args[1].tensor), *sine = adj_sin (cx, args[1].tensor);
  AdjTensor *first, *second;
  AdjValue left;

  adj_program_call (cx, &args[0], "push", &cosine, 1);
  adj_program_call (cx, &args[0], "push", &sine, 1);
  first = adj_program_call (cx, &args[0], "pop", NULL, 0);
  if (!adj_object_call (cx, adj_object_from_opaque (args[0].object), "size", NULL, 0, NULL, &left))
    return FALSE;
  second = adj_program_call (cx, &args[0], "top", NULL, 0);
  return adj_program_give (cx, result, 2, adj_add_scalar (cx, first, left, ADJ_INT (1)),
                           adj_mul (cx, first, second));
}

static gboolean
inputs (AdjContext *cx, AdjProgramInputs *in)
{
  const AdjObjectClass *klass = adj_object_class_find ("_TorchScriptTesting::_TensorQueue");

  adj_program_take_object (in, adj_object_new_in (cx, klass, NULL));
  adj_program_take (cx, in, adj_arange (cx, ADJ_FLOAT (3)), ADJ_ARGUMENT_PLAIN);
  return !adj_context_has_error (cx);
}

static gboolean
run (AdjContext *cx, GString *out)
{
  g_auto (AdjValue) result = ADJ_NONE;
  AdjProgramInputs in = { .n_args = 0 };

  if (!inputs (cx, &in))
    return FALSE;
  adj_object_print (adj_object_from_opaque (in.args[0].object), 100, out);
  if (!call (cx, in.args, in.n_args, &result))
    return FALSE;
  adj_program_print (cx, out, "first", result.items[0].tensor);
  adj_program_print (cx, out, "second", result.items[1].tensor);
  adj_object_print (adj_object_from_opaque (in.args[0].object), 100, out);
  return TRUE;
}

ADJ_PUBLIC const AdjProgram *adj_program_queue (void);

const AdjProgram *
adj_program_queue (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "queue",
    .summary = "A queue of tensors, whose methods are traced as calls in order",
    .run = run,
    .call = call,
    .inputs = inputs,
  };

  return &program;
}
