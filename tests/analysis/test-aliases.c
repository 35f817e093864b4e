/* SPDX-License-Identifier: MIT */
/* Tests of adj-aliases.c: which results share memory, against the storages of a real run,
 * against a naive reimplementation, and with annotations that add aliases. */

#include <string.h>

#include "analysis/adj-aliases.h"
#include "ir/adj-graph.h"
#include "support/graphs.h"
#include "support/random-graph.h"
#include "support/random-joint.h"

#define N_SEEDS 60

/* -- against the storages of a run -- */

typedef struct
{
  guint64 *storage; /* by node; 0: the result is not a tensor */
  GPtrArray *kept;  /* all results, kept alive so that no address of a storage is used twice */
} Seen;

static gboolean
see_storage (const AdjGraph *graph, AdjNodeId id, const AdjValue *value, gpointer data)
{
  Seen *seen = data;

  if (value->kind != ADJ_VALUE_TENSOR)
    return TRUE;
  seen->storage[id.index] = adj_storage_get_id (adj_tensor_get_storage (value->tensor)) + 1;
  g_ptr_array_add (seen->kept, adj_tensor_ref (value->tensor));
  return TRUE;
}

static gboolean
make_input (const AdjGraph *graph, guint index, AdjValue *out)
{
  const AdjNode *node = adj_graph_get_node (graph, adj_graph_get_input (graph, index).index);
  g_autoptr (AdjTensorData) data = NULL;
  g_autoptr (GBytes) bytes = NULL;
  gsize size;

  if (node->val.kind != ADJ_VALUE_META)
    return FALSE;
  for (guint i = 0; i < node->val.meta->shape.rank; i++)
    if (!adj_size_is_int (node->val.meta->shape.size[i]))
      return FALSE;
  size = adj_tensor_meta_bytes (node->val.meta, NULL);
  bytes = g_bytes_new_take (g_malloc0 (size), size);
  data = adj_tensor_data_new (node->val.meta, bytes, NULL);
  *out = ADJ_TENSOR (adj_tensor_new_from_data (data));
  return TRUE;
}

/* Returns %FALSE when the inputs of @graph have unknown sizes. */
static gboolean
check_run (const AdjGraph *graph)
{
  guint n = adj_graph_get_n_nodes (graph), n_inputs = adj_graph_get_n_inputs (graph);
  const AdjAlias *aliases = adj_graph_get_aliases (graph);
  g_autofree guint64 *storage = g_new0 (guint64, n);
  g_autoptr (GPtrArray) kept = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_tensor_unref);
  g_autoptr (AdjContext) cx = adj_context_new ();
  Seen seen = { storage, kept };
  AdjInterpreterHooks hooks = { .node = see_storage, .data = &seen };
  g_autofree AdjValue *args = g_new0 (AdjValue, n_inputs + 1);
  g_auto (AdjValue) result = ADJ_NONE;
  gboolean known = TRUE;

  for (guint i = 0; i < n_inputs && known; i++)
    known = make_input (graph, i, &args[i]);
  if (known)
    g_assert_true (adj_interpret (cx, graph, args, n_inputs, &hooks, &result));
  for (guint i = 0; i < n && known; i++)
    for (guint k = 0; k < i; k++)
      if (storage[i] != 0 && storage[k] != 0)
        {
          g_assert_cmpint (aliases[i].must == aliases[k].must, ==, storage[i] == storage[k]);
          g_assert_true (storage[i] != storage[k] || aliases[i].may == aliases[k].may);
        }
  for (guint i = 0; i < n_inputs; i++)
    adj_value_clear (&args[i]);
  return known;
}

static void
storages_of_a_run (void)
{
  guint n_run = 0;

  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      g_autoptr (AdjGraph) program = adj_test_random_program (rand, 30);
      guint num_fwd_outputs;
      g_autoptr (AdjGraph) joint = adj_test_random_joint (rand, &num_fwd_outputs);

      g_assert_true (check_run (program));
      n_run += check_run (joint);
    }
  g_assert_cmpuint (n_run, >, N_SEEDS / 3);
}

/* -- against a slower way to the same -- */

static gint32
get_name (const AdjGraph *graph, guint index)
{
  const AdjValue *val = &adj_graph_get_node (graph, index)->val;

  return val->kind == ADJ_VALUE_META ? val->meta->storage : -1;
}

/* Returns the first node that uses the storage of @index, found by a scan of all earlier nodes. */
static guint
find_must (const AdjGraph *graph, const AdjAlias *aliases, guint index)
{
  gboolean shares = aliases[index].kind == ADJ_ALIAS_VIEW || aliases[index].kind == ADJ_ALIAS_SAME;
  guint first = shares ? find_must (graph, aliases, aliases[index].base) : index;

  if (get_name (graph, index) < 0)
    return first;
  for (guint i = 0; i < index; i++)
    if (get_name (graph, i) == get_name (graph, index))
      return find_must (graph, aliases, i);
  for (guint i = 0; i < index; i++)
    if (get_name (graph, i) >= 0 && find_must (graph, aliases, i) == first)
      return index;
  return first;
}

static void
check_naive (const AdjGraph *graph)
{
  const AdjAlias *aliases = adj_graph_get_aliases (graph);

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjAlias *alias = &aliases[i];

      g_assert_cmpint (alias->kind == ADJ_ALIAS_NONE, ==, alias->base == i);
      g_assert_cmpuint (alias->base, <=, i);
      g_assert_cmpuint (alias->must, ==, find_must (graph, aliases, i));
      g_assert_cmpuint (alias->may, ==, aliases[alias->must].may);
      if (alias->must == i)
        g_assert_cmpuint (alias->may, ==, alias->base == i ? i : aliases[alias->base].may);
    }
}

