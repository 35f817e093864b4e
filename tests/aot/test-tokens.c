/* SPDX-License-Identifier: MIT */

/* Effect tokens: what a program prints keeps its order, forward and backward, in every way of
 * running it. */

#include <string.h>

#include "aot/compile.h"
#include "aot/notation.h"
#include "autograd/adj-autograd.h"
#include "autograd/adj-custom.h"
#include "call/adj-mode.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"
#include "partition/adj-partition.h"
#include "passes/adj-pass-internal.h"
#include "rules/adj-apply.h"
#include "rules/adj-operators.h"
#include "support/graphs.h"

/* -- programs -- */

static gboolean
print (AdjContext *cx, const char *text)
{
  const AdjValue arg = { .kind = ADJ_VALUE_STRING, .n = strlen (text), .text = text };
  AdjValue result;

  return adj_call_bound (cx, adj_op (ADJ_OP__print), &arg, &result);
}

static gboolean
loud_forward (AdjCustomCall *call,
              AdjTensor *const *inputs,
              guint n_inputs,
              AdjTensor **outputs,
              guint n_outputs)
{
  AdjContext *cx = adj_custom_call_get_context (call);

  outputs[0] = ADJ_APPLY (cx, ADJ_OP_mul_Tensor, ADJ_TENSOR (inputs[0]), ADJ_INT (3));
  return outputs[0] != NULL && print (cx, "forward");
}

static gboolean
loud_backward (AdjCustomCall *call,
               AdjTensor *const *grads,
               guint n_grads,
               AdjTensor **grad_inputs,
               guint n_inputs)
{
  AdjContext *cx = adj_custom_call_get_context (call);

  if (!print (cx, "backward") || !print (cx, "still backward"))
    return FALSE;
  grad_inputs[0] = ADJ_APPLY (cx, ADJ_OP_mul_Tensor, ADJ_TENSOR (grads[0]), ADJ_INT (3));
  return grad_inputs[0] != NULL;
}

static const AdjCustomClass loud = {
  .name = "Loud",
  .forward = loud_forward,
  .backward = loud_backward,
};

static gboolean
loud_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjTensor *out, *sum;
  AdjValue item;

  if (!print (cx, "before") ||
      !adj_custom_apply (cx, &loud, NULL, NULL, &args[0].tensor, 1, &out, 1))
    return FALSE;
  sum = ADJ_APPLY (cx, ADJ_OP_add_Tensor, ADJ_TENSOR (out), ADJ_TENSOR (out));
  if (sum == NULL || !print (cx, "after"))
    return FALSE;
  item = ADJ_TENSOR (adj_keep (sum));
  *result = adj_value_new_items (ADJ_VALUE_TUPLE, &item, 1);
  return TRUE;
}

static const AdjFunctionClass loud_class = { .name = "loud", .call = loud_call };

/* -- runs -- */

static void
append_text (const char *text, gpointer data)
{
  g_string_append (data, text);
}

static AdjTensor *
make_input (AdjContext *cx, gboolean requires_grad)
{
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE };
  AdjTensor *tensor;
  const gint64 n = 2;

  adj_shape_init_ints (&meta.shape, 1, &n);
  tensor = adj_scope_add (cx, adj_tensor_new_empty (&meta, NULL, FALSE));
  ((float *) adj_storage_write (adj_tensor_get_storage (tensor)))[1] = 5;
  adj_tensor_set_requires_grad (cx, tensor, requires_grad);
  return tensor;
}

/* Runs @function forward and backward and returns what was printed. */
static char *
run (AdjFunction *function, gboolean requires_grad)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (GString) printed = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  g_auto (AdjValue) result = ADJ_NONE;
  AdjTensor *input, *root, *ones, *grad = NULL;
  AdjGradRoots roots = { .tensors = &root, .grads = &ones, .n = 1 };

  adj_context_push_mode (cx, adj_autograd_mode_new ());
  adj_context_set_print (cx, append_text, printed);
  input = make_input (cx, requires_grad);
  adj_function_call (function, cx, &ADJ_TENSOR (input), 1, &result);
  adj_context_take_error (cx, &error);
  g_assert_no_error (error);
  root = result.items[0].tensor;
  g_assert_cmpfloat (adj_item (cx, ADJ_APPLY (cx, ADJ_OP_sum, ADJ_TENSOR (root))), ==, 30);
  if (requires_grad)
    {
      ones = ADJ_APPLY (cx, ADJ_OP_ones_like, ADJ_TENSOR (root));
      adj_grad (cx, &roots, &input, 1, 0, &grad);
      adj_context_take_error (cx, &error);
      g_assert_no_error (error);
      g_assert_cmpfloat (adj_item (cx, ADJ_APPLY (cx, ADJ_OP_sum, ADJ_TENSOR (grad))), ==, 12);
    }
  return g_string_free (g_steal_pointer (&printed), FALSE);
}

