/* SPDX-License-Identifier: MIT */

/* The programs of data/programs against their compiled forms.
 *
 * The function itself, its inference graph, its joint graph and the result of two partitioners
 * are called with the same inputs and must agree in results, final arguments, shared memory,
 * strides and gradients, also when one of the tensors is written after the call. */

#include <string.h>

#include "aot/compile.h"
#include "aot/observed.h"
#include "builtin-programs.h"

/* -- ways to call a program -- */

static AdjFunction *
make_traced (const AdjProgram *program, GError **error)
{
  g_autoptr (AdjAotGraph) aot = adj_program_compile (program, TRUE, NULL, error);

  return aot != NULL ? compile_by_default (aot) : NULL;
}

static AdjFunction *
make_joint (const AdjProgram *program, GError **error)
{
  g_autoptr (AdjAotGraph) aot = adj_program_compile (program, FALSE, NULL, error);

  return aot != NULL ? compile_whole (aot) : NULL;
}

static AdjFunction *
make_compiled (const AdjProgram *program, const char *partitioner, GError **error)
{
  g_autoptr (AdjAotGraph) aot = adj_program_compile (program, FALSE, NULL, error);

  return aot != NULL ? compile_by (aot, partitioner) : NULL;
}

static const char *const ways[] = { "traced", "joint", "default", "min-cut" };

static AdjFunction *
make (const AdjProgram *program, const char *way)
{
  g_autoptr (GError) error = NULL;
  AdjFunction *function;

  if (g_str_equal (way, "traced"))
    function = make_traced (program, &error);
  else if (g_str_equal (way, "joint"))
    function = make_joint (program, &error);
  else
    function = make_compiled (program, way, &error);
  g_assert_no_error (error);
  return function;
}

/* -- the check -- */

static void
observe (Observed *observed, const AdjProgram *program)
{
  AdjProgramInputs in = { .n_args = 0 };
  AdjContext *cx;

  observed_init (observed, ADJ_PROGRAM_MAX_INPUTS);
  cx = observed->cx;
  g_assert_true (program->inputs (cx, &in));
  observed->n_inputs = in.n_args;
  for (guint i = 0; i < in.n_args; i++)
    observed->inputs[i] = adj_value_copy (&in.args[i]);
  g_assert_cmpuint (in.n_leaves, <=, in.n_args);
  for (guint i = 0; i < in.n_leaves; i++)
    observed->leaves[i] = adj_keep (in.leaves[i]);
}

/* Asks for no gradients if @no_grad is set, for functions traced without them. */
static void
call (Observed *observed, AdjFunction *function, gint late, gboolean no_grad)
{
  adj_context_set_grad_enabled (observed->cx, !no_grad);
  for (guint i = 0; no_grad && i < observed->n_inputs; i++)
    g_clear_pointer (&observed->leaves[i], adj_tensor_unref);
  observed_call (observed, function, late);
}

static void
check (const AdjProgram *program, AdjFunction *other, const char *way, gint late)
{
  g_autoptr (AdjFunction) function = adj_program_function_new (program);
  gboolean no_grad = g_str_equal (way, "traced");
  g_auto (Observed) a = { .cx = NULL };
  g_auto (Observed) b = { .cx = NULL };
  g_autoptr (GString) why = g_string_new (NULL);

  observe (&a, program);
  call (&a, function, late, no_grad);
  observe (&b, program);
  call (&b, other, late, no_grad);
  g_assert_no_error (a.error);
  g_assert_no_error (b.error);
  if (!observed_same (&a, &b, why))
    g_error ("%s, %s, tensor %d written late: %s", program->name, way, late, why->str);
}

typedef struct
{
  const AdjProgram *program;
  const char *way;
} Case;

static void
cannot_be_told_apart (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (AdjFunction) function = make (c->program, c->way);
  g_autoptr (AdjFunction) eager = adj_program_function_new (c->program);
  g_auto (Observed) once = { .cx = NULL };

  observe (&once, c->program);
  observed_call (&once, eager, -1);
  g_assert_no_error (once.error);
  for (gint late = -1; late < (gint) observed_count_tensors (&once); late++)
    {
      g_auto (Observed) written = { .cx = NULL };

      /* A tensor that cannot be written in eager mode (a leaf) is skipped. */
      observe (&written, c->program);
      call (&written, eager, late, g_str_equal (c->way, "traced"));
      if (written.error == NULL)
        check (c->program, function, c->way, late);
    }
}

int
main (int argc, char **argv)
{
  g_autoptr (GPtrArray) cases = g_ptr_array_new_with_free_func (g_free);

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < adj_builtin_programs_get_n (); i++)
    for (guint k = 0; k < G_N_ELEMENTS (ways); k++)
      {
        const AdjProgram *program = adj_builtin_programs_get (i);
        Case *c = g_new (Case, 1);
        g_autofree char *path = g_strdup_printf ("/aot/lessons/%s/%s", program->name, ways[k]);

        *c = (Case){ program, ways[k] };
        g_ptr_array_add (cases, c);
        if (program->call != NULL && program->inputs != NULL)
          g_test_add_data_func (path, c, cannot_be_told_apart);
      }
  return g_test_run ();
}
