/* SPDX-License-Identifier: MIT */
/* The goldens of compiled_autograd/SPEC.md §7: each program's capture equals PyTorch 2.6's, node
 * for node; captured in the engine's order, its gradients and hooks equal those of the eager
 * backward, bit for bit. */

#include "compiled_autograd/capture.h"
#include "ir/adj-graph.h"
#include "session/adj-pipeline.h"

#define V(...)                                                                                     \
  G_N_ELEMENTS (((const float[]){ __VA_ARGS__ })), (const float[]) { __VA_ARGS__ }
#define LEAF(...) program_vector (p, V (__VA_ARGS__))
#define SHAPED(...)                                                                                \
  program_leaf (p, NULL, G_N_ELEMENTS (((const gint64[]){ __VA_ARGS__ })),                         \
                (const gint64[]){ __VA_ARGS__ })
#define OP(name, ...) CALL (p->cx, name, __VA_ARGS__)
#define SUM(t) OP ("sum", T (t))

static AdjTensor *
constant (Program *p, AdjTensor *leaf)
{
  g_assert_true (adj_tensor_set_requires_grad (p->cx, leaf, FALSE));
  return leaf;
}

static void
product (Program *p, AdjTensor **x, AdjTensor **z)
{
  *x = LEAF (1, 2, 3);
  *z = OP ("mul.Tensor", T (*x), T (LEAF (4, 5, 6)));
}

static void
c01 (Program *p)
{
  AdjTensor *x, *z;

  product (p, &x, &z);
  program_backward (p, SUM (z));
}

static AdjTensor *
layer (Program *p, AdjTensor *in, AdjTensor *weight, AdjTensor *bias)
{
  return OP ("relu", T (OP ("addmm", T (bias), T (in), T (OP ("t", T (weight))))));
}

static void
c02 (Program *p)
{
  AdjTensor *x = constant (p, SHAPED (2, 4));
  AdjTensor *w0 = SHAPED (4, 4), *b0 = SHAPED (4), *w2 = SHAPED (4, 4), *b2 = SHAPED (4);

  program_backward (p, SUM (layer (p, layer (p, x, w0, b0), w2, b2)));
}

static AdjTensor *
sigmoid_sum (Program *p, AdjTensor *x, AdjTensor *y, AdjTensor *z)
{
  AdjTensor *sum = OP ("add.Tensor", T (OP ("mul.Tensor", T (x), T (z))), T (OP ("sin", T (y))));

  sum = OP ("add.Tensor", T (sum), T (OP ("cos", T (y))));
  return SUM (OP ("sigmoid", T (sum)));
}

static void
c03 (Program *p)
{
  AdjTensor *x = constant (p, LEAF (1, 2, 3)), *y = LEAF (0.5, 0.25, -1);

  program_backward (p, sigmoid_sum (p, x, y, y));
}

static void
c04 (Program *p)
{
  AdjTensor *x = SHAPED (2, 3), *b = LEAF (1, 2, 3);

  program_backward (p, SUM (OP ("add.Tensor", T (x), T (b))));
}

static void
c05 (Program *p)
{
  AdjTensor *x = LEAF (1, 2, 3), *y = LEAF (4, 5, 6);

  program_backward (p, SUM (OP ("sub.Tensor", T (OP ("div.Tensor", T (x), T (y))), T (y))));
}

static void
c06 (Program *p)
{
  AdjTensor *x = LEAF (0.5, 0.25, -1, 1.5);

  program_backward (p,
                    OP ("mean", T (OP ("exp", T (OP ("pow.Tensor_Scalar", T (x), ADJ_INT (2)))))));
}

static void
c07 (Program *p)
{
  program_backward (p, SUM (OP ("mul.Tensor", T (LEAF (1, 2, 3)), ADJ_INT (2))));
}

static void
c08 (Program *p)
{
  AdjTensor *x, *z;

  product (p, &x, &z);
  program_hook_tensor (p, x, "h1", 3);
  program_hook_tensor (p, x, "h2", 2);
  program_backward (p, SUM (z));
}

