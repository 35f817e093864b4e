/* SPDX-License-Identifier: MIT */
/* The interpreter on graphs given as text: results, errors, estimated memory. */

#include <glib.h>
#include <math.h>
#include <string.h>

#include "adjoint.h"
#include "support/graphs.h"

static AdjGraph *
parse (const char *body)
{
  g_autofree char *text = g_strdup_printf ("class GraphModule(torch.nn.Module):\n"
                                           "    def forward(self, x: \"f32[2, 3][3, 1]cpu\", n):\n"
                                           "%s",
                                           body);

  return adj_test_parse_graph (text);
}

static AdjTensorData *
iota (void)
{
  const float values[] = { 0, 1, 2, 3, 4, 5 };
  const gint64 sizes[] = { 2, 3 };
  AdjTensorMeta meta = {
    .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE, .storage = -1
  };
  g_autoptr (GBytes) bytes = g_bytes_new (values, sizeof values);

  adj_shape_init_ints (&meta.shape, 2, sizes);
  return adj_tensor_data_new (&meta, bytes, NULL);
}

static gboolean
interpret (AdjContext *cx,
           const AdjGraph *graph,
           gint64 n,
           const AdjInterpreterHooks *hooks,
           AdjValue *result)
{
  g_autoptr (AdjTensorData) data = iota ();
  g_autoptr (AdjTensor) x = adj_tensor_new_from_data (data);
  AdjValue args[] = { ADJ_TENSOR (x), ADJ_INT (n) };

  return adj_interpret (cx, graph, args, 2, hooks, result);
}

static double
element (const AdjValue *value, gint64 index)
{
  g_autoptr (AdjTensorData) data = NULL;

  g_assert_cmpint (value->kind, ==, ADJ_VALUE_TENSOR);
  data = adj_tensor_snapshot (value->tensor);
  return adj_tensor_data_get_double (data, index);
}

static void
test_runs (void)
{
  g_autoptr (AdjGraph) graph = parse ("        add = torch.ops.aten.add.Tensor(x, 1)\n"
                                      "        sum_1 = torch.ops.aten.sum.dim_IntList(add, [1])\n"
                                      "        return (sum_1, n)\n");
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_auto (AdjValue) result = ADJ_NONE;

  g_assert_true (interpret (cx, graph, 7, NULL, &result));
  g_assert_cmpint (result.kind, ==, ADJ_VALUE_TUPLE);
  g_assert_cmpfloat (element (&result.items[0], 0), ==, 6);
  g_assert_cmpfloat (element (&result.items[0], 1), ==, 15);
  g_assert_cmpint (result.items[1].integer, ==, 7);
}

static void
test_getitem_and_sizes (void)
{
  g_autoptr (AdjGraph) graph = parse ("        split = torch.ops.aten.split.Tensor(x, 1, 1)\n"
                                      "        getitem = split[-1]\n"
                                      "        floordiv = n // 2\n"
                                      "        return (getitem, floordiv)\n");
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_auto (AdjValue) result = ADJ_NONE;

  g_assert_true (interpret (cx, graph, -7, NULL, &result));
  g_assert_cmpfloat (element (&result.items[0], 1), ==, 5);
  g_assert_cmpint (result.items[1].integer, ==, -4);
}

static void
expect_error (const char *body, gint64 n, gint code, const char *mentions)
{
  g_autoptr (AdjGraph) graph = parse (body);
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (GError) error = NULL;
  AdjValue result;

  g_assert_false (interpret (cx, graph, n, NULL, &result));
  g_assert_true (adj_context_take_error (cx, &error));
  g_assert_error (error, ADJ_ERROR, code);
  if (strstr (error->message, mentions) == NULL)
    g_error ("'%s' does not mention %s", error->message, mentions);
  g_assert_false (adj_context_has_error (cx));
}

