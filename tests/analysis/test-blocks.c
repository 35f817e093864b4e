/* SPDX-License-Identifier: MIT */
/* Tests of adj-blocks.c: repeated sequences of calls are found, named after their source lines,
 * and cut where a single value crosses. */

#include "analysis/adj-blocks.h"

#include "analysis/adj-lines.h"
#include "analysis/adj-modules.h"
#include "ir/adj-graph.h"
#include "support/graphs.h"

#define PERIOD 8

/* Builds the text of a graph call by call. */
typedef struct
{
  GString *text;
  guint n;
  gboolean has_lines;
} Writer;

static void
begin (Writer *self, gboolean has_lines)
{
  self->text = g_string_new ("class GraphModule(torch.nn.Module):\n"
                             "    def forward(self, v0: \"f32[4][1]cpu\"):\n");
  self->n = 1;
  self->has_lines = has_lines;
}

/* Appends v<n> = target (v<n - 1>, v<n - 1 - @back>). */
static void
call (Writer *self, const char *target, guint back, guint line)
{
  if (self->has_lines)
    g_string_append_printf (self->text,
                            "         # File: /src/model.py:%u in forward, code: x = f(x)\n", line);
  g_string_append_printf (self->text, "        v%u: \"f32[4][1]cpu\" = torch.ops.aten.%s(v%u",
                          self->n, target, self->n - 1);
  if (back > 0)
    g_string_append_printf (self->text, ", v%u", self->n - 1 - back);
  g_string_append (self->text, ")\n");
  self->n++;
}

static AdjGraph *
end (Writer *self)
{
  g_autofree char *text = NULL;

  g_string_append_printf (self->text, "        return (v%u,)\n", self->n - 1);
  text = g_string_free (self->text, FALSE);
  return adj_test_parse_graph (text);
}

/* Appends a layer whose last call reads the layer's input, so that a single value crosses to the
 * next layer. */
static void
write_layer (Writer *self, const char *target, guint line)
{
  for (guint i = 0; i + 1 < PERIOD; i++)
    call (self, i % 3 == 1 ? "cos.default" : target, 0, line + i);
  call (self, "add.Tensor", PERIOD - 1, line + PERIOD - 1);
}

static AdjGraph *
make_layers (guint n, gboolean has_lines)
{
  Writer writer;

  begin (&writer, has_lines);
  /* These calls equal the end of a layer, so the repetition begins one call before the first
   * layer. */
  call (&writer, "exp.default", 0, 5);
  call (&writer, "add.Tensor", 1, 5);
  for (guint i = 0; i < n; i++)
    write_layer (&writer, "sin.default", 10);
  call (&writer, "tanh.default", 0, 30);
  return end (&writer);
}

static void
check_layers (AdjGraph *graph, guint n, const char *name)
{
  const AdjBlocks *blocks = adj_graph_get_blocks (graph);

  g_assert_cmpuint (blocks->n_blocks, ==, n);
  for (guint b = 0; b < n; b++)
    {
      const AdjBlock *block = &blocks->blocks[b];
      g_autofree char *path = g_strdup_printf ("%s · %u of %u", name, b + 1, n);

      g_assert_cmpuint (block->first, ==, 3 + b * PERIOD);
      g_assert_cmpuint (block->end, ==, block->first + PERIOD);
      g_assert_cmpstr (block->module.path, ==, path);
      for (guint i = block->first; i < block->end; i++)
        {
          g_assert_cmpuint (blocks->of_node[i], ==, b);
          g_assert_cmpstr (adj_graph_get_module_path (graph, i), ==, path);
        }
    }
  g_assert_cmpuint (blocks->of_node[1], ==, ADJ_NO_BLOCK);
  g_assert_cmpuint (blocks->of_node[3 + n * PERIOD], ==, ADJ_NO_BLOCK);
  g_assert_cmpstr (adj_graph_get_module_path (graph, 1), ==, "");
}

static void
with_lines (void)
{
  g_autoptr (AdjGraph) graph = make_layers (5, TRUE);

  check_layers (graph, 5, "model.py:10–17");
}

static void
without_lines (void)
{
  g_autoptr (AdjGraph) graph = make_layers (5, FALSE);

  check_layers (graph, 5, "8 calls");
}

