/* SPDX-License-Identifier: MIT */

/* Tests each row of the table of checks: the graph that PyTorch 2.6 compiled with the defect
 * (data/make-defects.py) gets the finding; Adjoint's graph of the same program gets none at any
 * budget and behaves like the program.  A check without a case fails the test. */

#include <gio/gio.h>
#include <string.h>

#include "adjoint.h"
#include "aot/case.h"
#include "aot/compile.h"
#include "aot/observed.h"

typedef struct
{
  const char *check;
  const char *capture; /* (nullable): name of its file among the captures */
  struct
  {
    const char *inputs, *make, *names, *function; /* as in Case */
  } program;              /* a program of the kind that is compiled wrongly */
  gboolean is_no_program; /* the program is refused in eager mode */
} Row;

static const Row rows[] = {
  { .check = "overwritten-output",
    .program = { .inputs = "a [4] rg, b [4]",
                 .function = "mul_(a,2); mul_(b,3); s=sum(a); return s,b" } },
  { .check = "wrong-base",
    .program = { .inputs = "a [4] rg, c [4] rg",
                 .make = "return a,a,c",
                 .names = "a, b, c",
                 .function = "mul_(a,2); u=mul(c,2); v=mul(c,3); w=view(u,[-1]); x=view(u,[-1]); "
                             "y=view(v,[-1]); z=view(v,[-1]); return w,x,y,z" } },
  { .check = "expanded-write",
    .program = { .inputs = "a [1,4], b [3,4]",
                 .function = "e=expand(a,[3,4]); y=add_(e,b); return y" },
    .is_no_program = TRUE },
  { .check = "merged-random",
    .program = { .inputs = "x [64] rg",
                 .function = "r=randn_like(x); m=mul(x,r); q=randn_like(x); y=add(m,q); "
                             "return y" } },
  { .check = "recomputed-random",
    .capture = "partition/data/budget-dropout.adjoint",
    .program = { .inputs = "x [64] rg",
                 .function = "s=sin(x); d=native_dropout(s,0.5,True); y=mul(d[0],d[0]); "
                             "z=sin(y); return z" } },
  { .check = "repeated-write",
    .program = { .inputs = "x [4] rg, r [4]",
                 .function = "n=mul(r,0.9); y=mul(x,n); copy_(r,n); return y" } },
  { .check = "saved-reference",
    .program = { .inputs = "x [4] rg, r [4]",
                 .function = "s=sin(r); y=mul(x,s); add_(r,1); return y" } },
  { .check = "saved-twice",
    .program = { .inputs = "x [4,4] leaf",
                 .function = "s=sin(x); t=transpose(s,0,1); m=mm(t,x); c=cos(s); y=add(m,c); "
                             "return y" } },
  { .check = "unsaved",
    .program = { .inputs = "x [4] rg",
                 .function = "must_save; s=sin(x); no_region; c=cos(s); y=mul(c,s); return y" } },
};

/* -- what PyTorch made of it -- */

static AdjBundle *
load_capture (const Row *row)
{
  g_autofree char *name = row->capture != NULL
                              ? g_strdup (row->capture)
                              : g_strdup_printf ("aot/data/%s.adjoint", row->check);
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, name, NULL);
  g_autoptr (GError) error = NULL;
  AdjBundle *bundle = adj_bundle_load (path, NULL, &error);

  g_assert_no_error (error);
  return bundle;
}

static void
report (const AdjFindings *findings)
{
  for (guint i = 0; i < adj_findings_get_n (findings); i++)
    g_test_message ("%s: %s", adj_findings_get (findings, i)->check->name,
                    adj_findings_get (findings, i)->message);
}

static void
is_found (gconstpointer data)
{
  const Row *row = data;
  g_autoptr (AdjBundle) bundle = load_capture (row);
  g_autoptr (AdjFindings) findings = adj_bundle_check (bundle, NULL, NULL);
  guint n = 0;

  report (findings);
  for (guint i = 0; i < adj_findings_get_n (findings); i++)
    {
      const AdjFinding *finding = adj_findings_get (findings, i);

      if (!g_str_equal (finding->check->name, row->check))
        continue;
      n++;
      g_assert_cmpuint (finding->n_nodes, >, 0);
      g_assert_nonnull (strstr (finding->check->versions, "2.6"));
    }
  g_assert_cmpuint (n, ==, 1);
}

/* Traces the captured Dynamo graph; some functions were given to AOTAutograd directly and have
 * none. */
static void
ours_has_none (gconstpointer data)
{
  const Row *row = data;
  g_autoptr (AdjBundle) bundle = load_capture (row);
  const AdjBundleGraph *dynamo = adj_bundle_find_graph (bundle, "dynamo", NULL);

  if (dynamo == NULL)
    return;
  for (guint b = 0; b <= 4; b++)
    {
      AdjPartitionOptions partition = ADJ_PARTITION_OPTIONS_INIT;
      const AdjPipelineOptions options = { .partition = &partition };
      g_auto (AdjPipelineResult) result = { 0 };
      g_autoptr (AdjBundle) made = NULL;
      g_autoptr (AdjFindings) findings = NULL;
      const AdjStage *last;

      partition.budget = b / 4.0;
      g_assert_true (adj_pipeline_run (dynamo->graph, "dynamo", &options, &result, NULL, NULL));
      last = adj_recording_get_stage (result.recording,
                                      adj_recording_get_n_stages (result.recording) - 1);
      g_assert_cmpint (last->failure != NULL, ==, row->is_no_program);
      if (last->failure != NULL)
        continue;
      made = adj_pipeline_result_to_bundle (&result, NULL, NULL);
      findings = adj_bundle_check (made, NULL, NULL);
      report (findings);
      g_assert_cmpuint (adj_findings_get_n (findings), ==, 0);
    }
}

