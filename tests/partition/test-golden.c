/* SPDX-License-Identifier: MIT */
/* The examples of partition/SPEC.md §8, by their numbers: lists, weights and cuts that PyTorch 2.6
 * computed on these programs. */

#include <glib.h>
#include <math.h>
#include <string.h>

#include "golden.h"
#include "ir/adj-graph.h"
#include "partition-test.h"

#define PR "@PREFER_RECOMPUTE/"
#define MR "@MUST_RECOMPUTE/"
#define MS "@MUST_SAVE/"
#define PS "@PREFER_SAVE/"

typedef struct
{
  const char *name;
  const char *inputs;
  guint n_outputs;
  const char *program;
  const char *saved;           /* by min-cut; p1 stands for primals_1 */
  const char *recomputed;      /* (nullable) */
  gint64 cut;                  /* -1: not given */
  const char *by_default;      /* (nullable): saved by the default partitioner */
  const char *weights;         /* (nullable): "p1 13 cos 26" */
  const char *order;           /* (nullable): order of backward */
  AdjPartitionOptions options; /* options other than the number of outputs */
} Golden;

/* G20: cos(sin(mm(mm(x, x), x))) with tags on its operators. */
#define G20(mm_tag, sin_tag)                                                                       \
  "mm" mm_tag "1 = mm.default(p1, p1); mm_1" mm_tag "1 = mm.default(mm, p1);"                      \
  "sin" sin_tag "1 = sin.default(mm_1); cos" PR "1 = cos.default(sin);"                            \
  "sin_1 = sin.default(sin); neg = neg.default(sin_1); mul = mul.Tensor(t1, neg);"                 \
  "cos_1 = cos.default(mm_1); mul_1 = mul.Tensor(mul, cos_1); t = t.default(mm);"                  \
  "mm_2 = mm.default(t, mul_1); t_1 = t.default(p1); mm_3 = mm.default(mul_1, t_1);"               \
  "t_2 = t.default(p1); mm_4 = mm.default(t_2, mm_3); add = add.Tensor(mm_2, mm_4);"               \
  "t_3 = t.default(p1); mm_5 = mm.default(mm_3, t_3); add_1 = add.Tensor(add, mm_5);"              \
  "return [cos, add_1]"

