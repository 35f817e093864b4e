/* SPDX-License-Identifier: MIT */

/* Higher-order operators in every mode, against PyTorch 2.6 (make-higher.py): the captured graph
 * runs, becomes AOTAutograd's joint or inference graph, is unchanged when it is traced again,
 * and computes PyTorch's results and gradients. */

#include <gio/gio.h>
#include <string.h>

#include "adjoint.h"
#include "aot/compile.h"
#include "call/adj-mode.h"
#include "support/adj-test.h"
#include "support/graphs.h"
#include "wrappers/adj-wrappers.h"

#define ULPS 8

typedef struct
{
  GArray *inputs, *outputs, *gradients; /* of GArray of double */
  AdjGraph *dynamo;
  AdjGraph *aot; /* (nullable): PyTorch's joint or inference graph */
} Case;

/* -- reading -- */

static GArray *
read_numbers (const char *text)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  GArray *numbers = g_array_new (FALSE, FALSE, sizeof (double));

  for (guint i = 0; words[i] != NULL; i++)
    {
      double number = g_str_equal (words[i], "True") ? 1 : g_ascii_strtod (words[i], NULL);

      g_array_append_val (numbers, number);
    }
  return numbers;
}

static GArray *
list_new (void)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (GArray *));

  return list;
}

static void
read_line (Case *c, const char *line)
{
  const char *colon = strstr (line, ": ");
  GArray *numbers;

  g_assert_nonnull (colon);
  numbers = read_numbers (colon + 2);
  g_array_append_val (g_str_has_prefix (line, "input")    ? c->inputs
                      : g_str_has_prefix (line, "output") ? c->outputs
                                                          : c->gradients,
                      numbers);
}

static void
case_open (Case *c, const char *name)
{
  g_autofree char *file = g_strdup_printf ("%s.txt", name);
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "aot", "higher", file, NULL);
  g_autofree char *text = adj_test_read_file (path, NULL);
  g_auto (GStrv) parts = g_strsplit (text, "=== ", -1);
  g_auto (GStrv) lines = g_strsplit (parts[0], "\n", -1);

  *c = (Case){ list_new (), list_new (), list_new (), NULL, NULL };
  for (guint i = 0; lines[i] != NULL; i++)
    if (*lines[i] != '\0')
      read_line (c, lines[i]);
  c->dynamo = adj_test_parse_graph (parts[1] + strlen ("dynamo\n"));
  if (parts[2] != NULL)
    c->aot = adj_test_parse_graph (parts[2] + strlen ("aot\n"));
}

static void
list_free (GArray *list)
{
  for (guint i = 0; i < list->len; i++)
    g_array_unref (g_array_index (list, GArray *, i));
  g_array_unref (list);
}

static void
case_clear (Case *c)
{
  list_free (c->inputs);
  list_free (c->outputs);
  list_free (c->gradients);
  adj_graph_unref (c->dynamo);
  if (c->aot != NULL)
    adj_graph_unref (c->aot);
}

/* -- comparing -- */

static void
assert_numbers (AdjTensor *tensor, const GArray *expected)
{
  g_autoptr (AdjTensorData) data = adj_tensor_snapshot (tensor);

  g_assert_cmpint (adj_tensor_data_get_numel (data), ==, expected->len);
  for (guint i = 0; i < expected->len; i++)
    {
      double want = g_array_index (expected, double, i);

      g_assert_cmpfloat_with_epsilon (adj_tensor_data_get_double (data, i), want,
                                      ULPS * 0x1p-24 * MAX (ABS (want), 1));
    }
}

static void
assert_text (const AdjGraph *got, const AdjGraph *expected)
{
  AdjPrintFlags flags = ADJ_PRINT_NO_METADATA | ADJ_PRINT_NO_COMMENTS;
  g_autofree char *a = adj_graph_print (got, flags, NULL);
  g_autofree char *b = adj_graph_print (expected, flags, NULL);

  g_assert_cmpstr (a, ==, b);
}

static AdjTensor *
make_input (const AdjTensorMeta *meta, const GArray *numbers)
{
  gsize size = adj_dtype_info (meta->dtype)->n_bytes;
  g_autofree gpointer bytes = g_malloc0 (size * numbers->len);
  g_autoptr (GBytes) all = NULL;
  g_autoptr (AdjTensorData) data = NULL;
  AdjTensorMeta own = *meta;

  for (guint i = 0; i < numbers->len; i++)
    {
      double number = g_array_index (numbers, double, i);

      if (meta->dtype == ADJ_DTYPE_F32)
        ((float *) bytes)[i] = (float) number;
      else if (meta->dtype == ADJ_DTYPE_I64)
        ((gint64 *) bytes)[i] = (gint64) number;
      else
        ((gint8 *) bytes)[i] = (gint8) number;
    }
  all = g_bytes_new (bytes, size * numbers->len);
  own.storage = -1;
  own.requires_grad = FALSE;
  data = adj_tensor_data_new (&own, all, NULL);
  return adj_tensor_new_from_data (data);
}