static void
c09 (Program *p)
{
  AdjTensor *s = OP ("sin", T (LEAF (0.5, 0.25, -1)));

  program_hook_tensor (p, s, "h", 2);
  program_backward (p, SUM (OP ("exp", T (s))));
}

static void
c10 (Program *p)
{
  AdjTensor *x, *z;

  product (p, &x, &z);
  program_hook_before (p, z, "pre", 2);
  program_hook_after (p, z, "post", 3);
  program_backward (p, SUM (z));
}

static void
c11 (Program *p)
{
  AdjTensor *x = LEAF (0.5, 0.25, -1);
  g_autoptr (AdjGradNode) kept = adj_tensor_get_grad_edge (p->cx, x, NULL);

  program_hook_tensor (p, x, "T", 2);
  program_hook_before (p, x, "P", 3);
  program_hook_leaf (p, x, "A");
  program_hook_after (p, x, "Q", 0);
  program_backward (p, SUM (OP ("exp", T (x))));
}

/* -- custom functions -- */

static gboolean
sin_forward (AdjCustomCall *call, AdjTensor *const *in, guint n_in, AdjTensor **out, guint n_out)
{
  adj_custom_call_save (call, in, 1);
  out[0] = CALL (adj_custom_call_get_context (call), "sin", T (in[0]));
  return TRUE;
}

static gboolean
sin_backward (AdjCustomCall *call, AdjTensor *const *grads, guint n, AdjTensor **out, guint n_out)
{
  AdjContext *cx = adj_custom_call_get_context (call);
  AdjTensor *saved = adj_custom_call_get_saved (call, 0);

  out[0] =
      saved != NULL ? CALL (cx, "mul.Tensor", T (grads[0]), T (CALL (cx, "cos", T (saved)))) : NULL;
  return saved != NULL;
}

static const AdjCustomClass my_sin = { .name = "MySin",
                                       .forward = sin_forward,
                                       .backward = sin_backward };

static void
c12 (Program *p)
{
  AdjTensor *x = LEAF (0.5, 0.25, -1), *out;

  g_assert_true (adj_custom_apply (p->cx, &my_sin, NULL, NULL, &x, 1, &out, 1));
  program_backward (p, SUM (out));
}

static gboolean
both_forward (AdjCustomCall *call, AdjTensor *const *in, guint n_in, AdjTensor **out, guint n_out)
{
  AdjContext *cx = adj_custom_call_get_context (call);

  adj_custom_call_save (call, in, 2);
  out[0] = CALL (cx, "add.Tensor", T (in[0]), T (in[1]));
  out[1] = CALL (cx, "mul.Tensor", T (in[0]), T (in[1]));
  return TRUE;
}

static gboolean
both_backward (AdjCustomCall *call, AdjTensor *const *grads, guint n, AdjTensor **out, guint n_out)
{
  AdjContext *cx = adj_custom_call_get_context (call);

  for (guint i = 0; i < 2; i++)
    out[i] = CALL (
        cx, "add.Tensor", T (grads[0]),
        T (CALL (cx, "mul.Tensor", T (grads[1]), T (adj_custom_call_get_saved (call, 1 - i)))));
  return TRUE;
}

static const AdjCustomClass both = { .name = "SumAndProduct",
                                     .forward = both_forward,
                                     .backward = both_backward };

static void
c12_two (Program *p)
{
  AdjTensor *in[2] = { LEAF (1, 2, 3), LEAF (4, 5, 6) }, *out[2];

  g_assert_true (adj_custom_apply (p->cx, &both, NULL, NULL, in, 2, out, 2));
  program_backward (p, SUM (OP ("mul.Tensor", T (out[0]), T (out[1]))));
}

static gboolean
first_forward (AdjCustomCall *call, AdjTensor *const *in, guint n_in, AdjTensor **out, guint n_out)
{
  adj_custom_call_save (call, in, 1);
  out[0] = CALL (adj_custom_call_get_context (call), "mul.Tensor", T (in[0]), T (in[1]));
  return TRUE;
}

