/* SPDX-License-Identifier: MIT */
/* Verdicts of the comparison for graphs whose answer is known. */

#include <glib.h>
#include <math.h>

#include "adjoint.h"
#include "support/graphs.h"

#define N 6

static AdjGraph *
parse (const char *body)
{
  g_autofree char *text = g_strdup_printf ("class G(torch.nn.Module):\n"
                                           "    def forward(self, x: \"f32[6][1]cpu\"):\n%s",
                                           body);

  return adj_test_parse_graph (text);
}

static AdjTensorData *
make (double first)
{
  AdjTensorMeta meta = {
    .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE, .storage = -1
  };
  gint64 size = N;
  float values[N];
  g_autoptr (GBytes) bytes = NULL;

  for (guint i = 0; i < N; i++)
    values[i] = (float) (first + i);
  adj_shape_init_ints (&meta.shape, 1, &size);
  bytes = g_bytes_new (values, sizeof values);
  return adj_tensor_data_new (&meta, bytes, NULL);
}

/* Without dimensions. */
static AdjTensorData *
make_number (double value)
{
  float number = (float) value;

  return adj_tensor_data_new_from_array (ADJ_DTYPE_F32, NULL, 0, &number, NULL);
}

static AdjTensorData *
make_one (double value)
{
  AdjTensorMeta meta = {
    .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE, .storage = -1
  };
  gint64 size = 1;
  float number = (float) value;
  g_autoptr (GBytes) bytes = g_bytes_new (&number, sizeof number);

  adj_shape_init_ints (&meta.shape, 1, &size);
  return adj_tensor_data_new (&meta, bytes, NULL);
}

/* A peer that recorded only node @name. */
typedef struct
{
  const AdjGraph *graph;
  const char *name;
  AdjTensorData *value;
} Recorded;

static AdjTensorData *
recorded_node (AdjNodeId id, gboolean float64, gpointer data)
{
  const Recorded *recorded = data;
  const AdjNode *node = adj_graph_get_node (recorded->graph, id.index);

  return !float64 && g_str_equal (node->name, recorded->name) ? recorded->value : NULL;
}

static AdjComparison *
compare (AdjGraph *graph, const Recorded *recorded, GError **error)
{
  g_autoptr (AdjTensorData) x = make (0);
  AdjValue input = ADJ_DATA (x);
  AdjComparisonRequest request = {
    .graph = graph,
    .inputs = &input,
    .n_inputs = 1,
    .expected_node = recorded_node,
    .nodes = TRUE,
    .rtol = NAN,
    .atol = NAN,
    .data = (gpointer) recorded,
  };

  return adj_comparison_run (&request, NULL, error);
}

static const AdjValueComparison *
value_of (const AdjComparison *comparison, const AdjGraph *graph, const char *name)
{
  for (guint i = 0; i < comparison->n_nodes; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, comparison->nodes[i].node.index);

      if (g_str_equal (node->name, name))
        return &comparison->nodes[i];
    }
  g_assert_not_reached ();
}

static AdjVerdict
verdict_of (const AdjComparison *comparison, const AdjGraph *graph, const char *name)
{
  return value_of (comparison, graph, name)->verdict;
}

/* A view computes nothing: it differs if its base differs, recorded or not. */
static void
test_views_inherit (void)
{
  g_autoptr (AdjGraph) graph = parse ("        a = torch.ops.aten.add.Tensor(x, 1)\n"
                                      "        view = torch.ops.aten.view.default(a, [2, 3])\n"
                                      "        split = torch.ops.aten.split.Tensor(view, 1)\n"
                                      "        getitem = split[1]\n"
                                      "        other = torch.ops.aten.add.Tensor(x, 2)\n"
                                      "        flat = torch.ops.aten.view.default(other, [3, 2])\n"
                                      "        return (getitem, flat)\n");
  g_autoptr (AdjTensorData) wrong = make (100);
  Recorded recorded = { graph, "a", wrong };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjComparison) comparison = compare (graph, &recorded, &error);

  g_assert_no_error (error);
  g_assert_cmpint (verdict_of (comparison, graph, "a"), ==, ADJ_VERDICT_DIFFERS);
  g_assert_cmpint (verdict_of (comparison, graph, "view"), ==, ADJ_VERDICT_DIFFERS);
  g_assert_cmpint (verdict_of (comparison, graph, "split"), ==, ADJ_VERDICT_DIFFERS);
  g_assert_cmpint (verdict_of (comparison, graph, "getitem"), ==, ADJ_VERDICT_DIFFERS);
  g_assert_cmpint (verdict_of (comparison, graph, "other"), ==, ADJ_VERDICT_EQUAL);
  g_assert_cmpint (verdict_of (comparison, graph, "flat"), ==, ADJ_VERDICT_EQUAL);
}