/* Two sequences that cannot be told apart by name or length get different names. */
static void
two_runs (void)
{
  g_autoptr (AdjGraph) graph = NULL;
  const AdjBlocks *blocks;
  Writer writer;

  begin (&writer, FALSE);
  for (guint i = 0; i < 4; i++)
    write_layer (&writer, "sin.default", 10);
  for (guint i = 0; i < 9; i++)
    call (&writer, i % 2 ? "exp.default" : "neg.default", 0, 30 + i);
  for (guint i = 0; i < 4; i++)
    write_layer (&writer, "relu.default", 10);
  graph = end (&writer);
  blocks = adj_graph_get_blocks (graph);
  g_assert_cmpuint (blocks->n_blocks, ==, 8);
  g_assert_cmpstr (blocks->blocks[3].module.path, ==, "8 calls · 4 of 4");
  g_assert_cmpstr (blocks->blocks[4].module.path, ==, "8 calls (2) · 1 of 4");
  g_assert_cmpuint (blocks->blocks[3].run, !=, blocks->blocks[4].run);
}

static void
nothing_repeated (void)
{
  static const char *const targets[] = {
    "sin", "cos", "exp", "neg", "tanh", "relu", "abs", "sqrt"
  };
  g_autoptr (AdjGraph) graph = NULL;
  Writer writer;

  begin (&writer, TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (targets); i++)
    {
      g_autofree char *target = g_strconcat (targets[i], ".default", NULL);

      call (&writer, target, 0, i);
    }
  graph = end (&writer);
  g_assert_cmpuint (adj_graph_get_blocks (graph)->n_blocks, ==, 0);
}

/* A stage whose layers are no longer alike takes over the blocks of its leader, the stage it was
 * derived from. */
static void
of_leader (void)
{
  AdjGraph *leader = make_layers (5, TRUE);
  g_autoptr (AdjGraph) graph = NULL, stranger = NULL;
  const AdjBlocks *blocks;
  Writer writer;

  begin (&writer, TRUE);
  call (&writer, "exp.default", 0, 1);
  call (&writer, "add.Tensor", 1, 2);
  for (guint i = 0; i < 5; i++)
    write_layer (&writer, i % 2 ? "relu.default" : "sin.default", 10);
  graph = end (&writer);
  writer = (Writer){ 0 };
  begin (&writer, TRUE);
  for (guint i = 0; i < 30; i++)
    call (&writer, i % 2 ? "exp.default" : "neg.default", 0, 30 + i);
  stranger = end (&writer);
  adj_graph_follow_blocks (graph, leader);
  adj_graph_follow_blocks (stranger, graph); /* the leader follows itself */
  adj_graph_follow_blocks (leader, graph);   /* would be a cycle: ignored */
  g_assert_true (adj_graph_get_blocks_leader (stranger) == leader);
  g_assert_null (adj_graph_get_blocks_leader (leader));
  adj_graph_unref (leader);

  g_assert_true (adj_graph_get_blocks_leader (graph) == leader);
  blocks = adj_graph_get_blocks (graph);
  g_assert_cmpuint (blocks->n_blocks, ==, 5);
  for (guint b = 0; b < 5; b++)
    {
      g_autofree char *path = g_strdup_printf ("model.py:10–17 · %u of 5", b + 1);

      g_assert_cmpstr (blocks->blocks[b].module.path, ==, path);
      g_assert_cmpuint (blocks->of_node[3 + b * PERIOD + 4], ==, b);
    }
  /* @stranger has too little in common with its leader. */
  g_assert_cmpuint (adj_graph_get_blocks (stranger)->n_blocks, ==, 0);
}

/* If every block reads one weight, each sum of its gradients belongs to the block that made the
 * last summand, the backward nodes derived from the weight belong to the block that reads them,
 * and returned values belong to no block. */
