/* SPDX-License-Identifier: MIT */
/* Backwards captured at the level of nodes equal PyTorch 2.15's, node for node: the goldens F1
 * to F3 of compiled_autograd/SPEC.md §7, and one function for each operator (nodes/forward). */

#include "autograd/adj-checkpoint.h"
#include "compiled_autograd/capture.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "support/adj-test.h"
#include "support/graphs.h"

static AdjCompiledAutograd *
compiler_new (gboolean dynamic)
{
  return adj_compiled_autograd_new (&(AdjCompiledOptions){ .order = ADJ_CAPTURE_ORDER_2_15,
                                                           .level = ADJ_CAPTURE_LEVEL_NODES,
                                                           .dynamic = dynamic,
                                                           .strict = TRUE });
}

/* Runs @run eagerly and captured: the results are equal, and the captures are the goldens
 * @names. */
static void
check (ProgramFunc run, const char *const *names, guint n)
{
  g_autoptr (AdjCompiledAutograd) compiler = compiler_new (FALSE);
  g_autofree char *captured = program_run (run, compiler);
  g_autofree char *eager = program_run (run, NULL);

  g_assert_cmpuint (adj_compiled_autograd_get_n_captures (compiler), ==, n);
  for (guint i = 0; i < n; i++)
    assert_node_golden (adj_capture_get_graph (adj_compiled_autograd_get_capture (compiler, i)),
                        names[i]);
  g_assert_cmpstr (captured, ==, eager);
}

static AdjTensor *
vector (Program *p, guint n)
{
  static const float values[] = { 0.5, 0.25, -1, 1.5 };

  return program_vector (p, n, values);
}

/* -- F1 -- */

static void
product (Program *p)
{
  AdjTensor *x = vector (p, 3), *y = vector (p, 3);

  program_backward (p, CALL (p->cx, "sum", T (CALL (p->cx, "mul.Tensor", T (x), T (y)))));
}

static void
f1 (void)
{
  check (product, (const char *const[]){ "f1" }, 1);
}

/* -- F2 -- */

static gboolean
region_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjTensor *s = ADJ_APPLY (cx, ADJ_OP_sin, args[0]);
  AdjTensor *c = s != NULL ? ADJ_APPLY (cx, ADJ_OP_cos, T (s)) : NULL;
  AdjTensor *out = c != NULL ? ADJ_APPLY (cx, ADJ_OP_mul_Tensor, T (s), T (c)) : NULL;

  if (out != NULL)
    *result = ADJ_TENSOR (adj_tensor_ref (out));
  return out != NULL; /* recomputation in the second call may stop early */
}

static void
checkpointed (Program *p)
{
  static const AdjFunctionClass klass = { .name = "region", .call = region_call };
  g_autoptr (AdjFunction) region = adj_function_new (&klass, sizeof (AdjFunction));
  AdjValue arg = T (vector (p, 3)), result;

  g_assert_true (adj_checkpoint (p->cx, region, &arg, 1, NULL, &result));
  program_backward (p, CALL (p->cx, "sum", T (adj_scope_add (p->cx, result.tensor))));
}

static void
f2 (void)
{
  check (checkpointed, (const char *const[]){ "f2" }, 1);
}

/* -- F3 -- */

static gboolean
sine_forward (AdjCustomCall *call, AdjTensor *const *in, guint n_in, AdjTensor **out, guint n_out)
{
  adj_custom_call_save (call, in, 1);
  out[0] = CALL (adj_custom_call_get_context (call), "sin", T (in[0]));
  return TRUE;
}

static gboolean
sine_backward (AdjCustomCall *call, AdjTensor *const *grads, guint n, AdjTensor **out, guint n_out)
{
  AdjContext *cx = adj_custom_call_get_context (call);

  out[0] = CALL (cx, "mul.Tensor", T (grads[0]),
                 T (CALL (cx, "cos", T (adj_custom_call_get_saved (call, 0)))));
  return TRUE;
}

static gpointer
pack (AdjContext *cx, AdjTensor *tensor, gpointer data)
{
  return adj_tensor_ref (tensor);
}

static AdjTensor *
unpack (AdjContext *cx, gpointer packed, gpointer data)
{
  return packed;
}

static void
packed (Program *p)
{
  static const AdjCustomClass sine = { .name = "MySin",
                                       .forward = sine_forward,
                                       .backward = sine_backward };
  const AdjSavedHooks hooks = { pack, unpack, (GDestroyNotify) adj_tensor_unref, NULL, NULL };

  for (guint n = 3; n <= 4; n++)
    {
      AdjTensor *x = vector (p, n), *out;

      g_assert_true (adj_autograd_push_saved_hooks (p->cx, &hooks));
      g_assert_true (adj_custom_apply (p->cx, &sine, NULL, NULL, &x, 1, &out, 1));
      adj_autograd_pop_saved_hooks (p->cx);
      program_backward (p, CALL (p->cx, "sum", T (out)));
    }
}