/* Memory that is filled piecewise is compared once all of it is written. */
static void
test_unset (void)
{
  g_autoptr (AdjGraph) graph =
      parse ("        empty = torch.ops.aten.empty.memory_format([6])\n"
             "        low = torch.ops.aten.slice.Tensor(x, 0, 0, 3)\n"
             "        half = torch.ops.aten.slice_scatter.default(empty, low, 0, 0, 3)\n"
             "        high = torch.ops.aten.slice.Tensor(x, 0, 3, 6)\n"
             "        piece = torch.ops.aten.slice.Tensor(half, 0, 3, 6)\n"
             "        whole = torch.ops.aten.slice_scatter.default(half, high, 0, 3, 6)\n"
             "        return (whole,)\n");
  g_autoptr (AdjTensorData) other = make (100);
  Recorded half = { graph, "half", other }, whole = { graph, "whole", other };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjComparison) unset = compare (graph, &half, &error);
  g_autoptr (AdjComparison) wrong = compare (graph, &whole, &error);

  g_assert_no_error (error);
  g_assert_cmpint (verdict_of (unset, graph, "half"), ==, ADJ_VERDICT_SKIPPED);
  g_assert_cmpint (verdict_of (unset, graph, "piece"), ==, ADJ_VERDICT_SKIPPED);
  g_assert_cmpint (verdict_of (unset, graph, "whole"), ==, ADJ_VERDICT_EQUAL);
  g_assert_cmpint (unset->first, ==, -1);
  g_assert_cmpint (verdict_of (wrong, graph, "whole"), ==, ADJ_VERDICT_DIFFERS);
}

/* Operators that fill uninitialised memory, or overwrite it, do not propagate its state. */
static void
test_filled (void)
{
  g_autoptr (AdjGraph) graph = parse ("        empty = torch.ops.aten.empty_like.default(x)\n"
                                      "        fill = torch.ops.aten.fill.Scalar(empty, 2)\n"
                                      "        copy = torch.ops.aten.copy.default(empty, x)\n"
                                      "        clone = torch.ops.aten.clone.default(empty)\n"
                                      "        return (fill, copy, clone)\n");
  static const struct
  {
    const char *name;
    AdjVerdict verdict;
  } rows[] = { { "fill", ADJ_VERDICT_DIFFERS },
               { "copy", ADJ_VERDICT_DIFFERS },
               { "clone", ADJ_VERDICT_SKIPPED } };
  g_autoptr (AdjTensorData) other = make (100);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      Recorded recorded = { graph, rows[i].name, other };
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjComparison) comparison = compare (graph, &recorded, &error);

      g_assert_no_error (error);
      g_assert_cmpint (verdict_of (comparison, graph, rows[i].name), ==, rows[i].verdict);
    }
}

