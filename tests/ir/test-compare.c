/* SPDX-License-Identifier: MIT */
/* Alignment of two graphs. */

#include "formats/adj-format.h"
#include "ir/adj-builder.h"
#include "ir/adj-compare.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "ops/adj-op-table.h"
#include "support/adj-test.h"
#include "support/graphs.h"
#include "support/random-graph.h"

static AdjGraph *
parse_body (const char *body)
{
  g_autofree char *text =
      g_strconcat ("class m(torch.nn.Module):\n    def forward(self, x, y):\n", body, NULL);

  return adj_test_parse_graph (text);
}

static const char before[] = "        a = torch.ops.aten.mul.Tensor(x, y)\n"
                             "        b = torch.ops.aten.relu.default(a)\n"
                             "        c = torch.ops.aten.sum.dim_IntList(b, [0])\n"
                             "        return (c,)\n";

/* "=a +d ~c(args) -b": one word per change, in order. */
static char *
summarize (const AdjGraph *a, const AdjGraph *b)
{
  static const char marks[] = "=+-~";
  g_autoptr (AdjAlignment) alignment = adj_graph_align (a, b);
  GString *words = g_string_new (NULL);
  guint counts[4] = { 0 };

  for (guint i = 0; i < alignment->n_changes; i++)
    {
      const AdjChange *change = &alignment->changes[i];
      gboolean in_b = adj_node_id_is_valid (change->b);
      const AdjNode *node =
          adj_graph_get_node (in_b ? b : a, in_b ? change->b.index : change->a.index);

      counts[change->kind]++;
      if (node->opcode == ADJ_OPCODE_PLACEHOLDER || node->opcode == ADJ_OPCODE_OUTPUT)
        continue;
      g_string_append_printf (words, "%s%c%s", words->len ? " " : "", marks[change->kind],
                              node->name);
      if (change->kind == ADJ_CHANGE_CHANGED)
        g_string_append_printf (words, "(%s)", change->reason);
    }
  g_assert_cmpuint (counts[ADJ_CHANGE_NONE], ==, alignment->n_same);
  g_assert_cmpuint (counts[ADJ_CHANGE_ADDED], ==, alignment->n_added);
  g_assert_cmpuint (counts[ADJ_CHANGE_REMOVED], ==, alignment->n_removed);
  g_assert_cmpuint (counts[ADJ_CHANGE_CHANGED], ==, alignment->n_changed);

  return g_string_free (words, FALSE);
}

static const struct
{
  const char *name, *after, *changes;
} rows[] = {
  { "same", before, "=a =b =c" },
  { "renamed",
    "        p = torch.ops.aten.mul.Tensor(x, y)\n"
    "        q = torch.ops.aten.relu.default(p)\n"
    "        r = torch.ops.aten.sum.dim_IntList(q, [0])\n"
    "        return (r,)\n",
    "=p =q =r" },
  { "inserted",
    "        a = torch.ops.aten.mul.Tensor(x, y)\n"
    "        n = torch.ops.aten.neg.default(a)\n"
    "        b = torch.ops.aten.relu.default(n)\n"
    "        c = torch.ops.aten.sum.dim_IntList(b, [0])\n"
    "        return (c,)\n",
    "=a +n ~b(args) =c" },
  { "removed",
    "        a = torch.ops.aten.mul.Tensor(x, y)\n"
    "        c = torch.ops.aten.sum.dim_IntList(a, [0])\n"
    "        return (c,)\n",
    "=a -b ~c(args)" },
  { "argument",
    "        a = torch.ops.aten.mul.Tensor(x, y)\n"
    "        b = torch.ops.aten.relu.default(a)\n"
    "        s = torch.ops.aten.sum.dim_IntList(b, [1])\n"
    "        return (s,)\n",
    "=a =b ~s(args)" },
  { "operands",
    "        a = torch.ops.aten.mul.Tensor(y, x)\n"
    "        b = torch.ops.aten.relu.default(a)\n"
    "        c = torch.ops.aten.sum.dim_IntList(b, [0])\n"
    "        return (c,)\n",
    "~a(args) =b =c" },
  { "tag",
    "        a = torch.ops.aten.mul.Tensor(x, y)\n"
    "        b = torch.ops.aten.relu.default(a)  # adj: {recompute: MUST_SAVE}\n"
    "        c = torch.ops.aten.sum.dim_IntList(b, [0])\n"
    "        return (c,)\n",
    "=a ~b(recompute) =c" },
};

static void
test_align (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data);
  g_autoptr (AdjGraph) a = parse_body (before);
  g_autoptr (AdjGraph) b = parse_body (rows[i].after);
  g_autofree char *changes = summarize (a, b);
  gboolean equal = i < 2;

  g_assert_cmpstr (changes, ==, rows[i].changes);
  g_assert_true (adj_graph_equal_structure (a, b) == equal);
}