static gboolean
first_backward (AdjCustomCall *call, AdjTensor *const *grads, guint n, AdjTensor **out, guint n_out)
{
  out[0] = CALL (adj_custom_call_get_context (call), "mul.Scalar", T (grads[0]), ADJ_INT (2));
  return TRUE;
}

static const AdjCustomClass only_first = { .name = "OnlyFirst",
                                           .forward = first_forward,
                                           .backward = first_backward };

/* y keeps no gradient, as without capture; in PyTorch the captured graph fails at run time. */
static void
c13 (Program *p)
{
  AdjTensor *in[2] = { LEAF (1, 2, 3), OP ("exp", T (LEAF (0.5, 0.25, -1))) }, *out;

  g_assert_true (adj_custom_apply (p->cx, &only_first, NULL, NULL, in, 2, &out, 1));
  program_backward (p, SUM (out));
  g_assert_null (adj_tensor_get_grad (g_ptr_array_index (p->leaves, 1)));
}

/* -- gradients that are asked for -- */

static void
want (Program *p, AdjTensor *root, AdjTensor *const *inputs, guint n)
{
  g_autofree AdjTensor **grads = g_new0 (AdjTensor *, n + 1);

  g_assert_true (
      adj_grad (p->cx, &(AdjGradRoots){ .tensors = &root, .n = 1 }, inputs, n, 0, grads));
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (p->wanted, adj_keep (grads[i]));
}

static void
c14 (Program *p)
{
  AdjTensor *x = constant (p, LEAF (1, 2, 3));
  AdjTensor *in[2] = { LEAF (0.5, 0.25, -1), LEAF (0.25, 0.5, 0.75) };

  want (p, sigmoid_sum (p, x, in[0], in[1]), in, 2);
}

static void
c15 (Program *p)
{
  AdjTensor *a = LEAF (0.5, 0.25, -1), *b = OP ("sin", T (a));
  g_autoptr (AdjGradNode) kept = adj_tensor_get_grad_edge (p->cx, a, NULL);
  AdjTensor *in[2] = { b, a };

  program_hook_tensor (p, b, "hb", 2);
  program_hook_before (p, b, "pre_b", 3);
  program_hook_tensor (p, a, "ha", 5);
  program_hook_before (p, a, "pre_a", 0);
  want (p, SUM (OP ("exp", T (b))), in, 2);
}

static void
c16 (Program *p)
{
  AdjTensor *x = LEAF (0.5, 0.25, -1);

  program_backward (p, SUM (OP ("exp", T (x))));
  program_backward (p, SUM (OP ("exp", T (x))));
}

static void
backward_with (Program *p, AdjTensor *const *roots, AdjTensor *const *grads, guint n)
{
  g_assert_true (adj_backward (p->cx, &(AdjGradRoots){ .tensors = roots, .grads = grads, .n = n },
                               NULL, 0, 0));
}

static void
c17 (Program *p)
{
  AdjTensor *x = LEAF (0.5, 0.25, -1);
  AdjTensor *roots[2] = { OP ("sin", T (x)), OP ("cos", T (x)) };
  AdjTensor *grads[2] = { constant (p, LEAF (1, 2, 3)), constant (p, LEAF (4, 5, 6)) };

  backward_with (p, roots, grads, 2);
}

static void
c18 (Program *p)
{
  AdjTensor *root = OP ("add.Tensor", T (LEAF (1, 2, 3)), T (LEAF (4, 5, 6)));
  AdjTensor *grad = constant (p, LEAF (7, 8, 9));

  backward_with (p, &root, &grad, 1);
}

static void
doubled_sum (Program *p, AdjTensor *x, AdjTensor *y)
{
  AdjTensor *sum = OP ("add.Tensor", T (x), T (y));

  program_backward (p, SUM (OP ("mul.Tensor", T (sum), ADJ_INT (2))));
}

static void
c18b (Program *p)
{
  doubled_sum (p, LEAF (1, 2, 3), LEAF (4, 5, 6));
}