/* An uninitialised output is not compared either, whether an operator or a method made it. */
static void
test_unset_outputs (void)
{
  g_autoptr (AdjGraph) graph = parse ("        empty = torch.ops.aten.empty.memory_format([6])\n"
                                      "        view = torch.ops.aten.view.default(empty, [2, 3])\n"
                                      "        new = x.new_empty_strided((6,), (1,))\n"
                                      "        a = torch.ops.aten.add.Tensor(x, 1)\n"
                                      "        return (empty, view, new, a)\n");
  const gint64 sizes[] = { 2, 3 };
  const float numbers[N] = { 7, 8, 9, 10, 11, 12 };
  g_autoptr (AdjTensorData) x = make (0);
  g_autoptr (AdjTensorData) other = make (100);
  g_autoptr (AdjTensorData) matrix =
      adj_tensor_data_new_from_array (ADJ_DTYPE_F32, sizes, 2, numbers, NULL);
  g_autoptr (AdjTensorData) right = make (1);
  AdjValue items[] = { ADJ_DATA (other), ADJ_DATA (matrix), ADJ_DATA (other), ADJ_DATA (right) };
  const AdjValue expected = { .kind = ADJ_VALUE_TUPLE, .n = 4, .items = items };
  AdjValue input = ADJ_DATA (x);
  AdjComparisonRequest request = {
    .graph = graph, .inputs = &input, .n_inputs = 1, .expected = &expected, .rtol = NAN, .atol = NAN
  };
  static const AdjVerdict verdicts[] = { ADJ_VERDICT_SKIPPED, ADJ_VERDICT_SKIPPED,
                                         ADJ_VERDICT_SKIPPED, ADJ_VERDICT_EQUAL };

  for (guint nodes = 0; nodes < 2; nodes++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjComparison) comparison = NULL;

      request.nodes = nodes != 0;
      comparison = adj_comparison_run (&request, NULL, &error);
      g_assert_no_error (error);
      for (guint i = 0; i < comparison->n_outputs; i++)
        g_assert_cmpint (comparison->outputs[i].verdict, ==, verdicts[i]);
      g_assert_cmpint (comparison->verdict, ==, ADJ_VERDICT_EQUAL);
    }
}

/* An output that was not recorded is not compared, like a node that was not recorded. */
static void
test_unrecorded_output (void)
{
  g_autoptr (AdjGraph) graph = parse ("        a = torch.ops.aten.add.Tensor(x, 1)\n"
                                      "        b = torch.ops.aten.add.Tensor(x, 2)\n"
                                      "        return (a, b)\n");
  static const char freed[] = "<Tensor f32[6]: not recorded, its memory was freed>";
  g_autoptr (AdjTensorData) x = make (0);
  g_autoptr (AdjTensorData) right = make (1);
  AdjValue items[] = { ADJ_DATA (right),
                       { .kind = ADJ_VALUE_RAW, .n = sizeof freed - 1, .text = freed } };
  const AdjValue expected = { .kind = ADJ_VALUE_TUPLE, .n = 2, .items = items };
  AdjValue input = ADJ_DATA (x);
  AdjComparisonRequest request = {
    .graph = graph, .inputs = &input, .n_inputs = 1, .expected = &expected, .rtol = NAN, .atol = NAN
  };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjComparison) comparison = adj_comparison_run (&request, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpint (comparison->outputs[0].verdict, ==, ADJ_VERDICT_EQUAL);
  g_assert_cmpint (comparison->outputs[1].verdict, ==, ADJ_VERDICT_SKIPPED);
  g_assert_cmpint (comparison->verdict, ==, ADJ_VERDICT_EQUAL);
}

/* One of several results differs; only its own getitem is reported. */
static void
test_items_apart (void)
{
  g_autoptr (AdjGraph) graph = parse ("        max_1 = torch.ops.aten.max.dim(x, 0, True)\n"
                                      "        getitem = max_1[0]\n"
                                      "        getitem_1 = max_1[1]\n"
                                      "        alias = torch.ops.aten.alias.default(getitem)\n"
                                      "        alias_1 = torch.ops.aten.alias.default(getitem_1)\n"
                                      "        return (alias, alias_1)\n");
  g_autoptr (AdjTensorData) wrong = make (100);
  Recorded recorded = { graph, "getitem", wrong };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjComparison) comparison = compare (graph, &recorded, &error);

  g_assert_no_error (error);
  g_assert_cmpint (verdict_of (comparison, graph, "getitem"), ==, ADJ_VERDICT_DIFFERS);
  g_assert_cmpint (verdict_of (comparison, graph, "alias"), ==, ADJ_VERDICT_DIFFERS);
  g_assert_cmpint (verdict_of (comparison, graph, "getitem_1"), ==, ADJ_VERDICT_EQUAL);
  g_assert_cmpint (verdict_of (comparison, graph, "alias_1"), ==, ADJ_VERDICT_EQUAL);
}