static void
test_errors_name_the_node (void)
{
  expect_error ("        mm_7 = torch.ops.aten.mm.default(x, x)\n        return (mm_7,)\n", 0,
                ADJ_ERROR_SHAPE, "mm_7");
  expect_error ("        foo_1 = torch.ops.mine.foo.default(x)\n        return (foo_1,)\n", 0,
                ADJ_ERROR_UNSUPPORTED, "foo_1");
  expect_error ("        relu_3 = x.relou()\n        return (relu_3,)\n", 0, ADJ_ERROR_UNSUPPORTED,
                "relu_3");
  expect_error ("        mod_2 = n % 0\n        return (mod_2,)\n", 1, ADJ_ERROR_SHAPE, "zero");
}

/* Computations with sizes, by the names of Python's functions and by PyTorch's. */
static void
test_functions_of_numbers (void)
{
  static const struct
  {
    const char *name;
    double (*function) (double);
  } functions[] = { { "sqrt", sqrt }, { "exp", exp }, { "log", log },  { "log2", log2 },
                    { "sin", sin },   { "cos", cos }, { "tanh", tanh } };
  static const char *const prefixes[] = { "math.", "torch._sym_" };

  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    for (guint k = 0; k < G_N_ELEMENTS (prefixes); k++)
      {
        g_autofree char *body =
            g_strdup_printf ("        sym_size = torch.ops.aten.sym_size.int(x, 1)\n"
                             "        a = %s%s(sym_size)\n"
                             "        truediv = n / 8\n"
                             "        b = %s%s(truediv)\n"
                             "        mul = torch.ops.aten.mul.Tensor(x, b)\n"
                             "        return (a, mul)\n",
                             prefixes[k], functions[i].name, prefixes[k], functions[i].name);
        g_autoptr (AdjGraph) graph = parse (body);
        g_autoptr (AdjContext) cx = adj_context_new ();
        g_auto (AdjValue) result = ADJ_NONE;

        g_assert_true (interpret (cx, graph, 5, NULL, &result));
        g_assert_cmpint (result.items[0].kind, ==, ADJ_VALUE_FLOAT);
        g_assert_cmpfloat (result.items[0].number, ==, functions[i].function (3));
        g_assert_cmpfloat (element (&result.items[1], 1), ==,
                           (float) functions[i].function (5. / 8));
      }
  expect_error ("        log_1 = math.log(n)\n        return (log_1,)\n", -1, ADJ_ERROR_SHAPE,
                "log_1");
  expect_error ("        log2_1 = math.log2(n)\n        return (log2_1,)\n", 0, ADJ_ERROR_SHAPE,
                "log2_1");
  expect_error ("        exp_1 = math.exp(n)\n        return (exp_1,)\n", 1000, ADJ_ERROR_SHAPE,
                "exp_1");
  expect_error ("        sqrt_1 = math.sqrt(x)\n        return (sqrt_1,)\n", 0, ADJ_ERROR_SHAPE,
                "sqrt_1");
}

static void
test_repeated_list (void)
{
  static const char *const body = "        mul_1 = [None, 7] * n\n"
                                  "        return (mul_1,)\n";
  g_autoptr (AdjGraph) graph = parse (body);

  for (gint64 n = -1; n <= 2; n++)
    {
      g_autoptr (AdjContext) cx = adj_context_new ();
      g_auto (AdjValue) result = ADJ_NONE;

      g_assert_true (interpret (cx, graph, n, NULL, &result));
      g_assert_cmpuint (result.items[0].n, ==, 2 * MAX (n, 0));
      if (n > 0)
        g_assert_cmpint (result.items[0].items[result.items[0].n - 1].integer, ==, 7);
    }
  expect_error (body, G_MAXINT64, ADJ_ERROR_SHAPE, "mul_1");
}

