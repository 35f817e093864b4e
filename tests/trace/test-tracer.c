/* SPDX-License-Identifier: MIT */
/* The tracer: errors, items of tuples, captured tensors. */

#include <glib.h>
#include <string.h>

#include "adjoint.h"
#include "call/adj-mode.h"
#include "support/adj-test.h"
#include "support/graphs.h"

/* -- functions to trace ---- */

typedef struct _Function Function;

struct _Function
{
  AdjFunction parent;
  void (*body) (const Function *function, AdjContext *cx, AdjValue x);
  AdjTensor *captured; /* (unowned) (nullable) */
};

/* Returns its argument: the tests look at the nodes that its body makes. */
static gboolean
function_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  ((Function *) function)->body ((Function *) function, cx, args[0]);
  *result = adj_value_copy (&args[0]);
  return !adj_context_has_error (cx);
}

static const AdjFunctionClass function_class = { .name = "test", .call = function_call };

static AdjTensorMeta
make_meta (AdjDType dtype)
{
  AdjTensorMeta meta = { .dtype = dtype, .device = ADJ_CPU, .has_strides = TRUE, .storage = -1 };

  adj_shape_init_ints (&meta.shape, 2, (gint64[]){ 2, 3 });
  return meta;
}

static AdjGraph *
trace (void (*body) (const Function *, AdjContext *, AdjValue), AdjTensor *captured, GError **error)
{
  g_autoptr (AdjFunction) function = adj_function_new (&function_class, sizeof (Function));
  AdjTensorMeta meta = make_meta (ADJ_DTYPE_F32);
  AdjValue x = { .kind = ADJ_VALUE_META, .meta = &meta };

  ((Function *) function)->body = body;
  ((Function *) function)->captured = captured;
  return adj_trace (function, &x, 1, NULL, error);
}

static AdjValue
call2 (AdjContext *cx, const char *target, AdjValue a, AdjValue b)
{
  AdjValue args[] = { a, b };
  AdjValue result;

  adj_call (cx, adj_op_find (target), &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 2, .items = args },
            NULL, &result);
  return result;
}

#define ADD "torch.ops.aten.add.Tensor"

/* -- errors ---- */

static void
assert_failed (const AdjGraph *graph, const GError *error, AdjError code, const char *const *words)
{
  g_assert_null (graph);
  g_assert_error (error, ADJ_ERROR, (gint) code);
  for (guint i = 0; words[i] != NULL; i++)
    if (strstr (error->message, words[i]) == NULL)
      g_test_fail_printf ("'%s' does not say '%s'", error->message, words[i]);
}

static void
add_captured (const Function *function, AdjContext *cx, AdjValue x)
{
  call2 (cx, ADD, x, ADJ_TENSOR (function->captured));
}

static void
test_fake_of_no_input (void)
{
  g_autoptr (GError) error = NULL;
  AdjTensorMeta meta = make_meta (ADJ_DTYPE_F32);
  g_autoptr (AdjTensor) fake = adj_tensor_new_empty (&meta, NULL, TRUE);
  g_autoptr (AdjGraph) graph = trace (add_captured, fake, &error);

  assert_failed (graph, error, ADJ_ERROR_UNSUPPORTED,
                 (const char *[]){ "aten::add.Tensor", "fake tensor", "no input", NULL });
}

static void
trace_inside (const Function *function, AdjContext *cx, AdjValue x)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = trace (add_captured, x.tensor, &error);

  assert_failed (graph, error, ADJ_ERROR_UNSUPPORTED,
                 (const char *[]){ "aten::add.Tensor", "of another trace", NULL });
  /* The outer trace is not affected. */
  call2 (cx, ADD, x, x);
}