typedef struct
{
  const AdjGraph *graph;
  AdjTensorData *variance, *mean;
} Moments;

static AdjTensorData *
recorded_moment (AdjNodeId id, gboolean float64, gpointer data)
{
  const Moments *moments = data;
  const char *name = adj_graph_get_node (moments->graph, id.index)->name;

  if (float64)
    return NULL;
  return g_str_equal (name, "getitem")     ? moments->variance
         : g_str_equal (name, "getitem_1") ? moments->mean
                                           : NULL;
}

/* Of two wrong results the node has the numbers of the worse. */
static void
test_worse_item (void)
{
  g_autoptr (AdjGraph) graph = parse ("        both = torch.ops.aten.var_mean.correction(x, [0])\n"
                                      "        getitem = both[0]\n"
                                      "        getitem_1 = both[1]\n"
                                      "        return (getitem, getitem_1)\n");
  g_autoptr (AdjTensorData) x = make (1);
  g_autoptr (AdjTensorData) variance = make_number (3.5 * 1.01);
  g_autoptr (AdjTensorData) mean = make_number (3.5 * 1.5);
  Moments moments = { graph, variance, mean };
  AdjValue input = ADJ_DATA (x);
  AdjComparisonRequest request = { .graph = graph,
                                   .inputs = &input,
                                   .n_inputs = 1,
                                   .expected_node = recorded_moment,
                                   .nodes = TRUE,
                                   .rtol = NAN,
                                   .atol = NAN,
                                   .data = &moments };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjComparison) comparison = adj_comparison_run (&request, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpint (verdict_of (comparison, graph, "both"), ==, ADJ_VERDICT_DIFFERS);
  g_assert_cmpfloat_with_epsilon (value_of (comparison, graph, "both")->peer, 0.5, 1e-6);
}

/* Numbers of a program are read in the dtype of the run. */
static void
test_literals_in_float64 (void)
{
  static const char *const functions[] = { "tensor", "as_tensor" };

  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    {
      g_autofree char *body =
          g_strdup_printf ("        made = torch.%s([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])\n"
                           "        dot = torch.ops.aten.dot.default(x, made)\n"
                           "        return (dot,)\n",
                           functions[i]);
      g_autoptr (AdjGraph) graph = parse (body);
      Recorded none = { graph, "", NULL };
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjComparison) comparison = compare (graph, &none, &error);

      g_assert_no_error (error);
      g_assert_cmpint (verdict_of (comparison, graph, "made"), ==, ADJ_VERDICT_EQUAL);
      g_assert_cmpint (verdict_of (comparison, graph, "dot"), ==, ADJ_VERDICT_WITHIN);
      g_assert_cmpint (comparison->first, ==, -1);
    }
}

#define BREAKS_DOWN                                                                                \
  "        a = torch.ops.aten.mul.Tensor(x, 7)\n"                                                  \
  "        index = torch.ops.aten._to_copy.default(a, dtype = torch.int64)\n"                      \
  "        taken = torch.ops.aten.index_select.default(x, 0, index)\n"                             \
  "        return (taken,)\n"

/* An index is out of bounds because of an earlier value that differs. */
static void
test_judges_until_it_breaks (void)
{
  g_autoptr (AdjGraph) graph = parse (BREAKS_DOWN);
  g_autoptr (AdjTensorData) right = make (0);
  Recorded recorded = { graph, "a", right };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjComparison) comparison = compare (graph, &recorded, &error);

  g_assert_no_error (error);
  g_assert_nonnull (comparison->failure);
  g_assert_nonnull (g_strstr_len (comparison->failure->message, -1, "'taken'"));
  g_assert_cmpint (comparison->first, ==, 0);
  g_assert_cmpint (comparison->verdict, ==, ADJ_VERDICT_DIFFERS);
}

