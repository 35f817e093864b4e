/* SPDX-License-Identifier: MIT */
/* The operators that take graphs (autograd/SPEC.md §8): called eagerly, traced, and what
 * partitioners make of the tags that they leave. */

#include <glib.h>
#include <math.h>
#include <string.h>

#include "autograd/adj-autograd.h"
#include "call/adj-context-internal.h"
#include "call/adj-mode.h"
#include "interpreter/builtins-private.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-table.h"
#include "partition-test.h"
#include "rules/adj-operators.h"
#include "wrappers/adj-wrappers.h"

/* -- graphs -- */

#define X "x: \"f32[4, 4][4, 1]cpu\""
#define Y "y: \"f32[4, 4][4, 1]cpu\""

/* A graph with @parameters and @statements, which "; " separates, and its subgraphs.  @bodies:
 * name, parameters and statements of each; ends with %NULL */
static AdjGraph *
parse (const char *parameters, const char *statements, const char *const *bodies)
{
  g_autoptr (GString) text = g_string_new ("class GraphModule(torch.nn.Module):\n");
  g_auto (GStrv) lines = g_strsplit (statements, "; ", -1);
  AdjGraph *graph;

  g_string_append_printf (text, "    def forward(self, %s):\n", parameters);
  for (const char *name = "x"; name != NULL; name = g_str_equal (name, "x") ? "y" : NULL)
    if (strstr (parameters, g_str_equal (name, "x") ? X : Y) != NULL)
      g_string_append_printf (text, "        # adj: %s {requires_grad: True}\n", name);
  for (guint i = 0; bodies[i] != NULL; i += 3)
    g_string_append_printf (text, "        %s = self.%s\n", bodies[i], bodies[i]);
  for (guint i = 0; lines[i] != NULL; i++)
    g_string_append_printf (text, "        %s\n", lines[i]);
  for (guint i = 0; bodies[i] != NULL; i += 3)
    {
      g_auto (GStrv) inner = g_strsplit (bodies[i + 2], "; ", -1);

      g_string_append_printf (text,
                              "    class %s(torch.nn.Module):\n        def forward(self, %s):\n",
                              bodies[i], bodies[i + 1]);
      for (guint k = 0; inner[k] != NULL; k++)
        g_string_append_printf (text, "            %s\n", inner[k]);
    }
  graph = adj_test_parse_graph (text->str);
  return graph;
}

#define BODIES(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define HIGHER "torch.ops.higher_order."

/* -- what becomes of them -- */

static AdjGraph *
joint_of (AdjGraph *graph)
{
  const AdjPipelineOptions options = { .steps = "joint" };
  g_auto (AdjPipelineResult) result = { 0 };
  g_autoptr (GError) error = NULL;
  const AdjStage *last;

  adj_pipeline_run (graph, "dynamo", &options, &result, NULL, &error);
  g_assert_no_error (error);
  last =
      adj_recording_get_stage (result.recording, adj_recording_get_n_stages (result.recording) - 1);
  g_assert_cmpstr (last->failure, ==, NULL);
  return adj_graph_ref (last->graph);
}

/* "mm:1:PREFER_RECOMPUTE sin:2:MUST_SAVE": the calls with a region; views and detaches aside. */
static char *
print_tags (const AdjGraph *graph)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);

      if (node->meta.ac_graph_id >= 0 && strstr (node->target, "detach") == NULL)
        g_string_append_printf (text, "%s%s:%" G_GINT64_FORMAT ":%s", text->len > 0 ? " " : "",
                                node->name, node->meta.ac_graph_id,
                                adj_recompute_name (node->meta.recompute));
    }
  return g_string_free (text, FALSE);
}

static void
assert_tags (AdjGraph *graph, const char *expected)
{
  g_autoptr (AdjGraph) joint = joint_of (graph);
  g_autofree char *got = print_tags (joint);

  g_assert_cmpstr (got, ==, expected);
  for (guint i = 0; i < adj_graph_get_n_nodes (joint); i++)
    g_assert_null (strstr (adj_graph_get_node (joint, i)->target, "higher_order"));
}

