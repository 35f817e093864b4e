/* SPDX-License-Identifier: MIT */

/* The parameters of a layer in an object.
 *
 * The weight is packed once into the layout that the product reads, and the object keeps both
 * forms; its state, which is saved and compared, is the original one.  Its methods are pure: no
 * token orders them, and dead code elimination may remove them. */

#include "programs.h"

static gboolean
call (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjTensor *hidden = adj_program_call (cx, &args[0], "forward", &args[1].tensor, 1);

  hidden = adj_relu (cx, hidden);
  return adj_program_give (cx, result, 1, adj_program_call (cx, &args[0], "forward", &hidden, 1));
}

static gboolean
inputs (AdjContext *cx, AdjProgramInputs *in)
{
  static const float weight[] = { 1, 0, 2, 0, -1, 1, 3, 1, 0 }, bias[] = { 0.5, 0, -0.5 };
  static const float x[] = { 1, 2, 3, -1, 0, 1 };
  const gint64 square[] = { 3, 3 }, batch[] = { 2, 3 };
  g_auto (AdjValue) state = adj_object_state_new (
      "weight", ADJ_DATA (adj_tensor_data_new_from_array (ADJ_DTYPE_F32, square, 2, weight, NULL)),
      "bias", ADJ_DATA (adj_tensor_data_new_from_array (ADJ_DTYPE_F32, square, 1, bias, NULL)),
      NULL);

  adj_program_take_object (
      in, adj_object_new_in (cx, adj_object_class_find ("Adjoint::PackedLinear"), &state));
  adj_program_take (cx, in, adj_from_array (cx, ADJ_DTYPE_F32, batch, 2, x), ADJ_ARGUMENT_PLAIN);
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
  adj_program_print (cx, out, "result", result.items[0].tensor);
  return TRUE;
}

ADJ_PUBLIC const AdjProgram *adj_program_packed_linear (void);

const AdjProgram *
adj_program_packed_linear (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "packed-linear",
    .summary = "Packed parameters of a layer: an object whose methods are pure",
    .run = run,
    .call = call,
    .inputs = inputs,
  };

  return &program;
}