/* -- running -- */

static gboolean
append_tensor (const AdjValue *leaf, gpointer data)
{
  if (leaf->kind == ADJ_VALUE_TENSOR)
    g_ptr_array_add (data, leaf->tensor);
  return TRUE;
}

/* Calls @function with PyTorch's inputs and differentiates the sum of its floating-point
 * results. */
static void
check_call (const Case *c, AdjFunction *function)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (GPtrArray) outputs = g_ptr_array_new ();
  g_autoptr (GPtrArray) roots = g_ptr_array_new ();
  guint n = c->inputs->len, next = 0;
  g_autofree AdjValue *inputs = g_new0 (AdjValue, n + 1);
  g_auto (AdjValue) result = ADJ_NONE;
  g_autoptr (GError) error = NULL;

  adj_context_push_mode (cx, adj_autograd_mode_new ());
  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node =
          adj_graph_get_node (c->dynamo, adj_graph_get_input (c->dynamo, i).index);

      inputs[i] = ADJ_TENSOR (
          adj_scope_add (cx, make_input (node->val.meta, g_array_index (c->inputs, GArray *, i))));
      if (node->val.meta->requires_grad)
        adj_tensor_set_requires_grad (cx, inputs[i].tensor, TRUE);
    }
  adj_function_call (function, cx, inputs, n, &result);
  adj_context_take_error (cx, &error);
  g_assert_no_error (error);
  adj_value_foreach (&result, append_tensor, outputs);
  g_assert_cmpuint (outputs->len, ==, c->outputs->len);
  for (guint i = 0; i < outputs->len; i++)
    {
      assert_numbers (outputs->pdata[i], g_array_index (c->outputs, GArray *, i));
      if (adj_tensor_get_requires_grad (outputs->pdata[i]))
        g_ptr_array_add (roots, adj_sum (cx, outputs->pdata[i]));
    }
  if (c->gradients->len > 0)
    adj_backward (cx, &(AdjGradRoots){ (AdjTensor *const *) roots->pdata, NULL, roots->len }, NULL,
                  0, 0);
  adj_context_take_error (cx, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < n; i++)
    if (adj_tensor_get_requires_grad (inputs[i].tensor))
      {
        AdjTensor *grad = adj_tensor_get_grad (inputs[i].tensor);

        g_assert_nonnull (grad);
        assert_numbers (grad, g_array_index (c->gradients, GArray *, next++));
      }
  g_assert_cmpuint (next, ==, c->gradients->len);
}

static void
check_compiled (const Case *c, AdjAotGraph *aot)
{
  static const char *const partitioners[] = { "default", "min-cut" };

  for (guint i = 0; i < G_N_ELEMENTS (partitioners); i++)
    {
      g_autoptr (AdjFunction) compiled = compile_by (aot, partitioners[i]);

      check_call (c, compiled);
    }
}

static void
test_case (gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjAotGraph) aot = NULL;
  g_autoptr (AdjGraph) again = NULL;
  g_autoptr (AdjFunction) function = NULL;
  AdjGraph *graph;
  Case c;

  case_open (&c, data);
  function = adj_graph_function_new (c.dynamo);
  check_call (&c, function);

  aot = adj_aot_trace_graph (c.dynamo, NULL, NULL, &error);
  g_assert_no_error (error);
  graph = adj_aot_graph_get_graph (aot);
  g_assert_true (adj_aot_graph_is_joint (aot) == (c.gradients->len > 0));
  if (c.aot != NULL)
    assert_text (graph, c.aot);
  check_compiled (&c, aot);

  again = adj_retrace (graph, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (adj_graph_equal_structure (graph, again));
  if (c.aot != NULL)
    {
      g_autoptr (AdjGraph) theirs = adj_retrace (c.aot, NULL, &error);

      g_assert_no_error (error);
      g_assert_true (adj_graph_equal_structure (c.aot, theirs));
    }
  case_clear (&c);
}

/* Nodes that the backward of a function computes are tagged as backward even if they read no
 * tangent. */
