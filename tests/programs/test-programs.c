/* SPDX-License-Identifier: MIT */

/* Every program of data/programs prints what it did when its transcript was read and found right;
 * what it computes eagerly is what the graph that it traces to computes. */

#include <math.h>
#include <string.h>

#include "builtin-programs.h"
#include "ir/adj-graph.h"
#include "support/adj-test.h"

static void
transcript (gconstpointer data)
{
  const AdjProgram *program = data;
  g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
  g_autoptr (GString) out = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autofree char *golden = g_strdup_printf ("programs/transcripts/%s.txt", program->name);

  g_assert_cmpuint (program->abi, ==, ADJ_PROGRAM_ABI);
  program->run (cx, out);
  adj_context_take_error (cx, &error);
  g_assert_no_error (error);
  adj_test_check_golden (golden, out->str);
}

static void
assert_equal (GPtrArray *left, GPtrArray *right, const char *what)
{
  g_assert_cmpuint (left->len, ==, right->len);
  for (guint i = 0; i < left->len; i++)
    {
      AdjTensorData *a = left->pdata[i], *b = right->pdata[i];

      g_assert_cmpint (a == NULL, ==, b == NULL);
      if (a == NULL)
        continue;
      g_assert_cmpint (adj_tensor_data_get_numel (a), ==, adj_tensor_data_get_numel (b));
      for (gint64 k = 0; k < adj_tensor_data_get_numel (a); k++)
        if (adj_tensor_data_get_double (a, k) != adj_tensor_data_get_double (b, k))
          g_error ("%s %u, element %d: %g and %g", what, i, (gint) k,
                   adj_tensor_data_get_double (a, k), adj_tensor_data_get_double (b, k));
    }
}

static void
traced_and_compiled_are_eager (gconstpointer data)
{
  const AdjProgram *program = data;
  AdjProgramOutcome outcomes[ADJ_PROGRAM_N_HOWS] = { 0 };
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < ADJ_PROGRAM_N_HOWS; i++)
    {
      adj_program_evaluate (program, (AdjProgramHow) i, FALSE, &outcomes[i], &error);
      g_assert_no_error (error);
      g_assert_cmpuint (outcomes[i].results->len, >, 0);
      assert_equal (outcomes[0].results, outcomes[i].results, "result");
      assert_equal (outcomes[0].inputs, outcomes[i].inputs, "input");
      if (i != ADJ_PROGRAM_TRACED)
        assert_equal (outcomes[0].gradients, outcomes[i].gradients, "gradient");
    }
  for (guint i = 0; i < ADJ_PROGRAM_N_HOWS; i++)
    adj_program_outcome_clear (&outcomes[i]);
}

/* Captured in the engine's order, every backward leaves the same gradients, bit for bit, in the
 * same order, and hooks see what they see without. */
static void
captured_is_eager (gconstpointer data)
{
  const AdjProgram *program = data;
  AdjProgramOutcome eager, captured;
  g_autoptr (GError) error = NULL;

  adj_program_evaluate (program, ADJ_PROGRAM_EAGER, TRUE, &eager, &error);
  g_assert_no_error (error);
  adj_program_evaluate (program, ADJ_PROGRAM_CAPTURED, TRUE, &captured, &error);
  g_assert_no_error (error);
  assert_equal (eager.accumulated, captured.accumulated, "accumulation");
  g_assert_cmpstr (eager.text, ==, captured.text);
  adj_program_outcome_clear (&eager);
  adj_program_outcome_clear (&captured);
}

/* A hook that updates a weight is run by PyTorch 2.6 before the weight was read for the last time.
 */
