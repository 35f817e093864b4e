/* SPDX-License-Identifier: MIT */

/* Graphs captured by Dynamo behave equally when called as they are, as an inference graph, as a
 * joint graph and partitioned, also with a tensor written after the call.  Sums come in another
 * order, so values are judged against the same call in float64. */

#include <string.h>

#include "aot/compile.h"
#include "aot/observed.h"
#include "autograd/adj-autograd.h"
#include "formats/adj-format.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "ops/adj-op-table.h"
#include "session/adj-session.h"
#include "support/adj-test.h"

typedef struct
{
  const char *name, *way;
} Case;

/* Converts floating-point data to float64 if @float64 is set. */
static AdjTensor *
import (AdjTensorData *data, gboolean float64)
{
  AdjTensorMeta meta = *adj_tensor_data_get_meta (data);
  AdjTensor *tensor;

  if (!float64 || !adj_dtype_is_floating (meta.dtype))
    return adj_tensor_new_from_data (data);
  meta.dtype = ADJ_DTYPE_F64;
  adj_shape_init (&meta.shape, NULL, meta.shape.rank, meta.shape.size);
  tensor = adj_tensor_new_empty (&meta, NULL, FALSE);
  for (gint64 i = 0; i < adj_tensor_data_get_numel (data); i++)
    ((double *) adj_storage_write (adj_tensor_get_storage (tensor)))[i] =
        adj_tensor_data_get_double (data, i);
  return tensor;
}

/* Makes random inputs from the annotations of the placeholders, identical in each call. */
static void
observe (Observed *observed, const AdjGraph *graph, gboolean no_grad, gboolean float64)
{
  g_autoptr (GError) error = NULL;
  guint n;
  AdjValue *inputs = adj_session_random_inputs (graph, 1, &n, &error);

  g_assert_no_error (error);
  (float64 ? observed_init_float64 : observed_init) (observed, n);
  adj_generator_seed (adj_context_get_generator (observed->cx), 3);
  adj_context_set_grad_enabled (observed->cx, !no_grad);
  for (guint i = 0; i < n; i++)
    {
      const AdjValue *val = &adj_graph_get_node (graph, adj_graph_get_input (graph, i).index)->val;
      AdjTensor *tensor;

      if (inputs[i].kind != ADJ_VALUE_DATA)
        {
          observed->inputs[i] = adj_value_copy (&inputs[i]);
          continue;
        }
      tensor = import (inputs[i].data, float64);
      observed->inputs[i] = ADJ_TENSOR (tensor);
      if (val->kind != ADJ_VALUE_META || !val->meta->requires_grad)
        continue;
      g_assert_true (adj_tensor_set_requires_grad (observed->cx, tensor, TRUE));
      if (!no_grad)
        observed->leaves[i] = adj_tensor_ref (tensor);
    }
  adj_session_free_inputs (inputs, n);
}

static AdjFunction *
make (AdjGraph *graph, const char *way)
{
  const AdjAotOptions options = { .keep_input_mutations = TRUE,
                                  .no_grad = g_str_equal (way, "traced") };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjAotGraph) aot = adj_aot_trace_graph (graph, &options, NULL, &error);

  g_assert_no_error (error);
  if (g_str_equal (way, "joint"))
    return compile_whole (aot);
  return compile_by (aot, g_str_equal (way, "traced") ? "default" : way);
}

/* Returns %FALSE if tensor @late cannot be written in eager mode. */
static gboolean
check (AdjGraph *graph, AdjFunction *other, const char *way, gint late)
{
  g_autoptr (AdjFunction) function = adj_graph_function_new (graph);
  gboolean no_grad = g_str_equal (way, "traced");
  g_auto (Observed) a = { .cx = NULL };
  g_auto (Observed) b = { .cx = NULL };
  g_auto (Observed) truth = { .cx = NULL };
  g_autoptr (GString) why = g_string_new (NULL);

  observe (&a, graph, no_grad, FALSE);
  observed_call (&a, function, late);
  if (late >= 0 && a.error != NULL)
    return FALSE;
  observe (&b, graph, no_grad, FALSE);
  observed_call (&b, other, late);
  observe (&truth, graph, no_grad, TRUE);
  observed_call (&truth, function, late);
  a.truth = &truth;
  g_assert_no_error (a.error);
  g_assert_no_error (b.error);
  g_assert_no_error (truth.error);
  if (!observed_same (&a, &b, why))
    g_error ("%s, tensor %d written late: %s", way, late, why->str);
  return TRUE;
}

static void
cannot_be_told_apart (gconstpointer data)
{
  const Case *c = data;
  g_autofree char *file = g_strdup_printf ("graphs/%s.adjoint", c->name);
  g_autofree char *path = adj_test_data_path (file);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_bundle_load (path, NULL, &error);
  g_autoptr (AdjFunction) function = NULL;
  AdjGraph *graph;
  guint n_written = 0;
  gint n;

  g_assert_no_error (error);
  graph = adj_bundle_find_graph (bundle, "dynamo", &error)->graph;
  g_assert_no_error (error);
  function = make (graph, c->way);
  check (graph, function, c->way, -1);
  n = (gint) adj_graph_get_n_inputs (graph) + 1;
  for (gint late = 0; late < n && n_written < 3; late++)
    n_written += check (graph, function, c->way, late);
  g_test_message ("%u tensors were written after the call", n_written);
  g_assert_cmpuint (n_written, >, 0);
}

/* An input that resize_ enlarges is enlarged after the call too; in PyTorch 2.6 the compiled
 * call fails. */
static void
grows_input (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph =
      adj_graph_parse ("class GraphModule(torch.nn.Module):\n"
                       "    def forward(self, x: \"f32[4][1]cpu\"):\n"
                       "        resize_ = torch.ops.aten.resize_.default(x, [2, 4])\n"
                       "        fill_ = torch.ops.aten.fill_.Scalar(x, 1)\n"
                       "        add = torch.ops.aten.add.Tensor(x, 1)\n"
                       "        return (add,)\n",
                       -1, adj_op_find, NULL, &error);
  g_autoptr (AdjFunction) function = NULL;

  g_assert_no_error (error);
  function = make (graph, "default");
  check (graph, function, "default", -1);
}

int
main (int argc, char **argv)
{
  static const char *const names[] = { "mlp",     "gpt2", "gpt2-inductor", "llama", "lstm",
                                       "dropout", "sac",  "resnet-block",  "unet" };
  static const char *const ways[] = { "traced", "joint", "default", "min-cut" };
  static Case cases[G_N_ELEMENTS (names)][G_N_ELEMENTS (ways)];

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    for (guint k = 0; k < G_N_ELEMENTS (ways); k++)
      {
        g_autofree char *path = g_strdup_printf ("/aot/calls/%s/%s", names[i], ways[k]);

        cases[i][k] = (Case){ names[i], ways[k] };
        g_test_add_data_func (path, &cases[i][k], cannot_be_told_apart);
      }
  g_test_add_func ("/aot/calls/resize-grows-input", grows_input);
  return g_test_run ();
}