static void
c18b_twice (Program *p)
{
  AdjTensor *x = LEAF (1, 2, 3), *y = LEAF (4, 5, 6);

  doubled_sum (p, x, y);
  doubled_sum (p, x, y);
}

static void
c19 (Program *p)
{
  AdjTensor *x = LEAF (0.5, 0.25, -1), *y = LEAF (1, 0.5, 0.25);
  AdjTensor *e = OP ("exp", T (y)), *s = OP ("sin", T (x));

  program_hook_tensor (p, e, "hook_e", 0);
  program_hook_tensor (p, s, "hook_s", 0);
  program_backward (p, SUM (OP ("mul.Tensor", T (s), T (e))));
}

static void
c20 (Program *p)
{
  static const gint64 sizes[] = { 10, 20, 30, 10 };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    program_backward (p, SUM (OP ("sin", T (program_leaf (p, NULL, 1, &sizes[i])))));
}

static AdjTensor *
middle (Program *p, AdjTensor *y)
{
  return OP ("slice.Tensor", T (y), ADJ_INT (0), ADJ_INT (1), ADJ_INT (3));
}

static void
c21 (Program *p)
{
  AdjTensor *y = OP ("clone", T (LEAF (1, 2, 3, 4)));

  OP ("mul_.Tensor", T (middle (p, y)), ADJ_INT (2));
  program_backward (p, SUM (y));
}

static void
c22 (Program *p)
{
  AdjTensor *x = constant (p, SHAPED (2, 3));
  AdjTensor *w1 = SHAPED (4, 3), *w2 = SHAPED (2, 4);
  AdjTensor *h = OP ("mm", T (x), T (OP ("t", T (w1))));

  program_hook_tensor (p, h, "hook_h", 2);
  program_hook_leaf (p, w1, "step");
  program_backward (p, SUM (OP ("mm", T (h), T (OP ("t", T (w2))))));
}

static void
c23 (Program *p)
{
  AdjTensor *s = OP ("_softmax", T (LEAF (0.5, 0.25, -1)), ADJ_INT (0), ADJ_BOOL (FALSE));

  program_backward (p, SUM (OP ("mul.Tensor", T (s), T (s))));
}

static void
c24 (Program *p)
{
  AdjTensor *a = SHAPED (2, 3), *b = SHAPED (3, 4), *c = SHAPED (4, 2);

  program_backward (p, SUM (OP ("mm", T (OP ("mm", T (a), T (b))), T (c))));
}

static void
c25 (Program *p)
{
  AdjTensor *x = LEAF (1, 2, 3), *grad = constant (p, LEAF (7, 8, 9));

  program_hook_tensor (p, x, "h", 2);
  backward_with (p, &x, &grad, 1);
}

static void
c26 (Program *p)
{
  AdjTensor *w0 = SHAPED (4, 4), *b0 = SHAPED (4), *w2 = SHAPED (4, 4), *b2 = SHAPED (4);

  for (gint64 batch = 10; batch < 13; batch++)
    {
      AdjTensor *x = constant (p, SHAPED (batch, 4));

      for (guint i = 0; i < 4; i++)
        g_assert_true (adj_tensor_set_grad (p->cx, g_ptr_array_index (p->leaves, i), NULL));
      program_backward (p, SUM (layer (p, layer (p, x, w0, b0), w2, b2)));
    }
}

static void
c27 (Program *p)
{
  AdjValue leaves[4];

  for (guint i = 0; i < 4; i++)
    leaves[i] = T (program_vector (p, 1, (const float[]){ (float) i + 1 }));
  program_backward (
      p, SUM (OP ("cat", ((AdjValue){ .kind = ADJ_VALUE_LIST, .n = 4, .items = leaves }))));
}

/* -- checks -- */

typedef struct
{
  const char *name; /* of the golden */
  ProgramFunc run;
  guint n_captures;
  const char *second;    /* (nullable): golden of the second capture */
  const char *deviates;  /* (nullable): why the last graph differs from PyTorch's */
  gboolean other_values; /* the gradients of adj_grad() differ from those of eager PyTorch */
} Golden;

