/* SPDX-License-Identifier: MIT */

/* Operators defined by a program with the installed headers only. */

#include <adjoint-extend.h>
#include <string.h>
#include <wrappers/adj-wrappers.h>

static const AdjOp cube_record = {
  .schema = "mine::cube(Tensor self) -> Tensor",
  .expr = "self * self * self",
  .grad = "self: mul.Tensor(g, mul.Scalar(square(self), 3))",
  .promote = ADJ_PROMOTE_FLOAT,
  .band = ADJ_BAND_ROUNDED,
};

static const AdjOp composite_record = {
  .schema = "mine::double_sine(Tensor self) -> Tensor",
  .decompose = "mul.Scalar(sin(self), 2)",
  .flags = ADJ_OP_COMPOSITE,
};

/* Accepts one dense float32 dimension. */
static gboolean
reverse_meta (AdjOpCall *call)
{
  const AdjTensorMeta *meta = adj_op_call_meta (call, 0);

  if (meta->shape.rank != 1)
    return adj_op_call_fail (call, "expects one dimension");
  adj_op_call_add (call, meta->dtype, &meta->shape);
  return TRUE;
}

static gboolean
reverse_kernel (AdjOpCall *call)
{
  AdjTensor *self = adj_op_call_tensor (call, 0);
  const float *in = adj_storage_read (adj_tensor_get_storage (self));
  float *out = adj_storage_write (adj_tensor_get_storage (call->results[0].tensor));
  gint64 n = adj_tensor_get_size (self, 0);

  for (gint64 i = 0; i < n; i++)
    out[i] = in[n - 1 - i];
  return TRUE;
}

static const AdjOp reverse_record = {
  .schema = "mine::reverse(Tensor self) -> Tensor",
  .meta = reverse_meta,
  .kernel = reverse_kernel,
  .flags = ADJ_OP_NO_GRADIENT,
};

typedef struct
{
  AdjFunction parent;
  const AdjOp *op;
} CallOp;

static gboolean
call_op (AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n, AdjValue *result)
{
  AdjValue taken = { .kind = ADJ_VALUE_TUPLE, .n = n, .items = (AdjValue *) args };
  AdjValue made;

  if (!adj_call (cx, ((CallOp *) function)->op, &taken, NULL, &made))
    return FALSE;
  *result = adj_value_copy (&made);
  return TRUE;
}

static AdjFunction *
call_op_new (const AdjOp *op)
{
  static const AdjFunctionClass klass = { .name = "call-op", .call = call_op };
  AdjFunction *function = adj_function_new (&klass, sizeof (CallOp));

  ((CallOp *) function)->op = op;
  return function;
}

static AdjOp *
op_new (const AdjOp *record)
{
  g_autoptr (GError) error = NULL;
  AdjOp *op = adj_op_new (record, &error);

  g_assert_no_error (error);
  return op;
}

static void
test_computes (void)
{
  g_autoptr (AdjOp) cube = op_new (&cube_record);
  g_autoptr (AdjFunction) function = call_op_new (cube);
  g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
  AdjTensor *x = adj_full (cx, (gint64[]){ 2 }, 1, ADJ_FLOAT (2));
  g_auto (AdjValue) y = ADJ_NONE;

  adj_tensor_set_requires_grad (cx, x, TRUE);
  g_assert_true (adj_function_call (function, cx, &ADJ_TENSOR (x), 1, &y));
  g_assert_cmpfloat (adj_item (cx, adj_sum (cx, y.tensor)), ==, 16);
  g_assert_true (adj_tensor_backward (cx, adj_sum (cx, y.tensor)));
  g_assert_cmpfloat (adj_item (cx, adj_sum (cx, adj_tensor_get_grad (x))), ==, 24);
  g_assert_false (adj_context_has_error (cx));
}

/* Expects a node of @graph to call @op itself, not an unknown operator of that name. */
static void
assert_calls (AdjGraph *graph, const AdjOp *op)
{
  const char *target = adj_op_get_schema (op)->target;
  guint n = 0;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);

      if (g_strcmp0 (node->target, target) != 0)
        continue;
      g_assert_true (node->op == op);
      n++;
    }
  g_assert_cmpuint (n, >, 0);
}

