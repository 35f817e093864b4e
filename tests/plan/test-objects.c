/* SPDX-License-Identifier: MIT */
/* Plans of graphs that call methods of objects. */

#include "call/adj-object.h"
#include "exec/adj-executor.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "objects/adj-object-table.h"
#include "objects/adj-object-text.h"
#include "ops/adj-op-id.h"
#include "ops/adj-op-table.h"
#include "plan-check.h"
#include "plan/adj-plan-parts.h"
#include "rules/adj-apply.h"
#include "trace/adj-trace.h"

enum
{
  N = 5
};

typedef struct
{
  AdjFunction parent;
  gboolean unpacks;
} Layers;

/* Two layers of one object; and the weight that it gives back. */
static gboolean
call (AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjObject *layer = adj_object_from_opaque (args[0].object);
  AdjValue hidden, given;
  AdjTensor *active, *sum;

  if (!adj_object_call (cx, layer, "forward", &args[1], 1, NULL, &hidden))
    return FALSE;
  active = ADJ_APPLY (cx, ADJ_OP_relu, hidden);
  if (active == NULL ||
      !adj_object_call (cx, layer, "forward", &ADJ_TENSOR (active), 1, NULL, &given))
    return FALSE;
  sum = given.tensor;
  if (((Layers *) function)->unpacks)
    {
      if (!adj_object_call (cx, layer, "unpack", NULL, 0, NULL, &given))
        return FALSE;
      sum = ADJ_APPLY (cx, ADJ_OP_mm, ADJ_TENSOR (sum), given.items[0]);
    }
  *result = adj_value_new_items (ADJ_VALUE_TUPLE, &ADJ_TENSOR (adj_keep (sum)), 1);
  return sum != NULL;
}

static AdjTensorData *
numbers_new (guint rank)
{
  const gint64 sizes[] = { N, N };
  float numbers[N * N];

  for (guint i = 0; i < N * N; i++)
    numbers[i] = (float) (i * 7 % 11) / 3 - 1;
  return adj_tensor_data_new_from_array (ADJ_DTYPE_F32, sizes, rank, numbers, NULL);
}

static AdjObject *
layer_new (gboolean with_bias)
{
  g_autoptr (GError) error = NULL;
  g_auto (AdjValue) state =
      adj_object_state_new ("weight", ADJ_DATA (numbers_new (2)), "bias",
                            with_bias ? ADJ_DATA (numbers_new (1)) : ADJ_NONE, NULL);
  AdjObject *layer =
      adj_object_new (adj_object_class_find ("Adjoint::PackedLinear"), &state, &error);

  g_assert_no_error (error);
  return layer;
}

static guint
count_regions (const AdjPlan *plan, const char *kind)
{
  guint n = 0;

  for (guint i = 0; i < adj_plan_get_n_regions (plan); i++)
    {
      AdjPlanRegion region;

      adj_plan_get_region (plan, i, &region);
      n += g_str_equal (region.kind, kind);
    }
  return n;
}

static guint
count_constants (const AdjPlan *plan)
{
  guint n = 0;

  for (guint i = 0; i < adj_plan_get_n_buffers (plan); i++)
    {
      AdjPlanBuffer buffer;

      adj_plan_get_buffer (plan, i, &buffer);
      n += g_str_equal (buffer.memory, "constant");
    }
  return n;
}