static void
f3 (void)
{
  check (packed, (const char *const[]){ "f3", "f3-2" }, 2);
}

/* -- one function for each operator -- */

/* Forwards whose backward differs from PyTorch's, with the reason. */
static const struct
{
  const char *name, *why;
} deviations[] = {
  { "prod", "the formula here does not read the product" },
};

static const char *
find_deviation (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (deviations); i++)
    if (g_str_equal (deviations[i].name, name))
      return deviations[i].why;
  return NULL;
}

static AdjTensor *
make_input (Program *p, const AdjTensorMeta *meta, gboolean is_leaf)
{
  gint64 sizes[ADJ_MAX_RANK];
  AdjTensor *tensor;

  for (guint i = 0; i < meta->shape.rank; i++)
    sizes[i] = meta->shape.size[i].word;
  tensor = program_leaf (p, NULL, meta->shape.rank, sizes);
  if (meta->dtype != ADJ_DTYPE_F32)
    {
      g_assert_true (adj_tensor_set_requires_grad (p->cx, tensor, FALSE));
      tensor = CALL (p->cx, "to.dtype", T (tensor), ADJ_DTYPE (meta->dtype));
    }
  g_assert_true (adj_tensor_set_requires_grad (p->cx, tensor, is_leaf));
  return tensor;
}

static void
run_forward (Program *p, AdjGraph *graph)
{
  const guint n = adj_graph_get_n_inputs (graph);
  g_autofree AdjValue *inputs = g_new0 (AdjValue, n + 1);
  g_autoptr (AdjFunction) function = adj_graph_function_new (graph);
  g_auto (AdjValue) result = ADJ_NONE;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, adj_graph_get_input (graph, i).index);

      inputs[i] = ADJ_TENSOR (make_input (p, node->val.meta, i + 1 < n));
    }
  adj_function_call (function, p->cx, inputs, n, &result);
  adj_context_take_error (p->cx, &error);
  g_assert_no_error (error);
  program_backward (p, result.tensor);
}

static void
check_forward (const char *folder, const char *name)
{
  g_autofree char *path = g_strdup_printf ("%s/%s.txt", folder, name);
  g_autoptr (AdjBundle) bundle = adj_test_load_bundle (path);
  g_autofree char *node_name = g_strdup_printf ("node-%s", name);
  g_autoptr (AdjCompiledAutograd) compiler = compiler_new (TRUE);
  AdjGraph *captured;
  Program program;

  program_init (&program);
  g_assert_true (adj_compiled_autograd_enable (compiler, program.cx));
  run_forward (&program, adj_bundle_get_graph (bundle, 0)->graph);
  adj_compiled_autograd_restore (program.cx);
  g_assert_cmpuint (adj_compiled_autograd_get_n_captures (compiler), ==, 1);
  captured = adj_capture_get_graph (adj_compiled_autograd_get_capture (compiler, 0));
  if (find_deviation (name) == NULL)
    assert_node_golden (captured, name);
  else
    assert_deviation (captured, node_name, find_deviation (name));
  program_clear (&program);
}

static void
forward (gconstpointer name)
{
  g_autofree char *folder =
      g_test_build_filename (G_TEST_DIST, "compiled_autograd", "nodes", "forward", NULL);

  check_forward (folder, name);
}

/* (transfer full): the names of the forwards. */
static GPtrArray *
list_forwards (void)
{
  g_autofree char *folder =
      g_test_build_filename (G_TEST_DIST, "compiled_autograd", "nodes", "forward", NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  const char *file;

  while (dir != NULL && (file = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (file, ".txt"))
      g_ptr_array_add (names, g_strndup (file, strlen (file) - 4));
  return names;
}

int
main (int argc, char **argv)
{
  g_autoptr (GPtrArray) names = NULL;

  g_test_init (&argc, &argv, NULL);
  names = list_forwards ();
  g_assert_cmpuint (names->len, >, 50);
  g_test_add_func ("/compiled-autograd/6.3/f1", f1);
  g_test_add_func ("/compiled-autograd/6.3/f2", f2);
  g_test_add_func ("/compiled-autograd/6.3/f3", f3);
  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *path =
          g_strdup_printf ("/compiled-autograd/forward/%s", (const char *) names->pdata[i]);

      g_test_add_data_func (path, names->pdata[i], forward);
    }
  return g_test_run ();
}