static void
test_tensor_of_another_trace (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = trace (trace_inside, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (adj_graph_get_n_calls (graph), ==, 1);
}

static AdjGraph *
retrace_text (const char *parameters, const char *body, GError **error)
{
  g_autofree char *text = g_strdup_printf ("class GraphModule(torch.nn.Module):\n"
                                           "    def forward(self, %s):\n%s",
                                           parameters, body);
  g_autoptr (GError) parse_error = NULL;
  g_autoptr (AdjGraph) graph = adj_graph_parse (text, -1, adj_op_find, NULL, &parse_error);

  g_assert_no_error (parse_error);
  return adj_retrace (graph, NULL, error);
}

static void
test_data_dependent (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) unknown = NULL;
  g_autoptr (AdjGraph) graph = retrace_text ("x: \"f32[4][1]cpu\", m: \"b8[4][1]cpu\"",
                                             "        index = torch.ops.aten.index.Tensor(x, [m])\n"
                                             "        return (index,)\n",
                                             &error);
  g_autoptr (AdjGraph) other =
      retrace_text ("x: \"f32[4][1]cpu\"",
                    "        n = torch.ops.aten._local_scalar_dense.default(x)\n"
                    "        return (n,)\n",
                    &unknown);

  assert_failed (graph, error, ADJ_ERROR_UNSUPPORTED,
                 (const char *[]){ "aten::index.Tensor", "node 'index'", NULL });
  assert_failed (other, unknown, ADJ_ERROR_UNSUPPORTED,
                 (const char *[]){ "_local_scalar_dense", "node 'n'", NULL });
}

static void
test_wrong_shapes (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph =
      retrace_text ("x: \"f32[4, 3][3, 1]cpu\"",
                    "         # File: net.py:7 in forward, code: y = x @ x\n"
                    "        mm = torch.ops.aten.mm.default(x, x)\n"
                    "        return (mm,)\n",
                    &error);

  assert_failed (graph, error, ADJ_ERROR_SHAPE,
                 (const char *[]){ "aten::mm", "node 'mm'", "net.py:7", NULL });
}

static void
test_real_needs_bytes (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjFunction) function = adj_function_new (&function_class, sizeof (Function));
  AdjTensorMeta meta = make_meta (ADJ_DTYPE_F32);
  AdjValue x = { .kind = ADJ_VALUE_META, .meta = &meta };
  g_autoptr (AdjGraph) graph =
      adj_trace (function, &x, 1, &(AdjTraceOptions){ .real = TRUE }, &error);

  assert_failed (graph, error, ADJ_ERROR_UNSUPPORTED, (const char *[]){ "no bytes", NULL });
}

/* -- what a trace says ---- */

static void
test_worked_example (void)
{
  static const char text[] =
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, primals_1: \"f32[s27, 3][3, 1]cpu\", s27: \"Sym(s27)\"):\n"
      "         # File: /home/u/net.py:12 in forward, code: y = x.relu()  # three columns\n"
      "        relu: \"f32[s27, 3][3, 1]cpu\" = torch.ops.aten.relu.default(primals_1)\n"
      "        split = torch.ops.aten.split.Tensor(relu, 1, 1)\n"
      "        getitem: \"f32[s27, 1][3, 1]cpu\" = split[0]\n"
      "        # No stacktrace found for following nodes\n"
      "        full_default: \"f32[][]cpu\" = torch.ops.aten.full.default([], -inf, dtype = "
      "torch.float32, layout = torch.strided, device = device(type='cpu'), pin_memory = False)\n"
      "        mul: \"Sym(2*s27)\" = s27 * 2\n"
      "        view: \"f32[s27][3]cpu\" = torch.ops.aten.select.int(getitem, 1, 0)\n"
      "        return (view, full_default, mul)\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  g_autoptr (AdjGraph) again = adj_retrace (graph, NULL, &error);
  const char *const names[] = { "primals_1", "s27",  "relu", "split",
                                "getitem",   "full", "mul",  "select" };

  g_assert_true (adj_graph_equal_structure (graph, again));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_assert_cmpstr (adj_graph_get_node (again, i)->name, ==, names[i]);
}