/* (transfer full): what became of the objects. */
static char *
tell_objects (const char *executor, const AdjRunRequest *request)
{
  g_autoptr (GString) told = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  AdjRunResult result = { 0 };

  adj_executor_run (adj_executor_find (executor, NULL), request, &result, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (result.note, ==, NULL);
  for (guint i = 0; i < result.n_objects; i++)
    {
      g_string_append_printf (told, "%u ", result.objects[i].node.index);
      adj_object_print (result.objects[i].before, 12, told);
      adj_object_print (result.objects[i].after, 12, told);
    }
  adj_run_result_clear (&result);
  return g_string_free (g_steal_pointer (&told), FALSE);
}

static void
check (gboolean with_bias, gboolean unpacks, guint n_interpreted)
{
  static const AdjFunctionClass klass = { .name = "layers", .call = call };
  g_autoptr (AdjFunction) function = adj_function_new (&klass, sizeof (Layers));
  g_autoptr (AdjObject) layer = layer_new (with_bias);
  g_autoptr (AdjTensorData) x = numbers_new (2);
  const AdjValue inputs[] = { ADJ_OBJECT (layer), ADJ_DATA (x) };
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) why = g_string_new (NULL);
  g_autoptr (AdjGraph) graph = NULL;
  g_autoptr (AdjPlan) plan = NULL;
  g_autofree char *interpreted = NULL, *planned = NULL;
  AdjRunRequest request = { .inputs = inputs, .n_inputs = 2 };

  ((Layers *) function)->unpacks = unpacks;
  graph = adj_trace (function, inputs, 2, NULL, &error);
  g_assert_no_error (error);
  request.graph = graph;
  plan = adj_plan_new (graph, inputs, 2, 0, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (adj_plan_get_refusal (plan), ==, NULL);
  g_assert_cmpuint (count_regions (plan, "interpreter"), ==, n_interpreted);
  g_assert_cmpuint (count_constants (plan), ==, with_bias ? 2 : 1);
  if (!plan_agrees (&request, why))
    g_test_fail_printf ("%s", why->str);
  interpreted = tell_objects ("interpreter", &request);
  planned = tell_objects ("planned", &request);
  g_assert_nonnull (strstr (planned, "Adjoint::PackedLinear"));
  g_assert_cmpstr (planned, ==, interpreted);
}

/* The weight is a constant, packed, the same one for both calls. */
static void
packed_weight_is_a_constant (void)
{
  check (TRUE, FALSE, 0);
  check (FALSE, FALSE, 0);
}

static void
other_pure_methods_are_interpreted (void)
{
  check (TRUE, TRUE, 1);
}

/* -- packed parameters of PyTorch, which an operator takes -- */

static AdjObject *
quantized_new (void)
{
  static const gint8 weight[N * N] = { 3, -7, 100, -128, 127, 1, 2, 3, 4, 5, -9, 8 };
  static const double scale[1] = { 0.1 };
  static const gint64 zero_point[1] = { 2 }, square[2] = { N, N }, one[1] = { 1 };
  g_autoptr (GError) error = NULL;
  g_auto (AdjValue) state = adj_object_state_new (
      "weight", ADJ_DATA (adj_tensor_data_new_from_array (ADJ_DTYPE_I8, square, 2, weight, NULL)),
      "scale", ADJ_DATA (adj_tensor_data_new_from_array (ADJ_DTYPE_F64, one, 1, scale, NULL)),
      "zero_point",
      ADJ_DATA (adj_tensor_data_new_from_array (ADJ_DTYPE_I64, one, 1, zero_point, NULL)), "bias",
      ADJ_DATA (numbers_new (1)), NULL);
  AdjObject *packed =
      adj_object_new (adj_object_class_find ("quantized::LinearPackedParamsBase"), &state, &error);

  g_assert_no_error (error);
  return packed;
}

/* As PyTorch writes it where effects are ordered: of what the call gives nothing is told. */
static const char ordered[] = "def forward(self, token, packed, x):\n"
                              "    neg = torch.ops.aten.neg.default(x)\n"
                              "    with_effects = torch.ops.higher_order.with_effects(token, "
                              "torch.ops.quantized.linear_dynamic.default, neg, packed, True)\n"
                              "    getitem = with_effects[0]\n"
                              "    getitem_1 = with_effects[1]\n"
                              "    relu = torch.ops.aten.relu.default(getitem_1)\n"
                              "    add = torch.ops.aten.add.Tensor(relu, getitem_1)\n"
                              "    return (getitem, add)\n";

static void
quantized_products_are_one_node (void)
{
  g_autoptr (AdjObject) packed = quantized_new ();
  g_autoptr (AdjTensorData) x = numbers_new (2);
  const AdjValue inputs[] = { ADJ_NONE, ADJ_OBJECT (packed), ADJ_DATA (x) };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_graph_parse (ordered, -1, adj_op_find, NULL, &error);
  const AdjRunRequest request = { .graph = graph, .inputs = inputs, .n_inputs = 3 };
  g_autoptr (GString) why = g_string_new (NULL);
  g_autoptr (AdjPlan) plan = NULL;

  g_assert_no_error (error);
  plan = adj_plan_new (graph, inputs, 3, 0, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (adj_plan_get_refusal (plan), ==, NULL);
  g_assert_cmpuint (count_regions (plan, "interpreter"), ==, 1);
  if (!plan_agrees (&request, why))
    g_test_fail_printf ("%s", why->str);
}

static void
weight_has_two_dimensions (void)
{
  const AdjObjectClass *klass = adj_object_class_find ("Adjoint::PackedLinear");
  g_auto (AdjValue) state =
      adj_object_state_new ("weight", ADJ_DATA (numbers_new (1)), "bias", ADJ_NONE, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_null (adj_object_new (klass, &state, &error));
  g_assert_nonnull (strstr (error->message, "'weight'"));
  g_assert_nonnull (strstr (error->message, "a tensor of two dimensions"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plan/objects/packed-weight-is-a-constant", packed_weight_is_a_constant);
  g_test_add_func ("/plan/objects/other-pure-methods-are-interpreted",
                   other_pure_methods_are_interpreted);
  g_test_add_func ("/plan/objects/quantized-products-are-one-node",
                   quantized_products_are_one_node);
  g_test_add_func ("/plan/objects/weight-has-two-dimensions", weight_has_two_dimensions);
  return g_test_run ();
}
