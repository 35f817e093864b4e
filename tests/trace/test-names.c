/* SPDX-License-Identifier: MIT */
/* The examples of ir/SPEC.md §2, one test each.  All follow PyTorch 2.6 except for the marked
 * one. */

#include <glib.h>

#include "adjoint.h"
#include "ir/adj-builder.h"
#include "ir/adj-target-internal.h"
#include "support/graphs.h"

/* -- ir/SPEC.md §2.1: the candidate from the target -- */

typedef struct
{
  const char *name; /* of the test */
  const char *target;
  const char *expected;
  gboolean by_pass; /* the node is made by a pass and named by its whole path */
} Candidate;

static const Candidate candidates[] = {
  { "barBaz", "Foo.barBaz", "foo_bar_baz", TRUE },
  { "HTTPServer", "HTTPServer", "httpserver", TRUE },
  { "dunders-go", "operator.__and__", "and_1", FALSE },
  { "add.Tensor", "torch.ops.aten.add.Tensor", "add", FALSE },
  { "_to_copy.default", "torch.ops.aten._to_copy.default", "_to_copy", FALSE },
  { "packet", "torch.ops.aten.add", "add", FALSE },
  { "mm", "torch.ops.aten.mm.default", "mm", FALSE },
  { "sum_1", "torch.ops.aten.sum.default", "sum_1", FALSE },
  { "mm_default", "mm.default", "mm_default", TRUE },
  { "add_tensor", "add.Tensor", "add_tensor", TRUE },
  { "sum_dim_int_list", "sum.dim_IntList", "sum_dim_int_list", TRUE },
};

static void
test_candidate (gconstpointer data)
{
  const Candidate *row = data;
  g_autoptr (AdjBuilder) builder = adj_builder_new ("m", NULL, adj_op_find);
  g_autofree char *stem =
      row->by_pass ? adj_target_get_path_stem (row->target) : adj_target_get_stem (row->target);
  g_autofree char *name = adj_builder_unique_name (builder, stem);

  g_assert_cmpstr (name, ==, row->expected);
}

/* -- ir/SPEC.md §2.2: making it unique -- */

typedef struct
{
  const char *name; /* of the test */
  const char *given;
  const char *expected;
} Vector;

/* The last row is the form of 2.7 to 2.14, which Adjoint uses; 2.6 and 2.15 give sub_11. */
static const Vector vectors[] = {
  { "add", "add add add_1 add x_1 x x", "add add_1 add_2 add_3 x_1 x x_2" },
  { "sum", "sum sum", "sum_1 sum_2" },
  { "torch", "torch", "torch_1" },
  { "inf", "inf", "inf_1" },
  { "conv2d.weight", "conv2d.weight", "conv2d_weight" },
  { "0abc", "0abc", "_0abc" },
  { "unnamed", "", "_unnamed" },
  { "add_", "add_ add_", "add_ add__1" },
  { "_tensor_constant0", "_tensor_constant0 _tensor_constant0",
    "_tensor_constant0 _tensor_constant0_1" },
  { "sub_9-since-2.7", "sub_10 sub sub_9 sub_9", "sub_10 sub sub_9 sub_1" },
};

static void
test_vector (gconstpointer data)
{
  const Vector *row = data;
  g_autoptr (AdjBuilder) builder = adj_builder_new ("m", NULL, adj_op_find);
  g_auto (GStrv) given = g_strsplit (row->given, " ", -1);
  g_autoptr (GString) got = g_string_new (NULL);
  guint n = MAX (g_strv_length (given), 1);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = adj_builder_unique_name (builder, given[0] != NULL ? given[i] : "");

      g_string_append_printf (got, "%s%s", i > 0 ? " " : "", name);
    }
  g_assert_cmpstr (got->str, ==, row->expected);
}

/* `None` is lower-cased before it becomes a name. */
static void
test_none (void)
{
  g_autoptr (AdjBuilder) builder = adj_builder_new ("m", NULL, adj_op_find);
  g_autofree char *stem = adj_target_get_stem ("None");
  g_autofree char *name = adj_builder_unique_name (builder, stem);

  g_assert_cmpstr (name, ==, "none");
}