static void
test_names (void)
{
  /* ir/SPEC.md §2.2: numbering continues after the names of inputs. */
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph =
      retrace_text ("add: \"f32[4][1]cpu\", add_7: \"f32[4][1]cpu\"",
                    "        a = torch.ops.aten.add.Tensor(add, add_7)\n"
                    "        b = torch.ops.aten.add.Tensor(a, a)\n"
                    "        c = torch.ops.aten.abs.default(b)\n"
                    "        d = torch.ops.aten.abs.default(c)\n"
                    "        e = torch.ops.aten._to_copy.default(d, dtype = torch.float64)\n"
                    "        f = torch.ops.aten.add_.Tensor(e, 1)\n"
                    "        g = torch.ops.aten.add_.Tensor(f, 1)\n"
                    "        return (g,)\n",
                    &error);
  const char *const names[] = { "add",   "add_7",    "add_8", "add_9",  "abs_1",
                                "abs_2", "_to_copy", "add_",  "add__1", "output" };

  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_assert_cmpstr (adj_graph_get_node (graph, i)->name, ==, names[i]);
}

static void
at_places (const Function *function, AdjContext *cx, AdjValue x)
{
  AdjPlace place = { .file = "net.c", .line = 7 };

  adj_context_set_place (cx, &place);
  call2 (cx, ADD, x, x);
  adj_context_set_place (cx, NULL);
  call2 (cx, ADD, x, x);
}

static void
test_places (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = trace (at_places, NULL, &error);
  const AdjNode *node;

  g_assert_no_error (error);
  node = adj_graph_get_node (graph, 1);
  g_assert_cmpuint (node->meta.n_frames, ==, 1);
  g_assert_cmpstr (node->meta.frames[0].file, ==, "net.c");
  g_assert_cmpuint (node->meta.frames[0].line, ==, 7);
  g_assert_cmpstr (node->meta.original_aten, ==, ADD);
  g_assert_null (adj_graph_get_node (graph, 2)->meta.stack_trace);
}

static gint32
storage_of (const AdjGraph *graph, const char *name)
{
  const AdjNode *node = adj_graph_get_node (graph, adj_graph_find_node (graph, name).index);

  g_assert_cmpint (node->val.kind, ==, ADJ_VALUE_META);
  return node->val.meta->storage;
}

static void
test_aliases (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph =
      retrace_text ("x: \"f32[4, 4][4, 1]cpu\", y: \"f32[4][1]cpu\", z: \"f32[4][1]cpu\"",
                    "        # adj: x {alias: 5}\n"
                    "        # adj: y {alias: 5}\n"
                    "        t = torch.ops.aten.t.default(x)\n"
                    "        add = torch.ops.aten.add.Tensor(t, z)\n"
                    "        add_ = torch.ops.aten.add_.Tensor(t, z)\n"
                    "        return (add, add_)\n",
                    &error);

  g_assert_no_error (error);
  g_assert_cmpint (storage_of (graph, "x"), ==, 0);
  g_assert_cmpint (storage_of (graph, "y"), ==, 0);
  g_assert_cmpint (storage_of (graph, "z"), ==, 1);
  g_assert_cmpint (storage_of (graph, "t"), ==, 0);
  g_assert_cmpint (storage_of (graph, "add"), ==, 2);
  g_assert_cmpint (storage_of (graph, "add_"), ==, 0);
}

/* A getitem with no users is kept if the graph contains it; otherwise it is added only where
 * make_fx adds it. */
