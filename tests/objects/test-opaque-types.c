/* SPDX-License-Identifier: MIT */

/* Classes of torch._library.opaque_object and operators on them, registered by a program: graphs
 * that PyTorch 2.15 makes ahead of time are made here and run (captures/opaque-inputs.py). */

#include <glib/gstdio.h>
#include <string.h>

#include "aot/adj-aot.h"
#include "autograd/adj-autograd.h"
#include "call/adj-object.h"
#include "formats/adj-format.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "objects/adj-extensions-internal.h"
#include "objects/number-classes.h"
#include "ops/adj-op-id.h"
#include "ops/adj-op-table.h"
#include "partition/adj-partition.h"
#include "rules/adj-apply.h"
#include "rules/adj-own-op.h"
#include "support/adj-test.h"
#include "support/graphs.h"

/* -- the program -- */

typedef struct
{
  AdjFunction parent;
  AdjOp *count, *scale; /* (unowned) */
} Program;

static AdjTensor *
apply (AdjContext *cx, const AdjOp *op, AdjTensor *x, const AdjValue *object)
{
  const AdjValue items[2] = { ADJ_TENSOR (x), *object };
  const AdjValue args = { .kind = ADJ_VALUE_TUPLE, .n = 2, .items = (AdjValue *) items };
  AdjValue result = ADJ_NONE;

  return x != NULL && adj_call (cx, op, &args, NULL, &result) ? result.tensor : NULL;
}

static AdjTensor *
combine (AdjContext *cx, AdjOpId op, AdjTensor *a, AdjValue b)
{
  return a != NULL ? ADJ_APPLY (cx, op, ADJ_TENSOR (a), b) : NULL;
}

/* Members are read from the object itself, so they are numbers in the trace. */
static gboolean
program_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const Program *self = (const Program *) function;
  AdjTensor *y = apply (cx, self->count, args[0].tensor, &args[1]), *one, *other;

  y = combine (cx, ADJ_OP_mul_Tensor, y, ADJ_INT ((gint64) number_read (&args[1])));
  y = combine (cx, ADJ_OP_add_Tensor, y, ADJ_INT (7));
  one = apply (cx, self->scale, y, &args[2]);
  other = apply (cx, self->scale, y, &args[3]);
  y = other != NULL ? combine (cx, ADJ_OP_add_Tensor, one, ADJ_TENSOR (other)) : NULL;
  *result =
      y != NULL ? adj_value_new_items (ADJ_VALUE_TUPLE, &ADJ_TENSOR (adj_keep (y)), 1) : ADJ_NONE;
  return y != NULL;
}

/* (transfer full): the graph made by PyTorch. */
static AdjGraph *
read_theirs (const char *name)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "objects", "captures", name, NULL);
  g_autofree char *text = adj_test_read_file (path, NULL);

  return adj_graph_parse (text, -1, adj_op_find, NULL, NULL);
}

static void
types_are_traced_as_in_pytorch (void)
{
  static const AdjFunctionClass klass = { .name = "program", .call = program_call };
  const AdjPrintFlags flags = ADJ_PRINT_NO_METADATA | ADJ_PRINT_NO_COMMENTS;
  g_autoptr (AdjOp) count = adj_op_new (&number_op_count, NULL);
  g_autoptr (AdjOp) scale = adj_op_new (&number_op_scale, NULL);
  g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
  g_autoptr (AdjFunction) function = adj_function_new (&klass, sizeof (Program));
  g_autoptr (AdjGraph) theirs = read_theirs ("2.15-opaque-aot.txt");
  g_autoptr (AdjAotGraph) aot = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *a = NULL, *b = adj_graph_print (theirs, flags, NULL);
  const AdjValue inputs[] = {
    ADJ_TENSOR (adj_from_array (cx, ADJ_DTYPE_F32, (gint64[]){ 3 }, 1, (float[]){ 1, 1, 1 })),
    number_new_in (cx, &number_counter, 2), number_new_in (cx, &number_scale, 2),
    number_new_in (cx, &number_scale, 3)
  };
  g_auto (AdjValue) result = ADJ_NONE;

  ((Program *) function)->count = count;
  ((Program *) function)->scale = scale;
  aot = adj_aot_trace (function, inputs, G_N_ELEMENTS (inputs), NULL, NULL, &error);
  g_assert_no_error (error);
  a = adj_graph_print (adj_aot_graph_get_graph (aot), flags, NULL);
  g_assert_cmpstr (a, ==, b);
  g_assert_true (adj_interpret (cx, adj_aot_graph_get_graph (aot), inputs, G_N_ELEMENTS (inputs),
                                NULL, &result));
  for (gint64 i = 0; i < 3; i++)
    {
      g_autoptr (AdjTensorData) data = adj_tensor_snapshot (result.items[0].tensor);

      g_assert_cmpfloat (adj_tensor_data_get_double (data, i), ==, 65);
    }
}

