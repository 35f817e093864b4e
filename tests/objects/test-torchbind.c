/* SPDX-License-Identifier: MIT */

/* Method calls and effects in traces, after PyTorch's tests: B1 to B5. */

#include <string.h>

#include "aot/adj-aot.h"
#include "autograd/adj-autograd.h"
#include "autograd/adj-custom.h"
#include "call/adj-mode.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "objects/adj-object-text.h"
#include "objects/queue-program.h"
#include "ops/adj-op-id.h"
#include "partition/adj-partition.h"
#include "passes/adj-effects.h"
#include "rules/adj-apply.h"
#include "rules/adj-operators.h"
#include "rules/adj-own-op.h"
#include "support/graphs.h"
#include "support/two-tensor.h"
#include "trace/adj-trace.h"

#define FLAGS (ADJ_PRINT_NO_METADATA | ADJ_PRINT_NO_COMMENTS)

static void
assert_graph (AdjGraph *graph, const char *expected)
{
  g_autofree char *text = adj_graph_print (graph, FLAGS, NULL);

  g_assert_cmpstr (g_strchomp (text), ==, expected);
}

static gboolean
print (AdjContext *cx, const char *text)
{
  const AdjValue arg = { .kind = ADJ_VALUE_STRING, .n = strlen (text), .text = text };
  AdjValue result;

  return adj_call_bound (cx, adj_op (ADJ_OP__print), &arg, &result);
}

/* -- B1 -- */

static gboolean
moo_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjTensor *sum;

  if (!print (cx, "moo"))
    return FALSE;
  sum = ADJ_APPLY (cx, ADJ_OP_add_Tensor, args[0], args[0]);
  if (sum == NULL || !print (cx, "moo"))
    return FALSE;
  *result = adj_value_new_items (ADJ_VALUE_TUPLE, &ADJ_TENSOR (adj_keep (sum)), 1);
  return TRUE;
}

static const AdjFunctionClass moo_class = { .name = "moo", .call = moo_call };

static void
b1_prints_are_ordered_by_a_token (void)
{
  g_autoptr (AdjFunction) function = adj_function_new (&moo_class, sizeof (AdjFunction));
  g_autoptr (AdjTensorData) x = queue_input_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjAotGraph) aot = adj_aot_trace (function, &ADJ_DATA (x), 1, NULL, NULL, &error);

  g_assert_no_error (error);
  assert_graph (
      adj_aot_graph_get_graph (aot),
      "class <lambda>(torch.nn.Module):\n"
      "    def forward(self, arg0_1: \"f32[0][1]cpu\", arg1_1: \"f32[3][1]cpu\"):\n"
      "        with_effects = torch.ops.higher_order.with_effects(arg0_1, "
      "torch.ops.aten._print.default, 'moo');  arg0_1 = None\n"
      "        getitem: \"f32[0][1]cpu\" = with_effects[0];  with_effects = None\n"
      "        add: \"f32[3][1]cpu\" = torch.ops.aten.add.Tensor(arg1_1, arg1_1);  arg1_1 = None\n"
      "        with_effects_1 = torch.ops.higher_order.with_effects(getitem, "
      "torch.ops.aten._print.default, 'moo');  getitem = None\n"
      "        getitem_2: \"f32[0][1]cpu\" = with_effects_1[0];  with_effects_1 = None\n"
      "        return (getitem_2, add)");
}

/* -- B2 and B3 -- */

