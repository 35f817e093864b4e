/* SPDX-License-Identifier: MIT */

/* Random programs with objects and effects: traced and compiled, they behave as in eager mode,
 * with the same order of effects and final states of objects; so does the output of each pass. */

#include <stdio.h>
#include <string.h>

#include "aot/adj-aot.h"
#include "autograd/adj-autograd.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-id.h"
#include "partition/adj-partition.h"
#include "passes/adj-effects.h"
#include "rules/adj-apply.h"
#include "rules/adj-operators.h"
#include "session/adj-pipeline.h"
#include "support/object-programs.h"

/* The observable results of a call. */
typedef struct
{
  AdjContext *cx;
  AdjValue inputs[OBJECT_PROGRAM_N_INPUTS];
  AdjValue result;
  AdjTensor *grad; /* (unowned) (nullable) */
  GString *printed;
  GError *error;
} Seen;

static void
append (const char *text, gpointer data)
{
  g_string_append (data, text);
}

static void
differentiate (Seen *seen)
{
  g_autoptr (GPtrArray) roots = g_ptr_array_new (), ones = g_ptr_array_new ();
  AdjTensor *leaf = seen->inputs[OBJECT_PROGRAM_N_INPUTS - 1].tensor;

  for (guint i = 0; i < seen->result.n; i++)
    if (adj_tensor_get_requires_grad (seen->result.items[i].tensor))
      {
        g_ptr_array_add (roots, seen->result.items[i].tensor);
        g_ptr_array_add (ones, ADJ_APPLY (seen->cx, ADJ_OP_ones_like, seen->result.items[i]));
      }
  if (roots->len > 0)
    adj_grad (seen->cx,
              &(AdjGradRoots){ (AdjTensor *const *) roots->pdata, (AdjTensor *const *) ones->pdata,
                               roots->len },
              &leaf, 1, ADJ_BACKWARD_ALLOW_UNUSED, &seen->grad);
}

static void
see (Seen *seen, const ObjectProgram *program, AdjFunction *function, gboolean no_grad)
{
  *seen = (Seen){ .cx = adj_context_new_with_autograd (), .printed = g_string_new (NULL) };
  adj_context_set_print (seen->cx, append, seen->printed);
  object_program_make_inputs (program, seen->cx, seen->inputs);
  adj_context_set_grad_enabled (seen->cx, !no_grad);
  if (adj_function_call (function, seen->cx, seen->inputs, OBJECT_PROGRAM_N_INPUTS,
                         &seen->result) &&
      !no_grad)
    differentiate (seen);
  adj_context_take_error (seen->cx, &seen->error);
}

static void
seen_clear (Seen *seen)
{
  adj_value_clear (&seen->result);
  g_string_free (seen->printed, TRUE);
  g_clear_error (&seen->error);
  adj_context_free (seen->cx);
}

static gboolean
same_tensors (AdjTensor *a, AdjTensor *b)
{
  g_auto (AdjValue) data_a = adj_object_store (a), data_b = adj_object_store (b);

  return adj_object_state_equal (&data_a, &data_b);
}

/* A gradient that is never reached is undefined in eager mode and zero when compiled. */
static gboolean
same_grads (const Seen *a, const Seen *b)
{
  AdjTensor *one = a->grad != NULL ? a->grad : b->grad, *zero;

  if (a->grad != NULL && b->grad != NULL)
    return same_tensors (a->grad, b->grad);
  if (one == NULL)
    return TRUE;
  zero = ADJ_APPLY (a->grad != NULL ? a->cx : b->cx, ADJ_OP_zeros_like, ADJ_TENSOR (one));
  return same_tensors (one, zero);
}