static void
order_of_2_6_updates_too_early (void)
{
  AdjProgramOutcome eager, captured;
  g_autoptr (GError) error = NULL;

  adj_program_evaluate (adj_program_training (), ADJ_PROGRAM_EAGER, TRUE, &eager, &error);
  g_assert_no_error (error);
  adj_program_evaluate (adj_program_training (), ADJ_PROGRAM_CAPTURED_2_6, TRUE, &captured, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (eager.accumulated->len, ==, captured.accumulated->len);
  g_assert_cmpstr (eager.text, !=, captured.text);
  adj_program_outcome_clear (&eager);
  adj_program_outcome_clear (&captured);
}

/* The graph of the program that writes has no writes. */
static void
views_trace_without_writes (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_program_trace (adj_program_views (), &error);

  g_assert_no_error (error);
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const char *target = adj_graph_get_node (graph, i)->target;

      if (strstr (target, "_.") != NULL)
        g_error ("%s writes", target);
    }
}

/* By mathematics: at x = 2, x³, 3x², 6x and 6. */
static void
derivatives_are_right (void)
{
  g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
  g_autoptr (GString) out = g_string_new (NULL);
  static const char *const values[] = { "[8., 8.]", "[12., 12.]", "[12., 12.]", "[6., 6.]" };
  const char *at;

  g_assert_true (adj_program_twice ()->run (cx, out));
  at = out->str;
  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    {
      at = strstr (at, values[i]);
      g_assert_nonnull (at);
      at++;
    }
}

/* -- plugins -- */

static char *build_folder;

static void
plugin_is_the_program (void)
{
  g_autofree char *name =
      g_strdup_printf ("%s/data/programs/twice.so:adj_program_twice", build_folder);
  const char *argv[] = { g_getenv ("ADJ_PROGRAM"), "run", name, NULL };
  const char *built_in[] = { g_getenv ("ADJ_PROGRAM"), "run", "twice", NULL };
  g_autoptr (AdjTestProcess) plugin = adj_test_spawn (argv, NULL, NULL);
  g_autoptr (AdjTestProcess) own = adj_test_spawn (built_in, NULL, NULL);

  g_assert_cmpstr (plugin->err, ==, "");
  g_assert_cmpint (plugin->status, ==, 0);
  g_assert_cmpstr (plugin->out, ==, own->out);
  g_assert_cmpuint (plugin->out_length, >, 0);
}

static void
check_refused (const char *name, const char *folder, const char *says)
{
  const char *argv[] = { g_getenv ("ADJ_PROGRAM"), "run", name, NULL };
  g_autoptr (AdjTestProcess) process = adj_test_spawn (argv, NULL, folder);

  if (process->status != 2 || strstr (process->err, says) == NULL)
    g_error ("%s: %d, '%s'", name, process->status, process->err);
}

/* What a library does when it is loaded it does not do before it is known to be a plugin, and none
 * is taken from where somebody happens to stand. */
static void
no_plugin_is_not_loaded (void)
{
  g_autofree char *folder = g_build_filename (build_folder, "tests", "programs", NULL);
  g_autofree char *path = g_build_filename (folder, "rude.so", NULL);
  g_autofree char *whole = NULL;
  g_autoptr (AdjTestFolder) damaged = adj_test_folder_new ();
  g_autofree char *part = g_build_filename (damaged->path, "rude.so", NULL);
  const char *loaded[] = { g_getenv ("ADJ_PROGRAM"), "run", "./rude.so:rude", NULL };
  g_autoptr (AdjTestProcess) process = adj_test_spawn (loaded, NULL, folder);
  gsize length;

  g_assert_cmpint (process->status, ==, 42);
  check_refused ("./rude.so:nothing", folder, "has no function 'nothing'");
  check_refused ("./rude.so:rude_number", folder, "has no function 'rude_number'");
  check_refused ("./rude.so:free", folder, "has no function 'free'");
  check_refused ("rude.so:rude", folder, "./rude.so:rude");
  whole = adj_test_read_file (path, &length);
  for (gsize n = 0; n < length; n += MAX (length / 20, 1))
    {
      g_assert_true (g_file_set_contents (part, whole, (gssize) n, NULL));
      check_refused ("./rude.so:nothing", damaged->path, "./rude.so: ");
    }
}

