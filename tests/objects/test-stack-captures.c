/* SPDX-License-Identifier: MIT */

/* What PyTorch 2.6 and the newest release make of a stack, of averages and of an operator on a
 * stack: what make_fx and the frontend wrote is read and traced here to what PyTorch made of it,
 * and all of it gives what PyTorch computes (captures/stack.py). */

#include <math.h>
#include <string.h>

#include "aot/adj-aot.h"
#include "autograd/adj-autograd.h"
#include "exec/adj-executor.h"
#include "formats/adj-bundle.h"
#include "formats/adj-format.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "ir/adj-opaque.h"
#include "ir/adj-text.h"
#include "objects/adj-extensions-internal.h"
#include "objects/adj-object-text.h"
#include "objects/stack-classes.h"
#include "ops/adj-op-table.h"
#include "partition/adj-partition.h"
#include "rules/adj-operators.h"
#include "support/adj-test.h"
#include "support/graphs.h"
#include "trace/adj-trace.h"

enum
{
  STACK,
  AVERAGE,
};

enum
{
  MAX_INPUTS = 8,
  SELF = MAX_INPUTS - 1, /* the object of the module, behind what it is called with */
  WEIGHT = SELF - 1,
};

typedef struct
{
  AdjExtensions *extensions;
  AdjContext *cx;
  const char *release;
  const char *name;
  const char *inputs; /* of the function, a letter each: s stack, m averages, x tensor, p bool */
  char *text;         /* the whole file */
  AdjValue made[MAX_INPUTS];
} Case;

/* -- what the functions are given -- */

static AdjValue
make_data (guint rows, guint columns, double first, double step)
{
  const gint64 sizes[] = { rows, columns };
  float numbers[6];

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    numbers[i] = (float) (first + step * i);
  return ADJ_DATA (adj_tensor_data_new_from_array (ADJ_DTYPE_F32, rows > 0 ? sizes : &sizes[1],
                                                   rows > 0 ? 2 : 1, numbers, NULL));
}

static AdjValue
make_object (AdjContext *cx, guint klass, AdjValue state)
{
  AdjObject *object = adj_object_new_in (cx, stack_classes ()->classes[klass], &state);

  g_assert_nonnull (object);
  adj_value_clear (&state);
  return ADJ_OBJECT (object);
}

static AdjValue
make_stack (AdjContext *cx)
{
  AdjValue item = make_data (0, 3, 0, 0);
  AdjValue items = adj_value_new_items (ADJ_VALUE_LIST, &item, 1);

  return make_object (cx, STACK, adj_object_state_new ("items", items, "limit", ADJ_INT (3), NULL));
}

static AdjValue
make_average (AdjContext *cx)
{
  return make_object (cx, AVERAGE,
                      adj_object_state_new ("sums", make_data (2, 3, 0, 0), "counts",
                                            make_data (2, 1, 1, 0), "decay", ADJ_FLOAT (0.5),
                                            "name", adj_value_new_string ("ema"), NULL));
}

static AdjValue
make_tensor (AdjContext *cx, double first, double step)
{
  g_auto (AdjValue) data = make_data (0, 3, first, step);

  return ADJ_TENSOR (adj_scope_add (cx, adj_tensor_new_from_data (data.data)));
}

static void
make_inputs (Case *self)
{
  for (guint i = 0; self->inputs[i] != '\0'; i++)
    {
      const char kind = self->inputs[i];

      self->made[i] =
          kind == 's'   ? make_stack (self->cx)
          : kind == 'm' ? make_average (self->cx)
          : kind == 'x'
              ? make_tensor (self->cx, 1, 1)
              : ADJ_TENSOR (adj_from_array (self->cx, ADJ_DTYPE_BOOL, NULL, 0, &(guint8){ 1 }));
    }
  self->made[SELF] = make_stack (self->cx);
  self->made[WEIGHT] = make_tensor (self->cx, 1, 0);
  adj_tensor_set_requires_grad (self->cx, self->made[WEIGHT].tensor, TRUE);
}