#define GOLDEN(name, run)                                                                          \
  {                                                                                                \
    name, run, 1, NULL, NULL, FALSE                                                                \
  }

static const Golden goldens[] = {
  GOLDEN ("c01", c01),
  GOLDEN ("c02", c02),
  GOLDEN ("c03", c03),
  GOLDEN ("c04", c04),
  GOLDEN ("c05", c05),
  GOLDEN ("c06", c06),
  GOLDEN ("c07", c07),
  GOLDEN ("c08", c08),
  GOLDEN ("c09", c09),
  GOLDEN ("c10", c10),
  GOLDEN ("c11", c11),
  GOLDEN ("c12", c12),
  GOLDEN ("c12-two", c12_two),
  GOLDEN ("c13", c13),
  GOLDEN ("c14", c14),
  /* The gradient of a tensor whose node runs too is taken after its hooks. */
  { "c15", c15, 1, NULL, NULL, TRUE },
  { "c16", c16, 2, "c16-2", NULL, FALSE },
  GOLDEN ("c17", c17),
  GOLDEN ("c18", c18),
  GOLDEN ("c18b", c18b),
  { "c18b-twice", c18b_twice, 2, "c18b-twice-2", NULL, FALSE },
  GOLDEN ("c19", c19),
  { "c20", c20, 2, "c20-2", NULL, FALSE },
  { "c21", c21, 1, NULL, "the gradient of the base is a new value, not written", FALSE },
  GOLDEN ("c22", c22),
  GOLDEN ("c23", c23),
  GOLDEN ("c24", c24),
  GOLDEN ("c25", c25),
  { "c26", c26, 2, "c26-2", "addmm keeps no sizes of its own", FALSE },
  GOLDEN ("c27", c27),
};

static void
test_graph (gconstpointer data)
{
  const Golden *golden = data;
  g_autoptr (AdjCompiledAutograd) compiler =
      adj_compiled_autograd_new (&(AdjCompiledOptions){ .order = ADJ_CAPTURE_ORDER_2_6 });
  g_autofree char *text = program_run (golden->run, compiler);

  g_assert_cmpstr (adj_compiled_autograd_get_counters (compiler).fallback_reason, ==, NULL);
  g_assert_cmpuint (adj_compiled_autograd_get_n_captures (compiler), ==, golden->n_captures);
  for (guint i = 0; i < golden->n_captures; i++)
    {
      AdjGraph *graph = adj_capture_get_graph (adj_compiled_autograd_get_capture (compiler, i));
      const char *name = i == 0 ? golden->name : golden->second;

      if (golden->deviates == NULL || i + 1 < golden->n_captures)
        assert_golden (graph, name);
      else
        assert_deviation (graph, name, golden->deviates);
    }
}

/* The capture of PyTorch 2.15, a call for each node. */
static void
test_nodes (gconstpointer data)
{
  const Golden *golden = data;
  g_autoptr (AdjCompiledAutograd) compiler = adj_compiled_autograd_new (&(AdjCompiledOptions){
      .order = ADJ_CAPTURE_ORDER_2_15, .level = ADJ_CAPTURE_LEVEL_NODES, .dynamic = TRUE });
  g_autofree char *text = program_run (golden->run, compiler);

  g_assert_cmpstr (adj_compiled_autograd_get_counters (compiler).fallback_reason, ==, NULL);
  for (guint i = 0; i < adj_compiled_autograd_get_n_captures (compiler); i++)
    assert_node_golden (adj_capture_get_graph (adj_compiled_autograd_get_capture (compiler, i)),
                        i == 0 ? golden->name : golden->second);
}