static const char *
find_difference (const Seen *a, const Seen *b)
{
  if (a->error != NULL || b->error != NULL)
    return "an error";
  if (a->result.n != b->result.n)
    return "the number of results";
  for (guint i = 0; i < a->result.n; i++)
    if (!same_tensors (a->result.items[i].tensor, b->result.items[i].tensor))
      return "a result";
  for (guint i = 0; i < OBJECT_PROGRAM_N_INPUTS; i++)
    if (a->inputs[i].kind == ADJ_VALUE_OPAQUE_OBJECT &&
        !adj_object_equal (adj_object_from_opaque (a->inputs[i].object),
                           adj_object_from_opaque (b->inputs[i].object)))
      return "the state of an object";
  if (!g_str_equal (a->printed->str, b->printed->str))
    return "what is printed";
  return same_grads (a, b) ? NULL : "the gradient";
}

/* -- ways to run it -- */

static AdjFunction *
cut (AdjAotGraph *aot, const AdjPartitioner *partitioner, GError **error)
{
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (AdjFunction) forward = NULL, backward = NULL;
  g_autoptr (AdjPartition) partition = NULL;
  guint n_sizes = 0;

  if (!adj_aot_graph_is_joint (aot))
    {
      forward = adj_graph_function_new (adj_aot_graph_get_graph (aot));
      return adj_aot_compile (aot, forward, NULL, NULL, 0);
    }
  options.num_fwd_outputs = (gint) adj_aot_graph_get_n_forward (aot);
  options.effort = 20;
  partition = adj_partition (partitioner, adj_aot_graph_get_graph (aot), &options, error);
  if (partition == NULL)
    return NULL;
  for (guint i = 0; i < partition->n_saved; i++)
    n_sizes += partition->saved[i].kind == ADJ_SAVED_SIZE;
  forward = adj_graph_function_new (partition->forward);
  backward = adj_graph_function_new (partition->backward);
  return adj_aot_compile (aot, forward, backward, partition->backward, n_sizes);
}

static AdjAotGraph *
trace (const ObjectProgram *program, gboolean no_grad, GError **error)
{
  g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
  g_autoptr (AdjFunction) function = object_program_function_new (program);
  const AdjAotOptions options = { .no_grad = no_grad };
  AdjValue inputs[OBJECT_PROGRAM_N_INPUTS];

  object_program_make_inputs (program, cx, inputs);
  return adj_aot_trace (function, inputs, OBJECT_PROGRAM_N_INPUTS, &options, NULL, error);
}

static void
report (const ObjectProgram *program,
        guint seed,
        const char *way,
        const char *what,
        const GError *error)
{
  g_autoptr (GString) text = g_string_new (NULL);

  object_program_print (program, text);
  g_test_message ("program %u, %s: %s%s%s\n%s", seed, way, what, error != NULL ? ": " : "",
                  error != NULL ? error->message : "", text->str);
  g_test_fail ();
}

/* Whether @function behaves as recorded in @truth. */
static gboolean
is_same (const ObjectProgram *program,
         guint seed,
         const Seen *truth,
         AdjFunction *function,
         gboolean no_grad,
         const char *way)
{
  const char *what;
  Seen seen;

  see (&seen, program, function, no_grad);
  what = find_difference (truth, &seen);
  if (what != NULL)
    report (program, seed, way, what, seen.error);
  seen_clear (&seen);
  return what == NULL;
}

/* -- passes -- */

/* A graph made by a pass, with tokens if it has them. */
typedef struct
{
  AdjFunction parent;
  AdjGraph *graph;
} Plain;

static gboolean
plain_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjGraph *graph = ((Plain *) function)->graph;
  guint n = adj_graph_get_n_inputs (graph), n_tokens = n - n_args;
  g_autofree AdjValue *all = g_new0 (AdjValue, n + 1);
  g_auto (AdjValue) outs = ADJ_NONE;
  g_autoptr (GArray) rest = adj_value_array_new ();

  memcpy (all + n_tokens, args, n_args * sizeof *all);
  if (!adj_interpret (cx, graph, all, n, NULL, &outs))
    return FALSE;
  for (guint i = n_tokens; i < outs.n; i++)
    {
      AdjValue copy = adj_value_copy (&outs.items[i]);

      g_array_append_val (rest, copy);
    }
  *result = adj_value_array_end (rest, ADJ_VALUE_TUPLE);
  return TRUE;
}

