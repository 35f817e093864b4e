/* SPDX-License-Identifier: MIT */
/* `adjoint trace` and `adjoint check` on the command line: requests that are refused, with the
 * nodes and regions that the error names, and what the options print. */

#include <glib/gstdio.h>
#include <string.h>
#include <sys/resource.h>

#include "support/adj-test.h"

typedef struct
{
  const char *name;
  const char *arguments; /* $DATA: data/graphs, $TEST: tests/, $TEXT: a file with @text */
  int status;
  const char *out, *err; /* expected parts of the output; NULL: any */
  const char *text;      /* (nullable): content of $TEXT */
} Row;

/* A tuple that the backward reads as a whole: it cannot be saved, and its operator is not known
 * to be repeatable. */
#define PAIR                                                                                       \
  "def forward(self, primals_1: \"f32[4][1]cpu\", tangents_1: \"f32[4][1]cpu\"):\n"                \
  "    pair = torch.ops.mine.pair.default(primals_1)  # adj: {ac: 7, recompute: MUST_SAVE, val: "  \
  "(meta('f32[4][1]cpu'), meta('f32[4][1]cpu'))}\n"                                                \
  "    getitem: \"f32[4][1]cpu\" = pair[0]\n"                                                      \
  "    back: \"f32[4][1]cpu\" = torch.ops.mine.back.default(tangents_1, pair)\n"                   \
  "    return [getitem, back]\n"

/* A mask, which requires no gradient. */
#define MASK                                                                                       \
  "class GraphModule(torch.nn.Module):\n"                                                          \
  "    def forward(self, L_x_: \"i64[4][1]cpu\"):\n"                                               \
  "        l_x_ = L_x_\n"                                                                          \
  "        lt: \"b8[4][1]cpu\" = l_x_ < 3\n"                                                       \
  "        return (lt,)\n"

/* A product that is called under autocast. */
#define CALLED_UNDER                                                                               \
  "class GraphModule(torch.nn.Module):\n"                                                          \
  "    def forward(self, L_x_: \"f32[4, 4][4, 1]cpu\"):\n"                                         \
  "        # adj: called under {autocast_cpu: bf16, grad: off, unheard: of}\n"                     \
  "        l_x_ = L_x_\n"                                                                          \
  "        matmul = l_x_ @ l_x_\n"                                                                 \
  "        return (matmul,)\n"

#define AMBIENT "$TEST/session/data/"
#define SAC "$DATA/sac.adjoint#joint"