/* -- values: objects that stand in the calls -- */

typedef struct
{
  AdjFunction parent;
  AdjOp *shift;   /* (unowned) */
  AdjValue by[2]; /* (unowned) */
} Shifting;

static gboolean
shifting_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const Shifting *self = (const Shifting *) function;
  AdjTensor *y = apply (cx, self->shift, args[0].tensor, &self->by[0]);

  y = apply (cx, self->shift, y, &self->by[1]);
  y = combine (cx, ADJ_OP_mul_Tensor, y, ADJ_FLOAT (number_read (&self->by[0])));
  *result =
      y != NULL ? adj_value_new_items (ADJ_VALUE_TUPLE, &ADJ_TENSOR (adj_keep (y)), 1) : ADJ_NONE;
  return y != NULL;
}

static void
values_stand_in_the_calls (void)
{
  static const AdjFunctionClass klass = { .name = "shifting", .call = shifting_call };
  const AdjPrintFlags flags = ADJ_PRINT_NO_METADATA | ADJ_PRINT_NO_COMMENTS;
  g_autoptr (AdjOp) shift = adj_op_new (&number_op_shift, NULL);
  g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
  g_autoptr (AdjFunction) function = adj_function_new (&klass, sizeof (Shifting));
  g_autoptr (AdjGraph) theirs = read_theirs ("2.15-constant-aot.txt");
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjAotGraph) aot = NULL;
  g_autofree char *a = NULL, *b = adj_graph_print (theirs, flags, NULL);
  const AdjValue x =
      ADJ_TENSOR (adj_from_array (cx, ADJ_DTYPE_F32, (gint64[]){ 3 }, 1, (float[]){ 1, 1, 1 }));
  g_auto (AdjValue) result = ADJ_NONE;
  g_autoptr (AdjTensorData) data = NULL;

  ((Shifting *) function)->shift = shift;
  for (guint i = 0; i < 2; i++)
    ((Shifting *) function)->by[i] = number_new_in (cx, &number_shift, 2 + i);
  aot = adj_aot_trace (function, &x, 1, NULL, NULL, &error);
  g_assert_no_error (error);
  a = adj_graph_print (adj_aot_graph_get_graph (aot), flags, NULL);
  g_assert_cmpstr (a, ==, b);
  g_assert_true (adj_interpret (cx, adj_aot_graph_get_graph (aot), &x, 1, NULL, &result));
  data = adj_tensor_snapshot (result.items[0].tensor);
  g_assert_cmpfloat (adj_tensor_data_get_double (data, 2), ==, 12);
}

/* -- values that a file has -- */

static AdjOp *the_shift;

static const AdjOp *
find_shift (const char *target)
{
  return strstr (target, "mine.shift") != NULL ? the_shift : adj_op_find (target);
}