static void
test_node_values (gconstpointer data)
{
  const Golden *golden = data;
  g_autoptr (AdjCompiledAutograd) compiler =
      adj_compiled_autograd_new (&(AdjCompiledOptions){ .level = ADJ_CAPTURE_LEVEL_NODES });
  g_autofree char *eager = program_run (golden->run, NULL);
  g_autofree char *captured = program_run (golden->run, compiler);

  g_assert_cmpstr (adj_compiled_autograd_get_counters (compiler).fallback_reason, ==, NULL);
  if (golden->other_values)
    g_assert_cmpstr (captured, !=, eager);
  else
    g_assert_cmpstr (captured, ==, eager);
}

/* (transfer full): the calls of the last capture of @run, lowered to operators and hooks, a line
 * each. */
static char *
lower (ProgramFunc run, AdjCaptureLevel level)
{
  g_autoptr (AdjCompiledAutograd) compiler =
      adj_compiled_autograd_new (&(AdjCompiledOptions){ .level = level });
  g_autofree char *text = program_run (run, compiler);
  const guint n = adj_compiled_autograd_get_n_captures (compiler);
  GString *calls = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  AdjPassResult result;

  adj_pass_run (adj_pass_find ("decompose", NULL), NULL,
                adj_capture_get_graph (adj_compiled_autograd_get_capture (compiler, n - 1)),
                &result, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < adj_graph_get_n_nodes (result.graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (result.graph, i);

      g_assert_null (strstr (node->target, "Backward"));
      if (node->op != NULL && strstr (node->target, "accumulate") == NULL)
        g_string_append_printf (calls, "%s\n", node->target);
      else if (strstr (node->target, "call_") != NULL ||
               strstr (node->target, "accumulate") != NULL)
        g_string_append_printf (
            calls, "%s\n", strstr (node->target, "accumulate") != NULL ? "leaf" : node->target);
    }
  adj_pass_result_clear (&result);
  return g_string_free (calls, FALSE);
}

/* Lowering a graph of nodes gives the graph of operators, except that a write into a view stays
 * as in PyTorch, a write into a copy of the gradient. */
static void
test_lowering (gconstpointer data)
{
  const Golden *golden = data;
  g_autofree char *nodes = lower (golden->run, ADJ_CAPTURE_LEVEL_NODES);
  g_autofree char *operators = lower (golden->run, ADJ_CAPTURE_LEVEL_OPERATORS);

  if (golden->run == c21)
    g_assert_nonnull (strstr (nodes, "copy_.default\nleaf\n"));
  else
    g_assert_cmpstr (nodes, ==, operators);
}

static void
test_values (gconstpointer data)
{
  const Golden *golden = data;
  g_autoptr (AdjCompiledAutograd) compiler = adj_compiled_autograd_new (NULL);
  g_autofree char *eager = program_run (golden->run, NULL);
  g_autofree char *captured = program_run (golden->run, compiler);

  g_assert_cmpstr (adj_compiled_autograd_get_counters (compiler).fallback_reason, ==, NULL);
  g_assert_cmpuint (adj_compiled_autograd_get_n_captures (compiler), ==, golden->n_captures);
  if (golden->other_values)
    g_assert_cmpstr (captured, !=, eager);
  else
    g_assert_cmpstr (captured, ==, eager);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (goldens); i++)
    {
      g_autofree char *graph = g_strdup_printf ("/compiled-autograd/6.2/%s", goldens[i].name);
      g_autofree char *values = g_strdup_printf ("/compiled-autograd/eager/%s", goldens[i].name);

      g_autofree char *nodes = g_strdup_printf ("/compiled-autograd/nodes/%s", goldens[i].name);
      g_autofree char *node_values =
          g_strdup_printf ("/compiled-autograd/nodes-eager/%s", goldens[i].name);

      g_test_add_data_func (graph, &goldens[i], test_graph);
      g_autofree char *lowering =
          g_strdup_printf ("/compiled-autograd/lowering/%s", goldens[i].name);

      g_test_add_data_func (lowering, &goldens[i], test_lowering);
      g_test_add_data_func (nodes, &goldens[i], test_nodes);
      g_test_add_data_func (node_values, &goldens[i], test_node_values);
      g_test_add_data_func (values, &goldens[i], test_values);
    }
  return g_test_run ();
}