static const Row rows[] = {
  /* refused requests */
  { "save-and-recompute", "trace " SAC " --save bmm --recompute bmm", 2, NULL,
    "MUST_SAVE and MUST_RECOMPUTE are both asked for 'bmm' (region ", NULL },
  { "save-unknown", "trace " SAC " --save mmm", 2, NULL,
    "MUST_SAVE is asked for a node 'mmm', which the graph does not have", NULL },
  { "recompute-unknown", "trace " SAC " --recompute mmm", 2, NULL,
    "MUST_RECOMPUTE is asked for a node 'mmm', which the graph does not have", NULL },
  { "recompute-input", "trace " SAC " --recompute primals_1", 2, NULL,
    "MUST_RECOMPUTE is asked for 'primals_1', which no operator computes", NULL },
  { "budget-above", "trace " SAC " --budget 1.5", 2, NULL,
    "a budget is a fraction from 0 to 1, not 1.5", NULL },
  { "budget-below", "trace " SAC " --budget -0.25", 2, NULL,
    "a budget is a fraction from 0 to 1, not -0.25", NULL },
  { "budget-infinite", "trace " SAC " --budget inf", 2, NULL,
    "a budget is a fraction from 0 to 1, not inf", NULL },
  { "budget-no-number", "trace " SAC " --budget half", 2, NULL, "half", NULL },
  { "partitioner-unknown", "trace " SAC " --partitioner max-cut", 2, NULL,
    "no partitioner 'max-cut'; there are default, min-cut, optimal", NULL },
  { "solver-unknown", "trace " SAC " --budget 0.5 --solver magic", 2, NULL,
    "no solver 'magic'; there are dp, greedy, exact", NULL },
  { "memory-limit-is-optimals", "trace " SAC " --partitioner min-cut --memory-limit 64", 2, NULL,
    "--memory-limit is a demand on the partitioner 'optimal'", NULL },
  { "memory-limit", "trace " SAC " --memory-limit 64", 2, NULL, "below a peak of 64 bytes", NULL },
  { "memory-limit-below-zero", "trace " SAC " --memory-limit -1", 2, NULL,
    "a memory limit is a number of bytes, not -1", NULL },
  { "tuple-in-a-region", "trace $TEXT --pipeline min-cut", 2, NULL,
    "backward needs 'pair' (region 7), which can neither be saved", PAIR },
  { "explain-unknown", "trace " SAC " --explain mmm", 2, NULL, "the joint graph has no node 'mmm'",
    NULL },
  { "explain-without-partition", "trace " SAC " --partitioner none --explain mm", 2, NULL,
    "no partitioner ran", NULL },
  { "partition-without-backward", "trace $TEXT --partitioner min-cut", 2, NULL,
    "nothing in the graph requires a gradient: there is no backward to separate", MASK },
  { "explain-without-backward", "trace $TEXT --explain lt", 2, NULL, "no partitioner ran", MASK },
  { "capture-of-none", "trace mutation --graph ca0", 2, "",
    "there is no capture 'ca0'; no backward was captured, as --pipeline compiled-autograd does",
    NULL },
  { "capture-unknown", "trace hooked --pipeline compiled-autograd --graph ca7", 2, "",
    "there is no capture 'ca7'; there are ", NULL },
  /* accepted requests */
  { "capture", "trace training --pipeline compiled-autograd --graph ca1 --json", 0,
    "\"stages\" : [],\n  \"captures\" : [\n    {\n      \"id\" : \"ca1\"", "", NULL },
  { "shows-autocast", "show " AMBIENT "mixed-called.adjoint", 0,
    "0-0-dynamo is called with autocast_cpu bf16\n", "", NULL },
  { "shows-no-grad", "show " AMBIENT "no-grad-called.adjoint", 0,
    "0-0-dynamo is called with grad off\n", "", NULL },
  { "shows-ambient-json", "show --json " AMBIENT "mixed-called.adjoint", 0,
    "\"autocast_cpu\" : \"bf16\"", "", NULL },
  { "called-under", "trace $TEXT --dump-after inference", 0,
    "_to_copy.default(arg0_1, dtype = torch.bfloat16)", "", CALLED_UNDER },
  { "no-grad", "trace " AMBIENT "no-grad-called.adjoint#dynamo --explain bmm", 2, NULL,
    "no partitioner ran", NULL },
  { "without-backward", "trace $TEXT --dump-after inference", 0, "return (lt,)", "", MASK },
  { "save", "trace " SAC " --save gelu --explain gelu", 0,
    "'gelu' is saved for backward: it was asked for by name", "", NULL },
  { "recompute", "trace " SAC " --recompute gelu --explain gelu", 0,
    "'gelu' is computed again in backward: it was asked for by name", "", NULL },
  { "tags", "trace " SAC, 0, "\ntag  ", "", NULL },
  { "tags-dumped", "trace " SAC " --save gelu --dump-after tag", 0, "recompute: MUST_SAVE", "",
    NULL },
  { "explain-tag", "trace " SAC " --explain masked_fill_1", 0,
    "its tag asks for it, PREFER_RECOMPUTE of region ", "", NULL },
  { "explain-line", "trace " SAC " --explain masked_fill_1", 0, "\n    /home/user/models.py:", "",
    NULL },
  { "explain-forward", "trace $DATA/mlp.adjoint#joint --explain addmm_2", 0,
    "'addmm_2' stays in forward: nothing in backward reads it itself; of what is made of it, "
    "backward has 'tanh'",
    "", NULL },
  { "solver", "trace " SAC " --budget 0.5 --solver exact", 0, "min-cut: ", "", NULL },
  { "measure", "trace $DATA/gpt2.adjoint#joint --budget 0.5 --measure", 0,
    "what is computed again took ", "", NULL },
  { "measure-no-joint", "trace $DATA/gpt2.adjoint#dynamo --measure", 2, NULL,
    "--measure wants a recorded joint graph", NULL },
  { "memory-limit-met", "trace " SAC " --memory-limit 40000", 0, "optimal: ", "", NULL },
  { "passes", "passes", 0, "\noptimal                            The lowest peak", "", NULL },
  { "passes-min-cut", "passes min-cut", 0, "min-cut: Save what is cheapest to save", "", NULL },
  { "joint-as-text", "trace $TEXT", 0, "joint ", "",
    "def forward(self, primals_1: \"f32[4][1]cpu\", tangents_1: \"f32[4][1]cpu\"):\n"
    "    sin: \"f32[4][1]cpu\" = torch.ops.aten.sin.default(primals_1)\n"
    "    cos: \"f32[4][1]cpu\" = torch.ops.aten.cos.default(primals_1)\n"
    "    mul: \"f32[4][1]cpu\" = torch.ops.aten.mul.Tensor(tangents_1, cos)\n"
    "    return [sin, mul]\n" },
  { "pareto", "trace $DATA/mlp.adjoint#joint --pareto", 0, "BUDGET  BY", "", NULL },
  { "pareto-has-the-file", "trace $DATA/gpt2.adjoint#joint --pareto", 0, "        the file ", "",
    NULL },
  { "pareto-json", "trace $DATA/mlp.adjoint#joint --pareto --json", 0, "\"recompute_flops\"", "",
    NULL },
  { "budget-of-the-file", "trace $TEST/partition/data/budget-dropout.adjoint#joint --compat", 0,
    "\nfrom the file: budget 0\n", "", NULL },
  { "release-asked-for",
    "trace $TEST/session/data/newest-normed.adjoint#dynamo --release 2.6 --json", 0,
    "\"as_torch\" : \"2.6\"", "", NULL },
  { "release-near",
    "trace $TEST/session/data/newest-normed.adjoint#dynamo --release 2.7 --dump-after joint", 0,
    "detach_7", "", NULL },
  { "release-near-is-said", "trace $DATA/mlp.adjoint#dynamo --release 2.12", 0,
    "\ndecided as PyTorch 2.15 does, the nearest to 2.12 that is known\n", "", NULL },
  { "release-bad", "trace $DATA/mlp.adjoint#dynamo --release new", 2, "",
    "'new' is no release of PyTorch, such as 2.15", NULL },
  { "budget-asked-for", "trace $TEST/partition/data/budget-dropout.adjoint#joint --budget 1 --json",
    0, "\"from_file\" : \"\"", "", NULL },
  { "pareto-says-what-is-wrong", "trace $TEST/partition/data/budget-dropout.adjoint#joint --pareto",
    0, "\n! is another program: A random operator is repeated with other numbers\n", "", NULL },
  { "explain-json", "trace " SAC " --explain masked_fill_1 --json", 0, "\"rule\"", "", NULL },
  /* a dropout that PyTorch recomputed with another mask: the finding and its size */
  { "check", "check $TEST/partition/data/budget-dropout.adjoint", 1,
    "'native_dropout' draws again in backward and gets other numbers than in forward: the "
    "gradients are wrong [recomputed-random]\n    /home/user/step.py:6:",
    "", NULL },
  { "check-run", "check --run $TEST/partition/data/budget-dropout.adjoint", 1,
    "ran on what was recorded: the masks of 'native_dropout' of forward and of backward differ in ",
    "", NULL },
};

