/* SPDX-License-Identifier: MIT */
/* Kernels generated for a single call: compiled by the C compiler for the emulated GPU, they
 * give the bits of the library's kernels; if CUDA's compiler is installed, it compiles each of
 * them. */

#include <glib/gstdio.h>

#include "device/cuda-compiler.h"
#include "emulated-gpu.h"
#include "exec/adj-executor.h"
#include "ir/adj-graph.h"
#include "plan/operator-graph.h"
#include "plan/plan-check.h"
#include "support/adj-test.h"
#include "support/graphs.h"

#define EACH_CASE 809   /* one of so many cases of the oracle is tested */
#define EACH_BY_NVRTC 4 /* one of so many kernels is compiled by NVRTC */
#define RUNS 3          /* the second is the first with generated kernels, the third replays them */

static const char *folder; /* of the compiled files */
static int n_made;

/* -- two compilers -- */

static gboolean
compile_here (const char *source, const char *stem, GError **error)
{
  g_autofree char *text = g_strconcat (stem, ".c", NULL),
                  *library = g_strconcat (stem, ".so", NULL);
  const char *kernels = g_getenv ("ADJ_TEST_KERNELS"), *emulator = g_getenv ("ADJ_TEST_EMULATOR");
  const char *command[] = { "cc", "-shared", "-fPIC", "-O1", "-std=gnu17", "-ffp-contract=off",
                            "-w", "-I",      kernels, "-I",  emulator,     "-fno-strict-aliasing",
                            "-o", library,   text,    NULL };
  g_autofree char *said = NULL;
  int status = 0;

  if (!g_file_set_contents (text, source, -1, error) ||
      !g_spawn_sync (NULL, (char **) command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, &said,
                     &status, error))
    return FALSE;
  if (!g_spawn_check_wait_status (status, NULL))
    g_error ("%s\n%s", said, source);
  return TRUE;
}

static void
compile_for_cuda (const char *source)
{
  g_autoptr (GError) error = NULL;
  GBytes *code = adj_cuda_compile (source, 9, 0, &error);

  if (code == NULL && !g_error_matches (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND))
    g_error ("%s\n%s", error->message, source);
  g_clear_pointer (&code, g_bytes_unref);
}

static gboolean
compile (const char *source, char **symbol, GError **error)
{
  int number = g_atomic_int_add (&n_made, 1);
  g_autofree char *stem = g_strdup_printf ("%s/%d", folder, number);

  if (number % EACH_BY_NVRTC == 0)
    compile_for_cuda (source);
  *symbol = g_strconcat (stem, ".so", NULL);
  return compile_here (source, stem, error);
}

/* (transfer full) */
static AdjGpu *
open_gpu (void)
{
  const AdjEmulation emulation = { .compile = compile };

  return emulated_gpu_new (&emulation);
}

/* -- what runs -- */

static gboolean
run (AdjRunRequest *request, AdjGpu *gpu, AdjRunResult *result)
{
  request->gpu = gpu;
  *result = (AdjRunResult){ 0 };
  return adj_executor_run (adj_executor_find ("cuda", NULL), request, result, NULL, NULL);
}

/* Compares the results of @request by the library's kernels with those of each run by generated
 * ones. */
static void
check (AdjRunRequest *request, AdjGpu *gpu, const char *what)
{
  AdjRunResult by_library;

  adj_gpu_set_compiles (gpu, FALSE);
  if (!run (request, gpu, &by_library))
    return;
  adj_gpu_set_compiles (gpu, TRUE);
  for (guint i = 0; i < RUNS; i++)
    {
      g_autoptr (GString) why = g_string_new (NULL);
      AdjRunResult made;

      g_assert_true (run (request, gpu, &made));
      if (!plan_same_values (&by_library.output, &made.output, why))
        {
          g_test_message ("%s, run %u: %s", what, i, why->str);
          g_test_fail ();
        }
      adj_run_result_clear (&made);
    }
  adj_run_result_clear (&by_library);
}

typedef struct
{
  AdjGpu *gpu;
  guint n;
} Sweep;

static void
check_case (OracleCase *c, gpointer data)
{
  Sweep *sweep = data;
  g_autoptr (GArray) inputs = NULL;
  g_autoptr (AdjGraph) graph = NULL;
  g_autofree char *what = g_strdup_printf ("%s:%u: %s", c->file, c->line, c->target);
  AdjRunRequest request;

  if (sweep->n++ % EACH_CASE != 0 || c->seed >= 0 || (c->op->flags & ADJ_OP_NO_COMPARE) != 0)
    return;
  inputs = adj_value_array_new ();
  graph = operator_graph_new (c, FALSE, inputs);
  request = (AdjRunRequest){ .graph = graph,
                             .inputs = (const AdjValue *) (gpointer) inputs->data,
                             .n_inputs = inputs->len };
  check (&request, sweep->gpu, what);
}

static void
test_operators (void)
{
  Sweep sweep = { .gpu = open_gpu () };
  int before = n_made;

  oracle_foreach (check_case, &sweep);
  g_test_message ("%d kernels were made", n_made - before);
  g_assert_cmpint (n_made - before, >, 20);
  adj_gpu_unref (sweep.gpu);
}