/* (transfer full) */
static AdjGraph *
parse_shifts (const char *text)
{
  g_autoptr (GError) error = NULL;
  AdjGraph *graph = adj_graph_parse (text, -1, find_shift, NULL, &error);

  g_assert_no_error (error);
  return graph;
}

/* (transfer full) (nullable): @graph with the classes of this file. */
static AdjGraph *
extend (AdjGraph *graph, GError **error)
{
  g_autoptr (AdjExtensions) extensions = adj_extensions_new ();
  g_autoptr (AdjExtender) extender = adj_extender_new (extensions, NULL);

  g_assert_true (adj_extensions_add_class (extensions, &number_scale, NULL, NULL));
  g_assert_true (adj_extensions_add_class (extensions, &number_shift, NULL, NULL));
  return adj_extender_take_graph (extender, graph, error);
}

/* (transfer full) */
static AdjGraph *
read_shifts (const char *text)
{
  g_autoptr (AdjGraph) graph = parse_shifts (text);
  g_autoptr (GError) error = NULL;
  AdjGraph *read = extend (graph, &error);

  g_assert_no_error (error);
  return read;
}

/* Expects, for ones: (1 + 2 + 3) · 2. */
static void
assert_runs (AdjGraph *graph)
{
  g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
  const AdjValue x =
      ADJ_TENSOR (adj_from_array (cx, ADJ_DTYPE_F32, (gint64[]){ 3 }, 1, (float[]){ 1, 1, 1 }));
  g_auto (AdjValue) result = ADJ_NONE;
  g_autoptr (AdjTensorData) data = NULL;
  g_autoptr (GError) error = NULL;

  adj_interpret (cx, graph, &x, 1, NULL, &result);
  adj_context_take_error (cx, &error);
  g_assert_no_error (error);
  data = adj_tensor_snapshot (result.items[0].tensor);
  g_assert_cmpfloat (adj_tensor_data_get_double (data, 2), ==, 12);
}

/* (transfer full): the text of @graph after saving and loading. */
static char *
save_and_load (AdjGraph *graph)
{
  const AdjPrintFlags flags = ADJ_PRINT_NO_METADATA | ADJ_PRINT_NO_COMMENTS;
  g_autofree char *folder = g_dir_make_tmp ("adjoint-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "shift.adjoint", NULL);
  g_autoptr (AdjBundleBuilder) builder = adj_bundle_builder_new ();
  const AdjBundleGraph entry = { .id = "g", .role = "inference", .title = "g", .graph = graph };
  g_autoptr (AdjBundle) bundle = NULL;
  g_autoptr (AdjBundle) loaded = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (adj_bundle_builder_add_graph (builder, &entry, &error));
  bundle = adj_bundle_builder_end (g_steal_pointer (&builder), NULL);
  adj_format_find ("adjoint", NULL)->save (bundle, path, NULL, NULL, &error);
  g_assert_no_error (error);
  loaded = adj_test_load_bundle (path);
  g_remove (path);
  g_rmdir (folder);
  return adj_graph_print (adj_bundle_get_graph (loaded, 0)->graph, flags, NULL);
}

static void
values_are_read_of_a_file (void)
{
  const AdjPrintFlags flags = ADJ_PRINT_NO_METADATA | ADJ_PRINT_NO_COMMENTS;
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "objects", "captures", "2.15-constant-aot.txt", NULL);
  g_autofree char *text = adj_test_read_file (path, NULL);
  g_autoptr (AdjOp) shift = adj_op_new (&number_op_shift, NULL);
  g_autoptr (AdjGraph) parsed = NULL;
  g_autoptr (AdjGraph) read = NULL;
  g_autoptr (AdjGraph) again = NULL;
  g_autoptr (AdjAotGraph) aot = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *theirs = NULL, *ours = NULL, *traced = NULL, *loaded = NULL;

  the_shift = shift;
  parsed = parse_shifts (text);
  read = read_shifts (text);
  theirs = adj_graph_print (parsed, flags, NULL);
  ours = adj_graph_print (read, flags, NULL);
  g_assert_cmpstr (ours, ==, theirs);
  assert_runs (read);
  aot = adj_aot_trace_graph (read, NULL, NULL, &error);
  g_assert_no_error (error);
  traced = adj_graph_print (adj_aot_graph_get_graph (aot), flags, NULL);
  g_assert_cmpstr (traced, ==, theirs);
  assert_runs (adj_aot_graph_get_graph (aot));
  loaded = save_and_load (read);
  g_assert_cmpstr (loaded, ==, theirs);
  again = read_shifts (loaded);
  assert_runs (again);
}

