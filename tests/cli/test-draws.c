/* SPDX-License-Identifier: MIT */
/* adjoint compare on graphs that draw random numbers: values that depend on numbers drawn by
 * different operators are not compared; differences elsewhere are reported. */

#include <glib.h>
#include <string.h>

#include "support/adj-test.h"

#define HEAD "class G(torch.nn.Module):\n    def forward(self, x: \"f32[64][1]cpu\"):\n"
#define LINE(text) "        " text "\n"
#define CPU "device = device(type='cpu'), pin_memory = False"

/* A name and the text of a graph. */
static const char *const graphs[][2] = {
  { "eager", HEAD LINE ("exp = torch.ops.aten.exp.default(x)")
                 LINE ("rand = torch.ops.aten.rand.default([64], dtype = torch.float32, " CPU
                       ")") LINE ("mul = torch.ops.aten.mul.Tensor(exp, rand)")
                     LINE ("sin = torch.ops.aten.sin.default(exp)") LINE ("return (mul, sin)") },
  { "sum", HEAD LINE ("exp = torch.ops.aten.exp.default(x)")
               LINE ("rand = torch.ops.aten.rand.default([64], dtype = torch.float32, " CPU ")")
                   LINE ("mul = torch.ops.aten.add.Tensor(exp, rand)")
                       LINE ("sin = torch.ops.aten.sin.default(exp)") LINE ("return (mul, sin)") },
  { "names", HEAD LINE ("exp = torch.exp(x)") LINE ("rand = torch.rand([64])")
                 LINE ("mul = torch.mul(exp, rand)") LINE ("sin = torch.sin(exp)")
                     LINE ("return (mul, sin)") },
  { "deep", HEAD LINE ("exp = torch.ops.aten.exp.default(x)")
                LINE ("rand = torch.ops.aten.rand.default([64], dtype = torch.float32, " CPU
                      ")") LINE ("mul = torch.ops.aten.mul.Tensor(exp, rand)")
                    LINE ("neg = torch.ops.aten.neg.default(exp)")
                        LINE ("sin = torch.ops.aten.sin.default(neg)") LINE ("return (mul, sin)") },
  { "none", HEAD LINE ("exp = torch.ops.aten.exp.default(x)")
                LINE ("sin = torch.ops.aten.sin.default(exp)") LINE ("return (exp, sin)") },
  { "dropout", HEAD LINE ("drop = torch.nn.functional.dropout(x, 0.5, True, False)")
                   LINE ("sin = torch.sin(drop)") LINE ("return (sin,)") },
  { "native", HEAD LINE ("native_dropout = torch.ops.aten.native_dropout.default(x, 0.5, True)")
                  LINE ("getitem = native_dropout[0]")
                      LINE ("sin = torch.ops.aten.sin.default(getitem)") LINE ("return (sin,)") },
  { "cosine", HEAD LINE ("native_dropout = torch.ops.aten.native_dropout.default(x, 0.5, True)")
                  LINE ("getitem = native_dropout[0]")
                      LINE ("sin = torch.ops.aten.cos.default(getitem)") LINE ("return (sin,)") },
  { "written",
    HEAD LINE ("exp = torch.ops.aten.exp.default(x)")
        LINE ("before = torch.ops.aten.sin.default(exp)")
            LINE ("bernoulli_ = torch.ops.aten.bernoulli_.float(exp, 0.5)")
                LINE ("mul = torch.ops.aten.mul.Tensor(exp, x)") LINE ("return (mul, before)") },
};

/* Draws from seeds, as Inductor does. */
#define SEEDED                                                                                     \
  LINE ("seeds = torch.ops.prims.inductor_seeds.default(1, device(type='cpu'))")                   \
  LINE ("seed = torch.ops.prims.inductor_lookup_seed.default(seeds, 0)")                           \
  LINE ("rand = torch.ops.prims.inductor_random.default([64], seed, 'rand')")