/* Which of them the frontend calls "l_arguments_2_", "l_self_s", "l_x_". */
static guint
find_input (const Case *self, const char *name)
{
  if (g_str_has_prefix (name, "l_arguments_"))
    return (guint) (name[strlen ("l_arguments_")] - '0');
  if (g_str_has_prefix (name, "l_self_"))
    return g_str_has_suffix (name, "_w_") ? WEIGHT : SELF;
  return g_str_equal (name, "l_x_") ? 1 : 0;
}

static guint
take_inputs (const Case *self, AdjGraph *graph, AdjValue *inputs)
{
  const guint n = adj_graph_get_n_inputs (graph);

  for (guint i = 0; i < n; i++)
    {
      const char *name = adj_graph_get_node (graph, adj_graph_get_input (graph, i).index)->name;

      inputs[i] = self->made[g_str_has_prefix (name, "l_") ? find_input (self, name) : i];
    }
  return n;
}

/* -- what is in the file -- */

static const char *const releases[] = { "2.6", "2.15" };

/* (transfer full) */
static char *
read_captures (const char *release)
{
  g_autofree char *file = g_strdup_printf ("%s-stack.txt", release);
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "objects", "captures", file, NULL);

  return adj_test_read_file (path, NULL);
}

/* (transfer full) (nullable) */
static char *
read_section (const Case *self, const char *kind)
{
  g_autofree char *head = g_strdup_printf ("#: %s %s\n", self->name, kind);
  const char *at = strstr (self->text, head);
  const char *end = at != NULL ? strstr (at + 1, "#: ") : NULL;

  if (at == NULL)
    return NULL;
  at += strlen (head);
  return end != NULL ? g_strndup (at, (gsize) (end - at)) : g_strdup (at);
}

/* (transfer full): which graphs the file has of the case, "fx tokens". */
static char *
list_graphs (const Case *self)
{
  g_autofree char *head = g_strdup_printf ("#: %s ", self->name);
  GString *kinds = g_string_new (NULL);

  for (const char *at = strstr (self->text, head); at != NULL; at = strstr (at, head))
    {
      at += strlen (head);
      if (!g_str_has_prefix (at, "values\n"))
        g_string_append_printf (kinds, "%s%.*s", kinds->len > 0 ? " " : "",
                                (int) strcspn (at, "\n"), at);
    }
  return g_string_free (kinds, FALSE);
}

/* (transfer full): with the object that the module has as attribute. */
static AdjGraph *
add_attribute (const Case *self, AdjGraph *graph)
{
  g_autoptr (AdjBuilder) builder = adj_builder_new_like (graph);
  g_autofree AdjNodeId *map = g_new0 (AdjNodeId, adj_graph_get_n_nodes (graph));
  g_autoptr (GError) error = NULL;
  AdjGraph *with;

  adj_builder_add_attr (builder, "_torchbind_obj0", &self->made[SELF]);
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    adj_builder_copy (builder, graph, i, map);
  with = adj_builder_seal (builder, &error);
  g_assert_no_error (error);
  return with;
}

/* (transfer full) (nullable) */
static AdjGraph *
read_graph (const Case *self, const char *kind)
{
  g_autofree char *text = read_section (self, kind);
  g_autoptr (AdjExtender) extender = adj_extender_new (self->extensions, NULL);
  g_autoptr (AdjGraph) graph = NULL;
  g_autoptr (AdjGraph) extended = NULL;
  g_autoptr (GError) error = NULL;

  if (text == NULL)
    return NULL;
  graph = adj_graph_parse (text, -1, adj_op_find, NULL, &error);
  g_assert_no_error (error);
  extended = adj_extender_take_graph (extender, graph, &error);
  g_assert_no_error (error);
  return strstr (text, "self._torchbind_obj0") != NULL ? add_attribute (self, extended)
                                                       : g_steal_pointer (&extended);
}

static void
assert_same (const Case *self, AdjGraph *ours, const char *kind)
{
  const AdjPrintFlags flags = ADJ_PRINT_NO_METADATA | ADJ_PRINT_NO_COMMENTS;
  g_autoptr (AdjGraph) theirs = read_graph (self, kind);
  g_autofree char *a = adj_graph_print (ours, flags, NULL);
  g_autofree char *b = adj_graph_print (theirs, flags, NULL);

  g_test_message ("%s %s %s", self->release, self->name, kind);
  g_assert_cmpstr (a, ==, b);
}