static AdjAotGraph *
trace (AdjFunction *function, gboolean requires_grad)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (GError) error = NULL;
  AdjAotGraph *aot;

  adj_context_push_mode (cx, adj_autograd_mode_new ());
  aot =
      adj_aot_trace (function, &ADJ_TENSOR (make_input (cx, requires_grad)), 1, NULL, NULL, &error);
  g_assert_no_error (error);
  return aot;
}

static void
compiled_prints_what_eager_does (void)
{
  static const char *const expected[] = {
    "before\nforward\nafter\n",
    "before\nforward\nafter\nbackward\nstill backward\n",
  };
  g_autoptr (AdjFunction) function = adj_function_new (&loud_class, sizeof (AdjFunction));

  for (guint training = 0; training < 2; training++)
    {
      g_autofree char *eager = run (function, (gboolean) training);
      g_autoptr (AdjAotGraph) aot = trace (function, (gboolean) training);
      g_autoptr (AdjFunction) compiled = compile_by_default (aot);
      g_autofree char *printed = run (compiled, (gboolean) training);

      g_assert_cmpstr (eager, ==, expected[training]);
      g_assert_cmpstr (printed, ==, expected[training]);
    }
}

/* B4: the backward has its own chain of tokens. */
static void
backward_has_its_own_chain (void)
{
  g_autoptr (AdjFunction) function = adj_function_new (&loud_class, sizeof (AdjFunction));
  g_autoptr (AdjAotGraph) aot = trace (function, TRUE);
  AdjGraph *joint = adj_aot_graph_get_graph (aot);
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (AdjPartition) partition = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *forward = NULL, *backward = NULL;

  g_assert_cmpuint (adj_aot_graph_get_metadata (aot)->n_tokens, ==, 1);
  g_assert_cmpuint (adj_aot_graph_get_metadata (aot)->n_backward_tokens, ==, 1);
  options.num_fwd_outputs = (gint) adj_aot_graph_get_n_forward (aot);
  for (guint i = 0; i < 2; i++)
    {
      const char *names[] = { "default", "min-cut" };

      g_clear_pointer (&partition, adj_partition_unref);
      g_clear_pointer (&forward, g_free);
      g_clear_pointer (&backward, g_free);
      partition = adj_partition (adj_partitioner_find (names[i], NULL), joint, &options, &error);
      g_assert_no_error (error);
      forward = notation_print_graph (partition->forward);
      backward = notation_print_graph (partition->backward);
      g_assert_cmpstr (forward, ==,
                       "%1 = with_effects(p1,_print,before)\n"
                       "%2 = mul(p2,3)\n"
                       "%3 = with_effects(%1[0],_print,forward)\n"
                       "%4 = add(%2,%2)\n"
                       "%5 = with_effects(%3[0],_print,after)\n"
                       "return %5[0], %4\n");
      g_assert_cmpstr (backward, ==,
                       "%1 = add(t1,t1)\n"
                       "%2 = with_effects(ttoken,_print,backward)\n"
                       "%3 = with_effects(%2[0],_print,still backward)\n"
                       "%4 = mul(%1,3)\n"
                       "return %4, %3[0]\n");
    }
}

/* -- graphs -- */

static const char *const lifted =
    "class <lambda>(torch.nn.Module):\n"
    "    def forward(self, arg0_1: \"f32[0][1]cpu\", arg1_1: \"f32[3][1]cpu\"):\n"
    "        with_effects = torch.ops.higher_order.with_effects(arg0_1, "
    "torch.ops.aten._print.default, 'moo');  arg0_1 = None\n"
    "        getitem: \"f32[0][1]cpu\" = with_effects[0];  with_effects = None\n"
    "        add: \"f32[3][1]cpu\" = torch.ops.aten.add.Tensor(arg1_1, arg1_1);  arg1_1 = None\n"
    "        with_effects_1 = torch.ops.higher_order.with_effects(getitem, "
    "torch.ops.aten._print.default, 'moo');  getitem = None\n"
    "        getitem_2: \"f32[0][1]cpu\" = with_effects_1[0];  with_effects_1 = None\n"
    "        return (getitem_2, add)\n";

static AdjGraph *
apply (const AdjPass *pass, AdjGraph *graph)
{
  g_autoptr (GError) error = NULL;
  AdjPassResult result;
  AdjGraph *out;

  adj_pass_run (pass, NULL, graph, &result, &error);
  g_assert_no_error (error);
  out = adj_graph_ref (result.graph);
  adj_pass_result_clear (&result);
  return out;
}