/* Nothing is written where a class is wrong. */
static void
bad_classes_are_refused (void)
{
  static const struct
  {
    const char *name, *says;
  } cases[] = {
    { "no_method", "bad::NoMethod.add: FakeScriptObject doesn't define method add. Did you forget "
                   "to implement it in the fake class?" },
    { "no_fake", "ScriptObject's bad::NoFake haven't registered a fake class" },
    { "wrong_schema",
      "the class 'bad::WrongSchema' has a wrong schema 'add(Tensor x -> Tensor': " },
    { "wrong_result",
      "bad::WrongResult.add: gives int, but its schema says 'add(Tensor x) -> Tensor'" },
    { "no_round_trip", "bad::NoRoundTrip: the state is another one after __obj_flatten__ and "
                       "__obj_unflatten__, in 'count'" },
    { "no_pairs", "bad::NoPairs.__obj_flatten__: Expect flat x to be a tuple." },
    { "no_tuples", "bad::NoTuples.__obj_flatten__: Expect flat x to be a tuple of tuples." },
    { "no_names", "bad::NoNames.__obj_flatten__: Expect element of flat x to be a tuple of two "
                  "elements with first element being a string" },
    { "no_values", "bad::NoValues.__obj_flatten__: the state holds what is neither a number, a "
                   "text nor a tensor" },
    { "no_unflatten",
      "the class 'bad::NoUnflatten' doesn't define a classmethod __obj_unflatten__." },
    { "no_namespace", "'NoNamespace' has no name of the form namespace::Class or module.Class" },
    { "throws", "bad::Throws.add: the tally is full" },
    { "fails_silently", "bad::FailsSilently.add: failed without an error" },
    { "changes", "bad::Changes.add: the call changed the state of the real object while it was "
                 "traced" },
  };
  g_autofree char *plugin =
      g_build_filename (build_folder, "tests", "programs", "bad-classes.so", NULL);
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *out = g_build_filename (folder->path, "out.adjoint", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *name = g_strdup_printf ("%s:%s", plugin, cases[i].name);
      const char *argv[] = { g_getenv ("ADJ_PROGRAM"), "trace", name, "-o", out, NULL };
      g_autoptr (AdjTestProcess) process = adj_test_spawn (argv, NULL, folder->path);
      g_autoptr (GDir) left = g_dir_open (folder->path, 0, NULL);

      if (process->status != 2 || strstr (process->err, cases[i].says) == NULL ||
          g_dir_read_name (left) != NULL)
        g_error ("%s: %d, '%s'", cases[i].name, process->status, process->err);
    }
}

/* What adjoint says of @arguments, in @folder; %s stands for the plugin. */
static AdjTestProcess *
run_with_plugin (const char *arguments, const char *plugin, const char *folder)
{
  g_auto (GStrv) words = g_strsplit (arguments, " ", -1);
  const char *argv[12] = { g_getenv ("ADJ_PROGRAM") };
  AdjTestProcess *process;

  for (guint i = 0; words[i] != NULL; i++)
    {
      g_auto (GStrv) parts = g_strsplit (words[i], "%s", 2);
      char *whole = g_strjoinv (plugin, parts);

      g_free (words[i]);
      argv[i + 1] = words[i] = whole;
    }
  process = adj_test_spawn (argv, NULL, folder);
  return process;
}

typedef struct
{
  const char *arguments;
  int status;
  const char *says;
} PluginCase;

static void
check_plugin_cases (const PluginCase *cases, guint n, const char *plugin, const char *folder)
{
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (AdjTestProcess) process = run_with_plugin (cases[i].arguments, plugin, folder);

      if (process->status != cases[i].status || (strstr (process->out, cases[i].says) == NULL &&
                                                 strstr (process->err, cases[i].says) == NULL))
        g_error ("%s: %d, '%s', '%s'", cases[i].arguments, process->status, process->out,
                 process->err);
    }
}