static void
shared_weight (void)
{
  const guint n_steps = 30;
  g_autoptr (GString) text = g_string_new (
      "class G(torch.nn.Module):\n    def forward(self, y0, primals_2, tangents_1):\n");
  g_autoptr (AdjGraph) graph = NULL;
  const AdjBlocks *blocks;
  guint n_sums = 0, n_turned = 0;

  for (guint i = 1; i <= n_steps; i++)
    g_string_append_printf (text,
                            "        m%u = torch.ops.aten.mul.Tensor(y%u, primals_2)\n"
                            "        y%u = torch.ops.aten.sin.default(m%u)\n",
                            i, i - 1, i, i);
  for (guint i = n_steps; i > 0; i--)
    {
      g_string_append_printf (text, "        c%u = torch.ops.aten.cos.default(m%u)\n", i, i);
      if (i == n_steps)
        g_string_append_printf (text, "        d%u = torch.ops.aten.mul.Tensor(tangents_1, c%u)\n",
                                i, i);
      else
        g_string_append_printf (text, "        d%u = torch.ops.aten.mul.Tensor(g%u, c%u)\n", i,
                                i + 1, i);
      g_string_append_printf (text, "        w%u = torch.ops.aten.mul.Tensor(d%u, y%u)\n", i, i,
                              i - 1);
      if (i < n_steps)
        g_string_append_printf (text, "        sum%u = torch.ops.aten.add.Tensor(%s%u, w%u)\n", i,
                                i + 1 < n_steps ? "sum" : "w", i + 1, i);
      g_string_append_printf (text,
                              "        t%u = torch.ops.aten.neg.default(primals_2)\n"
                              "        g%u = torch.ops.aten.mul.Tensor(d%u, t%u)\n",
                              i, i, i, i);
    }
  g_string_append_printf (text, "        return (y%u, g1, sum1)\n", n_steps);
  graph = adj_test_parse_graph (text->str);
  blocks = adj_graph_get_blocks (graph);
  g_assert_cmpuint (blocks->n_blocks, >, 2);
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);

      if (g_str_has_prefix (node->name, "sum"))
        {
          g_assert_cmpuint (blocks->of_node[i], ==, blocks->of_node[node->inputs[1].index]);
          n_sums++;
        }
      if (g_str_equal (node->target, "torch.ops.aten.neg.default"))
        {
          g_assert_cmpuint (blocks->of_node[i], !=, ADJ_NO_BLOCK);
          g_assert_cmpuint (blocks->of_node[i], ==, blocks->of_node[node->users[0].index]);
          n_turned++;
        }
    }
  g_assert_cmpuint (n_sums, ==, n_steps - 1);
  g_assert_cmpuint (n_turned, ==, n_steps);
  g_assert_cmpuint (blocks->of_node[adj_graph_get_output (graph).index], ==, ADJ_NO_BLOCK);
}

static void
with_modules (void)
{
  g_autoptr (AdjGraph) graph = adj_test_load_graph ("gpt2", "joint");

  g_assert_cmpuint (adj_graph_get_blocks (graph)->n_blocks, ==, 0);
}

/* -- random graphs, and a naive search -- */

#define N_SEEDS 200

static const char *const some[] = { "sin.default", "cos.default", "tanh.default", "exp.default" };

static void
write_some (Writer *self, GRand *rand, guint n)
{
  for (guint i = 0; i < n; i++)
    call (self, some[g_rand_int_range (rand, 0, G_N_ELEMENTS (some))], 0, 1);
}

/* Makes a few calls, then a layer of 6 to 12 calls repeated three to six times, then more calls. */
static AdjGraph *
make_random (GRand *rand)
{
  const guint period = (guint) g_rand_int_range (rand, 6, 13);
  const guint n_layers = (guint) g_rand_int_range (rand, 3, 7);
  const char *layer[12];
  Writer writer;

  begin (&writer, FALSE);
  write_some (&writer, rand, (guint) g_rand_int_range (rand, 1, 12));
  for (guint i = 0; i + 1 < period; i++)
    layer[i] = some[g_rand_int_range (rand, 0, G_N_ELEMENTS (some))];
  for (guint b = 0; b < n_layers; b++)
    {
      for (guint i = 0; i + 1 < period; i++)
        call (&writer, layer[i], 0, 1);
      call (&writer, "add.Tensor", period - 1, 1);
    }
  write_some (&writer, rand, (guint) g_rand_int_range (rand, 0, 12));
  return end (&writer);
}

static gboolean
are_alike (const AdjGraph *graph, guint a, guint b)
{
  const AdjNode *x = adj_graph_get_node (graph, a), *y = adj_graph_get_node (graph, b);

  return g_str_equal (x->target, y->target) && x->n_inputs == y->n_inputs;
}

/* Returns the length of the longest run of calls from node @start on in which each call is like
 * the call @period before it. */
