/* SPDX-License-Identifier: MIT */
/* Sizes and numbers that depend on data. */

#include <string.h>

#include "adjoint.h"
#include "support/graphs.h"
#include "wrappers/adj-wrappers.h"

/* Data-dependent sizes and numbers (call/SPEC.md §4.2, tensor/SPEC.md §5): the texts are those
 * of make_fx of PyTorch 2.6 with symbolic sizes, with one exception: 2.6 gives nonzero the
 * strides [2, 1], while its actual result has [1, u0]. */

typedef struct
{
  const char *name; /* of the test */
  const char *parameters;
  const char *body;
  const char *expected;
} Golden;

static const Golden goldens[] = {
  { "10.2/nonzero", "x: \"f32[4, 3][3, 1]cpu\"",
    "        nonzero = torch.ops.aten.nonzero.default(x)\n"
    "        add = torch.ops.aten.add.Tensor(nonzero, 1)\n"
    "        return add\n",
    "x_1: \"f32[s0, s1][s1, 1]cpu\"):\n"
    "        nonzero: \"i64[u0, 2][1, u0]cpu\" = torch.ops.aten.nonzero.default(x_1);  x_1 = None\n"
    "        add: \"i64[u0, 2][1, u0]cpu\" = torch.ops.aten.add.Tensor(nonzero, 1);  nonzero = "
    "None\n"
    "        return add\n" },
  { "10.2/mask", "x: \"f32[4, 3][3, 1]cpu\", m: \"b8[4][1]cpu\"",
    "        index = torch.ops.aten.index.Tensor(x, [m])\n"
    "        mul = torch.ops.aten.mul.Tensor(index, 2)\n"
    "        return mul\n",
    "x_1: \"f32[s0, s1][s1, 1]cpu\", m_1: \"b8[s0][1]cpu\"):\n"
    "        index: \"f32[u0, s1][s1, 1]cpu\" = torch.ops.aten.index.Tensor(x_1, [m_1]);  x_1 = "
    "m_1 "
    "= None\n"
    "        mul: \"f32[u0, s1][s1, 1]cpu\" = torch.ops.aten.mul.Tensor(index, 2);  index = None\n"
    "        return mul\n" },
  { "10.2/masked_select", "x: \"f32[4, 3][3, 1]cpu\", m: \"b8[4, 3][3, 1]cpu\"",
    "        masked_select = torch.ops.aten.masked_select.default(x, m)\n"
    "        sum_1 = torch.ops.aten.sum.default(masked_select)\n"
    "        return (masked_select, sum_1)\n",
    "x_1: \"f32[s0, s1][s1, 1]cpu\", m_1: \"b8[s0, s1][s1, 1]cpu\"):\n"
    "        masked_select: \"f32[u0][1]cpu\" = torch.ops.aten.masked_select.default(x_1, m_1);  "
    "x_1 = m_1 = None\n"
    "        sum_1: \"f32[][]cpu\" = torch.ops.aten.sum.default(masked_select)\n"
    "        return (masked_select, sum_1)\n" },
  { "10.2/item", "x: \"f32[4, 3][3, 1]cpu\", n: \"i64[1][1]cpu\"",
    "        item = n.item()\n"
    "        new_zeros = torch.ops.aten.new_zeros.default(x, [item], pin_memory = False)\n"
    "        return new_zeros\n",
    "x_1: \"f32[s0, s1][s1, 1]cpu\", n_1: \"i64[1][1]cpu\"):\n"
    "        _local_scalar_dense: \"Sym(u0)\" = "
    "torch.ops.aten._local_scalar_dense.default(n_1);  n_1 = None\n"
    "        new_zeros: \"f32[u0][1]cpu\" = torch.ops.aten.new_zeros.default(x_1, "
    "[_local_scalar_dense], pin_memory = False);  x_1 = _local_scalar_dense = None\n"
    "        return new_zeros\n" },
  { "10.2/item-is-memoized", "n: \"i64[1][1]cpu\"",
    "        item = n.item()\n"
    "        item_1 = n.item()\n"
    "        add = item_1 + 1\n"
    "        return (item, add)\n",
    "n_1: \"i64[1][1]cpu\"):\n"
    "        _local_scalar_dense: \"Sym(u0)\" = "
    "torch.ops.aten._local_scalar_dense.default(n_1)\n"
    "        _local_scalar_dense_1: \"Sym(u0)\" = "
    "torch.ops.aten._local_scalar_dense.default(n_1);  n_1 = _local_scalar_dense_1 = None\n"
    "        add: \"Sym(u0 + 1)\" = _local_scalar_dense + 1\n"
    "        return (_local_scalar_dense, add)\n" },
  { "10.2/float", "x: \"f32[4][1]cpu\", s: \"f32[][]cpu\"",
    "        item = s.item()\n"
    "        mul = torch.ops.aten.mul.Tensor(x, item)\n"
    "        item_1 = s.item()\n"
    "        add = torch.ops.aten.add.Tensor(mul, item_1)\n"
    "        full = torch.ops.aten.full.default([3], item, pin_memory = False)\n"
    "        return (add, full, item)\n",
    "x_1: \"f32[s0][1]cpu\", s_1: \"f32[][]cpu\"):\n"
    "        _local_scalar_dense: \"Sym(zuf0)\" = "
    "torch.ops.aten._local_scalar_dense.default(s_1)\n"
    "        mul: \"f32[s0][1]cpu\" = torch.ops.aten.mul.Tensor(x_1, _local_scalar_dense);  x_1 = "
    "None\n"
    "        _local_scalar_dense_1: \"Sym(zuf0)\" = "
    "torch.ops.aten._local_scalar_dense.default(s_1);  s_1 = _local_scalar_dense_1 = None\n"
    "        add: \"f32[s0][1]cpu\" = torch.ops.aten.add.Tensor(mul, _local_scalar_dense);  mul = "
    "None\n"
    "        full: \"f32[3][1]cpu\" = torch.ops.aten.full.default([3], _local_scalar_dense, "
    "pin_memory = False)\n"
    "        return (add, full, _local_scalar_dense)\n" },
  { "10.2/float-of-integers", "x: \"i64[4][1]cpu\", s: \"f32[][]cpu\"",
    "        item = s.item()\n"
    "        mul = torch.ops.aten.mul.Tensor(x, item)\n"
    "        return mul\n",
    "x_1: \"i64[s0][1]cpu\", s_1: \"f32[][]cpu\"):\n"
    "        _local_scalar_dense: \"Sym(zuf0)\" = "
    "torch.ops.aten._local_scalar_dense.default(s_1);  s_1 = None\n"
    "        mul: \"f32[s0][1]cpu\" = torch.ops.aten.mul.Tensor(x_1, _local_scalar_dense);  x_1 = "
    "_local_scalar_dense = None\n"
    "        return mul\n" },
  { "10.2/float-written-between", "x: \"f32[4][1]cpu\", s: \"f32[][]cpu\"",
    "        mul = torch.ops.aten.mul.Tensor(s, 2)\n"
    "        item = mul.item()\n"
    "        add_ = torch.ops.aten.add_.Tensor(s, 1)\n"
    "        item_1 = add_.item()\n"
    "        mul_1 = torch.ops.aten.mul.Tensor(x, item)\n"
    "        mul_2 = torch.ops.aten.mul.Tensor(mul_1, item_1)\n"
    "        return mul_2\n",
    "x_1: \"f32[s0][1]cpu\", s_1: \"f32[][]cpu\"):\n"
    "        mul: \"f32[][]cpu\" = torch.ops.aten.mul.Tensor(s_1, 2)\n"
    "        _local_scalar_dense: \"Sym(zuf0)\" = "
    "torch.ops.aten._local_scalar_dense.default(mul);  mul = None\n"
    "        add_: \"f32[][]cpu\" = torch.ops.aten.add_.Tensor(s_1, 1);  s_1 = None\n"
    "        _local_scalar_dense_1: \"Sym(zuf1)\" = "
    "torch.ops.aten._local_scalar_dense.default(add_);  add_ = None\n"
    "        mul_1: \"f32[s0][1]cpu\" = torch.ops.aten.mul.Tensor(x_1, _local_scalar_dense);  x_1 "
    "= _local_scalar_dense = None\n"
    "        mul_2: \"f32[s0][1]cpu\" = torch.ops.aten.mul.Tensor(mul_1, "
    "_local_scalar_dense_1);  mul_1 = _local_scalar_dense_1 = None\n"
    "        return mul_2\n" },
  { "12/symbolic-inputs", "x: \"f32[4, 3][3, 1]cpu\"",
    "        view = torch.ops.aten.view.default(x, [-1])\n"
    "        mul = torch.ops.aten.mul.Tensor(view, 2)\n"
    "        sum_1 = torch.ops.aten.sum.dim_IntList(x, [0])\n"
    "        return (mul, sum_1)\n",
    "x_1: \"f32[s0, s1][s1, 1]cpu\"):\n"
    "        view: \"f32[s0*s1][1]cpu\" = torch.ops.aten.view.default(x_1, [-1])\n"
    "        mul: \"f32[s0*s1][1]cpu\" = torch.ops.aten.mul.Tensor(view, 2);  view = None\n"
    "        sum_1: \"f32[s1][1]cpu\" = torch.ops.aten.sum.dim_IntList(x_1, [0]);  x_1 = None\n"
    "        return (mul, sum_1)\n" },
  { "12/symbolic-strides", "x: \"f32[4, 3][3, 1]cpu\"",
    "        t = torch.ops.aten.t.default(x)\n"
    "        add = torch.ops.aten.add.Tensor(t, 1)\n"
    "        return add\n",
    "x_1: \"f32[s0, s1][s1, 1]cpu\"):\n"
    "        t: \"f32[s1, s0][1, s1]cpu\" = torch.ops.aten.t.default(x_1);  x_1 = None\n"
    "        add: \"f32[s1, s0][1, s1]cpu\" = torch.ops.aten.add.Tensor(t, 1);  t = None\n"
    "        return add\n" },
};