static guint
count (const AdjGraph *graph, const char *packet)
{
  g_autofree char *prefix = g_strdup_printf ("torch.ops.aten.%s.", packet);
  guint n = 0;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    n += g_str_has_prefix (adj_graph_get_node (graph, i)->target, prefix);
  return n;
}

static AdjPartition *
partition_of (AdjGraph *graph)
{
  g_autoptr (AdjGraph) joint = joint_of (graph);
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;

  return partition_run ("min-cut", joint, &options);
}

/* -- divide_kwargs -- */

static AdjValue
text_value (const char *text)
{
  return (AdjValue){ .kind = ADJ_VALUE_STRING, .n = (guint) strlen (text), .text = text };
}

static char *
print_keys (const AdjValue *dict)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < dict->n; i += 2)
    g_string_append_printf (text, "%s%s=%" G_GINT64_FORMAT, i > 0 ? " " : "", dict->items[i].text,
                            dict->items[i + 1].integer);
  return g_string_free (text, FALSE);
}

/* autograd/SPEC.md §8.1: keywords of checkpoint() go left, all others right, each in its order. */
static void
test_divides_kwargs (void)
{
  static const char *const keys[] = {
    "z",     "use_reentrant",     "early_stop", "context_fn", "a",
    "debug", "determinism_check", "function",   "kwargs",     "preserve_rng_state"
  };
  AdjValue items[2 * G_N_ELEMENTS (keys)];
  const AdjValue kwargs = { .kind = ADJ_VALUE_DICT, .n = G_N_ELEMENTS (items), .items = items };
  g_auto (AdjValue) left = ADJ_NONE;
  g_auto (AdjValue) right = ADJ_NONE;
  g_autofree char *of_checkpoint = NULL;
  g_autofree char *of_function = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      items[2 * i] = text_value (keys[i]);
      items[2 * i + 1] = ADJ_INT (i);
    }
  adj_builtin_divide_kwargs (&kwargs, &left, &right);
  of_checkpoint = print_keys (&left);
  of_function = print_keys (&right);
  g_assert_cmpstr (of_checkpoint, ==,
                   "use_reentrant=1 context_fn=3 debug=5 determinism_check=6 preserve_rng_state=9");
  g_assert_cmpstr (of_function, ==, "z=0 early_stop=2 a=4 function=7 kwargs=8");
  adj_value_clear (&left);
  adj_value_clear (&right);
  adj_builtin_divide_kwargs (NULL, &left, &right);
  g_assert_cmpuint (left.n + right.n, ==, 0);
}

/* -- eagerly -- */

/* Counts products, below the tape. */
typedef struct
{
  AdjMode mode;
  guint n_mm;
} Counter;

static gboolean
counter_call (AdjMode *mode, AdjOpCall *call)
{
  ((Counter *) mode)->n_mm += call->op == adj_op_find ("torch.ops.aten.mm.default");
  return adj_mode_call_below (mode, call);
}

typedef struct
{
  AdjContext *cx;
  Counter *counter;
  AdjTensor *x; /* of the scope */
  AdjValue out; /* (owned) */
} Eager;

static AdjTensor *
leaf (AdjContext *cx)
{
  const gint64 sizes[] = { 4, 4 };
  AdjTensor *x = adj_randn (cx, sizes, 2);

  adj_tensor_set_requires_grad (cx, x, TRUE);
  return x;
}

/* Calls @graph on one leaf, recorded; the error, if any, stays in the context. */
static gboolean
eager_init (Eager *self, AdjGraph *graph)
{
  static const AdjModeClass klass = { .name = "counter", .call = counter_call };
  AdjValue arg;

  *self = (Eager){ .cx = adj_context_new (), .counter = g_new0 (Counter, 1) };
  self->counter->mode.klass = &klass;
  adj_context_push_mode (self->cx, &self->counter->mode);
  adj_context_push_mode (self->cx, adj_autograd_mode_new ());
  self->x = leaf (self->cx);
  arg = ADJ_TENSOR (self->x);
  return adj_interpret (self->cx, graph, &arg, 1, NULL, &self->out);
}