static const char *const b2 =
    "class <lambda>(torch.nn.Module):\n"
    "    def forward(self, arg0_1, arg1_1: \"f32[3][1]cpu\"):\n"
    "        cos: \"f32[3][1]cpu\" = torch.ops.aten.cos.default(arg1_1)\n"
    "        call_torchbind = torch.ops.higher_order.call_torchbind(arg0_1, 'push', cos);  "
    "cos = call_torchbind = None\n"
    "        sin: \"f32[3][1]cpu\" = torch.ops.aten.sin.default(arg1_1);  arg1_1 = None\n"
    "        call_torchbind_1 = torch.ops.higher_order.call_torchbind(arg0_1, 'push', sin);  "
    "sin = call_torchbind_1 = None\n"
    "        call_torchbind_2: \"f32[3][1]cpu\" = "
    "torch.ops.higher_order.call_torchbind(arg0_1, 'pop')\n"
    "        call_torchbind_3 = torch.ops.higher_order.call_torchbind(arg0_1, 'size');  "
    "call_torchbind_3 = None\n"
    "        add: \"f32[3][1]cpu\" = torch.ops.aten.add.Tensor(call_torchbind_2, 1);  "
    "call_torchbind_2 = None\n"
    "        call_torchbind_4: \"f32[3][1]cpu\" = "
    "torch.ops.higher_order.call_torchbind(arg0_1, 'pop')\n"
    "        call_torchbind_5 = torch.ops.higher_order.call_torchbind(arg0_1, 'size');  "
    "call_torchbind_5 = None\n"
    "        sub: \"f32[3][1]cpu\" = torch.ops.aten.sub.Tensor(call_torchbind_4, 0);  "
    "call_torchbind_4 = None\n"
    "        return (add, sub, arg0_1)";

static gint64
count_items (AdjObject *queue)
{
  g_auto (AdjValue) state = ADJ_NONE;
  g_autoptr (GError) error = NULL;

  adj_object_flatten (queue, &state, &error);
  g_assert_no_error (error);
  return adj_object_state_get (&state, "queue")->n;
}

static void
b2_methods_are_nodes_and_numbers_constants (void)
{
  g_autoptr (AdjFunction) function = queue_function_new ();
  g_autoptr (AdjObject) queue = queue_new ();
  g_autoptr (AdjTensorData) x = queue_input_new ();
  const AdjValue inputs[] = { ADJ_OBJECT (queue), ADJ_DATA (x) };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_trace (function, inputs, 2, NULL, &error);
  g_autoptr (AdjGraph) again = NULL;

  g_assert_no_error (error);
  assert_graph (graph, b2);
  g_assert_cmpint (count_items (queue), ==, 0);
  again = adj_retrace (graph, NULL, &error);
  g_assert_no_error (error);
  assert_graph (again, b2);
}

static void
b3_methods_are_ordered_by_a_token (void)
{
  static const char *const methods[] = { "push", "push", "pop", "size", "pop", "size" };
  g_autoptr (AdjFunction) function = queue_function_new ();
  g_autoptr (AdjObject) queue = queue_new ();
  g_autoptr (AdjTensorData) x = queue_input_new ();
  const AdjValue inputs[] = { ADJ_OBJECT (queue), ADJ_DATA (x) };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjAotGraph) aot = adj_aot_trace (function, inputs, 2, NULL, NULL, &error);
  AdjGraph *graph;
  AdjNodeId token;
  guint n = 0;

  g_assert_no_error (error);
  graph = adj_aot_graph_get_graph (aot);
  token = adj_graph_get_input (graph, 0);
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);

      if (!g_str_equal (node->target, "torch.ops.higher_order.with_effects"))
        continue;
      g_assert_cmpuint (node->args.items[0].node.index, ==, token.index);
      g_assert_cmpstr (node->args.items[1].text, ==, "torch.ops.higher_order.call_torchbind");
      g_assert_cmpuint (node->args.items[2].node.index, ==, adj_graph_get_input (graph, 1).index);
      g_assert_cmpstr (node->args.items[3].text, ==, methods[n++]);
      token = node->users[0];
      g_assert_cmpint (adj_graph_get_node (graph, token.index)->args.items[1].integer, ==, 0);
    }
  g_assert_cmpuint (n, ==, G_N_ELEMENTS (methods));
  g_assert_cmpuint (adj_graph_get_node (graph, adj_graph_get_output (graph).index)
                        ->args.items[0]
                        .items[0]
                        .node.index,
                    ==, token.index);
  g_assert_cmpint (count_items (queue), ==, 0);
}