static AdjGraph *
parse (const char *parameters, const char *body)
{
  g_autofree char *text = g_strdup_printf ("class GraphModule(torch.nn.Module):\n"
                                           "    def forward(self, %s):\n%s",
                                           parameters, body);

  return adj_test_parse_graph (text);
}

static AdjGraph *
trace (AdjGraph *graph, AdjSizePolicy sizes, gboolean unbacked, GError **error)
{
  g_autoptr (AdjFunction) function = adj_graph_function_new (graph);
  guint n = adj_graph_get_n_inputs (graph);
  AdjValue inputs[4];
  const char *names[4];

  g_assert_cmpuint (n, <=, G_N_ELEMENTS (inputs));
  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, adj_graph_get_input (graph, i).index);

      inputs[i] = node->val;
      names[i] = node->name;
    }
  return adj_trace (function, inputs, n,
                    &(AdjTraceOptions){ .parameters = names, .sizes = sizes, .unbacked = unbacked },
                    error);
}

static void
test_golden (gconstpointer data)
{
  const Golden *golden = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = parse (golden->parameters, golden->body);
  g_autoptr (AdjGraph) traced = trace (graph, ADJ_SIZES_DUCK, TRUE, &error);
  g_autofree char *text = NULL, *expected = NULL;
  g_autoptr (AdjGraph) again = NULL;

  g_assert_no_error (error);
  text = adj_graph_print (traced, ADJ_PRINT_NO_METADATA | ADJ_PRINT_NO_COMMENTS, NULL);
  expected = g_strdup_printf (
      "class <lambda>(torch.nn.Module):\n    def forward(self, %s        \n", golden->expected);
  g_assert_cmpstr (text, ==, expected);

  again = adj_retrace (traced, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (adj_graph_equal_structure (traced, again));
}

/* -- what is refused, by name and source line -- */

static void
assert_refused (const char *parameters, const char *body, const char *const *words)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = parse (parameters, body);
  g_autoptr (AdjGraph) traced = trace (graph, ADJ_SIZES_STATIC, FALSE, &error);

  g_assert_null (traced);
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED);
  for (guint i = 0; words[i] != NULL; i++)
    if (strstr (error->message, words[i]) == NULL)
      g_test_fail_printf ("'%s' does not say '%s'", error->message, words[i]);
}