static char *
expand (const Row *row, const char *text_file)
{
  g_autofree char *data = adj_test_data_path ("graphs");
  GString *line = g_string_new (row->arguments);

  g_string_replace (line, "$DATA", data, 0);
  g_string_replace (line, "$TEST", g_test_get_dir (G_TEST_DIST), 0);
  g_string_replace (line, "$TEXT", text_file != NULL ? text_file : "", 0);
  return g_string_free (line, FALSE);
}

static void
test_row (gconstpointer data)
{
  const Row *row = data;
  g_autofree char *folder = g_dir_make_tmp ("adjoint-XXXXXX", NULL);
  g_autofree char *file = g_build_filename (folder, "graph.txt", NULL);
  g_autofree char *line = expand (row, file);
  g_auto (GStrv) words = g_strsplit (line, " ", -1);
  const char *argv[12] = { g_getenv ("ADJ_PROGRAM") };
  g_autoptr (AdjTestProcess) process = NULL;

  g_assert_cmpuint (g_strv_length (words), <, G_N_ELEMENTS (argv) - 1);
  for (guint i = 0; words[i] != NULL; i++)
    argv[i + 1] = words[i];
  if (row->text != NULL)
    g_assert_true (g_file_set_contents (file, row->text, -1, NULL));
  process = adj_test_spawn (argv, NULL, NULL);
  g_unlink (file);
  g_rmdir (folder);
  if (process->status != row->status ||
      (row->out != NULL && strstr (process->out, row->out) == NULL) ||
      (row->err != NULL && *row->err != '\0' && strstr (process->err, row->err) == NULL) ||
      (row->err != NULL && *row->err == '\0' && *process->err != '\0'))
    g_error ("%s: %d, '%s', '%s'", line, process->status, process->out, process->err);
  /* An error is a single line. */
  if (row->status == 2)
    g_assert_true (strchr (process->err, '\n') == process->err + strlen (process->err) - 1);
}

/* -- many outputs -- */

/* (transfer full): a graph with @n products of one input, all returned */
static char *
write_fan (guint n)
{
  GString *text = g_string_new ("def forward(self, x: \"f32[2][1]cpu\"):\n");

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text,
                            "    mul_%u: \"f32[2][1]cpu\" = torch.ops.aten.mul.Tensor(x, 2)\n", i);
  g_string_append (text, "    return (");
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "mul_%u, ", i);
  g_string_append (text, ")\n");
  return g_string_free (text, FALSE);
}

static double
get_children_seconds (void)
{
  struct rusage usage;

  getrusage (RUSAGE_CHILDREN, &usage);
  return (double) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * (double) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* CPU seconds for tracing a graph of @n outputs. */
static double
trace_fan (guint n)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "fan.txt", NULL), *text = write_fan (n);
  const char *const argv[] = { g_getenv ("ADJ_PROGRAM"), "trace", path, NULL };
  g_autoptr (AdjTestProcess) process = NULL;
  double before = get_children_seconds ();

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  process = adj_test_spawn (argv, NULL, NULL);
  g_assert_cmpint (process->status, ==, 0);
  return get_children_seconds () - before;
}

/* Outputs that share memory are found by a table look-up: eight times as many take about eight
 * times as long, and 38 times by a search among all. */
static void
test_many_outputs (void)
{
  double few = trace_fan (5000), many = trace_fan (40000);

  g_test_message ("%.2f s, eight times as many %.2f s", few, many);
  g_assert_cmpfloat (many, <, 20 * few);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/trace/many-outputs", test_many_outputs);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *path = g_strdup_printf ("/cli/trace/%s", rows[i].name);

      g_test_add_data_func (path, &rows[i], test_row);
    }
  return g_test_run ();
}
