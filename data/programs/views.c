/* SPDX-License-Identifier: MIT */

/* Writing through views.
 *
 * A view shares the storage of its base: a write to one changes the other.  Compilers need
 * graphs without writes, so the function below is traced to one: each write makes a new base,
 * and views are made again from it. `adjoint compare views@eager views@traced` checks that both
 * give the same. */

#include "programs.h"

/* Doubles the first row, clears the last column, and returns the base and a view. */
static gboolean
call (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjTensor *base = adj_clone (cx, args[0].tensor);
  AdjTensor *row = adj_select (cx, base, 0, 0);
  AdjTensor *column = adj_select (cx, adj_t (cx, base), 0, 2);
  AdjValue items[2];

  adj_mul_ (cx, row, adj_full_like (cx, row, ADJ_FLOAT (2)));
  adj_zero_ (cx, column);
  if (adj_context_has_error (cx))
    return FALSE;
  items[0] = ADJ_TENSOR (adj_keep (base));
  items[1] = ADJ_TENSOR (adj_keep (adj_select (cx, base, 0, 0)));
  *result = adj_value_new_items (ADJ_VALUE_TUPLE, items, 2);
  return TRUE;
}

static gboolean
inputs (AdjContext *cx, AdjProgramInputs *in)
{
  const gint64 size[] = { 2, 3 };

  in->args[0] = ADJ_TENSOR (adj_view (cx, adj_arange (cx, ADJ_FLOAT (6)), size, 2));
  in->n_args = 1;
  return !adj_context_has_error (cx);
}

static gboolean
run (AdjContext *cx, GString *out)
{
  g_auto (AdjValue) result = ADJ_NONE;
  AdjProgramInputs in = { .n_args = 0 };

  if (!inputs (cx, &in) || !call (cx, in.args, in.n_args, &result))
    return FALSE;
  adj_program_print (cx, out, "before", in.args[0].tensor);
  adj_program_print (cx, out, "after", result.items[0].tensor);
  adj_program_print (cx, out, "its first row, a view", result.items[1].tensor);
  return TRUE;
}

ADJ_PUBLIC const AdjProgram *adj_program_views (void);

const AdjProgram *
adj_program_views (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "views",
    .summary = "Writing through views, and a graph without writes",
    .run = run,
    .call = call,
    .inputs = inputs,
  };

  return &program;
}