static void
test_not (void)
{
  g_autoptr (AdjGraph) graph = parse ("        eq = n == 3\n"
                                      "        of_truth = not eq\n"
                                      "        of_number = _operator_not_(n)\n"
                                      "        truediv = n / 2\n"
                                      "        of_float = operator.not_(truediv)\n"
                                      "        return (of_truth, of_number, of_float)\n");
  static const struct
  {
    gint64 n;
    gboolean wanted[3];
  } cases[] = { { 3, { FALSE, FALSE, FALSE } },
                { 0, { TRUE, TRUE, TRUE } },
                { 1, { TRUE, FALSE, FALSE } } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (AdjContext) cx = adj_context_new ();
      g_auto (AdjValue) result = ADJ_NONE;

      g_assert_true (interpret (cx, graph, cases[i].n, NULL, &result));
      for (guint k = 0; k < 3; k++)
        {
          g_assert_cmpint (result.items[k].kind, ==, ADJ_VALUE_BOOL);
          g_assert_cmpint (result.items[k].boolean, ==, cases[i].wanted[k]);
        }
    }
}

/* A 0-d tensor has one slice: two indices would write past the result. */
static void
test_scalar_takes_one_index (void)
{
  expect_error ("        full = torch.ops.aten.full.default([], 1.0)\n"
                "        full_1 = torch.ops.aten.full.default([2], 0)\n"
                "        index_select = torch.ops.aten.index_select.default(full, 0, full_1)\n"
                "        return (index_select,)\n",
                0, ADJ_ERROR_SHAPE, "one index");
}

/* A 0-d index is one index, and an empty source has no element for it. */
static void
test_scalar_index_needs_a_source (void)
{
  expect_error ("        full = torch.ops.aten.full.default([3], 1.0)\n"
                "        full_1 = torch.ops.aten.full.default([], 0)\n"
                "        full_2 = torch.ops.aten.full.default([0], 1.0)\n"
                "        scatter = torch.ops.aten.scatter.src(full, 0, full_1, full_2)\n"
                "        return (scatter,)\n",
                0, ADJ_ERROR_SHAPE, "does not fit");
}

typedef struct
{
  AdjTensor *watched; /* (owned): of node 'add' */
  guint n_seen;
} Seen;

static gboolean
watch (const AdjGraph *graph, AdjNodeId id, const AdjValue *value, gpointer data)
{
  Seen *seen = data;

  seen->n_seen++;
  if (g_str_equal (adj_graph_get_node (graph, id.index)->name, "add"))
    seen->watched = adj_tensor_ref (value->tensor);
  return TRUE;
}

static void
test_hooks_see_every_node (void)
{
  g_autoptr (AdjGraph) graph = parse ("        add = torch.ops.aten.add.Tensor(x, 1)\n"
                                      "        mul = torch.ops.aten.mul.Tensor(add, 2)\n"
                                      "        return (mul,)\n");
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_auto (AdjValue) result = ADJ_NONE;
  Seen seen = { 0 };
  AdjInterpreterHooks hooks = { .node = watch, .data = &seen };

  g_assert_true (interpret (cx, graph, 0, &hooks, &result));
  g_assert_cmpuint (seen.n_seen, ==, adj_graph_get_n_nodes (graph));
  g_assert_nonnull (seen.watched);
  adj_tensor_unref (seen.watched);
}

static gboolean
zero_add (const AdjGraph *graph, AdjNodeId id, AdjContext *cx, AdjValue *value, gpointer data)
{
  if (g_str_equal (adj_graph_get_node (graph, id.index)->name, "add"))
    memset (adj_storage_write (adj_tensor_get_storage (value->tensor)), 0, 6 * sizeof (float));
  return TRUE;
}

static void
test_amended_value_is_used (void)
{
  g_autoptr (AdjGraph) graph = parse ("        add = torch.ops.aten.add.Tensor(x, 1)\n"
                                      "        add_1 = torch.ops.aten.add.Tensor(add, 5)\n"
                                      "        return (add_1,)\n");
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_auto (AdjValue) result = ADJ_NONE;
  AdjInterpreterHooks hooks = { .amend = zero_add };

  g_assert_true (interpret (cx, graph, 0, &hooks, &result));
  g_assert_cmpfloat (element (&result.items[0], 3), ==, 5);
}

