/* SPDX-License-Identifier: MIT */

/* The programs of data/programs: the function as it is, its inference graph, its joint graph and
 * what two partitioners make of that, each called as the function is, cannot be told apart: by
 * results, by what becomes of the arguments, by which tensors share memory, by strides, by
 * gradients; nor when one of the tensors is written after the call. */

#include <string.h>

#include "aot/compile.h"
#include "aot/observed.h"
#include "programs.h"

/* -- the joint graph as a function -- */

/* Forwards it runs the whole graph with tangents of zero and saves copies of its arguments, which
 * it may write; backwards it runs it again, from the same state of the generator, and gives the
 * gradients. */
typedef struct
{
  AdjFunction parent_instance;
  AdjGraph *graph;
  guint n_forward;
  guint n_tokens; /* not saved: they are nothing */
  guint8 *state;  /* (unowned): of the generator, shared by both directions */
  gboolean is_backward;
} Whole;

static AdjTensor *
make_zeros (AdjContext *cx, const AdjNode *node)
{
  return adj_scope_add (cx, adj_tensor_new_empty (node->val.meta, NULL, FALSE));
}

static gboolean
run_whole (Whole *whole, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *all)
{
  guint n = adj_graph_get_n_inputs (whole->graph);
  g_autofree AdjValue *values = g_new0 (AdjValue, n + 1);

  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node =
          adj_graph_get_node (whole->graph, adj_graph_get_input (whole->graph, i).index);

      if (i >= n_args && !g_str_has_prefix (node->name, "tangents_token"))
        values[i] = ADJ_TENSOR (make_zeros (cx, node));
      else if (i < n_args)
        values[i] = args[i];
    }
  return adj_interpret (cx, whole->graph, values, n, NULL, all);
}

static AdjValue
take (const AdjValue *all, guint from, guint to)
{
  g_autofree AdjValue *items = g_new0 (AdjValue, to - from + 1);

  for (guint i = from; i < to; i++)
    items[i - from] = adj_value_copy (&all->items[i]);
  return adj_value_new_items (ADJ_VALUE_TUPLE, items, to - from);
}

static gboolean
forward_whole (Whole *whole, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  g_auto (AdjValue) all = ADJ_NONE;
  g_autofree AdjValue *copies = g_new0 (AdjValue, n_args + 1);
  g_autofree AdjValue *items = NULL;
  guint n = 0;

  for (guint i = 0; i < n_args; i++)
    copies[i] =
        args[i].kind == ADJ_VALUE_TENSOR ? ADJ_TENSOR (adj_clone (cx, args[i].tensor)) : args[i];
  adj_generator_get_state (adj_context_get_generator (cx), whole->state);
  if (!run_whole (whole, cx, args, n_args, &all))
    return FALSE;
  items = g_new0 (AdjValue, whole->n_forward + n_args + 1);
  for (guint i = 0; i < whole->n_forward; i++)
    items[n++] = adj_value_copy (&all.items[i]);
  for (guint i = whole->n_tokens; i < n_args; i++)
    items[n++] = adj_value_copy (&copies[i]);
  *result = adj_value_new_items (ADJ_VALUE_TUPLE, items, n);
  return TRUE;
}

static gboolean
backward_whole (Whole *whole, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjGenerator *generator = adj_context_get_generator (cx);
  guint8 now[ADJ_GENERATOR_STATE_BYTES];
  guint n = whole->n_tokens + n_args;
  g_autofree AdjValue *copies = g_new0 (AdjValue, n + 1);
  g_auto (AdjValue) all = ADJ_NONE;
  gboolean done;

  for (guint i = 0; i < n_args; i++)
    copies[whole->n_tokens + i] =
        args[i].kind == ADJ_VALUE_TENSOR ? ADJ_TENSOR (adj_clone (cx, args[i].tensor)) : args[i];
  adj_generator_get_state (generator, now);
  adj_generator_set_state (generator, whole->state, sizeof now, NULL);
  done = run_whole (whole, cx, copies, n, &all);
  adj_generator_set_state (generator, now, sizeof now, NULL);
  if (done)
    *result = take (&all, whole->n_forward, all.n);
  return done;
}

static gboolean
whole_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  Whole *whole = (Whole *) function;

  return whole->is_backward ? backward_whole (whole, cx, args, n_args, result)
                            : forward_whole (whole, cx, args, n_args, result);
}

static void
whole_finalize (AdjFunction *function)
{
  adj_graph_unref (((Whole *) function)->graph);
}

static const AdjFunctionClass whole_class = {
  .name = "the whole joint graph",
  .call = whole_call,
  .finalize = whole_finalize,
};

static AdjFunction *
whole_new (AdjAotGraph *aot, guint8 *state, gboolean is_backward)
{
  Whole *whole = (Whole *) adj_function_new (&whole_class, sizeof *whole);

  whole->graph = adj_graph_ref (adj_aot_graph_get_graph (aot));
  whole->n_forward = adj_aot_graph_get_n_forward (aot);
  whole->n_tokens = adj_aot_graph_get_metadata (aot)->n_tokens;
  whole->state = state;
  whole->is_backward = is_backward;
  return &whole->parent_instance;
}

/* -- ways to call a program -- */

static guint8 state[ADJ_GENERATOR_STATE_BYTES];

static AdjFunction *
make_traced (const AdjProgram *program, GError **error)
{
  g_autoptr (AdjAotGraph) aot = adj_program_compile (program, TRUE, error);

  return aot != NULL ? compile_by_default (aot) : NULL;
}

static AdjFunction *
make_joint (const AdjProgram *program, GError **error)
{
  g_autoptr (AdjAotGraph) aot = adj_program_compile (program, FALSE, error);
  g_autoptr (AdjFunction) forward = NULL;
  g_autoptr (AdjFunction) backward = NULL;

  if (aot == NULL || !adj_aot_graph_is_joint (aot))
    return aot != NULL ? compile_by_default (aot) : NULL;
  forward = whole_new (aot, state, FALSE);
  backward = whole_new (aot, state, TRUE);
  return adj_aot_compile (aot, forward, backward, NULL, 0);
}

static AdjFunction *
make_compiled (const AdjProgram *program, const char *partitioner, GError **error)
{
  g_autoptr (AdjAotGraph) aot = adj_program_compile (program, FALSE, error);

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

/* Gradients are not asked of what was traced without them. */
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

      /* What cannot be written eagerly, a leaf, need not be written. */
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