static void
plain_finalize (AdjFunction *function)
{
  adj_graph_unref (((Plain *) function)->graph);
}

static AdjFunction *
plain_new (AdjGraph *graph)
{
  static const AdjFunctionClass klass = {
    .name = "plain",
    .call = plain_call,
    .finalize = plain_finalize,
  };
  Plain *plain = (Plain *) adj_function_new (&klass, sizeof *plain);

  plain->graph = adj_graph_ref (graph);
  return &plain->parent;
}

/* Each pass preserves effects: the pass runner reports no loss, and the objects end in the same
 * state. */
static void
check_passes (const ObjectProgram *program, guint seed, const Seen *truth, AdjGraph *graph)
{
  for (guint i = 0; i < adj_passes_get_n () && !g_test_failed (); i++)
    {
      const AdjPass *pass = adj_passes_get (i);
      g_autoptr (AdjFunction) function = NULL;
      g_autoptr (GError) error = NULL;
      AdjPassResult result;

      if (g_str_equal (pass->name, "export"))
        continue;
      if (!adj_pass_run (pass, NULL, graph, &result, &error))
        {
          report (program, seed, pass->name, "the pass", error);
          return;
        }
      function = plain_new (result.graph);
      is_same (program, seed, truth, function, TRUE, pass->name);
      adj_pass_result_clear (&result);
    }
}

/* -- the properties -- */

static void
read_seeds (guint n, guint *first, guint *end)
{
  const char *wanted = g_getenv ("ADJ_TEST_PROGRAMS");

  *first = 0;
  *end = n;
  if (wanted != NULL && sscanf (wanted, "%u-%u", first, end) == 1)
    {
      *end = *first;
      *first = 0;
    }
}

/* @n_grads: counts the programs with a gradient */
static gboolean
check_program (const ObjectProgram *program,
               guint seed,
               gboolean no_grad,
               gboolean with_passes,
               guint *n_grads)
{
  g_autoptr (AdjFunction) eager = object_program_function_new (program);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjAotGraph) aot = trace (program, no_grad, &error);
  Seen truth;

  if (aot == NULL)
    {
      report (program, seed, "traced", "not", error);
      return FALSE;
    }
  see (&truth, program, eager, no_grad);
  *n_grads += truth.grad != NULL;
  if (with_passes)
    check_passes (program, seed, &truth, adj_aot_graph_get_graph (aot));
  for (guint i = 0; i < adj_partitioners_get_n () && !g_test_failed (); i++)
    {
      const AdjPartitioner *partitioner = adj_partitioners_get (i);
      g_autoptr (AdjFunction) compiled = cut (aot, partitioner, &error);

      if (compiled == NULL)
        report (program, seed, partitioner->name, "not", error);
      else
        is_same (program, seed, &truth, compiled, no_grad, partitioner->name);
    }
  seen_clear (&truth);
  return !g_test_failed ();
}

static void
check_all (guint n, gboolean gradients, gboolean with_passes)
{
  guint first, end, n_grads = 0;

  read_seeds (n, &first, &end);
  for (guint seed = first; seed < end; seed++)
    {
      g_autoptr (ObjectProgram) program = object_program_new (seed, gradients);

      if (!check_program (program, seed, !gradients, with_passes, &n_grads))
        return;
    }
  if (gradients && end - first >= n)
    g_assert_cmpuint (n_grads, >, n / 2);
}

static void
traced_as_eager (void)
{
  check_all (200, FALSE, FALSE);
}

static void
compiled_as_eager (void)
{
  check_all (200, TRUE, FALSE);
}

static void
every_pass_keeps_effects (void)
{
  check_all (60, FALSE, TRUE);
}

/* ORDER PROPERTIES meson.build */
int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/objects/programs/traced-as-eager", traced_as_eager);
  g_test_add_func ("/objects/programs/compiled-as-eager", compiled_as_eager);
  g_test_add_func ("/objects/programs/every-pass-keeps-effects", every_pass_keeps_effects);
  return g_test_run ();
}
