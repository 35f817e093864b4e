/* SPDX-License-Identifier: MIT */

/* Finding the origin of a NaN.
 *
 * The gradient of √x at 0 is infinite, and 0 · ∞ is NaN: the loss is finite, the gradient is
 * not. Backward runs long after the forward, so the place of the failure alone says little; with
 * ADJ_AUTOGRAD_ANOMALY every node remembers the line of the forward that made it, and the first
 * gradient that is NaN gives an error that names this line. */

#include <string.h>

#include "programs.h"

static gboolean
run (AdjContext *cx, GString *out)
{
  const gint64 size[] = { 2 };
  AdjTensor *x = adj_zeros (cx, size, 1), *y, *grad;
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) lines = NULL;

  adj_tensor_set_requires_grad (cx, x, TRUE);
  y = adj_sum (cx, adj_mul_scalar (cx, adj_sqrt (cx, x), ADJ_INT (0)));
  g_string_append_printf (out, "the loss is %g\n", adj_item (cx, y));
  adj_grad (cx, &(AdjGradRoots){ .tensors = &y, .n = 1 }, &x, 1, ADJ_BACKWARD_RETAIN_GRAPH, &grad);
  adj_program_print (cx, out, "its gradient", grad);

  adj_autograd_set_flags (cx, ADJ_AUTOGRAD_ANOMALY);
  y = adj_sum (cx, adj_mul_scalar (cx, adj_sqrt (cx, x), ADJ_INT (0)));
  adj_grad (cx, &(AdjGradRoots){ .tensors = &y, .n = 1 }, &x, 1, 0, &grad);
  if (!adj_context_take_error (cx, &error))
    return FALSE;
  lines = g_strsplit (error->message, "\n", -1);
  lines[0][strcspn (lines[0], "(")] = '\0';
  g_strchomp (lines[0]);
  g_string_append_printf (out, "with anomaly mode: %s\n", lines[0]);
  for (guint i = 1; lines[i] != NULL; i++)
    {
      const char *file = strrchr (lines[i], '/');

      g_string_append_printf (out, "  %s\n", file != NULL ? file + 1 : lines[i]);
    }
  return TRUE;
}

ADJ_PUBLIC const AdjProgram *adj_program_anomaly (void);

const AdjProgram *
adj_program_anomaly (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "anomaly",
    .summary = "Anomaly mode: which line made a gradient that is not a number",
    .run = run,
  };

  return &program;
}