/* Tracing a graph of PyTorch's frontend gives PyTorch's graph. */
static void
frontends_are_traced_as_in_pytorch (void)
{
  static const char *const names[] = { "opaque", "constant", "equal", "bumps" };
  const AdjPrintFlags flags = ADJ_PRINT_NO_METADATA | ADJ_PRINT_NO_COMMENTS;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *dynamo_file = g_strdup_printf ("2.15-%s-dynamo.txt", names[i]);
      g_autofree char *aot_file = g_strdup_printf ("2.15-%s-aot.txt", names[i]);
      g_autoptr (AdjExtensions) extensions = number_extensions_new ();
      g_autoptr (AdjGraph) dynamo = number_read_graph (extensions, dynamo_file);
      g_autoptr (AdjGraph) theirs = number_read_graph (extensions, aot_file);
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjAotGraph) aot = adj_aot_trace_graph (dynamo, NULL, NULL, &error);
      g_autofree char *a = NULL, *b = adj_graph_print (theirs, flags, NULL);

      g_assert_no_error (error);
      a = adj_graph_print (adj_aot_graph_get_graph (aot), flags, NULL);
      g_assert_cmpstr (a, ==, b);
    }
}

/* -- joint graphs -- */

/* (transfer full): the partition of @graph with inputs as annotated, the parameter requiring a
 * gradient. */
static AdjPartition *
cut_joint (AdjGraph *graph)
{
  const AdjAotOptions aot_options = { .release = "2.15", .detaches = ADJ_DETACHES_2_15 };
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (AdjFunction) function = adj_graph_function_new (graph);
  g_autoptr (AdjAotGraph) aot = NULL;
  g_autoptr (GError) error = NULL;
  AdjPartition *partition;
  AdjTensorMeta meta;
  AdjValue inputs[8];
  const guint n = adj_graph_get_n_inputs (graph);

  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, adj_graph_get_input (graph, i).index);

      inputs[i] = node->val;
      if (!g_str_has_suffix (node->name, "_w_"))
        continue;
      meta = *node->val.meta;
      meta.requires_grad = TRUE;
      inputs[i].meta = &meta;
    }
  aot = adj_aot_trace (function, inputs, n, &aot_options, NULL, &error);
  g_assert_no_error (error);
  options.num_fwd_outputs = (gint) adj_aot_graph_get_n_forward (aot);
  partition = adj_partition (adj_partitioner_find ("default", NULL), adj_aot_graph_get_graph (aot),
                             &options, &error);
  g_assert_no_error (error);
  return partition;
}

static void
assert_same_as_theirs (const AdjExtensions *extensions,
                       AdjGraph *ours,
                       const char *name,
                       const char *half)
{
  const AdjPrintFlags flags = ADJ_PRINT_NO_METADATA | ADJ_PRINT_NO_COMMENTS;
  g_autofree char *file = g_strdup_printf ("2.15-%s-%s.txt", name, half);
  g_autoptr (AdjGraph) theirs = number_read_graph (extensions, file);
  g_autofree char *a = adj_graph_print (ours, flags, NULL);
  g_autofree char *b = adj_graph_print (theirs, flags, NULL);

  g_assert_cmpstr (a, ==, b);
}

/* A frontend graph is partitioned as in PyTorch: objects are saved for the backward, and hooks
 * take them. */