/* A name is never reused: gaps stay. */
static void
test_gaps (void)
{
  g_autoptr (GError) error = NULL;
  static const char text[] = "class GraphModule(torch.nn.Module):\n"
                             "    def forward(self, x: \"f32[4][1]cpu\"):\n"
                             "        add = torch.ops.aten.add.Tensor(x, x)\n"
                             "        add_1 = torch.ops.aten.add.Tensor(x, 1)\n"
                             "        add_2 = torch.ops.aten.add.Tensor(x, 2)\n"
                             "        return (add, add_2)\n";
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  g_autoptr (AdjBuilder) builder = adj_builder_new ("m", NULL, adj_op_find);
  g_autofree AdjNodeId *map = g_new0 (AdjNodeId, adj_graph_get_n_nodes (graph));
  g_autoptr (AdjGraph) copy = NULL;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    if (i != 2)
      adj_builder_copy (builder, graph, i, map);
  copy = adj_builder_seal (builder, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (adj_graph_get_node (copy, 1)->name, ==, "add");
  g_assert_cmpstr (adj_graph_get_node (copy, 2)->name, ==, "add_2");
}

/* Passes write names outside of the namespace, so a reader accepts any identifier. */
static void
test_any_identifier (void)
{
  static const char text[] = "class CompiledAutograd0(torch.nn.Module):\n"
                             "    def forward(self, x: \"f32[4][1]cpu\"):\n"
                             "        aot0_mul_3: \"f32[4][1]cpu\" = "
                             "torch.ops.aten.mul.Tensor(x, x);  x = None\n"
                             "        return (aot0_mul_3,)\n"
                             "        \n";
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  g_autofree char *printed = NULL;

  g_assert_cmpstr (adj_graph_get_node (graph, 1)->name, ==, "aot0_mul_3");
  printed = adj_graph_print (graph, ADJ_PRINT_NO_METADATA | ADJ_PRINT_NO_COMMENTS, NULL);
  g_assert_cmpstr (printed, ==, text);
}

/* -- ir/SPEC.md §2.3: placeholders -- */

static gboolean
return_first (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  *result = adj_value_copy (&args[0]);
  return TRUE;
}

static const AdjFunctionClass first_class = { .name = "first", .call = return_first };

static void
assert_inputs (const AdjValue *inputs, guint n, const char *const *parameters, const char *expected)
{
  g_autoptr (AdjFunction) function = adj_function_new (&first_class, sizeof (AdjFunction));
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) got = g_string_new (NULL);
  g_autoptr (AdjGraph) graph =
      adj_trace (function, inputs, n, &(AdjTraceOptions){ .parameters = parameters }, &error);

  g_assert_no_error (error);
  for (guint i = 0; i < adj_graph_get_n_inputs (graph); i++)
    g_string_append_printf (got, "%s%s", i > 0 ? " " : "",
                            adj_graph_get_node (graph, adj_graph_get_input (graph, i).index)->name);
  g_assert_cmpstr (got->str, ==, expected);
}

static AdjTensorMeta
make_meta (void)
{
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE };

  adj_shape_init_ints (&meta.shape, 1, (gint64[]){ 4 });
  meta.storage = -1;
  return meta;
}

static void
test_parameters (void)
{
  AdjTensorMeta meta = make_meta ();
  const AdjValue x = { .kind = ADJ_VALUE_META, .meta = &meta };

  assert_inputs (&x, 1, (const char *const[]){ "x" }, "x_1");
}

static void
test_lists (void)
{
  AdjTensorMeta meta = make_meta ();
  AdjValue x = { .kind = ADJ_VALUE_META, .meta = &meta };
  AdjValue two[] = { x, x };
  const AdjValue inputs[] = { { .kind = ADJ_VALUE_LIST, .n = 2, .items = two },
                              { .kind = ADJ_VALUE_LIST, .n = 1, .items = two } };

  assert_inputs (inputs, 2, (const char *const[]){ "primals", "tangents" },
                 "primals_1 primals_2 tangents_1");
}

static void
test_varargs (void)
{
  AdjTensorMeta meta = make_meta ();
  AdjValue x = { .kind = ADJ_VALUE_META, .meta = &meta };

  assert_inputs ((const AdjValue[]){ x, x }, 2, NULL, "arg0_1 arg1_1");
}

/* Dynamo: the target keeps its capitals, the name is lower-cased. */
static void
test_dynamo (void)
{
  static const char text[] = "class GraphModule(torch.nn.Module):\n"
                             "    def forward(self, L_x_: \"f32[4][1]cpu\"):\n"
                             "        l_x_ = L_x_\n"
                             "        return (l_x_,)\n"
                             "        \n";
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  g_autofree char *printed = NULL;

  g_assert_cmpstr (adj_graph_get_node (graph, 0)->name, ==, "l_x_");
  g_assert_cmpstr (adj_graph_get_node (graph, 0)->target, ==, "L_x_");
  printed = adj_graph_print (graph, ADJ_PRINT_NO_METADATA, NULL);
  g_assert_cmpstr (printed, ==, text);
}

/* Compiled autograd of 2.5 and 2.6: four lists, in this order. */
static void
test_compiled_autograd (void)
{
  static const char text[] = "class CompiledAutograd0(torch.nn.Module):\n"
                             "    def forward(self, inputs, sizes, scalars, hooks):\n"
                             "        getitem: \"f32[4][1]cpu\" = inputs[0];  inputs = None\n"
                             "        return []\n";
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  static const char *const names[] = { "inputs", "sizes", "scalars", "hooks" };

  g_assert_cmpuint (adj_graph_get_n_inputs (graph), ==, G_N_ELEMENTS (names));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_assert_cmpstr (adj_graph_get_node (graph, i)->name, ==, names[i]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (candidates); i++)
    {
      g_autofree char *path = g_strdup_printf ("/graph-ir/2.1/%s", candidates[i].name);

      g_test_add_data_func (path, &candidates[i], test_candidate);
    }
  for (guint i = 0; i < G_N_ELEMENTS (vectors); i++)
    {
      g_autofree char *path = g_strdup_printf ("/graph-ir/2.2/%s", vectors[i].name);

      g_test_add_data_func (path, &vectors[i], test_vector);
    }
  g_test_add_func ("/graph-ir/2.2/None", test_none);
  g_test_add_func ("/graph-ir/2.2/gaps-are-normal", test_gaps);
  g_test_add_func ("/graph-ir/2.2/aot0_mul_3", test_any_identifier);
  g_test_add_func ("/graph-ir/2.3/x_1", test_parameters);
  g_test_add_func ("/graph-ir/2.3/primals_1-tangents_1", test_lists);
  g_test_add_func ("/graph-ir/2.3/arg0_1-arg1_1", test_varargs);
  g_test_add_func ("/graph-ir/2.3/L_x_", test_dynamo);
  g_test_add_func ("/graph-ir/2.3/inputs-sizes-scalars-hooks-of-2.6", test_compiled_autograd);
  return g_test_run ();
}