/* -- what is computed -- */

/* The numbers of a line of PyTorch's, which @leaf has in its tensors. */
static gboolean
check_leaf (const AdjValue *leaf, gpointer data)
{
  const char **at = data;
  g_autoptr (AdjTensorData) held = NULL;
  AdjTensorData *numbers = leaf->kind == ADJ_VALUE_DATA ? leaf->data : NULL;

  if (leaf->kind == ADJ_VALUE_TENSOR)
    numbers = held = adj_tensor_snapshot (leaf->tensor);
  for (gint64 i = 0; numbers != NULL && i < adj_tensor_data_get_numel (numbers); i++)
    {
      char *end;
      const double expected = g_ascii_strtod (*at, &end);

      g_assert_true (end > *at);
      *at = end;
      g_assert_cmpfloat (fabs (adj_tensor_data_get_double (numbers, i) - expected), <=,
                         fabs (expected) * 0x1p-22);
    }
  return TRUE;
}

static void
check_line (const AdjValue *value, const char *line)
{
  adj_value_foreach (value, check_leaf, &line);
  g_assert_cmpstr (g_strchomp ((char *) line), ==, "");
}

/* (nullable): what became of @given. */
static AdjObject *
find_object (const AdjRunResult *result, const AdjValue *given)
{
  for (guint i = 0; i < result->n_objects; i++)
    if (&result->objects[i].before->parent == given->object)
      return result->objects[i].after;
  return NULL;
}

/* The objects that the function was given, then that of the module. */
static void
check_objects (const Case *self, const AdjRunResult *result, char *const *lines)
{
  for (guint i = 0; i < MAX_INPUTS; i++)
    {
      AdjObject *after = self->made[i].kind == ADJ_VALUE_OPAQUE_OBJECT
                             ? find_object (result, &self->made[i])
                             : NULL;
      g_auto (AdjValue) state = ADJ_NONE;

      if (after == NULL)
        continue;
      g_assert_true (adj_object_flatten (after, &state, NULL));
      check_line (&state, *lines++);
    }
  g_assert_cmpstr (*lines, ==, "");
}

static AdjValue
snapshot (const AdjValue *value)
{
  return value->kind == ADJ_VALUE_TENSOR ? ADJ_DATA (adj_tensor_snapshot (value->tensor)) : *value;
}

/* By every executor; the objects that it is given stay as they are. */
static void
assert_runs (const Case *self, AdjGraph *graph, const AdjValue *inputs, guint n, guint n_tokens)
{
  static const char *const executors[] = { "interpreter", "planned", "fast" };
  g_autofree char *values = read_section (self, "values");
  g_auto (GStrv) lines = g_strsplit (values, "\n", -1);
  AdjValue given[MAX_INPUTS] = { ADJ_NONE };

  for (guint i = 0; i < n; i++)
    given[n_tokens + i] = snapshot (&inputs[i]);
  for (guint i = 0; i < G_N_ELEMENTS (executors); i++)
    {
      const AdjRunRequest request = { .graph = graph, .inputs = given, .n_inputs = n_tokens + n };
      g_autoptr (GError) error = NULL;
      AdjRunResult result;

      adj_executor_run (adj_executor_find (executors[i], NULL), &request, &result, NULL, &error);
      g_assert_no_error (error);
      check_line (adj_value_is_container (&result.output) ? &result.output.items[n_tokens]
                                                          : &result.output,
                  lines[0]);
      check_objects (self, &result, lines + 1);
      adj_run_result_clear (&result);
    }
  for (guint i = 0; i < n; i++)
    if (given[n_tokens + i].kind == ADJ_VALUE_DATA)
      adj_value_clear (&given[n_tokens + i]);
}

/* -- a case -- */