static const Golden goldens[] = {
  { .name = "G20-must-recompute",
    .inputs = "p1:4x4 t1:4x4",
    .n_outputs = 1,
    .program = G20 (MR, PR),
    .saved = "p1",
    .recomputed = "mm mm_1 sin",
    .cut = -1 },
  { .name = "G20-must-save",
    .inputs = "p1:4x4 t1:4x4",
    .n_outputs = 1,
    .program = G20 (MS, PR),
    .saved = "mm_1 t t_1",
    .recomputed = "sin",
    .cut = -1 },
  { .name = "G20-prefer-save",
    .inputs = "p1:4x4 t1:4x4",
    .n_outputs = 1,
    .program = G20 (PS, PR),
    .saved = "mm_1 t t_1",
    .recomputed = "sin",
    .cut = -1 },
  { .name = "G20-prefer-save-sin",
    .inputs = "p1:4x4 t1:4x4",
    .n_outputs = 1,
    .program = G20 (PR, PS),
    .saved = "p1",
    .recomputed = "mm mm_1 sin",
    .cut = -1 },
  { .name = "G20-must-save-sin",
    .inputs = "p1:4x4 t1:4x4",
    .n_outputs = 1,
    .program = G20 (PR, MS),
    .saved = "p1 sin",
    .recomputed = "mm mm_1",
    .cut = -1 },
  { .name = "G1-cos3",
    .inputs = "p1:3 t1:3",
    .n_outputs = 1,
    .program = "cos = cos.default(p1); cos_1 = cos.default(cos); cos_2 = cos.default(cos_1);"
               "sin = sin.default(cos_1); neg = neg.default(sin); mul = mul.Tensor(t1, neg);"
               "sin_1 = sin.default(cos); neg_1 = neg.default(sin_1);"
               "mul_1 = mul.Tensor(mul, neg_1); sin_2 = sin.default(p1);"
               "neg_2 = neg.default(sin_2); mul_2 = mul.Tensor(mul_1, neg_2);"
               "return [cos_2, mul_2]",
    .saved = "p1",
    .recomputed = "cos cos_1",
    .cut = 13,
    .by_default = "p1 cos cos_1",
    .weights = "p1 13 cos 26 cos_1 26 cos_2 165367" },
  { .name = "G2-add4",
    .inputs = "p1:3 p2:3 p3:3 p4:3 t1:3",
    .n_outputs = 1,
    .program = "add = add.Tensor(p1, p2); add_1 = add.Tensor(add, p3);"
               "add_2 = add.Tensor(add_1, p4); cos = cos.default(add_2); cos_1 = cos.default(cos);"
               "sin = sin.default(cos); neg = neg.default(sin); mul = mul.Tensor(t1, neg);"
               "sin_1 = sin.default(add_2); neg_1 = neg.default(sin_1);"
               "mul_1 = mul.Tensor(mul, neg_1); return [cos_1, mul_1, mul_1, mul_1, mul_1]",
    .saved = "add_2",
    .recomputed = "cos",
    .cut = 26,
    .by_default = "add_2 cos" },
  { .name = "G3",
    .inputs = "p1:3 t1:3",
    .n_outputs = 1,
    .program = "mul = mul.Tensor(p1, p1); mul_1 = mul.Tensor(mul, p1);"
               "mul_2 = mul.Tensor(t1, mul); mul_3 = mul.Tensor(t1, p1);"
               "mul_4 = mul.Tensor(mul_3, p1); add = add.Tensor(mul_2, mul_4);"
               "add_1 = add.Tensor(add, mul_4); return [mul_1, add_1]",
    .saved = "p1",
    .recomputed = "mul",
    .cut = 13 },
  { .name = "G4-sin-sin-plus-b",
    .inputs = "p1:10x10 p2:10x10 t1:10x10",
    .n_outputs = 1,
    .program = "sin = sin.default(p1); sin_1 = sin.default(sin); add = add.Tensor(sin_1, p2);"
               "cos = cos.default(sin); mul = mul.Tensor(t1, cos); cos_1 = cos.default(p1);"
               "mul_1 = mul.Tensor(mul, cos_1); return [add, mul_1, t1]",
    .saved = "p1",
    .recomputed = "sin",
    .cut = 440 },
  { .name = "G8-layer-norm",
    .inputs = "p1:3x10 p2:10 p3:10 t1:3x10",
    .n_outputs = 1,
    .program =
        "native_layer_norm = native_layer_norm.default(p1, [10], p2, p3, 1e-05);"
        "getitem = native_layer_norm[0]; getitem_1 = native_layer_norm[1];"
        "getitem_2 = native_layer_norm[2]; native_layer_norm_backward = "
        "native_layer_norm_backward.default(t1, p1, [10], getitem_1, getitem_2, p2, p3, "
        "[True, True, True]); getitem_3 = native_layer_norm_backward[0];"
        "getitem_4 = native_layer_norm_backward[1]; getitem_5 = native_layer_norm_backward[2];"
        "return [getitem, getitem_3, getitem_4, getitem_5]",
    .saved = "p1 p2 p3 getitem_1 getitem_2",
    .recomputed = "",
    .cut = 246,
    .by_default = "p1 p2 p3 getitem_1 getitem_2" },
  { .name = "G9-tanh-tanh",
    .inputs = "p1:5x5 t1:5x5",
    .n_outputs = 1,
    .program = "ones = ones.default([5, 5]); mm = mm.default(p1, ones); tanh = tanh.default(mm);"
               "tanh_1 = tanh.default(tanh); tanh_backward = tanh_backward.default(t1, tanh_1);"
               "tanh_backward_1 = tanh_backward.default(tanh_backward, tanh);"
               "t = t.default(ones); mm_1 = mm.default(tanh_backward_1, t); return [tanh_1, mm_1]",
    .saved = "mm tanh_1 t",
    .recomputed = "tanh",
    .cut = 341,
    .by_default = "ones tanh tanh_1",
    .weights = "ones 110 mm 121 tanh 220 tanh_1 110 t 110" },
  { .name = "G10-lt-mul",
    .inputs = "p1:100 t1:100",
    .n_outputs = 1,
    .program = "lt = lt.Scalar(p1, 0); mul = mul.Tensor(lt, p1); mul_1 = mul.Tensor(t1, lt);"
               "return [mul, mul_1]",
    .saved = "lt",
    .recomputed = "",
    .cut = 220,
    .weights = "p1 484 lt 220" },
  { .name = "G11-outer-product",
    .inputs = "p1:20x1 p2:1x20 t1:20",
    .n_outputs = 1,
    .program =
        "mul = mul.Tensor(p1, p2); cos = cos.default(mul);"
        "sum_1 = sum.dim_IntList(cos, [1]); unsqueeze = unsqueeze.default(t1, 1);"
        "expand = expand.default(unsqueeze, [20, 20]); sin = sin.default(mul);"
        "neg = neg.default(sin); mul_1 = mul.Tensor(expand, neg);"
        "mul_2 = mul.Tensor(mul_1, p1); mul_3 = mul.Tensor(mul_1, p2);"
        "sum_2 = sum.dim_IntList(mul_3, [1], True); sum_3 = sum.dim_IntList(mul_2, [0], True);"
        "return [sum_1, sum_2, sum_3]",
    .saved = "p1 p2",
    .recomputed = "mul",
    .cut = 176 },
  { .name = "G12-var-mean-norm",
    .inputs = "p1:8x64 t1:8x64",
    .n_outputs = 1,
    .program = "var_mean = var_mean.correction(p1, [1], correction = 1, keepdim = True);"
               "getitem = var_mean[0]; getitem_1 = var_mean[1]; sub = sub.Tensor(p1, getitem_1);"
               "add = add.Tensor(getitem, 1e-05); rsqrt = rsqrt.default(add);"
               "mul = mul.Tensor(sub, rsqrt); mul_1 = mul.Tensor(t1, sub);"
               "mul_2 = mul.Tensor(t1, rsqrt); sum_1 = sum.dim_IntList(mul_1, [1], True);"
               "pow_1 = pow.Tensor_Scalar(rsqrt, 3); mul_3 = mul.Scalar(sum_1, -0.5);"
               "mul_4 = mul.Tensor(mul_3, pow_1); neg = neg.default(mul_2);"
               "sum_2 = sum.dim_IntList(neg, [1], True); mean = mean.dim(p1, [1], True);"
               "sub_1 = sub.Tensor(p1, mean); mul_5 = mul.Tensor(mul_4, 0.03);"
               "mul_6 = mul.Tensor(mul_5, sub_1); expand = expand.default(sum_2, [8, 64]);"
               "div = div.Scalar(expand, 64); add_1 = add.Tensor(mul_6, div);"
               "add_2 = add.Tensor(mul_2, add_1); return [mul, add_2]",
    .saved = "p1 getitem_1 rsqrt",
    .recomputed = "sub",
    .cut = 2398,
    .by_default = "p1 sub rsqrt" },
  { .name = "G13-far-apart",
    .inputs = "p1:8x8 p2:8x8 t1:8x8",
    .n_outputs = 1,
    .program = "cos = cos.default(p1); mm = mm.default(cos, p2); sin = sin.default(mm);"
               "add = add.Tensor(cos, sin); sin_1 = sin.default(add); cos_1 = cos.default(add);"
               "mul = mul.Tensor(t1, cos_1); cos_2 = cos.default(mm);"
               "mul_1 = mul.Tensor(mul, cos_2); t = t.default(cos); mm_1 = mm.default(t, mul_1);"
               "t_1 = t.default(p2); mm_2 = mm.default(mul_1, t_1); add_1 = add.Tensor(mul, mm_2);"
               "sin_2 = sin.default(p1); neg = neg.default(sin_2);"
               "mul_2 = mul.Tensor(add_1, neg); return [sin_1, mul_2, mm_1]",
    .saved = "p1 mm cos_1 t t_1",
    .cut = 1686,
    .weights = "add 562 cos_1 562" },
  { .name = "G13-far-apart-off",
    .inputs = "p1:8x8 p2:8x8 t1:8x8",
    .n_outputs = 1,
    .program = "cos = cos.default(p1); mm = mm.default(cos, p2); sin = sin.default(mm);"
               "add = add.Tensor(cos, sin); sin_1 = sin.default(add); cos_1 = cos.default(add);"
               "mul = mul.Tensor(t1, cos_1); cos_2 = cos.default(mm);"
               "mul_1 = mul.Tensor(mul, cos_2); t = t.default(cos); mm_1 = mm.default(t, mul_1);"
               "t_1 = t.default(p2); mm_2 = mm.default(mul_1, t_1); add_1 = add.Tensor(mul, mm_2);"
               "sin_2 = sin.default(p1); neg = neg.default(sin_2);"
               "mul_2 = mul.Tensor(add_1, neg); return [sin_1, mul_2, mm_1]",
    .saved = "p1 cos mm t_1",
    .recomputed = "sin add",
    .cut = -1,
    .options = { .no_far = TRUE } },
  { .name = "G14-softmax-by-hand",
    .inputs = "p1:8x64 t1:8x64",
    .n_outputs = 1,
    .program = "amax = amax.default(p1, [1], True); sub = sub.Tensor(p1, amax);"
               "exp = exp.default(sub); sum_1 = sum.dim_IntList(exp, [1], True);"
               "div = div.Tensor(exp, sum_1); div_1 = div.Tensor(exp, sum_1);"
               "div_2 = div.Tensor(div_1, sum_1); neg = neg.default(t1);"
               "mul = mul.Tensor(neg, div_2); div_3 = div.Tensor(t1, sum_1);"
               "sum_2 = sum.dim_IntList(mul, [1], True); expand = expand.default(sum_2, [8, 64]);"
               "add = add.Tensor(div_3, expand); mul_1 = mul.Tensor(add, exp);"
               "return [div, mul_1]",
    .saved = "p1 amax sum_1",
    .recomputed = "sub exp",
    .cut = 2879,
    .by_default = "exp sum_1" },
  { .name = "G16-relu-mlp",
    .inputs = "p1:32x64 p2:64x128 p3:128x16 t1:32x16",
    .n_outputs = 1,
    .program = "mm = mm.default(p1, p2); relu = relu.default(mm); mm_1 = mm.default(relu, p3);"
               "t = t.default(relu); mm_2 = mm.default(t, t1); t_1 = t.default(p3);"
               "mm_3 = mm.default(t1, t_1);"
               "threshold_backward = threshold_backward.default(mm_3, relu, 0);"
               "t_2 = t.default(p1); mm_4 = mm.default(t_2, threshold_backward);"
               "t_3 = t.default(p2); mm_5 = mm.default(threshold_backward, t_3);"
               "return [mm_1, mm_5, mm_4, mm_2]",
    .saved = "relu t_1 t_2 t_3",
    .cut = 72088,
    .by_default = "p1 p2 p3 relu" },
  { .name = "G16-recompute-views",
    .inputs = "p1:32x64 p2:64x128 p3:128x16 t1:32x16",
    .n_outputs = 1,
    .program = "mm = mm.default(p1, p2); relu = relu.default(mm); mm_1 = mm.default(relu, p3);"
               "t = t.default(relu); mm_2 = mm.default(t, t1); t_1 = t.default(p3);"
               "mm_3 = mm.default(t1, t_1);"
               "threshold_backward = threshold_backward.default(mm_3, relu, 0);"
               "t_2 = t.default(p1); mm_4 = mm.default(t_2, threshold_backward);"
               "t_3 = t.default(p2); mm_5 = mm.default(threshold_backward, t_3);"
               "return [mm_1, mm_5, mm_4, mm_2]",
    .saved = "p1 p2 p3 relu",
    .cut = -1,
    .options = { .recompute_views = TRUE } },
  { .name = "G17-region",
    .inputs = "p1:4x4 p2:4x4 t1:4x4",
    .n_outputs = 1,
    .program = "sin = sin.default(p1); mm" PR "1 = mm.default(sin, p2);"
               "sigmoid" PR "1 = sigmoid.default(mm);"
               "sigmoid_backward = sigmoid_backward.default(t1, sigmoid); t = t.default(sin);"
               "mm_1 = mm.default(t, sigmoid_backward); t_1 = t.default(p2);"
               "mm_2 = mm.default(sigmoid_backward, t_1); cos = cos.default(p1);"
               "mul = mul.Tensor(mm_2, cos); return [sigmoid, mul, mm_1]",
    .saved = "p1 p2 sin",
    .recomputed = "mm sigmoid",
    .cut = -1,
    .by_default = "p1 p2 sin",
    .order = "mm sigmoid sigmoid_backward t mm_1 t_1 mm_2 cos mul" },
  { .name = "G19-nested-regions",
    .inputs = "p1:4x4 p2:4x4 t1:4x4",
    .n_outputs = 1,
    .program = "sin" PR "1 = sin.default(p1); cos" PR "2 = cos.default(sin);"
               "mm" PR "1 = mm.default(cos, p2); exp" PR "1 = exp.default(mm);"
               "mul = mul.Tensor(t1, exp); t = t.default(cos); mm_1 = mm.default(t, mul);"
               "t_1 = t.default(p2); mm_2 = mm.default(mul, t_1); sin_1 = sin.default(sin);"
               "neg = neg.default(sin_1); mul_1 = mul.Tensor(mm_2, neg); cos_1 = cos.default(p1);"
               "mul_2 = mul.Tensor(mul_1, cos_1); return [exp, mul_2, mm_1]",
    .saved = "p1 p2 sin",
    .recomputed = "cos mm exp",
    .cut = -1 },
  { .name = "G19-flat",
    .inputs = "p1:4x4 p2:4x4 t1:4x4",
    .n_outputs = 1,
    .program = "sin" PR "1 = sin.default(p1); cos" PR "1 = cos.default(sin);"
               "mm" PR "1 = mm.default(cos, p2); exp" PR "1 = exp.default(mm);"
               "mul = mul.Tensor(t1, exp); t = t.default(cos); mm_1 = mm.default(t, mul);"
               "t_1 = t.default(p2); mm_2 = mm.default(mul, t_1); sin_1 = sin.default(sin);"
               "neg = neg.default(sin_1); mul_1 = mul.Tensor(mm_2, neg); cos_1 = cos.default(p1);"
               "mul_2 = mul.Tensor(mul_1, cos_1); return [exp, mul_2, mm_1]",
    .saved = "p1 p2",
    .recomputed = "sin cos mm exp",
    .cut = -1 },
  { .name = "G21-cat",
    .inputs = "p1:4 p2:4 t1:8",
    .n_outputs = 1,
    .program = "cat" PR "1 = cat.default([p1, p2]); sin" PR "1 = sin.default(cat);"
               "cos = cos.default(cat); mul = mul.Tensor(t1, cos);"
               "slice_1 = slice.Tensor(mul, 0, 0, 4); slice_2 = slice.Tensor(mul, 0, 4, 8);"
               "return [sin, slice_1, slice_2]",
    .saved = "p1 p2",
    .recomputed = "cat",
    .cut = -1 },
  { .name = "G22-gradient-is-input",
    .inputs = "p1:4x4 p2:4x4 t1:4x4",
    .n_outputs = 1,
    .program = "mul = mul.Tensor(p1, 2); mul_1 = mul.Tensor(t1, 2); return [mul, mul_1, p2]",
    .saved = "p2",
    .cut = -1 },
  { .name = "G22-gradient-is-intermediate",
    .inputs = "p1:4x4 p2:4x4 t1:4x4",
    .n_outputs = 1,
    .program = "mm = mm.default(p1, p2); sin = sin.default(mm); mul = mul.Tensor(t1, 2);"
               "return [sin, mul, mm]",
    .saved = "p1 p2",
    .recomputed = "mm",
    .cut = -1 },
};