/* -- what Adjoint makes of the program -- */

static AdjAotGraph *
trace (const Case *program, GError **error)
{
  g_autoptr (AdjFunction) function = case_function_new (program);
  g_auto (Observed) examples = { .cx = NULL };
  const AdjAotOptions options = { .keep_input_mutations = TRUE };

  case_observe (program, &examples);
  return adj_aot_trace (function, examples.inputs, examples.n_inputs, &options, NULL, error);
}

static void
check_none (const AdjAotGraph *aot, const AdjPartition *partition)
{
  static const char *const roles[] = { "joint", "forward", "backward" };
  AdjGraph *const graphs[] = { adj_aot_graph_get_graph (aot), partition->forward,
                               partition->backward };
  const AdjRegion region = { .id = "0",
                             .rank = -1,
                             .n_graphs = G_N_ELEMENTS (graphs),
                             .num_fwd_outputs = (gint) partition->num_fwd_outputs };
  AdjBundleBuilder *builder = adj_bundle_builder_new ();
  g_autoptr (AdjBundle) bundle = NULL;
  g_autoptr (AdjFindings) findings = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (graphs); i++)
    adj_bundle_builder_add_graph (
        builder,
        &(AdjBundleGraph){ .id = roles[i], .role = roles[i], .rank = -1, .graph = graphs[i] },
        NULL);
  adj_bundle_builder_add_region (builder, &region, roles, NULL);
  bundle = adj_bundle_builder_end (builder, NULL);
  findings = adj_bundle_check (bundle, NULL, NULL);
  report (findings);
  g_assert_cmpuint (adj_findings_get_n (findings), ==, 0);
}

static void
check_calls (const Case *program, AdjFunction *compiled, const char *partitioner, double budget)
{
  g_autoptr (AdjFunction) function = case_function_new (program);
  g_auto (Observed) eager = { .cx = NULL };
  g_auto (Observed) ours = { .cx = NULL };
  g_autoptr (GString) why = g_string_new (NULL);

  case_observe (program, &eager);
  observed_call (&eager, function, -1);
  g_assert_no_error (eager.error);
  case_observe (program, &ours);
  observed_call (&ours, compiled, -1);
  g_assert_no_error (ours.error);
  if (!observed_same (&eager, &ours, why))
    g_error ("%s at %g: %s", partitioner, budget, why->str);
}

static void
is_refused (const Case *program)
{
  g_autoptr (AdjFunction) function = case_function_new (program);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjAotGraph) aot = trace (program, &error);
  g_auto (Observed) eager = { .cx = NULL };

  case_observe (program, &eager);
  observed_call (&eager, function, -1);
  g_assert_nonnull (eager.error);
  g_assert_null (aot);
  g_test_message ("eagerly: %s; compiled: %s", eager.error->message, error->message);
}

static void
ours_is_eager (gconstpointer data)
{
  const Row *row = data;
  const Case program = { .inputs = (char *) row->program.inputs,
                         .make = (char *) row->program.make,
                         .names = (char *) row->program.names,
                         .function = (char *) row->program.function };
  g_autoptr (AdjAotGraph) aot = NULL;
  g_autoptr (GError) error = NULL;

  if (row->is_no_program)
    {
      is_refused (&program);
      return;
    }
  aot = trace (&program, &error);
  g_assert_no_error (error);
  for (guint p = 0; p < adj_partitioners_get_n (); p++)
    for (guint b = 0; b <= 4; b++)
      {
        const char *name = adj_partitioners_get (p)->name;
        g_autoptr (AdjPartition) partition = NULL;
        g_autoptr (AdjFunction) compiled = compile_at_budget (aot, name, b / 4.0, &partition);

        check_none (aot, partition);
        check_calls (&program, compiled, name, b / 4.0);
      }
}

/* Checks of captured backwards and effects, tested in tests/compiled_autograd/test-checks.c. */
static const char *const of_captures[] = { "lost-write", "early-accumulation", "early-update",
                                           "shared-gradient", "lost-tokens" };

/* Whether tests/passes/test-check-NAME.c exists. */
static gboolean
has_test (const char *name)
{
  g_autofree char *file = g_strdup_printf ("test-check-%s.c", name);
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "passes", file, NULL);

  return g_file_test (path, G_FILE_TEST_EXISTS);
}

static void
every_check_has_a_case (void)
{
  guint n_here = 0;

  for (guint i = 0; i < adj_checks_get_n (); i++)
    {
      const char *name = adj_checks_get (i)->name;
      guint n = has_test (name);

      n_here += n == 0;
      for (guint k = 0; k < G_N_ELEMENTS (rows); k++)
        n += g_str_equal (rows[k].check, name);
      for (guint k = 0; k < G_N_ELEMENTS (of_captures); k++)
        n += g_str_equal (of_captures[k], name);
      if (n != 1)
        g_error ("check '%s' has %u cases", name, n);
    }
  g_assert_cmpuint (n_here, ==, G_N_ELEMENTS (rows) + G_N_ELEMENTS (of_captures));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/aot/defects/every-check-has-a-case", every_check_has_a_case);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *found = g_strdup_printf ("/aot/defects/%s/is-found", rows[i].check);
      g_autofree char *none = g_strdup_printf ("/aot/defects/%s/ours-has-none", rows[i].check);
      g_autofree char *ours = g_strdup_printf ("/aot/defects/%s/ours-is-eager", rows[i].check);

      g_test_add_data_func (found, &rows[i], is_found);
      g_test_add_data_func (none, &rows[i], ours_has_none);
      g_test_add_data_func (ours, &rows[i], ours_is_eager);
    }
  return g_test_run ();
}