static void
test_is_traced (void)
{
  g_autoptr (AdjOp) cube = op_new (&cube_record);
  g_autoptr (AdjFunction) function = call_op_new (cube);
  g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
  AdjTensor *x = adj_full (cx, (gint64[]){ 2 }, 1, ADJ_FLOAT (3));
  g_autoptr (AdjGraph) graph = NULL;
  g_autoptr (AdjAotGraph) joint = NULL;
  g_autoptr (AdjPartition) partition = NULL;
  g_autoptr (GError) error = NULL;
  g_auto (AdjValue) y = ADJ_NONE;

  graph = adj_trace (function, &ADJ_TENSOR (x), 1, NULL, &error);
  g_assert_no_error (error);
  assert_calls (graph, cube);
  g_assert_true (adj_interpret (cx, graph, &ADJ_TENSOR (x), 1, NULL, &y));
  g_assert_cmpfloat (adj_item (cx, adj_sum (cx, y.tensor)), ==, 54);

  adj_tensor_set_requires_grad (cx, x, TRUE);
  joint = adj_aot_trace (function, &ADJ_TENSOR (x), 1, NULL, NULL, &error);
  g_assert_no_error (error);
  assert_calls (adj_aot_graph_get_graph (joint), cube);
  partition = adj_partition (adj_partitioner_find ("min-cut", NULL),
                             adj_aot_graph_get_graph (joint), NULL, &error);
  g_assert_no_error (error);
  assert_calls (partition->forward, cube);
}

static void
test_survives_passes (void)
{
  g_autoptr (AdjOp) cube = op_new (&cube_record);
  g_autoptr (AdjFunction) function = call_op_new (cube);
  g_autoptr (AdjContext) cx = adj_context_new ();
  AdjTensor *x = adj_full (cx, (gint64[]){ 2 }, 1, ADJ_FLOAT (3));
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_trace (function, &ADJ_TENSOR (x), 1, NULL, &error);
  static const char *const names[] = { "dce", "cse", "normalise" };

  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      AdjPassResult result = { 0 };

      adj_pass_run (adj_pass_find (names[i], NULL), NULL, graph, &result, &error);
      g_assert_no_error (error);
      assert_calls (result.graph, cube);
      adj_pass_result_clear (&result);
    }
}

static void
test_composite (void)
{
  g_autoptr (AdjOp) op = op_new (&composite_record);
  g_autoptr (AdjFunction) function = call_op_new (op);
  g_autoptr (AdjContext) cx = adj_context_new ();
  AdjTensor *x = adj_full (cx, (gint64[]){ 2 }, 1, ADJ_FLOAT (3));
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_trace (function, &ADJ_TENSOR (x), 1, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (adj_graph_get_n_calls (graph), ==, 2);
}

static void
test_functions (void)
{
  g_autoptr (AdjOp) op = op_new (&reverse_record);
  g_autoptr (AdjFunction) function = call_op_new (op);
  g_autoptr (AdjContext) cx = adj_context_new ();
  AdjTensor *x = adj_from_array (cx, ADJ_DTYPE_F32, (gint64[]){ 3 }, 1, (float[]){ 1, 2, 3 });
  g_autoptr (AdjTensorData) data = NULL;
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  g_auto (AdjValue) y = ADJ_NONE;

  g_assert_true (adj_function_call (function, cx, &ADJ_TENSOR (x), 1, &y));
  data = adj_tensor_snapshot (y.tensor);
  text = adj_tensor_data_print (data, 10);
  g_assert_cmpstr (text, ==, "tensor([3., 2., 1.])");
  adj_value_clear (&y);

  x = adj_full (cx, (gint64[]){ 1, 1 }, 2, ADJ_FLOAT (1));
  g_assert_false (adj_function_call (function, cx, &ADJ_TENSOR (x), 1, &y));
  g_assert_true (adj_context_take_error (cx, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, "mine::reverse"));
}

static void
test_bad_records (void)
{
  static const struct
  {
    AdjOp record;
    const char *says;
  } rows[] = {
    { { .schema = "mine::cut(Tensor self" }, "schema 'mine::cut" },
    { { .schema = "mine::f(Tensor self) -> Tensor", .expr = "self +" }, "" },
    { { .schema = "mine::f(Tensor self) -> Tensor", .grad = "other: g" }, "'other'" },
    { { .schema = "mine::f(Tensor self) -> Tensor", .grad = "self: nobody(g)" }, "'nobody'" },
    { { .schema = "mine::f(Tensor self) -> Tensor", .grad = "self: h" }, "names 'h'" },
    { { .schema = "mine::f(Tensor self) -> Tensor", .grad = "self: g +" }, "mine::f" },
    { { .schema = "mine::f(Tensor self) -> Tensor", .decompose = "self @ self" }, "mine::f" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (adj_op_new (&rows[i].record, &error));
      g_assert_error (error, ADJ_ERROR, ADJ_ERROR_PARSE);
      g_test_message ("%s", error->message);
      g_assert_nonnull (strstr (error->message, rows[i].says));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/own-op/computes-and-differentiates", test_computes);
  g_test_add_func ("/own-op/of-functions", test_functions);
  g_test_add_func ("/own-op/is-traced-and-partitioned", test_is_traced);
  g_test_add_func ("/own-op/survives-passes", test_survives_passes);
  g_test_add_func ("/own-op/composite", test_composite);
  g_test_add_func ("/own-op/bad-records-are-errors", test_bad_records);
  return g_test_run ();
}