/* The chain of effects can be followed in both directions, and each effect names its callee. */
static void
a_chain_can_be_followed (void)
{
  static const char *const calls[] = {
    "_TensorQueue.push", "_TensorQueue.push", "_TensorQueue.pop",
    "_TensorQueue.size", "_TensorQueue.pop",  "_TensorQueue.size"
  };
  g_autoptr (AdjFunction) function = queue_function_new ();
  g_autoptr (AdjObject) queue = queue_new ();
  g_autoptr (AdjTensorData) x = queue_input_new ();
  const AdjValue inputs[] = { ADJ_OBJECT (queue), ADJ_DATA (x) };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjAotGraph) aot = adj_aot_trace (function, inputs, 2, NULL, NULL, &error);
  AdjNodeId id, before = ADJ_NO_NODE;
  AdjGraph *graph;

  g_assert_no_error (error);
  graph = adj_aot_graph_get_graph (aot);
  id = adj_graph_find_node (graph, "with_effects");
  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    {
      g_autofree char *text = adj_object_call_print (graph, id.index);
      AdjObjectCallInfo info;

      g_assert_cmpstr (text, ==, calls[i]);
      g_assert_true (adj_object_call_find (graph, id.index, &info));
      g_assert_nonnull (info.method);
      g_assert_cmpuint (adj_graph_get_effect_before (graph, id.index).index, ==, before.index);
      before = id;
      id = adj_graph_get_effect_after (graph, id.index);
    }
  g_assert_false (adj_node_id_is_valid (id));
  g_assert_null (adj_object_call_print (graph, adj_graph_get_output (graph).index));
}

/* -- B4 -- */

/* Operators with an effect that return their arguments: one, a list, several. */
static gboolean
same_meta (AdjOpCall *call)
{
  const AdjTensorMeta *meta = adj_op_call_meta (call, 0);
  const AdjSchema *schema = adj_op_get_schema (call->op);
  guint n = schema->returns[0].type.is_list ? 2 : schema->n_returns;

  for (guint i = 0; i < n; i++)
    adj_op_call_add (call, meta->dtype, &meta->shape);
  return TRUE;
}

static AdjOp *
effect_new (const char *schema)
{
  const AdjOp record = { .schema = schema,
                         .meta = same_meta,
                         .flags = ADJ_OP_EFFECT | ADJ_OP_TOKEN };
  g_autoptr (GError) error = NULL;
  AdjOp *op = adj_op_new (&record, &error);

  g_assert_no_error (error);
  return op;
}

/* Returns the result of the operator. */
static gboolean
call_effect (AdjContext *cx, const AdjOp *op, AdjTensor *tensor, AdjValue *result)
{
  const AdjValue args = { .kind = ADJ_VALUE_TUPLE, .n = 1, .items = &ADJ_TENSOR (tensor) };

  return adj_call (cx, op, &args, NULL, result);
}

typedef struct
{
  AdjOp *zoo, *zoo2;
} Zoo;

static gboolean
zoo_forward (AdjCustomCall *call,
             AdjTensor *const *inputs,
             guint n_inputs,
             AdjTensor **outputs,
             guint n_outputs)
{
  const Zoo *zoo = adj_custom_call_get_data (call);
  AdjValue result;

  if (!call_effect (adj_custom_call_get_context (call), zoo->zoo, inputs[0], &result))
    return FALSE;
  outputs[0] = result.tensor;
  return TRUE;
}

static gboolean
zoo_backward (AdjCustomCall *call,
              AdjTensor *const *grads,
              guint n_grads,
              AdjTensor **grad_inputs,
              guint n_inputs)
{
  const Zoo *zoo = adj_custom_call_get_data (call);
  AdjValue result;

  if (!call_effect (adj_custom_call_get_context (call), zoo->zoo2, grads[0], &result))
    return FALSE;
  grad_inputs[0] = result.tensor;
  return TRUE;
}