static void
eager_clear (Eager *self)
{
  adj_value_clear (&self->out);
  adj_context_free (self->cx);
}

static AdjTensorData *
eager_gradient (Eager *self)
{
  AdjTensor *root = self->out.items[0].tensor, *loss;
  g_autoptr (GError) error = NULL;

  loss = adj_sum (self->cx, root);
  adj_backward (self->cx, &(AdjGradRoots){ .tensors = &loss, .n = 1 }, NULL, 0, 0);
  adj_context_take_error (self->cx, &error);
  g_assert_no_error (error);
  return adj_tensor_snapshot (adj_tensor_get_grad (self->x));
}

#define TWO_PRODUCTS                                                                               \
  "mm = torch.mm(x, x); sin = torch.sin(mm); mm_1 = torch.mm(sin, x); return (mm_1,)"

/* Products in forward, and with backward; the gradient is what the body alone gives. */
static void
check_eager (const char *call, guint forward, guint all)
{
  g_autoptr (AdjGraph) plain = parse (X, TWO_PRODUCTS, BODIES (NULL));
  g_autofree char *statements = g_strdup_printf (
      "region = " HIGHER "%s; getitem: \"f32[4, 4][4, 1]cpu\" = region[0]; return (getitem,)",
      call);
  g_autoptr (AdjGraph) graph = parse (X, statements, BODIES ("body", X, TWO_PRODUCTS));
  g_autoptr (AdjTensorData) expected = NULL;
  g_autoptr (AdjTensorData) got = NULL;
  AdjValue a, b;
  Eager eager;

  g_assert_true (eager_init (&eager, plain));
  expected = eager_gradient (&eager);
  eager_clear (&eager);
  g_assert_true (eager_init (&eager, graph));
  g_assert_cmpuint (eager.counter->n_mm, ==, forward);
  got = eager_gradient (&eager);
  g_assert_cmpuint (eager.counter->n_mm, ==, all);
  g_assert_true (adj_context_get_grad_enabled (eager.cx));
  eager_clear (&eager);
  a = ADJ_DATA (expected);
  b = ADJ_DATA (got);
  partition_assert_same_bits (&a, &b, call);
}

/* Two products forward, four of backward (two for each), and those that run again: the last one is
 * not, its inputs are all that is wanted. */
static void
test_eager (void)
{
  check_eager ("wrap(body, x)", 2, 6);
  check_eager ("tag_activation_checkpoint(body, x, use_reentrant = False)", 2, 6);
  check_eager ("wrap_activation_checkpoint(body, x, use_reentrant = True)", 2, 7);
  check_eager ("tag_activation_checkpoint(body, x, context_fn = [torch.ops.aten.mm.default])", 2,
               6);
  check_eager ("tag_activation_checkpoint(body, x, context_fn = [torch.ops.aten.sin.default])", 2,
               7);
}

/* A region under a policy is traced once: PyTorch defers the hooks of checkpoints while it traces.
 * What it makes for itself is not made again, and may be written. */
static void
test_policy_traced (void)
{
  static const char *const bodies[] = {
    "sin = torch.sin(x); out = torch.nn.functional.alpha_dropout(sin, 0.1, True); return (out,)",
    "sin = torch.sin(x); out = torch.nn.functional.dropout1d(sin, 0.2, True); return (out,)",
    "zeros = x.new_zeros(4, 4); noise = torch.rand_like(zeros); out = torch.mul(torch.sin(x), "
    "noise); return (out,)",
  };
  static const char *const drawn[] = { "bernoulli", "bernoulli", "rand_like" };

  for (guint i = 0; i < G_N_ELEMENTS (bodies); i++)
    {
      g_autoptr (AdjGraph) graph =
          parse (X,
                 "region = " HIGHER "tag_activation_checkpoint(body, x, context_fn = "
                 "[torch.ops.aten.mm.default]); getitem: \"f32[4, 4][4, 1]cpu\" = region[0]; "
                 "return (getitem,)",
                 BODIES ("body", X, bodies[i]));
      g_autoptr (AdjGraph) joint = joint_of (graph);

      g_assert_cmpuint (count (joint, drawn[i]), ==, 1);
      g_assert_cmpuint (count (joint, "sin"), ==, 1);
    }
}