/* If no earlier value differs, the failure itself is reported. */
static void
test_reports_failure (void)
{
  g_autoptr (AdjGraph) graph = parse (BREAKS_DOWN);
  Recorded recorded = { graph, "none", NULL };
  g_autoptr (GError) error = NULL;

  g_assert_null (compare (graph, &recorded, &error));
  g_assert_nonnull (error);
  g_assert_nonnull (g_strstr_len (error->message, -1, "'taken'"));
}

/* A sum of values with zero mean is zero up to rounding; the remaining rounding error is not a
 * difference. */
static void
test_rounding_of_zero (void)
{
  g_autoptr (AdjGraph) graph = parse ("        c = torch.ops.aten.mul.Tensor(x, 0.1)\n"
                                      "        m = torch.ops.aten.mean.dim(c, [0], True)\n"
                                      "        d = torch.ops.aten.sub.Tensor(c, m)\n"
                                      "        s = torch.ops.aten.sum.dim_IntList(d, [0], True)\n"
                                      "        return (s,)\n");
  g_autoptr (AdjTensorData) rounding = make_one (2e-9), wrong = make_one (3e-5);
  const struct
  {
    AdjTensorData *value;
    AdjVerdict verdict;
  } rows[] = { { rounding, ADJ_VERDICT_WITHIN }, { wrong, ADJ_VERDICT_DIFFERS } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      Recorded recorded = { graph, "s", rows[i].value };
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjComparison) comparison = compare (graph, &recorded, &error);

      g_assert_no_error (error);
      g_assert_cmpint (verdict_of (comparison, graph, "s"), ==, rows[i].verdict);
    }
}

/* A cast to fewer bits rounds and is not a difference. */
static void
test_cast (void)
{
  g_autoptr (AdjGraph) graph =
      parse ("        c = torch.ops.aten.mul.Tensor(x, 0.1)\n"
             "        b = torch.ops.aten._to_copy.default(c, dtype = torch.bfloat16)\n"
             "        view = torch.ops.aten.view.default(b, [2, 3])\n"
             "        return (view,)\n");
  Recorded nothing = { graph, "", NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjComparison) comparison = compare (graph, &nothing, &error);

  g_assert_no_error (error);
  g_assert_cmpint (verdict_of (comparison, graph, "b"), ==, ADJ_VERDICT_EQUAL);
  g_assert_cmpint (verdict_of (comparison, graph, "view"), !=, ADJ_VERDICT_DIFFERS);
}

/* rms_norm without an epsilon uses that of its input's dtype, in the float64 run too. */
static void
test_epsilon_of_type (void)
{
  g_autoptr (AdjGraph) graph = parse ("        tiny = torch.ops.aten.mul.Tensor(x, 0.0001)\n"
                                      "        normed = torch.nn.functional.rms_norm(tiny, [6])\n"
                                      "        return (normed,)\n");
  double squares = 0, root;
  float values[N];
  g_autoptr (AdjTensorData) shape = make (0);
  g_autoptr (AdjTensorData) normed = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AdjComparison) comparison = NULL;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < N; i++)
    squares += 1e-8 * i * i;
  root = sqrt (squares / N + 0x1p-23);
  for (guint i = 0; i < N; i++)
    values[i] = nextafterf ((float) (1e-4 * i / root), 1);
  bytes = g_bytes_new (values, sizeof values);
  normed = adj_tensor_data_new (adj_tensor_data_get_meta (shape), bytes, NULL);
  comparison = compare (graph, &(Recorded){ graph, "normed", normed }, &error);
  g_assert_no_error (error);
  g_assert_cmpint (verdict_of (comparison, graph, "normed"), ==, ADJ_VERDICT_WITHIN);
}

static AdjTensorData *
make_single (float number)
{
  AdjTensorMeta meta = {
    .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE, .storage = -1
  };
  g_autoptr (GBytes) bytes = g_bytes_new (&number, sizeof number);

  return adj_tensor_data_new (&meta, bytes, NULL);
}

/* A graph of compiled autograd has a float64 tensor where PyTorch ran with a number, which does
 * not promote float32 to float64; nothing else may be narrower than the graph says. */