/* make_fx, and AOTAutograd of the function. */
static void
check_fx (const Case *self)
{
  static const char *const parameters[] = { "arg0", "arg1", "arg2" };
  g_autoptr (AdjGraph) theirs = read_graph (self, "fx");
  g_autoptr (AdjGraph) tokens = read_graph (self, "tokens");
  const AdjTraceOptions options = { .name = "<lambda>", .parameters = parameters };
  g_autoptr (AdjFunction) function = theirs != NULL ? adj_graph_function_new (theirs) : NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) ours = NULL;
  g_autoptr (AdjAotGraph) aot = NULL;
  guint n;

  if (theirs == NULL)
    return;
  n = adj_graph_get_n_inputs (theirs);
  ours = adj_trace (function, self->made, n, &options, &error);
  g_assert_no_error (error);
  assert_same (self, ours, "fx");
  assert_runs (self, theirs, self->made, n, 0);
  if (tokens == NULL)
    return;
  aot = adj_aot_trace (function, self->made, n, NULL, NULL, &error);
  g_assert_no_error (error);
  assert_same (self, adj_aot_graph_get_graph (aot), "tokens");
  assert_runs (self, tokens, self->made, n, 1);
}

/* What the frontend wrote, and AOTAutograd of that. */
static void
check_frontend (const Case *self)
{
  const gboolean old = g_str_equal (self->release, "2.6");
  const AdjAotOptions aot_options = { .release = self->release,
                                      .detaches = old ? ADJ_DETACHES_2_6 : ADJ_DETACHES_2_15 };
  g_autoptr (AdjGraph) theirs = read_graph (self, "dynamo");
  g_autoptr (AdjGraph) backward = read_graph (self, "backward");
  g_autoptr (AdjFunction) function = theirs != NULL ? adj_graph_function_new (theirs) : NULL;
  g_autoptr (AdjAotGraph) aot = NULL;
  g_autoptr (AdjPartition) partition = NULL;
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;
  AdjValue inputs[MAX_INPUTS];
  guint n;

  if (theirs == NULL)
    return;
  n = take_inputs (self, theirs, inputs);
  assert_runs (self, theirs, inputs, n, 0);
  aot = adj_aot_trace (function, inputs, n, &aot_options, NULL, &error);
  g_assert_no_error (error);
  if (backward == NULL)
    {
      assert_same (self, adj_aot_graph_get_graph (aot), "forward");
      assert_runs (self, adj_aot_graph_get_graph (aot), inputs, n, 1);
      return;
    }
  options.num_fwd_outputs = (gint) adj_aot_graph_get_n_forward (aot);
  partition = adj_partition (adj_partitioner_find ("default", NULL), adj_aot_graph_get_graph (aot),
                             &options, &error);
  g_assert_no_error (error);
  assert_same (self, partition->forward, "forward");
  assert_same (self, partition->backward, "backward");
  assert_runs (self, partition->forward, inputs, n, 1);
}

#define ALL "fx tokens dynamo forward"

/* @graphs: what PyTorch made of it, all of which is compared */
static void
check_case (const char *name, const char *inputs, const char *graphs)
{
  g_autoptr (AdjExtensions) extensions = adj_extensions_new ();

  g_assert_true (adj_program_extend (stack_classes (), extensions, NULL, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (releases); i++)
    {
      g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
      g_autofree char *text = read_captures (releases[i]);
      Case self = { extensions, cx, releases[i], name, inputs, text, { ADJ_NONE } };
      g_autofree char *found = list_graphs (&self);

      g_assert_cmpstr (found, ==, graphs);
      make_inputs (&self);
      check_fx (&self);
      check_frontend (&self);
    }
}

static void
a_stack (void)
{
  check_case ("stack", "sx", ALL);
}

static void
averages (void)
{
  check_case ("averages", "mx", ALL);
}

static void
two_objects_in_one_graph (void)
{
  check_case ("both", "smx", ALL);
}

static void
an_operator_orders_its_object (void)
{
  check_case ("operator", "sx", ALL);
}

static void
an_attribute_and_an_input (void)
{
  check_case ("attribute", "sx", ALL);
}

static void
a_tensor_and_a_number (void)
{
  check_case ("depth", "sx", "fx");
}

static void
a_joint_graph (void)
{
  check_case ("loss", "sx", "dynamo forward backward");
}

static void
beside_a_cond (void)
{
  check_case ("beside-cond", "spx", "dynamo forward");
}

/* -- torch.export -- */

static AdjBundle *
load_exported (const char *release)
{
  g_autofree char *file = g_strdup_printf ("%s-stack.pt2", release);
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "objects", "captures", file, NULL);
  AdjBundle *bundle = adj_test_load_bundle (path);

  g_assert_cmpuint (adj_diags_get_n (adj_bundle_get_diags (bundle)), ==, 0);
  return bundle;
}