static void
test_backward_tag (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjAotGraph) aot = NULL;
  AdjGraph *graph;
  Case c;

  case_open (&c, "function");
  aot = adj_aot_trace_graph (c.dynamo, NULL, NULL, &error);
  g_assert_no_error (error);
  graph = adj_aot_graph_get_graph (aot);
  g_assert_true (adj_graph_is_backward (graph, adj_graph_find_node (graph, "cos").index));
  g_assert_false (adj_graph_is_backward (graph, adj_graph_find_node (graph, "sin").index));
  case_clear (&c);
}

/* -- what is refused, by name -- */

#define COND(truth)                                                                                \
  "class GraphModule(torch.nn.Module):\n"                                                          \
  "    def forward(self, x: \"f32[3][1]cpu\"):\n"                                                  \
  "         # File: net.py:7 in forward, code: y = torch.cond(…)\n"                              \
  "        gt = torch.ops.aten.gt.Scalar(x, 0)\n"                                                  \
  "        any_1 = torch.ops.aten.any.default(gt)\n"                                               \
  "        a_0 = self.a_0\n"                                                                       \
  "        b_0 = self.b_0\n"                                                                       \
  "        cond = torch.ops.higher_order.cond(any_1, a_0, b_0, [x])\n"                             \
  "        getitem = cond[0]\n"                                                                    \
  "        return (getitem,)\n"                                                                    \
  "    class a_0(torch.nn.Module):\n"                                                              \
  "        def forward(self, x):\n" truth "    class b_0(torch.nn.Module):\n"                      \
  "        def forward(self, x):\n"                                                                \
  "            cos = torch.ops.aten.cos.default(x)\n"                                              \
  "            return (cos,)\n"

#define LOOP(condition, body)                                                                      \
  "class GraphModule(torch.nn.Module):\n"                                                          \
  "    def forward(self, i: \"i64[][]cpu\", x: \"f32[3][1]cpu\"):\n"                               \
  "         # File: net.py:7 in forward, code: y = while_loop(…)\n"                              \
  "        a_0 = self.a_0\n"                                                                       \
  "        b_0 = self.b_0\n"                                                                       \
  "        while_loop = torch.ops.higher_order.while_loop(a_0, b_0, (i, x), ())\n"                 \
  "        getitem = while_loop[1]\n"                                                              \
  "        return (getitem,)\n"                                                                    \
  "    class a_0(torch.nn.Module):\n"                                                              \
  "        def forward(self, i, x):\n" condition "    class b_0(torch.nn.Module):\n"               \
  "        def forward(self, i, x):\n" body

#define LESS                                                                                       \
  "            lt = torch.ops.aten.lt.Scalar(i, 3)\n"                                              \
  "            return lt\n"
#define NEXT                                                                                       \
  "            add = torch.ops.aten.add.Tensor(i, 1)\n"                                            \
  "            mul = torch.ops.aten.mul.Tensor(x, 2)\n"                                            \
  "            return (add, mul)\n"