static void
test_lifted_number (void)
{
  g_autoptr (AdjGraph) graph =
      parse ("        number = torch.ops.aten.full.default([], 0.1, dtype = torch.float64)\n"
             "        sum_1 = torch.ops.aten.sum.default(x)\n"
             "        product = torch.ops.aten.mul.Tensor(sum_1, number)\n"
             "        wide = torch.ops.aten._to_copy.default(sum_1, dtype = torch.float64)\n"
             "        return (product, wide)\n");
  g_autoptr (AdjTensorData) right = make_single (1.5f);
  g_autoptr (AdjTensorData) wrong = make_single (1.6f);
  g_autoptr (AdjTensorData) sum = make_single (15);
  const struct
  {
    Recorded recorded;
    gboolean differs;
  } cases[] = { { { graph, "product", right }, FALSE },
                { { graph, "product", wrong }, TRUE },
                { { graph, "wide", sum }, TRUE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const Recorded *recorded = &cases[i].recorded;
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjComparison) comparison = compare (graph, recorded, &error);

      g_assert_no_error (error);
      g_assert_cmpint (verdict_of (comparison, graph, recorded->name) == ADJ_VERDICT_DIFFERS, ==,
                       cases[i].differs);
    }
}

/* The comparison uses a node's input after writes to it by an operator, a method or a function;
 * a value written through a view is unknown. */
static void
test_written (void)
{
  g_autoptr (AdjGraph) graph =
      parse ("        a = torch.ops.aten.mul.Tensor(x, 0.1)\n"
             "        part = torch.ops.aten.slice.Tensor(a, 0, 1, 3)\n"
             "        mul_ = torch.ops.aten.mul_.Tensor(a, 3)\n"
             "        by_operator = torch.ops.aten.sin.default(a)\n"
             "        of_view = torch.ops.aten.sin.default(part)\n"
             "        add_ = a.add_(1)\n"
             "        by_method = torch.ops.aten.sin.default(a)\n"
             "        neg = torch.ops.aten.neg.default(x)\n"
             "        relu = torch.nn.functional.relu(neg, inplace = True)\n"
             "        by_function = torch.ops.aten.cos.default(neg)\n"
             "        fill = torch.ops.aten.fill_.Scalar(part, 7)\n"
             "        through_view = torch.ops.aten.sin.default(a)\n"
             "        return (by_operator, of_view, by_method, "
             "by_function, through_view)\n");
  Recorded nothing = { graph, "", NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjComparison) comparison = compare (graph, &nothing, &error);
  static const struct
  {
    const char *name;
    gboolean judged;
  } rows[] = {
    { "by_operator", TRUE }, { "of_view", FALSE },      { "by_method", TRUE },
    { "by_function", TRUE }, { "through_view", FALSE },
  };

  g_assert_no_error (error);
  g_assert_cmpint (comparison->first, ==, -1);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const AdjValueComparison *value = value_of (comparison, graph, rows[i].name);

      g_assert_cmpint (value->verdict, !=, ADJ_VERDICT_DIFFERS);
      g_assert_cmpint (!isnan (value->own.rel_l2), ==, rows[i].judged);
    }
}

/* Each square is 2⁻²⁴ larger than the subtrahend, and f32 rounds that away: a ReLU then blocks
 * the sum, while it passes it in exact arithmetic and in the peer.  Roundings in one direction
 * reach further than a sample of random ones. */
static void
test_side_of_zero (void)
{
  g_autoptr (GString) body = g_string_new (NULL);
  g_autoptr (AdjGraph) graph = NULL;
  const struct
  {
    double recorded;
    AdjVerdict verdict;
  } rows[] = { { 0, ADJ_VERDICT_WITHIN }, { 1000, ADJ_VERDICT_DIFFERS } };

  g_string_assign (body, "        none = torch.ops.aten.mul.Tensor(x, 0)\n"
                         "        sum_0 = torch.ops.aten.alias.default(none)\n");
  for (guint i = 0; i < 32; i++)
    g_string_append_printf (body,
                            "        a_%u = torch.ops.aten.add.Tensor(none, 1.000244140625)\n"
                            "        m_%u = torch.ops.aten.mul.Tensor(a_%u, a_%u)\n"
                            "        d_%u = torch.ops.aten.sub.Tensor(m_%u, 1.00048828125)\n"
                            "        sum_%u = torch.ops.aten.add.Tensor(sum_%u, d_%u)\n",
                            i, i, i, i, i, i, i + 1, i, i);
  g_string_append (body, "        relu = torch.ops.aten.relu.default(sum_32)\n"
                         "        back = torch.ops.aten.threshold_backward.default(x, relu, 0)\n"
                         "        return (back,)\n");
  graph = parse (body->str);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (AdjTensorData) value = make (rows[i].recorded);
      Recorded recorded = { graph, "back", value };
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjComparison) comparison = compare (graph, &recorded, &error);

      g_assert_no_error (error);
      g_assert_cmpfloat (value_of (comparison, graph, "back")->accumulated, ==, 1);
      g_assert_cmpint (verdict_of (comparison, graph, "back"), ==, rows[i].verdict);
    }
}