static void
joints_are_as_in_pytorch (void)
{
  static const char *const names[] = { "graded", "layer",          "shifted",
                                       "speedy", "speed-argument", "hooked-objects",
                                       "hooked", "hooked-tensors" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *dynamo_file = g_strdup_printf ("2.15-%s-dynamo.txt", names[i]);
      g_autoptr (AdjExtensions) extensions = number_extensions_new ();
      g_autoptr (AdjGraph) dynamo = number_read_graph (extensions, dynamo_file);
      g_autoptr (AdjPartition) partition = cut_joint (dynamo);

      g_test_message ("%s", names[i]);
      assert_same_as_theirs (extensions, partition->forward, names[i], "forward");
      assert_same_as_theirs (extensions, partition->backward, names[i], "backward");
    }
}

/* Nested constants and enumerations of unknown classes keep the text in which they were written. */
static void
written_constants_stay (void)
{
  static const char *const names[] = { "2.15-written-dynamo.txt", "2.15-written-aot.txt" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (AdjExtensions) extensions = number_extensions_new ();
      g_autoptr (AdjGraph) graph = number_read_graph (extensions, names[i]);
      g_autofree char *text = adj_graph_print (graph, 0, NULL);
      g_autoptr (GError) error = NULL;

      g_assert_nonnull (strstr (text, "Pair(Shift(2.0), more=[Shift(3.0), 'x, y', None])"));
      g_assert_nonnull (strstr (text, "Speed.FAST"));
      g_assert_nonnull (strstr (text, "Speed.SLOW"));
      g_assert_false (adj_graph_check_understood (graph, &error));
      g_assert_nonnull (strstr (error->message, "'pair"));
    }
}

/* A constant of an unknown class stays text, and a run is refused; one that its class cannot
 * parse is an error of the node. */
static void
unknown_values_are_refused (void)
{
  static const char text[] = "class G(torch.nn.Module):\n"
                             "    def forward(self, x: \"f32[3][1]cpu\"):\n"
                             "        y: \"f32[3][1]cpu\" = torch.ops.mine.shift.default(x, "
                             "%s);  x = None\n"
                             "        return (y,)\n";
  g_autofree char *of_other = g_strdup_printf (text, "Other(2.0)");
  g_autofree char *of_shift = g_strdup_printf (text, "Shift('two')");
  g_autoptr (AdjOp) shift = adj_op_new (&number_op_shift, NULL);
  g_autoptr (AdjGraph) other = NULL;
  g_autoptr (AdjGraph) bad = NULL;
  g_autoptr (GError) error = NULL;

  the_shift = shift;
  other = read_shifts (of_other);
  g_assert_false (adj_graph_check_understood (other, &error));
  g_assert_nonnull (strstr (error->message, "'y'"));
  g_clear_error (&error);
  bad = parse_shifts (of_shift);
  g_assert_null (extend (bad, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_PARSE);
  g_assert_nonnull (strstr (error->message, "Shift('two'): a shift takes one float"));
  g_assert_nonnull (strstr (error->message, "'y'"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/objects/opaque-types/traced-as-in-pytorch", types_are_traced_as_in_pytorch);
  g_test_add_func ("/objects/opaque-types/values-stand-in-the-calls", values_stand_in_the_calls);
  g_test_add_func ("/objects/opaque-types/values-are-read-of-a-file", values_are_read_of_a_file);
  g_test_add_func ("/objects/opaque-types/frontends-are-traced-as-in-pytorch",
                   frontends_are_traced_as_in_pytorch);
  g_test_add_func ("/objects/opaque-types/joints-are-as-in-pytorch", joints_are_as_in_pytorch);
  g_test_add_func ("/objects/opaque-types/written-constants-stay", written_constants_stay);
  g_test_add_func ("/objects/opaque-types/unknown-values-are-refused", unknown_values_are_refused);
  return g_test_run ();
}