static void
test_annotations (void)
{
  g_autoptr (AdjGraph) a = parse_body ("        r: \"f32[2, 3][3, 1]cpu\" = torch.relu(x)\n"
                                       "        return r\n");
  g_autoptr (AdjGraph) shape = parse_body ("        r: \"f32[2, 4][4, 1]cpu\" = torch.relu(x)\n"
                                           "        return r\n");
  g_autoptr (AdjGraph) less = parse_body ("        r: \"f32[2, 3]\" = torch.relu(x)\n"
                                          "        return r\n");
  g_autoptr (AdjGraph) strides = parse_body ("        r: \"f32[2, 3][1, 2]cpu\" = torch.relu(x)\n"
                                             "        return r\n");

  g_assert_false (adj_graph_equal_structure (a, shape));
  g_assert_true (adj_graph_equal_structure (a, less));
  g_assert_false (adj_graph_equal_structure (a, strides));
}

/* If nodes of a large graph are dropped, the alignment reports exactly these. */
static void
test_dropped (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  g_autoptr (AdjGraph) from = adj_test_random_program (rand, 400);
  guint n = adj_graph_get_n_nodes (from), n_dropped = 0;
  g_autoptr (AdjBuilder) builder = adj_builder_new ("m", NULL, adj_op_find);
  g_autofree AdjNodeId *map = g_new (AdjNodeId, n);
  g_autoptr (AdjGraph) to = NULL;
  g_autoptr (AdjAlignment) alignment = NULL;

  for (guint i = 0; i < n; i++)
    if (adj_graph_get_node (from, i)->opcode == ADJ_OPCODE_CALL_FUNCTION &&
        adj_graph_get_node (from, i)->n_users == 0)
      n_dropped++;
    else
      adj_builder_copy (builder, from, i, map);
  to = adj_builder_seal (builder, NULL);
  g_assert_nonnull (to);
  g_assert_cmpuint (n_dropped, >, 0);

  alignment = adj_graph_align_made (from, to);
  g_assert_cmpuint (alignment->n_removed, ==, n_dropped);
  g_assert_cmpuint (alignment->n_added, ==, 0);
  g_assert_cmpuint (alignment->n_changed, ==, 0);
  g_assert_cmpuint (alignment->n_changes, ==, n);
}

static guint32
partner_of (const AdjAlignment *alignment, const AdjGraph *a, const char *name)
{
  AdjNodeId id = adj_graph_find_node (a, name);

  g_assert_true (adj_node_id_is_valid (id));
  for (guint i = 0; i < alignment->n_changes; i++)
    if (adj_node_id_is_valid (alignment->changes[i].a) && alignment->changes[i].a.index == id.index)
      return alignment->changes[i].b.index;

  g_assert_not_reached ();
}

/* A step of GPT-2 without decompositions and with those of Inductor: inputs, matrix products and
 * outputs are paired; the nodes of a pair have equal shapes and the same source line. */
static void
test_decomposed (void)
{
  g_autoptr (AdjGraph) a = adj_test_load_graph ("gpt2", "joint");
  g_autoptr (AdjGraph) b = adj_test_load_graph ("gpt2-inductor", "joint");
  g_autoptr (AdjAlignment) alignment = adj_graph_align (a, b);
  guint n_pairs = 0, n_products = 0, n_in_a = 0;

  for (guint i = 0; i < alignment->n_changes; i++)
    {
      const AdjChange *change = &alignment->changes[i];
      const AdjNode *in_a, *in_b;

      if (!adj_node_id_is_valid (change->a))
        continue;
      in_a = adj_graph_get_node (a, change->a.index);
      if (g_str_has_suffix (in_a->target, "mm.default"))
        n_in_a++;
      if (!adj_node_id_is_valid (change->b))
        continue;
      in_b = adj_graph_get_node (b, change->b.index);
      n_pairs++;
      if (!g_str_has_suffix (in_a->target, "mm.default") ||
          !g_str_equal (in_a->target, in_b->target))
        continue;
      n_products++;
      g_assert_true (adj_tensor_meta_equal (in_a->val.meta, in_b->val.meta));
      g_assert_cmpuint (in_a->meta.frames[in_a->meta.n_frames - 1].line, ==,
                        in_b->meta.frames[in_b->meta.n_frames - 1].line);
    }
  g_test_message ("%u and %u nodes: %u aligned, %u of %u matrix products",
                  adj_graph_get_n_nodes (a), adj_graph_get_n_nodes (b), n_pairs, n_products,
                  n_in_a);
  g_assert_cmpuint (n_products, ==, n_in_a);
  for (guint i = 0; i < adj_graph_get_n_inputs (a); i++)
    {
      const AdjNode *input = adj_graph_get_node (a, adj_graph_get_input (a, i).index);

      g_assert_cmpstr (adj_graph_get_node (b, partner_of (alignment, a, input->name))->name, ==,
                       input->name);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *path = g_strconcat ("/ir/compare/align/", rows[i].name, NULL);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_align);
    }
  g_test_add_func ("/ir/compare/annotations", test_annotations);
  g_test_add_func ("/ir/compare/dropped-nodes", test_dropped);
  g_test_add_func ("/ir/compare/decomposed", test_decomposed);

  return g_test_run ();
}