static void
test_function_calls_graph (void)
{
  g_autoptr (AdjGraph) graph =
      parse ("        neg = torch.ops.aten.neg.default(x)\n        return neg\n");
  g_autoptr (AdjFunction) function = adj_graph_function_new (graph);
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (AdjTensorData) data = iota ();
  g_autoptr (AdjTensor) x = adj_tensor_new_from_data (data);
  AdjValue args[] = { ADJ_TENSOR (x), ADJ_NONE };
  g_auto (AdjValue) result = ADJ_NONE;

  g_assert_true (adj_function_call (function, cx, args, 2, &result));
  g_assert_cmpfloat (element (&result, 5), ==, -5);
}

/* x is 24 bytes and lives to the end; add 24; view shares; sum 8: at 'sum_1' 24 + 24 + 8. */
static void
test_estimate (void)
{
  g_autoptr (AdjGraph) graph =
      parse ("        add: \"f32[2, 3][3, 1]cpu\" = torch.ops.aten.add.Tensor(x, 1)\n"
             "        view: \"f32[6][1]cpu\" = torch.ops.aten.view.default(add, [6])\n"
             "        sum_1: \"f32[2][1]cpu\" = torch.ops.aten.sum.dim_IntList(view, [0])\n"
             "        return (sum_1, x)\n");

  g_assert_cmpuint (adj_graph_estimate_memory (graph, FALSE), ==, 24 + 24 + 8);
  g_assert_cmpuint (adj_graph_estimate_memory (graph, TRUE), ==, 2 * (24 + 24 + 8));
}

/* The branch needs 24 bytes for exp in addition to the 24 of its input and the 24 of its result. */
static void
test_estimate_subgraph (void)
{
  g_autoptr (AdjGraph) graph =
      parse ("        b_0 = self.b_0\n"
             "        cond = torch.ops.higher_order.invoke_subgraph(b_0, 'b', (x,))\n"
             "        getitem: \"f32[2, 3][3, 1]cpu\" = cond[0]\n"
             "        return (getitem,)\n"
             "    class b_0(torch.nn.Module):\n"
             "        def forward(self, x: \"f32[2, 3][3, 1]cpu\"):\n"
             "            exp: \"f32[2, 3][3, 1]cpu\" = torch.ops.aten.exp.default(x)\n"
             "            sin: \"f32[2, 3][3, 1]cpu\" = torch.ops.aten.sin.default(exp)\n"
             "            return (sin,)\n");

  g_assert_cmpuint (adj_graph_estimate_memory (graph, FALSE), ==, 24 + 24 + 24);
}

/* PyTorch 2.15 passes operands separately, older releases in a tuple. */
static void
test_spread_operands (void)
{
  static const char *const operands[] = { "(x, x)", "[x, x]", "x, x" };

  for (guint i = 0; i < G_N_ELEMENTS (operands); i++)
    {
      g_autofree char *body =
          g_strdup_printf ("        b_0 = self.b_0\n"
                           "        call = torch.ops.higher_order.invoke_subgraph(b_0, 'b', %s)\n"
                           "        getitem: \"f32[2, 3][3, 1]cpu\" = call[0]\n"
                           "        return (getitem,)\n"
                           "    class b_0(torch.nn.Module):\n"
                           "        def forward(self, x: \"f32[2, 3][3, 1]cpu\", "
                           "y: \"f32[2, 3][3, 1]cpu\"):\n"
                           "            mul: \"f32[2, 3][3, 1]cpu\" = "
                           "torch.ops.aten.mul.Tensor(x, y)\n"
                           "            return (mul,)\n",
                           operands[i]);
      g_autoptr (AdjGraph) graph = parse (body);
      g_autoptr (AdjContext) cx = adj_context_new ();
      g_auto (AdjValue) result = ADJ_NONE;

      g_assert_true (interpret (cx, graph, 0, NULL, &result));
      g_assert_cmpfloat (element (&result.items[0], 5), ==, 25);
    }
}

/* The query is x as one batch; key and value, of @sizes, are x too; each score is its row
 * number. */