#define FRAME "         # File: net.py:7 in forward, code: i = f(x)\n"

static void
test_refuses (void)
{
  assert_refused ("x: \"f32[4][1]cpu\"",
                  FRAME "        i = torch.ops.aten.nonzero.default(x)\n        return (i,)\n",
                  (const char *[]){ "aten::nonzero", "depends on data", "self: f32[4][1]cpu",
                                    "net.py:7", "node 'i'", NULL });
  assert_refused ("x: \"f32[4][1]cpu\", m: \"b8[4][1]cpu\"",
                  FRAME "        i = torch.ops.aten.index.Tensor(x, [m])\n        return (i,)\n",
                  (const char *[]){ "aten::index", "depends on data", "net.py:7", NULL });
  assert_refused ("x: \"f32[][]cpu\"", FRAME "        i = x.item()\n        return (i,)\n",
                  (const char *[]){ "aten::item", "depends on data", "net.py:7", NULL });
  assert_refused ("x: \"i64[1][1]cpu\"", FRAME "        i = x.item()\n        return (i,)\n",
                  (const char *[]){ "aten::item", "depends on data", "net.py:7", NULL });
}

/* A data-dependent float is passed on; arithmetic with it is refused. */
static void
test_refuses_arithmetic (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph =
      parse ("x: \"f32[][]cpu\"",
             FRAME "        i = x.item()\n        j = i * 2.0\n        return (j,)\n");
  g_autoptr (AdjGraph) traced = trace (graph, ADJ_SIZES_STATIC, TRUE, &error);

  g_assert_null (traced);
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "zuf0"));
  g_assert_nonnull (strstr (error->message, "node 'j', net.py:7"));
}