static const char *const seeded[][2] = {
  { "seeded", HEAD LINE ("exp = torch.ops.aten.exp.default(x)")
                  SEEDED LINE ("mul = torch.ops.aten.mul.Tensor(exp, rand)")
                      LINE ("sin = torch.ops.aten.sin.default(exp)") LINE ("return (mul, sin)") },
  { "faulty", HEAD LINE ("exp = torch.ops.aten.exp.default(x)")
                  SEEDED LINE ("mul = torch.ops.aten.mul.Tensor(exp, rand)")
                      LINE ("sin = torch.ops.aten.cos.default(exp)") LINE ("return (mul, sin)") },
  { "deeply-faulty",
    HEAD LINE ("exp = torch.ops.aten.exp.default(x)") SEEDED LINE (
        "mul = torch.ops.aten.mul.Tensor(exp, rand)") LINE ("cos = torch.ops.aten.cos.default(exp)")
        LINE ("tanh = torch.ops.aten.tanh.default(cos)") LINE ("return (mul, tanh)") },
  { "masked", HEAD SEEDED LINE ("gt = torch.ops.aten.gt.Scalar(rand, 0.5)")
                  LINE ("mul = torch.ops.aten.mul.Tensor(gt, x)")
                      LINE ("mul_1 = torch.ops.aten.mul.Tensor(mul, 2.0)")
                          LINE ("sin = torch.ops.aten.sin.default(mul_1)") LINE ("return (sin,)") },
};

static const struct
{
  const char *a, *b;
  int status;
  gboolean left_out;
  const char *mentions;
} rows[] = {
  { "eager", "seeded", 0, TRUE, "1 not comparable" },
  { "seeded", "eager", 0, TRUE, "1 not comparable" },
  /* A fault in a node that depends on no drawn number. */
  { "eager", "faulty", 1, TRUE, "first difference: node 'sin'" },
  { "deep", "deeply-faulty", 1, TRUE, "first difference: node 'sin'" },
  /* The same draws, also under their Python names: the nodes behind them are compared. */
  { "names", "eager", 0, FALSE, "3 equal" },
  { "sum", "eager", 1, FALSE, "first difference: node 'mul'" },
  { "sum", "names", 1, FALSE, "first difference: node 'mul'" },
  /* A function that is decomposed counts as drawing with the operators of its decomposition. */
  { "dropout", "native", 0, FALSE, "1 equal" },
  { "dropout", "cosine", 1, FALSE, "first difference: node 'sin'" },
  { "native", "masked", 0, TRUE, "1 not comparable" },
  { "masked", "dropout", 0, TRUE, "1 not comparable" },
  /* If one graph draws nothing, the draws do not excuse a difference. */
  { "seeded", "none", 1, FALSE, "first difference: node 'mul'" },
  { "none", "seeded", 1, FALSE, "differs" },
  /* Random numbers that are written into a tensor. */
  { "written", "seeded", 0, TRUE, "1 not comparable" },
};

static void
write_graph (const AdjTestFolder *folder, const char *const graph[2])
{
  g_autofree char *path = g_strdup_printf ("%s/%s.txt", folder->path, graph[0]);

  g_assert_true (g_file_set_contents (path, graph[1], -1, NULL));
}

static void
test_draws (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();

  for (guint i = 0; i < G_N_ELEMENTS (graphs); i++)
    write_graph (folder, graphs[i]);
  for (guint i = 0; i < G_N_ELEMENTS (seeded); i++)
    write_graph (folder, seeded[i]);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *a = g_strdup_printf ("%s/%s.txt", folder->path, rows[i].a);
      g_autofree char *b = g_strdup_printf ("%s/%s.txt", folder->path, rows[i].b);
      const char *const argv[] = {
        g_getenv ("ADJ_PROGRAM"), "compare", a, b, "--seed", "3", "--nodes", NULL
      };
      const char *const of_outputs[] = { argv[0], argv[1], a, b, argv[4], argv[5], NULL };
      g_autoptr (AdjTestProcess) outputs = adj_test_spawn (of_outputs, NULL, NULL);
      g_autoptr (AdjTestProcess) process = adj_test_spawn (argv, NULL, NULL);

      g_test_message ("%s, %s: %s", rows[i].a, rows[i].b, process->out);
      g_assert_cmpint (process->status, ==, rows[i].status);
      g_assert_cmpint (outputs->status, ==, rows[i].status);
      g_assert_nonnull (strstr (process->out, rows[i].mentions));
      g_assert_cmpint (strstr (process->out, "by other operators\n") != NULL, ==, rows[i].left_out);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/compare/draws", test_draws);
  return g_test_run ();
}