/* What a context is warned of while a program or its file is traced, the command says. */
static void
missing_methods_are_warned_of (void)
{
#define WARNING "fake object of bad::UnusedMethod doesn't implement method reset."
  static const PluginCase cases[] = {
    { "trace %s", 0, "unused_method: warning: " WARNING "\n" },
    { "trace %s --json", 0, "\"message\" : \"" WARNING "\"" },
    { "run %s@traced", 0, "unused_method: warning: " WARNING "\n" },
    { "compare %s@eager %s@traced", 0, "unused_method: warning: " WARNING "\n" },
    { "compare %s@compiled %s@eager", 0, "unused_method: warning: " WARNING "\n" },
    { "trace %s -o unused.adjoint", 0, "unused_method: warning: " WARNING "\n" },
    { "trace unused.adjoint --pipeline functionalize --plugin %s", 0, "warning: " WARNING "\n" },
  };
#undef WARNING
  g_autofree char *plugin =
      g_build_filename (build_folder, "tests", "programs", "bad-classes.so:unused_method", NULL);
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();

  check_plugin_cases (cases, G_N_ELEMENTS (cases), plugin, folder->path);
}

/* A shared object that is loaded brings a class: its methods run, are traced in their order and
 * compiled, and its state is in the file, which without the plugin says whose it is. */
static void
own_class_is_a_class (void)
{
  static const PluginCase cases[] = {
    { "run %s@traced", 0, "own::Mean" },
    { "compare %s@eager %s@traced", 0, "object 0 afterwards  equal  own::Mean" },
    { "compare %s@eager %s@compiled", 0, "object 0 afterwards  equal  own::Mean" },
    { "trace %s -o own.adjoint", 0, "inference" },
    { "show own.adjoint -g 0-0-inference", 0, "call_torchbind, arg1_1, 'add'" },
    { "show own.adjoint -g 0-0-inference", 0, "arg1_1 {val: Object('own::Mean')}" },
    { "run own.adjoint --seed 1", 2,
      "is an object of the class 'own::Mean', which Adjoint does not have" },
    { "run own.adjoint --seed 1 --plugin %s", 0, "'arg1_1' afterwards  own::Mean" },
    { "run own.adjoint --seed 1 --plugin %s", 0, "count: 2" },
    { "compare own.adjoint own.adjoint@planned --seed 1 --plugin %s --nodes", 0,
      "9 nodes: 9 equal" },
    { "convert own.adjoint again.adjoint --plugin %s", 0, "" },
    { "run again.adjoint --seed 1 --plugin %s", 0, "count: 2" },
    { "run again.adjoint --seed 1", 2, "'own::Mean', which Adjoint does not have" },
    { "classes --plugin %s", 0, "own::Mean  The mean of tensors" },
  };
  g_autofree char *plugin =
      g_build_filename (build_folder, "tests", "programs", "own-class.so:own_class", NULL);
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();

  check_plugin_cases (cases, G_N_ELEMENTS (cases), plugin, folder->path);
}

static void
write_text (const AdjTestFolder *folder, const char *name, const char *text, gssize length)
{
  g_autofree char *path = g_build_filename (folder->path, name, NULL);

  g_assert_true (g_file_set_contents (path, text, length, NULL));
}

/* What captures of PyTorch name of classes and operators is found in a plugin: values that stand in
 * the calls, and an object that a program of torch.export holds. */