static void
random_graphs (void)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      g_autoptr (AdjGraph) graph = adj_test_random_graph (rand, 24);
      guint num_fwd_outputs;
      g_autoptr (AdjGraph) joint = adj_test_random_joint (rand, &num_fwd_outputs);

      check_naive (graph);
      check_naive (joint);
    }
}

/* -- kinds -- */

static const struct
{
  const char *statement;
  AdjAliasKind kind;
  const char *base; /* %NULL: the node is its own base */
} cases[] = {
  { "torch.ops.aten.mul.Tensor(x, y)", ADJ_ALIAS_NONE, NULL },
  { "torch.ops.aten.view.default(x, [6])", ADJ_ALIAS_VIEW, "x" },
  { "torch.ops.aten._unsafe_view.default(x, [6])", ADJ_ALIAS_VIEW, "x" },
  { "torch.ops.aten.add_.Tensor(x, y)", ADJ_ALIAS_SAME, "x" },
  { "torch.ops.aten.add.out(x, y, out = z)", ADJ_ALIAS_SAME, "z" },
  { "torch.ops.aten.split.Tensor(x, 1)", ADJ_ALIAS_VIEW, "x" },
  { "x.split(1)", ADJ_ALIAS_VIEW, "x" },
  { "x.broadcast_to([2, 3])", ADJ_ALIAS_VIEW, "x" },
  { "x.add_(y)", ADJ_ALIAS_SAME, "x" },
  { "x.add(y)", ADJ_ALIAS_UNKNOWN, "x" },
  { "torch.nn.functional.relu(x, inplace = True)", ADJ_ALIAS_SAME, "x" },
  { "torch.maximum(x, y, out = z)", ADJ_ALIAS_SAME, "z" },
  { "torch.ops.mylib.twist.default(y, x)", ADJ_ALIAS_UNKNOWN, "y" },
  { "x[0]", ADJ_ALIAS_VIEW, "x" },
  { "x[(slice(None, 1, None), 0)]", ADJ_ALIAS_VIEW, "x" },
  { "x[[0, 1]]", ADJ_ALIAS_NONE, NULL },
  { "x[i]", ADJ_ALIAS_NONE, NULL },
  { "parts[1]", ADJ_ALIAS_VIEW, "x" },
  { "pair[1]", ADJ_ALIAS_ITEM, "pair" },
};

static void
kinds (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_strdup_printf (
          "def forward(self, x: \"f32[2, 3][3, 1]cpu\", y: \"f32[2, 3][3, 1]cpu\", "
          "z: \"f32[2, 3][3, 1]cpu\", i: \"i64[2][1]cpu\"):\n"
          "    parts = torch.ops.aten.split.Tensor(x, 1)\n"
          "    pair = torch.ops.aten.var_mean.correction(y)\n"
          "    r = %s\n"
          "    return r\n",
          cases[i].statement);
      g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
      guint r = adj_graph_find_node (graph, "r").index;
      const AdjAlias *alias = &adj_graph_get_aliases (graph)[r];

      g_test_message ("%s", cases[i].statement);
      g_assert_cmpint (alias->kind, ==, cases[i].kind);
      g_assert_cmpstr (adj_graph_get_node (graph, alias->base)->name, ==,
                       cases[i].base != NULL ? cases[i].base : "r");
    }
}

static void
annotations_know_better (void)
{
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (
      "def forward(self, x: \"f32[2, 3][1, 2]cpu\"):\n"
      "    # adj: x {alias: 0}\n"
      "    copied: \"f32[6][1]cpu\" = x.reshape(6)  # adj: {alias: 1}\n"
      "    shown: \"f32[6][1]cpu\" = torch.ops.mylib.show.default(copied)  # adj: {alias: 1}\n"
      "    moved: \"f32[2, 3][3, 1]cpu\" = x.contiguous()\n"
      "    return (shown, moved)\n");
  const AdjAlias *aliases = adj_graph_get_aliases (graph);

  g_assert_cmpuint (aliases[1].must, ==, 1);
  g_assert_cmpuint (aliases[2].must, ==, 1);
  g_assert_cmpint (aliases[3].kind, ==, ADJ_ALIAS_NONE);
}

/* -- one of all that ask at once -- */

static gpointer
ask (gpointer graph)
{
  return (gpointer) adj_graph_get_aliases (graph);
}

static void
one_for_all_threads (void)
{
  for (guint32 seed = 0; seed < 20; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      g_autoptr (AdjGraph) graph = adj_test_random_graph (rand, 200);
      GThread *threads[4];
      gpointer answers[4];

      for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
        threads[i] = g_thread_new (NULL, ask, graph);
      for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
        answers[i] = g_thread_join (threads[i]);
      for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
        g_assert_true (answers[i] == (gpointer) adj_graph_get_aliases (graph));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/analysis/aliases/storages-of-a-run", storages_of_a_run);
  g_test_add_func ("/analysis/aliases/random-graphs", random_graphs);
  g_test_add_func ("/analysis/aliases/kinds", kinds);
  g_test_add_func ("/analysis/aliases/annotations-know-better", annotations_know_better);
  g_test_add_func ("/analysis/aliases/one-for-all-threads", one_for_all_threads);
  return g_test_run ();
}