static guint
measure_run (const AdjGraph *graph, guint start, guint period)
{
  guint last = adj_graph_get_n_nodes (graph) - 1, end = start + period;

  while (end < last && are_alike (graph, end, end - period))
    end++;
  return end - start;
}

/* Counts the values made before node @cut and read at or after it. */
static guint
count_crossing (const AdjGraph *graph, guint cut)
{
  guint n = 0, last = adj_graph_get_n_nodes (graph) - 1;

  for (guint i = 1; i < cut; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);
      gboolean crosses = FALSE;

      for (guint u = 0; u < node->n_users; u++)
        crosses |= node->users[u].index >= cut && node->users[u].index < last;
      n += crosses;
    }
  return n;
}

/* Tries every start and every period, and expects the longest run of whole blocks with the
 * shortest period. */
static void
check_naive (const AdjGraph *graph)
{
  const AdjBlocks *blocks = adj_graph_get_blocks (graph);
  const guint last = adj_graph_get_n_nodes (graph) - 1;
  guint start = 0, period = 0, length = 0, n;
  const AdjBlock *first = NULL;

  for (guint p = 6; p < last; p++)
    for (guint s = 1; s + 2 * p <= last; s++)
      {
        guint found = measure_run (graph, s, p);

        if (found >= (p < 16 ? 3 : 2) * p &&
            found / p * p > (period > 0 ? length / period * period : 0))
          {
            start = s;
            period = p;
            length = found;
          }
      }
  g_assert_cmpuint (period, >, 0);
  for (guint b = 0; b < blocks->n_blocks; b++)
    if (blocks->blocks[b].position == 1 &&
        blocks->blocks[b].end - blocks->blocks[b].first == period &&
        blocks->blocks[b].first >= start && blocks->blocks[b].first < start + period)
      first = &blocks->blocks[b];
  g_assert_nonnull (first);
  n = (start + length - first->first) / period;
  g_assert_cmpuint (first->n_of_run, ==, n);
  for (guint cut = start; cut + 2 * period <= start + length && cut < start + period; cut++)
    g_assert_cmpuint (count_crossing (graph, first->first + period), <=,
                      count_crossing (graph, cut + period));
  for (guint i = first->first; i < first->first + n * period; i++)
    {
      const AdjBlock *block = &blocks->blocks[blocks->of_node[i]];

      g_assert_cmpuint (block->run, ==, first->run);
      g_assert_cmpuint (block->position, ==, (i - first->first) / period + 1);
    }
}

static void
random_graphs (void)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      g_autoptr (AdjGraph) graph = make_random (rand);

      g_test_message ("seed %u", seed);
      check_naive (graph);
    }
}

/* A call within a module of PyTorch is named by the line of the model that calls the module. */
static void
lines_of_modules (void)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "formats", "data", "pt2", "2.15", "buffers.pt2", NULL);
  g_autoptr (AdjBundle) bundle = adj_test_load_bundle (path);
  AdjGraph *graph = adj_bundle_get_graph (bundle, 0)->graph;
  guint n_within = 0;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);
      AdjLines lines = { 0 };
      g_autofree char *name = NULL;

      if (node->meta.n_frames < 2)
        continue;
      n_within++;
      g_assert_true (g_str_has_suffix (node->meta.frames[node->meta.n_frames - 1].file,
                                       "-packages/torch/nn/modules/sparse.py"));
      adj_lines_add (&lines, node);
      name = adj_lines_print (&lines);
      g_assert_cmpstr (name, ==, "models.py:197");
    }
  g_assert_cmpuint (n_within, >, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/analysis/blocks/with-lines", with_lines);
  g_test_add_func ("/analysis/blocks/without-lines", without_lines);
  g_test_add_func ("/analysis/blocks/two-runs", two_runs);
  g_test_add_func ("/analysis/blocks/nothing-repeated", nothing_repeated);
  g_test_add_func ("/analysis/blocks/of-leader", of_leader);
  g_test_add_func ("/analysis/blocks/shared-weight", shared_weight);
  g_test_add_func ("/analysis/blocks/with-modules", with_modules);
  g_test_add_func ("/analysis/blocks/random-graphs", random_graphs);
  g_test_add_func ("/analysis/blocks/lines-of-modules", lines_of_modules);
  return g_test_run ();
}