/* wrap_with_set_grad_enabled: the mode inside, and what it was before behind it. */
static void
test_grad_mode (void)
{
  for (guint enabled = 0; enabled < 2; enabled++)
    {
      g_autofree char *statements =
          g_strdup_printf ("region = " HIGHER "wrap_with_set_grad_enabled(%s, body, x); "
                           "getitem: \"f32[4, 4][4, 1]cpu\" = region[0]; return (getitem,)",
                           enabled ? "True" : "False");
      g_autoptr (AdjGraph) graph =
          parse (X, statements, BODIES ("body", X, "sin = torch.sin(x); return (sin,)"));
      Eager eager;

      g_assert_true (eager_init (&eager, graph));
      g_assert_cmpint (adj_tensor_get_requires_grad (eager.out.items[0].tensor), ==,
                       (gint) enabled);
      g_assert_true (adj_context_get_grad_enabled (eager.cx));
      eager_clear (&eager);
    }
}

static void
assert_refused (const char *call, const char *body, const char *message)
{
  g_autofree char *statements = g_strdup_printf (
      "region = " HIGHER "%s; getitem: \"f32[4, 4][4, 1]cpu\" = region[0]; return (getitem,)",
      call);
  g_autoptr (AdjGraph) graph = parse (X, statements, BODIES ("body", X, body));
  g_autoptr (GError) error = NULL;
  Eager eager;

  g_assert_false (eager_init (&eager, graph));
  g_assert_true (adj_context_take_error (eager.cx, &error));
  if (strstr (error->message, message) == NULL)
    g_error ("%s: %s", call, error->message);
  /* Whatever failed, the modes are as they were. */
  g_assert_true (adj_context_get_grad_enabled (eager.cx));
  g_assert_cmpint (adj_context_get_region (eager.cx).id, ==, -1);
  eager_clear (&eager);
}

static void
test_refuses (void)
{
  const char *body = "sin = torch.sin(x); return (sin,)";

  assert_refused ("wrap(x, x)", body, "the first argument must be a graph");
  assert_refused ("wrap_with_set_grad_enabled(body, x)", body, "a bool and a graph are needed");
  assert_refused ("wrap_with_set_grad_enabled(False, body, x)", "mm = torch.mm(x, 3); return (mm,)",
                  "mm");
  assert_refused ("tag_activation_checkpoint(body, x)", "mm = torch.mm(x, 3); return (mm,)", "mm");
  assert_refused ("wrap_activation_checkpoint(body, x, determinism_check = 'often')", body,
                  "determinism_check is 'default' or 'none'");
  assert_refused ("tag_activation_checkpoint(body, x, context_fn = [torch.ops.aten.mm])", body,
                  "no operator with its overload");
  assert_refused ("tag_activation_checkpoint(body, x, context_fn = "
                  "{torch.ops.aten.mm.default: ['MUST_SAVE', 3]})",
                  body, "names a policy that there is not");
  assert_refused ("tag_activation_checkpoint(body, x, context_fn = 3)", body,
                  "a list of operators or a dict of policies");
  assert_refused ("tag_activation_checkpoint(body, x, debug = True, "
                  "context_fn = [torch.ops.aten.mm.default])",
                  body, "cannot be had together with a context_fn");
}

/* -- traced -- */

#define MM_SIN "mm = torch.mm(x, y); sin = torch.sin(mm); return (sin,)"

/* autograd/SPEC.md §8.1: arguments by keyword stand behind the others; those of checkpoint() are
 * none. */
static void
test_flattens (void)
{
  g_autoptr (AdjGraph) graph =
      parse (X ", " Y,
             "region = " HIGHER "tag_activation_checkpoint(body, x, use_reentrant = False, y = y); "
             "getitem = region[0]; return (getitem,)",
             BODIES ("body", X ", " Y, MM_SIN));

  assert_tags (graph, "mm:1:PREFER_RECOMPUTE sin:1:PREFER_RECOMPUTE");
}