typedef struct
{
  AdjFunction parent;
  Zoo zoo;
} ZooFunction;

static gboolean
zoo_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  static const AdjCustomClass klass = {
    .name = "Zoo",
    .forward = zoo_forward,
    .backward = zoo_backward,
  };
  AdjTensor *out;

  if (!adj_custom_apply (cx, &klass, &((ZooFunction *) function)->zoo, NULL, &args[0].tensor, 1,
                         &out, 1))
    return FALSE;
  *result = adj_value_new_items (ADJ_VALUE_TUPLE, &ADJ_TENSOR (adj_keep (out)), 1);
  return TRUE;
}

static const AdjFunctionClass zoo_class = { .name = "zoo", .call = zoo_call };

/* Returns the operators called by with_effects in @graph in chain order, from @token on. */
static char *
follow_chain (AdjGraph *graph, AdjNodeId *token)
{
  g_autoptr (GString) calls = g_string_new (NULL);

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);

      if (!g_str_equal (node->target, "torch.ops.higher_order.with_effects"))
        continue;
      g_assert_cmpuint (node->args.items[0].node.index, ==, token->index);
      g_string_append_printf (calls, "%s ", strrchr (node->args.items[1].text, 'z'));
      *token = node->users[0];
      g_assert_cmpint (adj_graph_get_node (graph, token->index)->args.items[1].integer, ==, 0);
    }
  return g_string_free (g_steal_pointer (&calls), FALSE);
}

static const AdjValue *
get_outputs (AdjGraph *graph)
{
  return &adj_graph_get_node (graph, adj_graph_get_output (graph).index)->args.items[0];
}

static void
b4_the_backward_of_a_composite_has_a_chain_of_its_own (void)
{
  g_autoptr (AdjOp) zoo = effect_new ("mine::zoo(Tensor x) -> Tensor");
  g_autoptr (AdjOp) zoo2 = effect_new ("mine::zoo2(Tensor x) -> Tensor");
  g_autoptr (AdjFunction) function = adj_function_new (&zoo_class, sizeof (ZooFunction));
  g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjAotGraph) aot = NULL;
  g_autoptr (AdjPartition) partition = NULL;
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autofree char *forward = NULL, *backward = NULL;
  AdjTensor *pair;
  AdjNodeId token;

  ((ZooFunction *) function)->zoo = (Zoo){ zoo, zoo2 };
  pair = two_tensor_new (cx, ADJ_APPLY (cx, ADJ_OP_arange, ADJ_FLOAT (3)),
                         ADJ_APPLY (cx, ADJ_OP_arange, ADJ_FLOAT (3)));
  adj_tensor_set_requires_grad (cx, pair, TRUE);
  aot = adj_aot_trace (function, &ADJ_TENSOR (pair), 1, NULL, NULL, &error);
  g_assert_no_error (error);
  options.num_fwd_outputs = (gint) adj_aot_graph_get_n_forward (aot);
  partition = adj_partition (adj_partitioner_find ("default", NULL), adj_aot_graph_get_graph (aot),
                             &options, &error);
  g_assert_no_error (error);

  token = adj_graph_get_input (partition->forward, 0);
  forward = follow_chain (partition->forward, &token);
  g_assert_cmpstr (forward, ==, "zoo.default zoo.default ");
  g_assert_cmpuint (get_outputs (partition->forward)->items[0].node.index, ==, token.index);

  token = adj_graph_get_input (partition->backward, 2);
  g_assert_cmpstr (adj_graph_get_node (partition->backward, token.index)->name, ==,
                   "tangents_token");
  backward = follow_chain (partition->backward, &token);
  g_assert_cmpstr (backward, ==, "zoo2.default zoo2.default ");
  g_assert_cmpuint (
      get_outputs (partition->backward)->items[get_outputs (partition->backward)->n - 1].node.index,
      ==, token.index);
}

/* -- B5 -- */