/* A program that branches on an unknown number. */
static gboolean
branch_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjSize n = adj_item_size (ADJ_HERE (cx), args[0].tensor);

  if (adj_context_test_size (ADJ_HERE (cx), ADJ_SIZE_GT, n, ADJ_SIZE (3)))
    *result = ADJ_INT (1);
  return !adj_context_has_error (cx);
}

static const AdjFunctionClass branch_class = { .name = "branch", .call = branch_call };

static void
test_guards (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjFunction) function = adj_function_new (&branch_class, sizeof (AdjFunction));
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_I64, .device = ADJ_CPU, .has_strides = TRUE };
  g_autoptr (AdjGraph) graph = NULL;

  adj_shape_init_ints (&meta.shape, 1, (gint64[]){ 1 });
  meta.storage = -1;
  graph = adj_trace (function, &(AdjValue){ .kind = ADJ_VALUE_META, .meta = &meta }, 1,
                     &(AdjTraceOptions){ .unbacked = TRUE }, &error);
  g_assert_null (graph);
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "data-dependent expression u0 > 3"));
  g_assert_nonnull (strstr (error->message, "test-unbacked.c:"));
}

/* -- what is said of them -- */

static void
test_facts (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph =
      parse ("n: \"i64[1][1]cpu\"",
             "        u = n.item()\n"
             "        size = torch.ops.aten.sym_constrain_range_for_size.default(u, max = 8)\n"
             "        ge = u >= 2\n"
             "        check = torch.ops.aten._assert_scalar.default(ge, 'at least 2')\n"
             "        zeros = torch.ops.aten.zeros.default([u], pin_memory = False)\n"
             "        return (zeros,)\n");
  g_autoptr (AdjGraph) traced = trace (graph, ADJ_SIZES_STATIC, TRUE, &error);
  const AdjSymbol *u0;
  g_autofree char *text = NULL;

  g_assert_no_error (error);
  u0 = adj_symbols_find (adj_graph_get_symbols (traced), "u0");
  g_assert_cmpint (u0->min, ==, 2);
  g_assert_cmpint (u0->max, ==, 8);
  text = adj_graph_print (traced, ADJ_PRINT_NO_METADATA | ADJ_PRINT_NO_COMMENTS, NULL);
  g_assert_nonnull (strstr (text, "torch.ops.aten.sym_constrain_range_for_size.default("
                                  "_local_scalar_dense, max = 8)"));
  g_assert_nonnull (strstr (text, "ge: \"Sym(u0 >= 2)\" = _local_scalar_dense >= 2\n"));
  g_assert_nonnull (
      strstr (text, "torch.ops.aten._assert_scalar.default(ge, 'at least 2');  ge = "));
}