static char *
write_attention (const char *sizes)
{
  return g_strdup_printf (
      "        query = torch.ops.aten.view.default(x, [1, 1, 2, 3])\n"
      "        key = torch.ops.aten.view.default(x, %s)\n"
      "        score_0 = self.score_0\n"
      "        mask_0 = self.mask_0\n"
      "        flex = torch.ops.higher_order.flex_attention(query, key, key, score_0, (mask_0,), "
      "1.0, "
      "{}, (), ())\n"
      "        getitem = flex[0]\n"
      "        getitem_1 = flex[1]\n"
      "        return (getitem, getitem_1)\n"
      "    class score_0(torch.nn.Module):\n"
      "        def forward(self, s: \"f32[][]cpu\", b: \"i64[][]cpu\", h: \"i64[][]cpu\", "
      "i: \"i64[][]cpu\", j: \"i64[][]cpu\"):\n"
      "            to = i.to(torch.float32)\n"
      "            return to\n"
      "    class mask_0(torch.nn.Module):\n"
      "        def forward(self, b: \"i64[][]cpu\", h: \"i64[][]cpu\", i: \"i64[][]cpu\", "
      "j: \"i64[][]cpu\"):\n"
      "            new_ones = b.new_ones((), dtype = torch.bool)\n"
      "            return new_ones\n",
      sizes);
}

/* A score graph that reads no scores returns one for each row, which holds for the whole row:
 * the result is the mean of the values. */
static void
test_unread_scores (void)
{
  g_autofree char *body = write_attention ("[1, 1, 2, 3]");
  g_autoptr (AdjGraph) graph = parse (body);
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_auto (AdjValue) result = ADJ_NONE;

  g_assert_true (interpret (cx, graph, 0, NULL, &result));
  for (guint i = 0; i < 6; i++)
    g_assert_cmpfloat_with_epsilon (element (&result.items[0], i), 1.5 + i % 3, 1e-6);
  for (guint i = 0; i < 2; i++)
    g_assert_cmpfloat_with_epsilon (element (&result.items[1], i), 1 + i / log (2), 1e-6);
}

static void
test_attention_to_batches (void)
{
  g_autofree char *body = write_attention ("[2, 1, 1, 3]");

  expect_error (body, 0, ADJ_ERROR_SHAPE, "as many batches");
}

/* A function is listed once, even if releases have several forms of it. */
static void
test_functions_once (void)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  const char *target;

  for (guint i = 0; (target = adj_interpreter_get_function (i)) != NULL; i++)
    if (!g_hash_table_add (seen, (gpointer) target))
      g_error ("%s stands there twice", target);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/interpreter/run/computes", test_runs);
  g_test_add_func ("/interpreter/run/getitem-and-sizes", test_getitem_and_sizes);
  g_test_add_func ("/interpreter/run/errors-name-the-node", test_errors_name_the_node);
  g_test_add_func ("/interpreter/run/functions-of-numbers", test_functions_of_numbers);
  g_test_add_func ("/interpreter/run/not", test_not);
  g_test_add_func ("/interpreter/run/repeated-list", test_repeated_list);
  g_test_add_func ("/interpreter/run/scalar-takes-one-index", test_scalar_takes_one_index);
  g_test_add_func ("/interpreter/run/scalar-index-needs-a-source",
                   test_scalar_index_needs_a_source);
  g_test_add_func ("/interpreter/run/hooks-see-every-node", test_hooks_see_every_node);
  g_test_add_func ("/interpreter/run/amended-value-is-used", test_amended_value_is_used);
  g_test_add_func ("/interpreter/function/calls-the-graph", test_function_calls_graph);
  g_test_add_func ("/interpreter/memory/views-share", test_estimate);
  g_test_add_func ("/interpreter/memory/subgraphs-count", test_estimate_subgraph);
  g_test_add_func ("/interpreter/functions-once", test_functions_once);
  g_test_add_func ("/interpreter/spread-operands", test_spread_operands);
  g_test_add_func ("/interpreter/flex-attention/unread-scores", test_unread_scores);
  g_test_add_func ("/interpreter/flex-attention/other-batches", test_attention_to_batches);
  return g_test_run ();
}