static void
own_values_are_read (void)
{
  static const PluginCase cases[] = {
    { "run aot.txt --seed 1", 2, "this is not understood: Shift(2.0)" },
    { "run aot.txt --seed 1 --plugin %s:own_values", 0, "3 nodes in" },
    { "trace aot.txt --plugin %s:own_values -o aot.adjoint", 0, "cse                     3" },
    { "show aot.adjoint -g 0-0-cse", 0, "mine.shift.default(shift, Shift(3.0))" },
    { "run aot.adjoint --seed 1 --plugin %s:own_values", 0, "3 nodes in" },
    { "run aot.adjoint --seed 1", 2, "this is not understood: Shift(2.0)" },
    { "compare aot.txt dynamo.txt --seed 1 --plugin %s:own_values", 0, "equal" },
    { "compare aot.txt aot.txt@planned --seed 1 --plugin %s:own_values --nodes", 0,
      "3 nodes: 3 equal" },
    { "trace named.txt --plugin %s:own_values --dump-after backward", 0, "tangents_1" },
    { "trace named.txt --plugin %s:own_values --dump-after joint", 0,
      "mine.shift.default(primals_1, Shift(2.0))" },
    { "run opaque.pt2", 2, "Adjoint has no such operator (node 'scale'" },
    { "run opaque.pt2 --plugin %s:own_values", 0, "tensor([3., 3., 3.])" },
    { "run opaque.pt2 --plugin %s:own_values", 0, "is unchanged  __main__.Box" },
    { "run named.txt --seed 1 --plugin %s:own_values", 0, "1 nodes in" },
    { "run bad.txt --seed 1 --plugin %s:own_values", 2,
      "node 'shift': Shift('two'): a shift takes one float" },
    { "classes --plugin %s:taken_name", 0,
      "warning: the class 'Adjoint::Counter' was already registered; the new one takes its place" },
    { "classes --plugin %s:bad_operator", 2, "schema 'mine::bad(Tensor x -> Tensor': " },
  };
  static const char text[] = "def forward(self, x: \"f32[3][1]cpu\"):\n"
                             "    # adj: x {requires_grad: True}\n"
                             "    shift: \"f32[3][1]cpu\" = torch.ops.mine.shift.default(x, %s)\n"
                             "    return (shift,)\n";
  static const char *const captures[][2] = { { "2.15-constant-aot.txt", "aot.txt" },
                                             { "2.15-constant-dynamo.txt", "dynamo.txt" },
                                             { "opaque.pt2", "opaque.pt2" } };
  g_autofree char *plugin =
      g_build_filename (build_folder, "tests", "programs", "own-values.so", NULL);
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *named = g_strdup_printf (text, "Shift(factor=2.0)");
  g_autofree char *bad = g_strdup_printf (text, "Shift('two')");

  for (guint i = 0; i < G_N_ELEMENTS (captures); i++)
    {
      g_autofree char *from =
          g_test_build_filename (G_TEST_DIST, "objects", "captures", captures[i][0], NULL);
      gsize length;
      g_autofree char *bytes = adj_test_read_file (from, &length);

      write_text (folder, captures[i][1], bytes, (gssize) length);
    }
  write_text (folder, "named.txt", named, -1);
  write_text (folder, "bad.txt", bad, -1);
  check_plugin_cases (cases, G_N_ELEMENTS (cases), plugin, folder->path);
}