static void
test_items (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = retrace_text ("x: \"f32[4, 2][2, 1]cpu\"",
                                             "        split = torch.ops.aten.split.Tensor(x, 2)\n"
                                             "        one = split[1]\n"
                                             "        sin = torch.ops.aten.sin.default(x)\n"
                                             "        zero = split[0]\n"
                                             "        return (sin, zero)\n",
                                             &error);
  g_autofree char *text = NULL;

  g_assert_no_error (error);
  text = adj_graph_print (graph, ADJ_PRINT_NO_METADATA | ADJ_PRINT_NO_COMMENTS, NULL);
  g_assert_nonnull (strstr (text, "getitem: \"f32[2, 2][2, 1]cpu\" = split[1]"));
  g_assert_nonnull (strstr (text, "getitem_1: \"f32[2, 2][2, 1]cpu\" = split[0]"));
  g_assert_cmpuint (adj_graph_get_n_calls (graph), ==, 4);
}

/* -- values ---- */

static void
test_real (void)
{
  static const float numbers[] = { 1, 2, 3, 4, 5, 6 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = g_bytes_new_static (numbers, sizeof numbers);
  AdjTensorMeta meta = make_meta (ADJ_DTYPE_F32);
  g_autoptr (AdjTensorData) data = adj_tensor_data_new (&meta, bytes, NULL);
  g_autoptr (AdjTensor) captured = adj_tensor_new_from_data (data);
  g_autoptr (AdjFunction) function = adj_function_new (&function_class, sizeof (Function));
  g_autoptr (AdjGraph) graph = NULL;
  const AdjValue *constant;

  ((Function *) function)->body = add_captured;
  ((Function *) function)->captured = captured;
  graph = adj_trace (function, &ADJ_DATA (data), 1, &(AdjTraceOptions){ .real = TRUE }, &error);
  g_assert_no_error (error);
  constant = adj_graph_find_attr (graph, "_tensor_constant0");
  g_assert_nonnull (constant);
  g_assert_cmpfloat (adj_tensor_data_get_double (constant->data, 5), ==, 6);
  g_assert_cmpstr (adj_graph_get_node (graph, 0)->name, ==, "arg0_1");
}

static gpointer
retrace_in_thread (gpointer graph)
{
  g_autoptr (GError) error = NULL;
  AdjGraph *again = NULL;

  for (guint i = 0; i < 8; i++)
    {
      g_clear_pointer (&again, adj_graph_unref);
      again = adj_retrace (graph, NULL, &error);
      g_assert_no_error (error);
    }
  return again;
}

static void
test_threads (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = adj_test_data_path ("graphs/mlp.adjoint");
  g_autoptr (AdjBundle) bundle = adj_bundle_load (path, NULL, &error);
  AdjGraph *graph = adj_bundle_find_graph (bundle, "joint", NULL)->graph;
  GThread *thread = g_thread_new ("trace", retrace_in_thread, graph);
  g_autoptr (AdjGraph) here = retrace_in_thread (graph);
  g_autoptr (AdjGraph) there = g_thread_join (thread);
  g_autofree char *text_here = adj_graph_print (here, ADJ_PRINT_DEFAULT, NULL);
  g_autofree char *text_there = adj_graph_print (there, ADJ_PRINT_DEFAULT, NULL);

  g_assert_cmpstr (text_here, ==, text_there);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/trace/errors/fake-of-no-input", test_fake_of_no_input);
  g_test_add_func ("/trace/errors/tensor-of-another-trace", test_tensor_of_another_trace);
  g_test_add_func ("/trace/errors/data-dependent", test_data_dependent);
  g_test_add_func ("/trace/errors/wrong-shapes", test_wrong_shapes);
  g_test_add_func ("/trace/errors/real-needs-bytes", test_real_needs_bytes);
  g_test_add_func ("/trace/tracer/worked-example", test_worked_example);
  g_test_add_func ("/trace/tracer/names", test_names);
  g_test_add_func ("/trace/tracer/places", test_places);
  g_test_add_func ("/trace/tracer/aliases", test_aliases);
  g_test_add_func ("/trace/tracer/items", test_items);
  g_test_add_func ("/trace/tracer/real", test_real);
  g_test_add_func ("/trace/tracer/two-threads", test_threads);
  return g_test_run ();
}