static const struct
{
  const char *name;
  const char *text;
  gboolean runs; /* the graph runs in eager mode */
  const char *words[5];
} refusals[] = {
  { "cond/writes-input",
    COND ("            add_ = torch.ops.aten.add_.Tensor(x, 1)\n"
          "            sin = torch.ops.aten.sin.default(x)\n"
          "            return (sin,)\n"),
    TRUE,
    { "cond", "the true branch modifies its input 0", "node 'cond'", "net.py:7" } },
  { "cond/turns-input",
    COND ("            unsqueeze_ = torch.ops.aten.unsqueeze_.default(x, 0)\n"
          "            sin = torch.ops.aten.cos.default(x)\n"
          "            squeeze = torch.ops.aten.squeeze.default(sin)\n"
          "            return (squeeze,)\n"),
    TRUE,
    { "cond", "the true branch modifies its input 0", "node 'cond'", "net.py:7" } },
  { "cond/returns-view",
    COND ("            view = torch.ops.aten.view.default(x, [3])\n"
          "            return (view,)\n"),
    TRUE,
    { "cond", "the true branch returns its input 0 or a view of it", "node 'cond'", "net.py:7" } },
  { "cond/dtypes-differ",
    COND ("            to = torch.ops.aten._to_copy.default(x, dtype = torch.float64)\n"
          "            return (to,)\n"),
    TRUE,
    { "cond", "value 0 of the true branch is f64[3][1]cpu, of the false branch f32[3][1]cpu",
      "node 'cond'", "net.py:7" } },
  { "cond/numbers-differ",
    COND ("            sin = torch.ops.aten.sin.default(x)\n"
          "            return (sin, sin)\n"),
    TRUE,
    { "cond", "the true branch gives 2 values, the false branch 1", "node 'cond'", "net.py:7" } },
  { "cond/sizes-of-data",
    COND ("            nonzero = torch.ops.aten.nonzero.default(x)\n"
          "            return (nonzero,)\n"),
    TRUE,
    { "aten::nonzero", "depends on data", "node 'nonzero'" } },
  { "while_loop/writes-input",
    LOOP (LESS, "            add_ = torch.ops.aten.add_.Tensor(x, 1)\n" NEXT),
    TRUE,
    { "while_loop", "the body modifies its input 1", "node 'while_loop'", "net.py:7" } },
  { "while_loop/returns-input",
    LOOP (LESS,
          "            add = torch.ops.aten.add.Tensor(i, 1)\n"
          "            return (add, x)\n"),
    TRUE,
    { "while_loop", "the body returns its input 1 or a view of it", "node 'while_loop'",
      "net.py:7" } },
  { "while_loop/carry-changes",
    LOOP (LESS,
          "            add = torch.ops.aten.add.Tensor(i, 1)\n"
          "            cat = torch.ops.aten.cat.default([x, x])\n"
          "            return (add, cat)\n"),
    FALSE,
    { "while_loop", "value 1 of what is carried is f32[3][1]cpu, of what the body gives f32[6]",
      "node 'while_loop'", "net.py:7" } },
  { "while_loop/condition-is-no-bool",
    LOOP ("            add = torch.ops.aten.add.Tensor(i, 1)\n"
          "            return add\n",
          NEXT),
    FALSE,
    { "while_loop", "the condition must give a bool", "node 'while_loop'", "net.py:7" } },
};

static void
assert_words (const GError *error, const char *const *words)
{
  g_assert_nonnull (error);
  for (guint i = 0; words[i] != NULL; i++)
    if (strstr (error->message, words[i]) == NULL)
      g_test_fail_printf ("'%s' does not say '%s'", error->message, words[i]);
}

static void
test_refusal (gconstpointer data)
{
  guint index = GPOINTER_TO_UINT (data);
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (refusals[index].text);
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (AdjAotGraph) aot = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) numbers = read_numbers ("0.5 -1 2"), zero = read_numbers ("0");
  guint n = adj_graph_get_n_inputs (graph);
  g_auto (AdjValue) result = ADJ_NONE;
  AdjValue inputs[2];

  for (guint i = 0; i < n; i++)
    inputs[i] = ADJ_TENSOR (adj_scope_add (
        cx, make_input (adj_graph_get_node (graph, i)->val.meta, i + 1 < n ? zero : numbers)));
  adj_interpret (cx, graph, inputs, n, NULL, &result);
  adj_context_take_error (cx, &error);
  if (refusals[index].runs)
    g_assert_no_error (error);
  else
    assert_words (error, refusals[index].words);
  g_clear_error (&error);

  aot = adj_aot_trace_graph (graph, NULL, NULL, &error);
  g_assert_null (aot);
  assert_words (error, refusals[index].words);
}

/* The forward operator has no gradient; asking for one is an error. */
static void
test_no_gradient (void)
{
  g_autoptr (AdjGraph) graph = NULL;
  g_autoptr (AdjAotGraph) aot = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = g_strdup (LOOP (LESS, NEXT));
  g_auto (GStrv) parts = g_strsplit (text, "cpu\"):\n", 2);
  g_autofree char *wanted =
      g_strjoin ("cpu\"):\n        # adj: x {requires_grad: True}\n", parts[0], parts[1], NULL);

  graph = adj_test_parse_graph (wanted);
  aot = adj_aot_trace_graph (graph, NULL, NULL, &error);
  g_assert_null (aot);
  assert_words (error, (const char *[]){ "autograd is not implemented for", "while_loop",
                                         "node 'while_loop'", "net.py:7", NULL });
}

static gpointer
cancel_soon (gpointer cancellable)
{
  g_usleep (20000);
  g_cancellable_cancel (cancellable);
  return NULL;
}

