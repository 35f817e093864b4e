/* SPDX-License-Identifier: MIT */

/* A counter with two methods.
 *
 * next() returns a tensor: in a graph it is a value like any other, and each run returns the
 * next one. value() returns a number: a trace records it as a constant, so that a compiled
 * function keeps the count of the time when it was compiled.  A value that must stay live has to
 * be a tensor. */

#include "programs.h"

ADJ_PUBLIC const AdjProgram *adj_program_counter (void);

static gboolean
call (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjObject *counter = adj_object_from_opaque (args[0].object);
  AdjTensor *next = adj_program_call (cx, &args[0], "next", NULL, 0), *scaled;
  AdjValue nothing, count;

  if (!adj_object_call (cx, counter, "add", &ADJ_INT (10), 1, NULL, &nothing) ||
      !adj_object_call (cx, counter, "value", NULL, 0, NULL, &count))
    return FALSE;
  scaled = adj_mul (cx, args[1].tensor, next);
  return adj_program_give (cx, result, 2, scaled,
                           adj_add_scalar (cx, args[1].tensor, count, ADJ_INT (1)));
}

static gboolean
inputs (AdjContext *cx, AdjProgramInputs *in)
{
  g_auto (AdjValue) state = adj_object_state_new ("count", ADJ_INT (4), NULL);

  adj_program_take_object (
      in, adj_object_new_in (cx, adj_object_class_find ("Adjoint::Counter"), &state));
  adj_program_take (cx, in, adj_arange (cx, ADJ_FLOAT (3)), ADJ_ARGUMENT_LEAF);
  return !adj_context_has_error (cx);
}

/* Calls @function twice. */
static gboolean
call_twice (AdjContext *cx, AdjFunction *function, const char *how, GString *out)
{
  AdjProgramInputs in = { .n_args = 0 };

  if (!inputs (cx, &in))
    return FALSE;
  g_string_append_printf (out, "%s\n", how);
  for (guint i = 0; i < 2; i++)
    {
      g_auto (AdjValue) result = ADJ_NONE;

      if (!adj_function_call (function, cx, in.args, in.n_args, &result))
        return FALSE;
      adj_program_print (cx, out, "  x * next()", result.items[0].tensor);
      adj_program_print (cx, out, "  x + value()", result.items[1].tensor);
    }
  return TRUE;
}

static gboolean
run (AdjContext *cx, GString *out)
{
  g_autoptr (AdjFunction) eager = adj_program_function_new (adj_program_counter ());
  g_autoptr (AdjAotGraph) aot = NULL;
  g_autoptr (AdjFunction) graph = NULL, compiled = NULL;
  GError *error = NULL;

  aot = adj_program_compile (adj_program_counter (), TRUE, NULL, &error);
  if (aot == NULL)
    {
      adj_context_fail (cx, error->domain, error->code, "%s", error->message);
      g_error_free (error);
      return FALSE;
    }
  graph = adj_graph_function_new (adj_aot_graph_get_graph (aot));
  compiled = adj_aot_compile (aot, graph, NULL, NULL, 0);
  return call_twice (cx, eager, "eager", out) && call_twice (cx, compiled, "compiled", out);
}

const AdjProgram *
adj_program_counter (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "counter",
    .summary = "A counter: which of its values a trace takes for constants",
    .run = run,
    .call = call,
    .inputs = inputs,
  };

  return &program;
}