static void
commands (void)
{
  static const struct
  {
    const char *arguments;
    int status;
    const char *out, *err;
  } cases[] = {
    { "compare views@eager views@traced", 0, "3 values: 3 equal, 0 differ", "" },
    { "compare mlp@eager mlp@compiled", 0, "11 values: 11 equal, 0 differ", "" },
    { "run mlp@compiled", 0, "tangents_1", "" },
    { "trace mlp", 0, "backward", "" },
    { "trace views", 0, "inference", "" },
    { "trace hooks", 0, "ca0: the first backward\nSTAGE", "" },
    { "trace hooks", 0, "was 1 tensor hook, is 0 tensor hooks", "" },
    { "trace sizes --pipeline compiled-autograd", 2, "", "the program 'sizes' runs no backward" },
    { "trace training --pipeline compiled-autograd=2.6", 0,
      "4 captured, 12 ran what had been captured, 0 ran eagerly", "" },
    { "trace training", 0, "was 16, is 24, and a symbol from now on", "" },
    { "trace training -g ca3 --json", 0, "\"hits\" : 12", "" },
    { "trace hooked --compat --dump-after post-hooks", 0, "'post_acc_grad_hook'", "" },
    { "trace hooked -g ca1 --dump-after dce", 2, "", "there is no capture 'ca1'" },
    { "trace hooked --pipeline compiled-autograd=2023", 2, "", "eager, 2024, 2.6" },
    { "trace hooked --pipeline compiled-autograd,cse,decompose", 0, "decompose", "" },
    { "trace anomaly", 0, "not captured: compiled_autograd does not support AnomalyMode", "" },
    { "compare hooked@eager hooked@captured", 0, "3 values: 3 equal, 0 differ", "" },
    { "compare mlp@eager mlp@captured", 0, "accumulations 0 to 1603  equal", "" },
    { "compare training@eager training@captured-2.6", 1, "what it prints  differs", "" },
    { "run compiled-custom@captured", 0, "behind the gate: none", "" },
    { "compare mlp views", 1, "1 outputs, and 2", "" },
    { "compare mlp views --json", 1, "\"alone\" : true", "" },
    { "compare queue@eager queue@traced --json", 0,
      "\"class\" : \"_TorchScriptTesting::_TensorQueue\",\n      \"verdict\" : \"equal\"", "" },
    { "compare mlp@eager mlp@compiled --json", 0, "\"equal\" : 11,\n  \"differ\" : 0", "" },
    { "compare mlp views --nodes", 2, "",
      "'mlp' is a program, and --nodes is for graphs of files" },
    { "run queue --seed 1", 2, "", "'queue' is a program, and --seed is for graphs of files" },
    { "run queue@traced --json", 0, "\"text\" : \"class <lambda>", "" },
    { "trace queue --gradients none", 2, "", "--gradients is for graphs of files" },
    { "run views@traced", 0, "select_scatter", "" },
    { "run views@somehow", 2, "", "@eager, @traced, @compiled, @captured" },
    { "compare hooks@eager hooks@traced", 2, "", "has no function" },
    { "compare queue@eager queue@traced", 0,
      "object 0 afterwards  equal  _TorchScriptTesting::_TensorQueue", "" },
    { "compare lookup-table@eager lookup-table@compiled", 0, "7 values: 7 equal", "" },
    { "run nowhere.so:symbol", 2, "", "nowhere.so" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (GStrv) words = g_strsplit (cases[i].arguments, " ", -1);
      const char *argv[12] = { g_getenv ("ADJ_PROGRAM") };
      g_autoptr (AdjTestProcess) process = NULL;

      for (guint k = 0; words[k] != NULL; k++)
        argv[k + 1] = words[k];
      process = adj_test_spawn (argv, NULL, NULL);
      if (process->status != cases[i].status || strstr (process->out, cases[i].out) == NULL ||
          strstr (process->err, cases[i].err) == NULL)
        g_error ("%s: %d, '%s', '%s'", cases[i].arguments, process->status, process->out,
                 process->err);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  build_folder = argc > 1 ? argv[1] : g_strdup (".");
  for (guint i = 0; i < adj_builtin_programs_get_n (); i++)
    {
      const AdjProgram *program = adj_builtin_programs_get (i);
      g_autofree char *run = g_strdup_printf ("/programs/transcript/%s", program->name);
      g_autofree char *both =
          g_strdup_printf ("/programs/traced-and-compiled-are-eager/%s", program->name);

      g_autofree char *captured = g_strdup_printf ("/programs/captured-is-eager/%s", program->name);

      if (program->run != NULL)
        g_test_add_data_func (run, program, transcript);
      if (program->run != NULL)
        g_test_add_data_func (captured, program, captured_is_eager);
      if (program->call != NULL)
        g_test_add_data_func (both, program, traced_and_compiled_are_eager);
    }
  g_test_add_func ("/programs/order-of-2-6-updates-too-early", order_of_2_6_updates_too_early);
  g_test_add_func ("/programs/views-trace-without-writes", views_trace_without_writes);
  g_test_add_func ("/programs/derivatives-are-right", derivatives_are_right);
  g_test_add_func ("/programs/plugin-is-the-program", plugin_is_the_program);
  g_test_add_func ("/programs/bad-classes-are-refused", bad_classes_are_refused);
  g_test_add_func ("/programs/missing-methods-are-warned-of", missing_methods_are_warned_of);
  g_test_add_func ("/programs/own-class-is-a-class", own_class_is_a_class);
  g_test_add_func ("/programs/own-values-are-read", own_values_are_read);
  g_test_add_func ("/programs/no-plugin-is-not-loaded", no_plugin_is_not_loaded);
  g_test_add_func ("/programs/commands", commands);

  return g_test_run ();
}