/* A loop that does not end and calls no operator can be cancelled. */
static void
test_cancel (void)
{
  g_autoptr (AdjGraph) graph =
      adj_test_parse_graph (LOOP ("            return True\n", "            return (i, x)\n"));
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  GThread *thread;
  g_autoptr (GArray) numbers = read_numbers ("0.5 -1 2"), zero = read_numbers ("0");
  g_autoptr (GError) error = NULL;
  g_auto (AdjValue) result = ADJ_NONE;
  AdjValue inputs[2];

  inputs[0] =
      ADJ_TENSOR (adj_scope_add (cx, make_input (adj_graph_get_node (graph, 0)->val.meta, zero)));
  inputs[1] = ADJ_TENSOR (
      adj_scope_add (cx, make_input (adj_graph_get_node (graph, 1)->val.meta, numbers)));
  adj_context_set_cancellable (cx, cancellable);
  thread = g_thread_new ("cancel", cancel_soon, cancellable);
  g_assert_false (adj_interpret (cx, graph, inputs, 2, NULL, &result));
  adj_context_take_error (cx, &error);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_thread_join (thread);
}

/* Runs PyTorch's joint graph of a single result with tangents of one; expects the recorded
 * result and gradients. */
static void
check_joint (const Case *c)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (GPtrArray) outputs = g_ptr_array_new ();
  g_autoptr (GArray) ones = g_array_new (FALSE, FALSE, sizeof (double));
  guint n = adj_graph_get_n_inputs (c->aot);
  g_autofree AdjValue *inputs = g_new (AdjValue, n);
  g_auto (AdjValue) result = ADJ_NONE;
  g_autoptr (GError) error = NULL;
  const double one = 1;

  g_assert_cmpuint (n, ==, c->inputs->len + 1);
  for (guint i = 0; i < g_array_index (c->outputs, GArray *, 0)->len; i++)
    g_array_append_val (ones, one);
  for (guint i = 0; i < n; i++)
    inputs[i] = ADJ_TENSOR (adj_scope_add (
        cx,
        make_input (adj_graph_get_node (c->aot, adj_graph_get_input (c->aot, i).index)->val.meta,
                    i + 1 < n ? g_array_index (c->inputs, GArray *, i) : ones)));
  adj_interpret (cx, c->aot, inputs, n, NULL, &result);
  adj_context_take_error (cx, &error);
  g_assert_no_error (error);
  adj_value_foreach (&result, append_tensor, outputs);
  g_assert_cmpuint (outputs->len, ==, 1 + c->gradients->len);
  assert_numbers (outputs->pdata[0], g_array_index (c->outputs, GArray *, 0));
  for (guint i = 0; i < c->gradients->len; i++)
    assert_numbers (outputs->pdata[i + 1], g_array_index (c->gradients, GArray *, i));
}

/* A call that PyTorch's joint graph keeps and ours decomposes: both compute the recorded
 * numbers. */
static void
test_parts (gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjAotGraph) aot = NULL;
  g_autoptr (AdjFunction) function = NULL;
  Case c;

  case_open (&c, data);
  function = adj_graph_function_new (c.dynamo);
  check_call (&c, function);
  aot = adj_aot_trace_graph (c.dynamo, NULL, NULL, &error);
  g_assert_no_error (error);
  check_compiled (&c, aot);
  check_joint (&c);
  case_clear (&c);
}

static const char *const cases[] = {
  "cond",
  "cond_false",
  "cond_grad",
  "cond_grad_false",
  "cond_closure",
  "cond_closure_false",
  "cond_temporary",
  "cond_nested",
  "cond_uneven",
  "cond_uneven_false",
  "cond_index",
  "cond_between",
  "while_loop",
  "while_loop_closure",
  "while_loop_nested",
  "while_loop_never",
  "invoke_subgraph",
  "invoke_subgraph_grad",
  "invoke_subgraph_sum",
  "invoke_subgraph_several",
  "map",
  "map_grad",
  "scan",
  "scan_reverse",
  "scan_newest",
  "scan_reverse_newest",
  "associative_scan",
  "wrap",
  "checkpoint",
  "function",
  "function_inference",
  "function_result",
  "function_several",
  "out_dtype",
};

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/aot/higher/%s", cases[i]);

      g_test_add_data_func (path, cases[i], test_case);
    }
  for (guint i = 0; i < G_N_ELEMENTS (refusals); i++)
    {
      g_autofree char *path = g_strdup_printf ("/aot/higher/refused/%s", refusals[i].name);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_refusal);
    }
  g_test_add_data_func ("/aot/higher/flex", "flex", test_parts);
  g_test_add_data_func ("/aot/higher/flex_grouped", "flex_grouped", test_parts);
  g_test_add_func ("/aot/higher/backward-tag", test_backward_tag);
  g_test_add_func ("/aot/higher/refused/gradient-of-while_loop", test_no_gradient);
  g_test_add_func ("/aot/higher/loop-is-cancelled", test_cancel);
  return g_test_run ();
}