static void
test_contradictions (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph =
      parse ("n: \"i64[1][1]cpu\"",
             "        u = n.item()\n"
             "        size = torch.ops.aten.sym_constrain_range.default(u, min = 4)\n"
             "        other = torch.ops.aten.sym_constrain_range.default(u, max = 3)\n"
             "        return (u,)\n");
  g_autoptr (AdjGraph) traced = trace (graph, ADJ_SIZES_STATIC, TRUE, &error);

  g_assert_null (traced);
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE);
  g_assert_nonnull (strstr (error->message, "aten::sym_constrain_range"));
  g_assert_nonnull (strstr (error->message, "u0 is not between"));
  g_assert_nonnull (strstr (error->message, "node 'other'"));
}

/* With data every number is known. */
static void
test_eager (void)
{
  static const float numbers[] = { 0, 2, 0, 3, 4, 0 };
  static const gint64 expected[] = { 0, 1, 1, 0, 1, 1 };
  g_autoptr (GBytes) bytes = g_bytes_new_static (numbers, sizeof numbers);
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE };
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (AdjTensorData) data = NULL;
  g_autoptr (AdjTensorData) got = NULL;
  AdjTensor *indices;

  adj_shape_init_ints (&meta.shape, 2, (gint64[]){ 2, 3 });
  data = adj_tensor_data_new (&meta, bytes, NULL);
  indices = adj_nonzero (cx, adj_scope_add (cx, adj_tensor_new_from_data (data)));
  g_assert_nonnull (indices);
  g_assert_cmpint (adj_tensor_get_size (indices, 0), ==, 3);
  g_assert_cmpint (adj_tensor_get_meta (indices)->shape.stride[1].word, ==, 3);
  got = adj_tensor_snapshot (indices);
  for (guint i = 0; i < 6; i++)
    g_assert_cmpfloat (adj_tensor_data_get_double (got, i), ==, (double) expected[i]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (goldens); i++)
    {
      g_autofree char *path = g_strdup_printf ("/graph-ir/%s", goldens[i].name);

      g_test_add_data_func (path, &goldens[i], test_golden);
    }
  g_test_add_func ("/graph-ir/10.2/data-dependent-is-refused", test_refuses);
  g_test_add_func ("/graph-ir/10.2/arithmetic-with-float-is-refused", test_refuses_arithmetic);
  g_test_add_func ("/graph-ir/12/guard-on-data-is-refused", test_guards);
  g_test_add_func ("/graph-ir/12/facts-of-unbacked-sizes", test_facts);
  g_test_add_func ("/graph-ir/12/facts-contradict", test_contradictions);
  g_test_add_func ("/trace/unbacked/eager-counts", test_eager);
  return g_test_run ();
}
