/* SPDX-License-Identifier: MIT */
/* The backward of a compiled function is inlined in the captured graph (C28 of
 * compiled_autograd/SPEC.md §7). */

#include <string.h>

#include "aot/compile.h"
#include "compiled_autograd/capture.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "ops/adj-op-table.h"
#include "support/adj-test.h"

static gboolean
sine_product (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjTensor *product = CALL (cx, "mul.Tensor", T (CALL (cx, "sin", args[0])), args[1]);

  *result = adj_value_copy (&T (CALL (cx, "sum", T (product))));
  return TRUE;
}

/* (transfer full) */
static AdjFunction *
compile (Program *p, AdjTensor *x, AdjTensor *y)
{
  static const AdjFunctionClass klass = { .name = "sine product", .call = sine_product };
  g_autoptr (AdjFunction) function = adj_function_new (&klass, sizeof (AdjFunction));
  const AdjValue inputs[2] = { T (x), T (y) };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjAotGraph) aot = adj_aot_trace (function, inputs, 2, NULL, NULL, &error);

  g_assert_no_error (error);
  return compile_by (aot, "min-cut");
}

/* Returns the loss of one call, borrowed from the scope. */
static AdjTensor *
call (Program *p, AdjFunction *compiled, AdjTensor *x, AdjTensor *y)
{
  const AdjValue inputs[2] = { T (x), T (y) };
  AdjValue result;

  g_assert_true (adj_function_call (compiled, p->cx, inputs, 2, &result));
  while (adj_value_is_container (&result))
    result = result.items[0];
  return adj_scope_add (p->cx, result.tensor);
}

static void
run_once (Program *p)
{
  const float xs[] = { 0.5, 0.25, -1 }, ys[] = { 4, 5, 6 };
  AdjTensor *x = program_vector (p, 3, xs), *y = program_vector (p, 3, ys);
  g_autoptr (AdjFunction) compiled = compile (p, x, y);

  program_backward (p, call (p, compiled, x, y));
}

/* Runs one compiled function twice in a backward, which fails in PyTorch 2.6. */
static void
run_twice (Program *p)
{
  const float xs[] = { 0.5, 0.25, -1 }, ys[] = { 4, 5, 6 };
  AdjTensor *x = program_vector (p, 3, xs), *y = program_vector (p, 3, ys);
  g_autoptr (AdjFunction) compiled = compile (p, x, y);
  AdjTensor *first = call (p, compiled, x, y), *second = call (p, compiled, y, x);

  program_backward (p, CALL (p->cx, "mul.Tensor", T (first), T (second)));
}

static const struct
{
  const char *name;
  ProgramFunc run;
} cases[] = { { "c28", run_once }, { "c28-twice", run_twice } };

/* (transfer full): @text with names replaced by numbers; it has a line for each node of @graph
 * that begins with its name. */
static char *
number_names (AdjGraph *graph, const char *text)
{
  g_autoptr (GHashTable) numbers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GString *out = g_string_new (NULL);
  guint length;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    g_hash_table_insert (numbers, g_strdup (adj_graph_get_node (graph, i)->name),
                         GUINT_TO_POINTER (i + 1));
  for (const char *at = text; *at != '\0'; at += length)
    {
      g_autofree char *word = NULL;
      guint number;

      length = MAX (1, (guint) strspn (at, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_."));
      word = g_strndup (at, length);
      number = GPOINTER_TO_UINT (g_hash_table_lookup (numbers, word));
      if (number > 0)
        g_string_append_printf (out, "%%%u", number - 1);
      else
        g_string_append (out, word);
    }
  return g_string_free (out, FALSE);
}

/* Ignores names: nodes of a compiled backward begin with "aot0_" in PyTorch only. */
static void
assert_is_file (AdjGraph *ours, const char *folder, const char *name)
{
  g_autofree char *file = g_strconcat (name, ".txt", NULL);
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "compiled_autograd", folder, file, NULL);
  g_autofree char *text = adj_test_read_file (path, NULL);
  g_autoptr (AdjGraph) theirs = adj_graph_parse (text, -1, adj_op_find, NULL, NULL);
  g_autofree char *a = graph_describe (ours), *b = graph_describe (theirs);
  g_autofree char *x = number_names (ours, a), *y = number_names (theirs, b);

  g_assert_cmpstr (x, ==, y);
}

static void
test_inlined (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data);
  g_autoptr (AdjCompiledAutograd) compiler =
      adj_compiled_autograd_new (&(AdjCompiledOptions){ .order = ADJ_CAPTURE_ORDER_2_6 });
  g_autofree char *eager = program_run (cases[i].run, NULL);
  g_autofree char *captured = program_run (cases[i].run, compiler);

  g_assert_cmpstr (adj_compiled_autograd_get_counters (compiler).fallback_reason, ==, NULL);
  g_assert_cmpstr (captured, ==, eager);
  if (i == 0)
    assert_is_file (adj_capture_get_graph (adj_compiled_autograd_get_capture (compiler, 0)),
                    "golden", "c28");
  else
    assert_deviation (adj_capture_get_graph (adj_compiled_autograd_get_capture (compiler, 0)),
                      cases[i].name, "PyTorch 2.6 fails: a node of that name is there already");
}

/* -- as nodes -- */

/* The prologue and the following graph equal PyTorch's, node for node, and the gradients those
 * of the engine. */