/* Spells out the primals in "p1 cos". */
static char *
spell (const char *names)
{
  g_autoptr (GRegex) regex = g_regex_new ("\\bp(\\d+)\\b", 0, 0, NULL);

  return g_regex_replace (regex, names, -1, 0, "primals_\\1", 0, NULL);
}

static void
assert_saved (const AdjPartition *partition, const char *expected)
{
  g_autofree char *got = partition_print_saved (partition);
  g_autofree char *spelled = spell (expected);

  g_assert_cmpstr (got, ==, spelled);
}

static void
assert_weights (const AdjPartition *partition, const char *weights)
{
  g_autofree char *spelled = spell (weights);
  g_auto (GStrv) words = g_strsplit (spelled, " ", -1);

  for (guint i = 0; words[i] != NULL; i += 2)
    {
      AdjNodeId id = adj_graph_find_node (partition->joint, words[i]);

      g_assert_cmpint (partition->nodes[id.index].weight, ==,
                       g_ascii_strtoll (words[i + 1], NULL, 10));
    }
}

static void
assert_order (const AdjPartition *partition, const char *expected)
{
  g_autoptr (GString) got = g_string_new (NULL);

  for (guint i = 0; i < adj_graph_get_n_nodes (partition->backward); i++)
    {
      const AdjNode *node = adj_graph_get_node (partition->backward, i);

      if (node->opcode == ADJ_OPCODE_CALL_FUNCTION)
        g_string_append_printf (got, "%s%s", got->len > 0 ? " " : "", node->name);
    }
  g_assert_cmpstr (got->str, ==, expected);
}

