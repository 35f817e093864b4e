/* SPDX-License-Identifier: MIT */

/* Nested regions: which of them are recomputed, and when.
 *
 * Three functions, each checkpointed, each calling the next: "O" is printed at the beginning of
 * the outer one, "o" at its end; "M" and "m" for the middle one, "I" and "i" for the inner.
 * Backward needs a value that the inner one did not save; therefore the outer one runs again,
 * which runs the others as new checkpoints.  Deeper functions run more often.  A recomputed
 * function stops as soon as all required values are there: then its small letter is missing. */

#include "programs.h"

typedef struct
{
  AdjFunction parent;
  const char *letters;
  AdjFunction *inside; /* (nullable) (owned) */
  GString *log;        /* (nullable) */
} Region;

static void
note (const Region *region, guint which)
{
  if (region->log != NULL)
    g_string_append_c (region->log, region->letters[which]);
}

/* sin, then the inner function, then exp. */
static gboolean
region_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const Region *region = (Region *) function;
  AdjTensor *x = adj_sin (cx, args[0].tensor);
  AdjValue inner = ADJ_NONE;

  note (region, 0);
  if (x != NULL && region->inside != NULL)
    {
      adj_checkpoint (cx, region->inside, &ADJ_TENSOR (x), 1, NULL, &inner);
      x = inner.kind == ADJ_VALUE_TENSOR ? adj_scope_add (cx, inner.tensor) : NULL;
    }
  x = adj_exp (cx, x);
  if (x != NULL)
    note (region, 1);
  *result = ADJ_TENSOR (adj_keep (x));
  return x != NULL;
}

static void
region_finalize (AdjFunction *function)
{
  Region *region = (Region *) function;

  if (region->inside != NULL)
    adj_function_unref (region->inside);
}

/* Runs the outer region on @x; @log: (nullable). */
static AdjTensor *
nested (AdjContext *cx, AdjTensor *x, GString *log)
{
  static const AdjFunctionClass klass = { .name = "region",
                                          .call = region_call,
                                          .finalize = region_finalize };
  static const char *const letters[] = { "Ii", "Mm", "Oo" };
  Region *regions[G_N_ELEMENTS (letters)];
  AdjValue result = ADJ_NONE;

  for (guint i = 0; i < G_N_ELEMENTS (letters); i++)
    {
      regions[i] = (Region *) adj_function_new (&klass, sizeof (Region));
      regions[i]->letters = letters[i];
      regions[i]->inside = i > 0 ? &regions[i - 1]->parent : NULL;
      regions[i]->log = log;
    }
  adj_checkpoint (cx, &regions[2]->parent, &ADJ_TENSOR (x), 1, NULL, &result);
  adj_function_unref (&regions[2]->parent);
  return result.kind == ADJ_VALUE_TENSOR ? adj_scope_add (cx, result.tensor) : NULL;
}

static gboolean
run (AdjContext *cx, GString *out)
{
  const gint64 size[] = { 3 };
  g_autoptr (GString) log = g_string_new (NULL);
  AdjTensor *x = adj_full (cx, size, 1, ADJ_FLOAT (0.5)), *loss;

  adj_tensor_set_requires_grad (cx, x, TRUE);
  loss = adj_sum (cx, nested (cx, x, log));
  g_string_append_printf (out, "forward   %s\n", log->str);
  g_string_truncate (log, 0);
  if (adj_tensor_backward (cx, loss))
    g_string_append_printf (out, "backward  %s\n", log->str);
  adj_program_print (cx, out, "gradient", adj_tensor_get_grad (x));
  return !adj_context_has_error (cx);
}

/* In a trace the regions are numbers on nodes, and a region with a higher number ends the
 * recomputation of one with a lower number. */
static gboolean
call (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjTensor *y = nested (cx, args[0].tensor, NULL);

  *result = ADJ_TENSOR (adj_keep (y));
  return y != NULL;
}

static gboolean
inputs (AdjContext *cx, AdjProgramInputs *in)
{
  const gint64 size[] = { 3 };

  adj_program_take (cx, in, adj_full (cx, size, 1, ADJ_FLOAT (0.5)), ADJ_ARGUMENT_LEAF);
  return !adj_context_has_error (cx);
}

ADJ_PUBLIC const AdjProgram *adj_program_regions (void);

const AdjProgram *
adj_program_regions (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "regions",
    .summary = "Nested regions: what lies deeper runs again more often",
    .run = run,
    .call = call,
    .inputs = inputs,
  };

  return &program;
}