/* Regions with several operators, dtypes and ranks. */
static void
test_capture (gconstpointer name)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture (name);
  g_autoptr (AdjGpu) gpu = open_gpu ();
  g_autoptr (GError) error = NULL;
  AdjSessionRun session = { .bundle = bundle,
                            .graph = adj_bundle_find_graph (bundle, "joint", &error),
                            .executor = adj_executor_find ("cuda", NULL),
                            .gpu = gpu };
  AdjRunResult by_library, made;
  int before = n_made;

  g_assert_no_error (error);
  adj_gpu_set_compiles (gpu, FALSE);
  g_assert_true (adj_session_run (&session, &by_library, NULL, NULL, &error));
  adj_gpu_set_compiles (gpu, TRUE);
  for (guint i = 0; i < RUNS; i++)
    {
      g_autoptr (GString) why = g_string_new (NULL);

      g_assert_true (adj_session_run (&session, &made, NULL, NULL, &error));
      if (!plan_same_values (&by_library.output, &made.output, why))
        g_test_message ("%s, run %u: %s", (const char *) name, i, why->str);
      g_assert_cmpuint (why->len, ==, 0);
      adj_run_result_clear (&made);
    }
  adj_run_result_clear (&by_library);
  g_assert_cmpint (n_made - before, >, 5);
}

/* -- every instruction -- */

static bool
compile_made (
    AdjKQueue *queue, const char *source, const AdjKLaunch *launch, const void *args, size_t size)
{
  compile_for_cuda (source);
  n_made++;
  return true;
}

#define OPS_AT_ONCE 12 /* compiling takes longer than in proportion to the text */

/* Code that loads an input of each type, and combines them by the instructions of the class from
 * @first on; returns the number of codes. */
static guint
list_code (AdjKClass klass, guint first, AdjKCode *code)
{
  const guint8 result = ADJ_K_N, sum = ADJ_K_N + 1;
  guint n = 0;

  for (guint8 type = 0; type < ADJ_K_N; type++)
    code[n++] = (AdjKCode){ .op = ADJ_K_OP_LOAD, .dst = type, .imm.i = type };
  code[n++] = (AdjKCode){ .op = ADJ_K_OP_CONST, .dst = sum };
  for (guint op = first; op < MIN (first + OPS_AT_ONCE, ADJ_K_OP_N); op++)
    if (adj_k_op_has_class (op, klass))
      {
        guint8 a = (guint8) (op % ADJ_K_N);

        code[n++] = (AdjKCode){ .op = op,
                                .dst = result,
                                .a = a,
                                .b = (guint8) ((a + 1) % ADJ_K_N),
                                .c = (guint8) ((a + 2) % ADJ_K_N) };
        code[n++] = (AdjKCode){ .op = ADJ_K_OP_ADD, .dst = sum, .a = sum, .b = result };
      }
  return n;
}

static void
compile_instructions (AdjKClass klass, guint first)
{
  const AdjKDevice device = { .launch_made = compile_made };
  AdjKFaults faults = ADJ_K_NO_FAULTS;
  AdjKQueue queue = { .backend = &adj_k_cuda_backend, .device = &device, .faults = &faults };
  AdjKCode code[ADJ_K_N + 1 + 2 * OPS_AT_ONCE];
  const AdjKProgram program = { .klass = klass,
                                .n_inputs = ADJ_K_N,
                                .n_regs = ADJ_K_N + 2,
                                .n_code = (int) list_code (klass, first, code),
                                .result = ADJ_K_N + 1,
                                .code = code };
  gint64 memory[64];
  AdjKView views[ADJ_K_N + 1];

  for (guint type = 0; type <= ADJ_K_N; type++)
    views[type] = (AdjKView){ .data = memory,
                              .type = type < ADJ_K_N ? type : ADJ_K_F32,
                              .rank = 1,
                              .size = { G_N_ELEMENTS (memory) },
                              .stride = { 1 } };
  g_assert_true (adj_k_program_check (&program));
  g_assert_true (adj_q_pointwise (&queue, &program, &views[ADJ_K_N], views));
  g_assert_null (queue.lacks);
}

/* CUDA's compiler takes the text of every instruction of the class, and of loads of every type. */
static void
test_instructions (gconstpointer data)
{
  int before = n_made;
  guint n = 0;

  for (guint first = ADJ_K_OP_COPY; first < ADJ_K_OP_N; first += OPS_AT_ONCE, n++)
    compile_instructions (GPOINTER_TO_UINT (data), first);
  g_assert_cmpint (n_made - before, ==, (int) n);
}

int
main (int argc, char **argv)
{
  static const char *const classes[] = { "f32", "f64", "i64" };
  g_autoptr (AdjTestFolder) made = adj_test_folder_new ();

  g_test_init (&argc, &argv, NULL);
  folder = made->path;

  g_test_add_func ("/device/made/operators", test_operators);
  for (guint i = 0; i < G_N_ELEMENTS (classes); i++)
    {
      g_autofree char *path = g_strconcat ("/device/made/instructions/", classes[i], NULL);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_instructions);
    }
  g_test_add_data_func ("/device/made/mlp", "mlp", test_capture);
  g_test_add_data_func ("/device/made/dropout", "dropout", test_capture);

  return g_test_run ();
}
