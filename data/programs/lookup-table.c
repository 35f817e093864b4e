/* SPDX-License-Identifier: MIT */

/* A lookup table that learns.
 *
 * Rows are looked up, scaled, and written back.  The table counts the look-ups of each row, so
 * even a look-up changes it, and tokens keep the order of its methods in the joint graph and in
 * both of its parts.  A tensor returned by an object has no history: the gradient is that of the
 * scale only. */

#include "programs.h"

static gboolean
call (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjTensor *index = args[1].tensor, *rows, *scaled, *entry[2];

  rows = adj_program_call (cx, &args[0], "lookup", &index, 1);
  scaled = adj_mul (cx, rows, args[2].tensor);
  entry[0] = index;
  entry[1] = adj_detach (cx, scaled);
  adj_program_call (cx, &args[0], "update", entry, 2);
  rows = adj_program_call (cx, &args[0], "lookup", &index, 1);
  return adj_program_give (cx, result, 3, adj_mul (cx, scaled, rows), rows,
                           adj_program_call (cx, &args[0], "hits", NULL, 0));
}

static gboolean
inputs (AdjContext *cx, AdjProgramInputs *in)
{
  static const float rows[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
  static const gint64 index[] = { 2, 0 };
  const gint64 sizes[] = { 4, 2 }, n = 2;
  g_auto (AdjValue) state = adj_object_state_new (
      "rows", ADJ_DATA (adj_tensor_data_new_from_array (ADJ_DTYPE_F32, sizes, 2, rows, NULL)),
      NULL);

  adj_program_take_object (
      in, adj_object_new_in (cx, adj_object_class_find ("Adjoint::LookupTable"), &state));
  adj_program_take (cx, in, adj_from_array (cx, ADJ_DTYPE_I64, &n, 1, index), ADJ_ARGUMENT_PLAIN);
  adj_program_take (cx, in, adj_mul_scalar (cx, adj_ones (cx, &n, 1), ADJ_FLOAT (0.5)),
                    ADJ_ARGUMENT_LEAF);
  return !adj_context_has_error (cx);
}

static gboolean
run (AdjContext *cx, GString *out)
{
  g_auto (AdjValue) result = ADJ_NONE;
  AdjProgramInputs in = { .n_args = 0 };
  AdjTensor *total, *grad;

  if (!inputs (cx, &in))
    return FALSE;
  adj_object_print (adj_object_from_opaque (in.args[0].object), 100, out);
  if (!call (cx, in.args, in.n_args, &result))
    return FALSE;
  total = adj_sum (cx, result.items[0].tensor);
  if (!adj_grad (cx, &(AdjGradRoots){ .tensors = &total, .n = 1 }, in.leaves, 1, 0, &grad))
    return FALSE;
  adj_program_print (cx, out, "gradient of the scale", grad);
  adj_object_print (adj_object_from_opaque (in.args[0].object), 100, out);
  return TRUE;
}

ADJ_PUBLIC const AdjProgram *adj_program_lookup_table (void);

const AdjProgram *
adj_program_lookup_table (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "lookup-table",
    .summary = "A lookup table that counts and is written, in a training step",
    .run = run,
    .call = call,
    .inputs = inputs,
  };

  return &program;
}