static void
test_golden (gconstpointer data)
{
  const Golden *golden = data;
  g_autoptr (AdjGraph) joint = golden_parse (golden->inputs, golden->program);
  AdjPartitionOptions options = golden->options;
  g_autoptr (AdjPartition) partition = NULL;

  options.num_fwd_outputs = (gint) golden->n_outputs;
  options.budget = options.usual_budget = options.recompute_limit = NAN;
  options.compat = TRUE;
  partition = partition_run ("min-cut", joint, &options);
  assert_saved (partition, golden->saved);
  if (golden->recomputed != NULL)
    {
      g_autofree char *recomputed = partition_print_decided (partition, ADJ_DECISION_RECOMPUTED);

      g_assert_cmpstr (recomputed, ==, golden->recomputed);
    }
  if (golden->cut >= 0)
    g_assert_cmpint (partition->cut_value, ==, golden->cut);
  if (golden->weights != NULL)
    assert_weights (partition, golden->weights);
  if (golden->order != NULL)
    assert_order (partition, golden->order);
  if (golden->by_default != NULL)
    {
      g_autoptr (AdjPartition) by_default = partition_run ("default", joint, &options);

      assert_saved (by_default, golden->by_default);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (goldens); i++)
    {
      g_autofree char *path = g_strdup_printf ("/partition/golden/%s", goldens[i].name);

      g_test_add_data_func (path, &goldens[i], test_golden);
    }
  return g_test_run ();
}