static gboolean
run_exported (AdjBundle *bundle, AdjRunResult *result, GError **error)
{
  const AdjBundleGraph *graph = adj_bundle_get_graph (bundle, 0);
  const AdjRecordedCall *call = adj_bundle_find_call (bundle, graph, 0);
  const AdjRunRequest request = { .graph = graph->graph, .inputs = call->inputs, .n_inputs = 3 };

  g_assert_cmpuint (call->n_inputs, ==, 3);
  return adj_executor_run (adj_executor_find ("interpreter", NULL), &request, result, NULL, error);
}

/* The class, and what it pickled of the attribute and of the input. */
static void
exported_objects_are_told (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (releases); i++)
    {
      g_autoptr (AdjBundle) bundle = load_exported (releases[i]);
      const AdjRecordedCall *call =
          adj_bundle_find_call (bundle, adj_bundle_get_graph (bundle, 0), 0);
      g_autoptr (GError) error = NULL;
      AdjRunResult result;

      for (guint k = 0; k < 2; k++)
        {
          g_autoptr (GString) text = g_string_new (NULL);

          adj_object_print (adj_object_from_opaque (call->inputs[k].object), 12, text);
          g_assert_cmpstr (text->str, ==,
                           "__torch__.torch.classes.unseen.Stack\n"
                           "  __getstate__: ([tensor([0., 0., 0.])], 3)\n");
        }
      g_assert_false (run_exported (bundle, &result, &error));
      g_assert_nonnull (strstr (error->message, "unseen.Stack.push: Adjoint has no such class"));
    }
}

/* A class that reads what it pickled: PyTorch's numbers, and states, of the same module. */
static void
exported_objects_are_restored (void)
{
  g_autoptr (AdjExtensions) extensions = adj_extensions_new ();

  g_assert_true (adj_program_extend (stack_classes (), extensions, NULL, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (releases); i++)
    {
      g_autoptr (AdjBundle) bundle = load_exported (releases[i]);
      g_autofree char *text = read_captures (releases[i]);
      const Case self = { .name = "attribute", .text = text };
      g_autofree char *values = read_section (&self, "values");
      g_auto (GStrv) lines = g_strsplit (values, "\n", -1);
      g_autoptr (GError) error = NULL;
      AdjRunResult result;

      g_assert_true (adj_bundle_extend (bundle, extensions, &error));
      run_exported (bundle, &result, &error);
      g_assert_no_error (error);
      check_line (&result.output.items[0], lines[0]);
      g_assert_cmpuint (result.n_objects, ==, 2);
      for (guint k = 0; k < 2; k++)
        {
          g_auto (AdjValue) state = ADJ_NONE;

          g_assert_true (adj_object_flatten (result.objects[k].after, &state, NULL));
          check_line (&state, lines[2 - k]);
        }
      adj_run_result_clear (&result);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/objects/stack-captures/a-stack", a_stack);
  g_test_add_func ("/objects/stack-captures/averages", averages);
  g_test_add_func ("/objects/stack-captures/two-objects-in-one-graph", two_objects_in_one_graph);
  g_test_add_func ("/objects/stack-captures/an-operator-orders-its-object",
                   an_operator_orders_its_object);
  g_test_add_func ("/objects/stack-captures/an-attribute-and-an-input", an_attribute_and_an_input);
  g_test_add_func ("/objects/stack-captures/a-tensor-and-a-number", a_tensor_and_a_number);
  g_test_add_func ("/objects/stack-captures/a-joint-graph", a_joint_graph);
  g_test_add_func ("/objects/stack-captures/beside-a-cond", beside_a_cond);
  g_test_add_func ("/objects/stack-captures/exported-objects-are-told", exported_objects_are_told);
  g_test_add_func ("/objects/stack-captures/exported-objects-are-restored",
                   exported_objects_are_restored);
  return g_test_run ();
}