/* A policy that counts: of an operator it has an answer for each call, and none for those after. */
static void
test_counting_policy (void)
{
  g_autoptr (AdjGraph) graph = parse (
      X,
      "region = " HIGHER "tag_activation_checkpoint(body, x, use_reentrant = False, context_fn = "
      "{torch.ops.aten.mm.default: ['MUST_SAVE', 'MUST_RECOMPUTE'], "
      "torch.ops.aten.sin.default: 'PREFER_SAVE'}); a = region[0]; return (a,)",
      BODIES ("body", X,
              "mm = torch.mm(x, x); sin = torch.sin(mm); mm_1 = torch.mm(sin, x); "
              "mm_2 = torch.mm(mm_1, x); return (mm_2,)"));

  assert_tags (graph, "mm:1:MUST_SAVE sin:1:PREFER_SAVE mm_1:1:MUST_RECOMPUTE "
                      "mm_2:1:PREFER_RECOMPUTE");
}

/* autograd/SPEC.md §8.2: regions count up in the order in which they are called; what is outside
 * has no tag. */
static void
test_tags (void)
{
  g_autoptr (AdjGraph) graph = parse (
      X ", " Y,
      "region = " HIGHER
      "tag_activation_checkpoint(body, x, y); a = region[0]; cos = torch.cos(a); "
      "region_1 = " HIGHER "tag_activation_checkpoint(body, cos, y); b = region_1[0]; return (b,)",
      BODIES ("body", X ", " Y, MM_SIN));

  assert_tags (graph, "mm:1:PREFER_RECOMPUTE sin:1:PREFER_RECOMPUTE mm_1:2:PREFER_RECOMPUTE "
                      "sin_1:2:PREFER_RECOMPUTE");
}

/* A body that calls another: its graph holds it. */
static AdjGraph *
nested (const char *outer, const char *inner)
{
  g_autofree char *text =
      g_strdup_printf ("class GraphModule(torch.nn.Module):\n"
                       "    def forward(self, " X ", " Y "):\n"
                       "        # adj: x {requires_grad: True}\n"
                       "        # adj: y {requires_grad: True}\n"
                       "        body = self.body\n"
                       "        region = " HIGHER "tag_activation_checkpoint(body, x, y%s)\n"
                       "        getitem = region[0]\n"
                       "        return (getitem,)\n"
                       "    class body(torch.nn.Module):\n"
                       "        def forward(self, " X ", " Y "):\n"
                       "            inner = self.inner\n"
                       "            sin = torch.sin(x)\n"
                       "            region = " HIGHER "tag_activation_checkpoint(inner, sin%s)\n"
                       "            getitem = region[0]\n"
                       "            mm = torch.mm(getitem, y)\n"
                       "            exp = torch.exp(mm)\n"
                       "            return (exp,)\n"
                       "        class inner(torch.nn.Module):\n"
                       "            def forward(self, " X "):\n"
                       "                cos = torch.cos(x)\n"
                       "                return (cos,)\n",
                       outer, inner);

  return adj_test_parse_graph (text);
}

/* autograd/SPEC.md §8.3, G19: the inner region's number is higher, so that what it reads of the
 * outer one is kept. */
static void
test_nested (void)
{
  g_autoptr (AdjGraph) graph = nested ("", "");
  g_autoptr (AdjPartition) partition = NULL;
  g_autofree char *saved = NULL;

  assert_tags (graph, "sin:1:PREFER_RECOMPUTE cos:2:PREFER_RECOMPUTE mm:1:PREFER_RECOMPUTE "
                      "exp:1:PREFER_RECOMPUTE");
  partition = partition_of (graph);
  saved = partition_print_saved (partition);
  g_assert_cmpstr (saved, ==, "primals_1 primals_2 sin");
}

/* autograd/SPEC.md §8.3: an outer policy answers for all that is below it, an inner one for its
 * own. */