static AdjValue
make_state (guint8 last)
{
  g_autoptr (AdjGenerator) generator = adj_generator_new (0);
  const gint64 n = ADJ_GENERATOR_STATE_BYTES;
  guint8 bytes[ADJ_GENERATOR_STATE_BYTES];

  adj_generator_get_state (generator, bytes);
  bytes[n - 1] ^= last;
  return ADJ_DATA (adj_tensor_data_new_from_array (ADJ_DTYPE_U8, &n, 1, bytes, NULL));
}

/* The bytes of a generator's state must be equal; draws from a known state are repeated. */
static void
test_generator_state (void)
{
  g_autoptr (AdjGraph) graph = parse (
      "        saved = torch.ops.higher_order.run_and_save_rng_state(torch.ops.aten.rand.default, "
      "[6], dtype = torch.float32)\n"
      "        state = saved[0]\n"
      "        noise = saved[1]\n"
      "        again = torch.ops.higher_order.run_with_rng_state(state, "
      "torch.ops.aten.rand.default, [6], dtype = torch.float32)\n"
      "        d = torch.ops.aten.sub.Tensor(noise, again)\n"
      "        return (d, state)\n");
  AdjValue state = make_state (0), other = make_state (1);
  AdjValue pair[] = { { .kind = ADJ_VALUE_STRING, .n = 3, .text = "cpu" }, state };
  const AdjValue rng = { .kind = ADJ_VALUE_DICT, .n = 2, .items = pair };
  const struct
  {
    AdjValue *recorded;
    AdjVerdict verdict;
  } rows[] = { { &state, ADJ_VERDICT_EQUAL }, { &other, ADJ_VERDICT_DIFFERS } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (AdjTensorData) x = make (0);
      Recorded recorded = { graph, "state", rows[i].recorded->data };
      AdjValue input = ADJ_DATA (x);
      AdjComparisonRequest request = { .graph = graph,
                                       .inputs = &input,
                                       .n_inputs = 1,
                                       .rng = &rng,
                                       .expected_node = recorded_node,
                                       .nodes = TRUE,
                                       .rtol = NAN,
                                       .atol = NAN,
                                       .data = &recorded };
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjComparison) comparison = adj_comparison_run (&request, NULL, &error);

      g_assert_no_error (error);
      g_assert_cmpint (verdict_of (comparison, graph, "state"), ==, rows[i].verdict);
      g_assert_cmpfloat (value_of (comparison, graph, "d")->difference.max_abs, ==, 0);
    }
  adj_value_clear (&state);
  adj_value_clear (&other);
}