static void
test_prologue (gconstpointer data)
{
  static const char *const files[] = { "aot", "aot-twice" };
  const guint i = GPOINTER_TO_UINT (data);
  g_autoptr (AdjCompiledAutograd) compiler = adj_compiled_autograd_new (&(AdjCompiledOptions){
      .order = ADJ_CAPTURE_ORDER_2_15, .level = ADJ_CAPTURE_LEVEL_NODES, .strict = TRUE });
  g_autofree char *eager = program_run (cases[i].run, NULL);
  g_autofree char *captured = program_run (cases[i].run, compiler);
  g_assert_cmpstr (captured, ==, eager);
  assert_is_file (adj_capture_get_graph (adj_compiled_autograd_get_capture (compiler, 0)),
                  "nodes/graphs", files[i]);
}

/* -- of any size -- */

/* (size, x, y): x is expanded to four rows, so that the backward computes with the size. */
static gboolean
spread_product (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjTensor *spread = CALL (cx, "expand", args[1], LIST (ADJ_INT (4), args[0]));
  AdjTensor *product = CALL (cx, "mul.Tensor", T (CALL (cx, "sin", T (spread))), args[2]);

  *result = adj_value_copy (&T (CALL (cx, "sum", T (product))));
  return TRUE;
}

/* (transfer full): a function traced at size 3 with a symbolic size. */
static AdjFunction *
compile_any_size (void)
{
  static const AdjFunctionClass klass = { .name = "spread product", .call = spread_product };
  g_autoptr (AdjFunction) function = adj_function_new (&klass, sizeof (AdjFunction));
  AdjSymbols *symbols = adj_symbols_new ();
  AdjSize size = adj_symbols_add_size (symbols, ADJ_SIZES_DUCK, 3, NULL);
  AdjTensorMeta metas[2];
  AdjValue inputs[3] = { adj_value_from_size (size) };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjAotGraph) aot = NULL;

  for (guint i = 0; i < 2; i++)
    {
      metas[i] = (AdjTensorMeta){ .dtype = ADJ_DTYPE_F32,
                                  .device = ADJ_CPU,
                                  .has_strides = TRUE,
                                  .requires_grad = TRUE,
                                  .storage = (gint32) i };
      adj_shape_init (&metas[i].shape, symbols, 1, &size);
      inputs[1 + i] = (AdjValue){ .kind = ADJ_VALUE_META, .meta = &metas[i] };
    }
  aot = adj_aot_trace (function, inputs, 3, &(AdjAotOptions){ .symbols = symbols }, NULL, &error);
  g_assert_no_error (error);
  adj_symbols_unref (symbols);
  return compile_by (aot, "min-cut");
}

static void
run_any_size (Program *p)
{
  g_autoptr (AdjFunction) compiled = compile_any_size ();

  for (guint n = 3; n <= 7; n += 2)
    {
      const float values[] = { 0.5, 0.25, -1, 2, -0.75, 1.5, 3 };
      AdjTensor *x = program_vector (p, n, values), *y = program_vector (p, n, values);
      const AdjValue inputs[3] = { ADJ_INT (n), T (x), T (y) };
      AdjValue result;

      g_assert_true (adj_function_call (compiled, p->cx, inputs, 3, &result));
      while (adj_value_is_container (&result))
        result = result.items[0];
      program_backward (p, adj_scope_add (p->cx, result.tensor));
    }
}

/* The size passes through the prologue.  As in PyTorch the graphs of the first size and of all
 * later ones look the same. */
static void
test_sizes (void)
{
  g_autoptr (AdjCompiledAutograd) compiler = adj_compiled_autograd_new (&(AdjCompiledOptions){
      .order = ADJ_CAPTURE_ORDER_2_15, .level = ADJ_CAPTURE_LEVEL_NODES, .strict = TRUE });
  g_autofree char *eager = program_run (run_any_size, NULL);
  g_autofree char *captured = program_run (run_any_size, compiler);

  g_assert_cmpstr (captured, ==, eager);
  g_assert_cmpuint (adj_compiled_autograd_get_counters (compiler).captures, ==, 2);
  for (guint i = 0; i < 2; i++)
    assert_is_file (adj_capture_get_graph (adj_compiled_autograd_get_capture (compiler, i)),
                    "nodes/graphs", "aot-sizes");
}

/* A second call of the same function hits the cache, a call of another function does not. */
static void
test_kept (void)
{
  g_autoptr (AdjCompiledAutograd) compiler = adj_compiled_autograd_new (NULL);
  const float xs[] = { 0.5, 0.25, -1 }, ys[] = { 4, 5, 6 };
  Program p;

  program_init (&p);
  g_assert_true (adj_compiled_autograd_enable (compiler, p.cx));
  for (guint i = 0; i < 2; i++)
    {
      AdjTensor *x = program_vector (&p, 3, xs), *y = program_vector (&p, 3, ys);
      g_autoptr (AdjFunction) compiled = compile (&p, x, y);

      program_backward (&p, call (&p, compiled, x, y));
      g_assert_true (adj_tensor_set_grad (p.cx, x, NULL) && adj_tensor_set_grad (p.cx, y, NULL));
      program_backward (&p, call (&p, compiled, x, y));
    }
  adj_compiled_autograd_restore (p.cx);
  g_assert_cmpuint (adj_compiled_autograd_get_counters (compiler).captures, ==, 2);
  g_assert_cmpuint (adj_compiled_autograd_get_counters (compiler).hits, ==, 2);
  program_clear (&p);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/compiled-autograd/6.2/%s", cases[i].name);

      g_autofree char *nodes = g_strdup_printf ("/compiled-autograd/6.3/aot/%s", cases[i].name);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_inlined);
      g_test_add_data_func (nodes, GUINT_TO_POINTER (i), test_prologue);
    }
  g_test_add_func ("/compiled-autograd/6.3/aot/sizes", test_sizes);
  g_test_add_func ("/compiled-autograd/3/compiled-functions", test_kept);
  return g_test_run ();
}