typedef struct
{
  AdjFunction parent;
  AdjOp *op;
} EffectFunction;

static gboolean
effect_function_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjValue several;

  if (!call_effect (cx, ((EffectFunction *) function)->op, args[0].tensor, &several))
    return FALSE;
  *result = adj_value_copy (&several);
  return TRUE;
}

static AdjGraph *
trace_effect (AdjOp *op)
{
  static const AdjFunctionClass klass = { .name = "effect", .call = effect_function_call };
  g_autoptr (AdjFunction) function = adj_function_new (&klass, sizeof (EffectFunction));
  g_autoptr (AdjTensorData) x = queue_input_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjAotGraph) aot = NULL;

  ((EffectFunction *) function)->op = op;
  aot = adj_aot_trace (function, &ADJ_DATA (x), 1, NULL, NULL, &error);
  g_assert_no_error (error);
  return adj_graph_ref (adj_aot_graph_get_graph (aot));
}

static void
b5_a_list_is_one_result_and_a_tuple_several (void)
{
  g_autoptr (AdjOp) list = effect_new ("mine::list(Tensor x) -> Tensor[]");
  g_autoptr (AdjOp) pair = effect_new ("mine::pair(Tensor x) -> (Tensor, Tensor)");
  g_autoptr (AdjGraph) of_list = trace_effect (list);
  g_autoptr (AdjGraph) of_pair = trace_effect (pair);

  assert_graph (of_list,
                "class <lambda>(torch.nn.Module):\n"
                "    def forward(self, arg0_1: \"f32[0][1]cpu\", arg1_1: \"f32[3][1]cpu\"):\n"
                "        with_effects = torch.ops.higher_order.with_effects(arg0_1, "
                "torch.ops.mine.list.default, "
                "arg1_1);  arg0_1 = arg1_1 = None\n"
                "        getitem: \"f32[0][1]cpu\" = with_effects[0]\n"
                "        getitem_1 = with_effects[1];  with_effects = None\n"
                "        getitem_2: \"f32[3][1]cpu\" = getitem_1[0]\n"
                "        getitem_3: \"f32[3][1]cpu\" = getitem_1[1];  getitem_1 = None\n"
                "        return (getitem, getitem_2, getitem_3)");
  assert_graph (of_pair,
                "class <lambda>(torch.nn.Module):\n"
                "    def forward(self, arg0_1: \"f32[0][1]cpu\", arg1_1: \"f32[3][1]cpu\"):\n"
                "        with_effects = torch.ops.higher_order.with_effects(arg0_1, "
                "torch.ops.mine.pair.default, "
                "arg1_1);  arg0_1 = arg1_1 = None\n"
                "        getitem: \"f32[0][1]cpu\" = with_effects[0]\n"
                "        getitem_1: \"f32[3][1]cpu\" = with_effects[1]\n"
                "        getitem_2: \"f32[3][1]cpu\" = with_effects[2];  with_effects = None\n"
                "        return (getitem, getitem_1, getitem_2)");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/objects/torchbind/b1-prints-are-ordered-by-a-token",
                   b1_prints_are_ordered_by_a_token);
  g_test_add_func ("/objects/torchbind/b2-methods-are-nodes-and-numbers-constants",
                   b2_methods_are_nodes_and_numbers_constants);
  g_test_add_func ("/objects/torchbind/b3-methods-are-ordered-by-a-token",
                   b3_methods_are_ordered_by_a_token);
  g_test_add_func ("/objects/torchbind/a-chain-can-be-followed", a_chain_can_be_followed);
  g_test_add_func ("/objects/torchbind/b4-the-backward-of-a-composite-has-a-chain-of-its-own",
                   b4_the_backward_of_a_composite_has_a_chain_of_its_own);
  g_test_add_func ("/objects/torchbind/b5-a-list-is-one-result-and-a-tuple-several",
                   b5_a_list_is_one_result_and_a_tuple_several);
  return g_test_run ();
}
