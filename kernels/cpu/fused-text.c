/* SPDX-License-Identifier: MIT */
/* A fused program as a C function: loops over its sizes, with the steps of one element as body;
 * intermediate values stay in registers. */

#include "adj-kernel-fused-text.h"
#include "steps-text.h"
#include "tile.h"

enum
{
  BLOCK = 8 * 1024 /* elements that a thread takes at a time */
};

static int64_t
last_size (const AdjKView *view)
{
  return view->size[view->rank - 1];
}

static void
write_element (FILE *out, int operand, const void *data)
{
  const AdjKView *views = data;
  long long stride = (long long) views[operand].stride[views[operand].rank - 1];

  if (stride == 0)
    fprintf (out, "p%d, 0", operand);
  else if (stride == 1)
    fprintf (out, "p%d, i", operand);
  else
    fprintf (out, "p%d, i * %lld", operand, stride);
}

/* Writes the start address of each operand in a line, whose number is `line` in the text. */
static void
write_places (FILE *out, const AdjKFused *fused, const AdjKView *views)
{
  const AdjKView *first = &views[0];
  int outer = first->rank - 1;

  fprintf (out, "      int64_t rest = line;\n");
  for (int d = outer - 1; d > 0; d--)
    fprintf (out, "      int64_t i%d = rest %% %lldll;\n      rest /= %lldll;\n", d,
             (long long) first->size[d], (long long) first->size[d]);
  fprintf (out, "      int64_t i0 = rest;\n");
  for (int i = 0; i < fused->n_operands; i++)
    {
      fprintf (out, "      char *p%d = at[%d]", i, i);
      for (int d = 0; d < outer; d++)
        if (views[i].stride[d] != 0)
          fprintf (out, " + i%d * %lldll", d,
                   (long long) views[i].stride[d] *
                       (long long) adj_k_type_get_size (views[i].type));
      fprintf (out, ";\n");
    }
  fprintf (out, "      (void) i0;\n");
}

void
adj_k_fused_write_prelude (FILE *out)
{
  fprintf (out, "#include \"element.h\"\n\n"
                "typedef union { double f; int64_t i; } Number;\n\n");
}

void
adj_k_fused_write (FILE *out, const AdjKFused *fused, const AdjKView *operands, const char *name)
{
  AdjKStepsText text = { .out = out,
                         .steps = fused->steps,
                         .views = operands,
                         .zero_division = "zero_division = 1",
                         .element = write_element,
                         .data = operands };

  fprintf (out, "int32_t\n%s (char *const *at, int64_t start, int64_t end)\n{\n", name);
  fprintf (out, "  int32_t zero_division = 0;\n");
  fprintf (out, "  int64_t i = 0;\n");
  adj_k_steps_text_declare (&text, 0, fused->n_fixed);
  fprintf (out, "  for (int k = 0; k < 1; k++)\n    {\n      int64_t line = 0;\n");
  write_places (out, fused, operands);
  adj_k_steps_text_write (&text, 0, fused->n_fixed);
  fprintf (out, "    }\n");
  fprintf (out,
           "  while (start < end)\n    {\n      int64_t line = start / %lldll, from = start %% "
           "%lldll;\n",
           (long long) last_size (operands), (long long) last_size (operands));
  fprintf (out, "      int64_t to = from + end - start;\n\n");
  fprintf (out, "      if (to > %lldll)\n        to = %lldll;\n", (long long) last_size (operands),
           (long long) last_size (operands));
  write_places (out, fused, operands);
  fprintf (out, "#pragma GCC ivdep\n      for (i = from; i < to; i++)\n        {\n");
  adj_k_steps_text_declare (&text, fused->n_fixed, fused->n_steps);
  adj_k_steps_text_write (&text, fused->n_fixed, fused->n_steps);
  fprintf (out, "        }\n      start += to - from;\n    }\n  return zero_division;\n}\n\n");
}

bool
adj_k_fused_run_made (const AdjKFused *fused, AdjKFusedMade made, const AdjKView *operands)
{
  int64_t n = adj_k_view_count (&operands[0]), block = BLOCK;
  char *at[ADJ_K_MAX_OPERANDS];
  int n_zero_divisions = 0;

  for (int i = 0; i < fused->n_operands; i++)
    at[i] = operands[i].data;
  if (n <= block)
    return made (at, 0, n) == 0;

#pragma omp parallel for schedule(static) reduction(+ : n_zero_divisions)
  for (int64_t start = 0; start < n; start += block)
    n_zero_divisions += made (at, start, min_i64 (n, start + block));

  return n_zero_divisions == 0;
}