/* In eval mode nothing is drawn: the noise is returned unchanged and the slope is known. */
static void
test_rrelu_in_eval (void)
{
  g_autoptr (AdjGraph) graph =
      parse ("        noise = torch.ops.aten.mul.Tensor(x, 3)\n"
             "        neg = torch.ops.aten.neg.default(x)\n"
             "        rrelu = torch.ops.aten.rrelu_with_noise_functional.default(neg, noise, 0.1, "
             "0.3, False)\n"
             "        out = rrelu[0]\n"
             "        noise_out = rrelu[1]\n"
             "        return (out, noise_out)\n");
  static const struct
  {
    const char *node;
    double factor;
    AdjVerdict verdict;
  } rows[] = {
    { "noise_out", 3, ADJ_VERDICT_EQUAL },
    { "noise_out", 3.001, ADJ_VERDICT_DIFFERS },
    { "out", -0.2, ADJ_VERDICT_EQUAL },
    { "out", -0.21, ADJ_VERDICT_DIFFERS },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const gint64 n = N;
      float numbers[N];
      g_autoptr (AdjTensorData) value = NULL;
      Recorded recorded = { graph, rows[i].node, NULL };
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjComparison) comparison = NULL;

      for (guint k = 0; k < N; k++)
        numbers[k] = (float) (rows[i].factor * k);
      recorded.value = value = adj_tensor_data_new_from_array (ADJ_DTYPE_F32, &n, 1, numbers, NULL);
      comparison = compare (graph, &recorded, &error);
      g_assert_no_error (error);
      g_assert_cmpint (verdict_of (comparison, graph, rows[i].node), ==, rows[i].verdict);
    }
}

/* Functions under their Python names are perturbed by roundings as operators are: a difference
 * that rounding explains, after cancellation, is not reported.  A graph that writes is not
 * perturbed. */
static void
test_names_of_python (void)
{
  static const struct
  {
    const char *near;
    AdjVerdict verdict;
  } rows[] = { { "operator.mul(big, 1.0000001)", ADJ_VERDICT_WITHIN },
               { "torch.mul(big, 1.0000001)", ADJ_VERDICT_WITHIN },
               { "big.mul(1.0000001)", ADJ_VERDICT_WITHIN },
               { "big.mul_(1.0000001)", ADJ_VERDICT_DIFFERS } };
  const gint64 size = N;
  float exact[N];
  g_autoptr (AdjTensorData) truth = NULL;

  for (guint i = 0; i < N; i++)
    exact[i] = (float) (exp (i) * 1e-7);
  truth = adj_tensor_data_new_from_array (ADJ_DTYPE_F32, &size, 1, exact, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *body = g_strdup_printf ("        big = x.exp()\n"
                                               "        same = x.exp()\n"
                                               "        near = %s\n"
                                               "        a = operator.sub(near, same)\n"
                                               "        return (a,)\n",
                                               rows[i].near);
      g_autoptr (AdjGraph) graph = parse (body);
      const Recorded recorded = { graph, "a", truth };
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjComparison) comparison = compare (graph, &recorded, &error);

      g_assert_no_error (error);
      g_assert_cmpint (verdict_of (comparison, graph, "a"), ==, rows[i].verdict);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/exec/comparison/views-inherit", test_views_inherit);
  g_test_add_func ("/exec/comparison/unset", test_unset);
  g_test_add_func ("/exec/comparison/filled", test_filled);
  g_test_add_func ("/exec/comparison/unset-outputs", test_unset_outputs);
  g_test_add_func ("/exec/comparison/unrecorded-output", test_unrecorded_output);
  g_test_add_func ("/exec/comparison/generator-state", test_generator_state);
  g_test_add_func ("/exec/comparison/rrelu-in-eval", test_rrelu_in_eval);
  g_test_add_func ("/exec/comparison/items-apart", test_items_apart);
  g_test_add_func ("/exec/comparison/worse-item", test_worse_item);
  g_test_add_func ("/exec/comparison/literals-in-float64", test_literals_in_float64);
  g_test_add_func ("/exec/comparison/judges-until-it-breaks", test_judges_until_it_breaks);
  g_test_add_func ("/exec/comparison/reports-failure", test_reports_failure);
  g_test_add_func ("/exec/comparison/rounding-of-zero", test_rounding_of_zero);
  g_test_add_func ("/exec/comparison/side-of-zero", test_side_of_zero);
  g_test_add_func ("/exec/comparison/cast", test_cast);
  g_test_add_func ("/exec/comparison/epsilon-of-type", test_epsilon_of_type);
  g_test_add_func ("/exec/comparison/lifted-number", test_lifted_number);
  g_test_add_func ("/exec/comparison/written", test_written);
  g_test_add_func ("/exec/comparison/names-of-python", test_names_of_python);

  return g_test_run ();
}