static void
test_mixed_nesting (void)
{
  g_autoptr (AdjGraph) outer = nested (", context_fn = [torch.ops.aten.cos.default]", "");
  g_autoptr (AdjGraph) inner = nested ("", ", context_fn = [torch.ops.aten.cos.default]");

  assert_tags (outer, "sin:1:PREFER_RECOMPUTE cos:2:MUST_SAVE mm:1:PREFER_RECOMPUTE "
                      "exp:1:PREFER_RECOMPUTE");
  assert_tags (inner, "sin:1:PREFER_RECOMPUTE cos:2:MUST_SAVE mm:1:PREFER_RECOMPUTE "
                      "exp:1:PREFER_RECOMPUTE");
}

/* -- to a partition -- */

#define CHAIN                                                                                      \
  "mm = torch.mm(x, x); mm_1 = torch.mm(mm, x); sin = torch.sin(mm_1); cos = torch.cos(sin); "     \
  "return (cos,)"

static AdjGraph *
chain_region (const char *operator, const char * kwargs)
{
  g_autofree char *statements = g_strdup_printf (
      "region = " HIGHER "%s(body, x%s); getitem = region[0]; return (getitem,)", operator, kwargs);

  return parse (X, statements, BODIES ("body", X, CHAIN));
}

typedef struct
{
  const char *operator, * kwargs;
  const char *saved;           /* (nullable) */
  guint n_forward, n_backward; /* products */
} Row;

/* G20, from the call of the region on. */
static const Row rows[] = {
  { "tag_activation_checkpoint", "", "primals_1", 2, 6 },
  { "tag_activation_checkpoint", ", context_fn = [torch.ops.aten.mm.default]", NULL, 2, 4 },
  { "tag_activation_checkpoint",
    ", context_fn = {'aten.mm.default': 'MUST_RECOMPUTE', 'aten.sin.default': 'MUST_SAVE'}",
    "primals_1 sin", 2, 6 },
  { "wrap_activation_checkpoint", "", "primals_1", 2, 6 },
  { "wrap", "", NULL, 2, 4 },
};

static void
test_row (gconstpointer data)
{
  const Row *row = data;
  g_autoptr (AdjGraph) graph = chain_region (row->operator, row->kwargs);
  g_autoptr (AdjGraph) joint = joint_of (graph);
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (AdjPartition) partition = NULL;
  g_autofree char *saved = NULL;
  g_autoptr (GError) error = NULL;
  AdjValue *inputs;
  guint n;

  partition = partition_run ("min-cut", joint, &options);
  saved = partition_print_saved (partition);
  g_test_message ("%s%s saves %s", row->operator, row->kwargs, saved);
  if (row->saved != NULL)
    g_assert_cmpstr (saved, ==, row->saved);
  g_assert_cmpuint (count (partition->forward, "mm"), ==, row->n_forward);
  g_assert_cmpuint (count (partition->backward, "mm"), ==, row->n_backward);
  inputs = adj_session_random_inputs (joint, 5, &n, &error);
  g_assert_no_error (error);
  partition_assert_equals_joint (partition, inputs, n, NULL);
  for (guint i = 0; i < n; i++)
    adj_value_clear (&inputs[i]);
  g_free (inputs);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/partition/regions/divides-kwargs", test_divides_kwargs);
  g_test_add_func ("/partition/regions/eager", test_eager);
  g_test_add_func ("/partition/regions/policy-is-traced-once", test_policy_traced);
  g_test_add_func ("/partition/regions/grad-mode", test_grad_mode);
  g_test_add_func ("/partition/regions/refuses", test_refuses);
  g_test_add_func ("/partition/regions/flattens-keywords", test_flattens);
  g_test_add_func ("/partition/regions/tags", test_tags);
  g_test_add_func ("/partition/regions/counting-policy", test_counting_policy);
  g_test_add_func ("/partition/regions/G19-nested", test_nested);
  g_test_add_func ("/partition/regions/mixed-nesting", test_mixed_nesting);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *path = g_strdup_printf ("/partition/regions/G20/%u-%s", i, rows[i].operator);

      g_test_add_data_func (path, &rows[i], test_row);
    }
  return g_test_run ();
}