/* B1: the graph as PyTorch prints it, with tokens unlifted and lifted again. */
static void
tokens_are_unlifted_and_lifted (void)
{
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (lifted);
  g_autoptr (AdjGraph) unlifted = apply (&adj_pass_unlift_tokens, graph);
  g_autoptr (AdjGraph) alive = apply (&adj_pass_dce, unlifted);
  g_autoptr (AdjGraph) again = apply (&adj_pass_lift_tokens, alive);
  g_autofree char *text = notation_print_graph (alive);
  g_autofree char *back = notation_print_graph (again);

  g_assert_cmpstr (text, ==,
                   "%1 = _make_token()\n"
                   "%2 = with_effects(%1,_print,moo)\n"
                   "%3 = add(a1,a1)\n"
                   "%4 = with_effects(%2[0],_print,moo)\n"
                   "%5 = _sink_tokens([%4[0]])\n"
                   "return %3\n");
  g_assert_cmpstr (back, ==,
                   "%1 = with_effects(token,_print,moo)\n"
                   "%2 = add(a1,a1)\n"
                   "%3 = with_effects(%1[0],_print,moo)\n"
                   "return %3[0], %2\n");
}

/* A graph that already has tokens keeps them as inputs and outputs. */
static void
graphs_with_tokens_are_traced (void)
{
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (lifted);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjAotGraph) aot = adj_aot_trace_graph (graph, NULL, NULL, &error);
  g_autofree char *before = notation_print_graph (graph);
  g_autofree char *after = NULL;

  g_assert_no_error (error);
  after = notation_print_graph (adj_aot_graph_get_graph (aot));
  g_assert_cmpstr (after, ==, before);
  g_assert_cmpuint (adj_aot_graph_get_metadata (aot)->n_tokens, ==, 0);
}

/* As in PyTorch 2.15, streams and assertions keep their order without a token. */
static void
other_effects_take_no_token (void)
{
  static const char text[] =
      "def forward(self, x: \"f32[3][1]cpu\"):\n"
      "    fork = torch.ops.streams.fork.default(0, 1)\n"
      "    any_1: \"b8[][]cpu\" = torch.ops.aten.any.default(x)\n"
      "    check = torch.ops.aten._assert_async.msg(any_1, 'all are 0')\n"
      "    metadata = torch.ops.aten._assert_tensor_metadata.default(x, [3])\n"
      "    said = torch.ops.aten._print.default('moo')\n"
      "    join = torch.ops.streams.join.default(1, 0)\n"
      "    return (any_1,)\n";
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjAotGraph) aot = adj_aot_trace_graph (graph, NULL, NULL, &error);
  g_autofree char *print = NULL;

  g_assert_no_error (error);
  print = notation_print_graph (adj_aot_graph_get_graph (aot));
  g_assert_cmpuint (adj_aot_graph_get_metadata (aot)->n_tokens, ==, 1);
  g_assert_cmpstr (print, ==,
                   "%1 = fork(0,1)\n"
                   "%2 = any(a1)\n"
                   "%3 = _assert_async(%2,all are 0)\n"
                   "%4 = _assert_tensor_metadata(a1,[3])\n"
                   "%5 = with_effects(a0,_print,moo)\n"
                   "%6 = join(1,0)\n"
                   "return %5[0], %2\n");
}

static void
text_comes_back (void)
{
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (lifted);
  g_autofree char *text = adj_graph_print (graph, ADJ_PRINT_DEFAULT, NULL);
  g_autoptr (AdjGraph) again = adj_test_parse_graph (text);
  g_autofree char *twice = adj_graph_print (again, ADJ_PRINT_DEFAULT, NULL);

  g_assert_cmpstr (text, ==, twice);
  g_assert_nonnull (strstr (text, "with_effects(arg0_1, torch.ops.aten._print.default, 'moo')"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/aot/tokens/compiled-prints-what-eager-does", compiled_prints_what_eager_does);
  g_test_add_func ("/aot/tokens/backward-has-its-own-chain", backward_has_its_own_chain);
  g_test_add_func ("/aot/tokens/unlifted-and-lifted", tokens_are_unlifted_and_lifted);
  g_test_add_func ("/aot/tokens/graphs-with-tokens-are-traced", graphs_with_tokens_are_traced);
  g_test_add_func ("/aot/tokens/other-effects-take-no-token", other_effects_take_no_token);
  g_test_add_func ("/aot/tokens/text-comes-back", text_comes_back);
  return g_test_run ();
}
