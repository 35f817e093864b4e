/* SPDX-License-Identifier: MIT */
/* Fused regions compiled by the C compiler: the interpreter's bits, cached files, and machines
 * without a compiler. */

#include <glib/gstdio.h>

#include "plan-check.h"
#include "plan/adj-plan-internal.h"
#include "plan/compiled-private.h"
#include "support/adj-test.h"
#include "support/graphs.h"

static const char *const captures[] = { "gpt2-inductor", "lstm", "unet" };

static AdjSessionRun
open_joint (AdjBundle *bundle)
{
  g_autoptr (GError) error = NULL;
  AdjSessionRun run = { .bundle = bundle,
                        .graph = adj_bundle_find_graph (bundle, "joint", &error) };

  g_assert_no_error (error);
  return run;
}

static AdjPlan *
plan_new (const AdjSessionRun *run)
{
  const AdjRecordedCall *call = adj_bundle_find_call (run->bundle, run->graph, 0);
  g_autoptr (GError) error = NULL;
  AdjPlan *plan = adj_plan_new (run->graph->graph, call->inputs, call->n_inputs, 0, &error);

  g_assert_no_error (error);
  g_assert_null (adj_plan_get_refusal (plan));
  return plan;
}

static void
compile_kept (const AdjSessionRun *run)
{
  const AdjRecordedCall *call = adj_bundle_find_call (run->bundle, run->graph, 0);
  g_autofree char *refusal = NULL;
  g_autoptr (GError) error = NULL;
  AdjPlanSpace *space = adj_plan_space_take (run->graph->graph, call->inputs, call->n_inputs, 0,
                                             NULL, &refusal, &error);
  AdjPlan *plan = adj_plan_space_get_plan (space);

  if (plan->compiled == NULL)
    plan->compiled = plan_compiled_new (plan);
  g_assert_nonnull (plan->compiled);
  plan_compiled_begin (plan->compiled);
  g_assert_true (plan_compiled_wait (plan->compiled));
  for (guint32 i = 0; i < plan->regions->len; i++)
    g_assert_cmpint (plan_compiled_get (plan->compiled, i) != NULL, ==,
                     plan_region (plan, i)->kind == &plan_region_fused);
  adj_plan_space_give (space);
}

static void
test_same_bits (gconstpointer name)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture (name);
  AdjSessionRun run = open_joint (bundle);

  plan_check_session (&run, name);
  compile_kept (&run);
  plan_check_session (&run, name);
}

/* A cached file is used without compiling; a damaged one is compiled again. */
static void
test_kept (void)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture ("mlp");
  AdjSessionRun run = open_joint (bundle);
  g_autoptr (AdjPlan) plan = plan_new (&run);
  g_autofree char *path = NULL;
  PlanCompiled *compiled = plan_compiled_new (plan);

  plan_compiled_begin (compiled);
  g_assert_true (plan_compiled_wait (compiled));
  path = plan_compiled_get_path (compiled);
  plan_compiled_free (compiled);

  compiled = plan_compiled_new (plan);
  g_assert_true (plan_compiled_wait (compiled));
  plan_compiled_free (compiled);

  g_assert_true (g_file_set_contents (path, "no library", -1, NULL));
  compiled = plan_compiled_new (plan);
  g_assert_false (plan_compiled_wait (compiled));
  plan_compiled_begin (compiled);
  g_assert_true (plan_compiled_wait (compiled));
  plan_compiled_free (compiled);

  g_assert_cmpint (g_chmod (path, 0666), ==, 0); /* a file that others can write is not trusted */
  compiled = plan_compiled_new (plan);
  g_assert_false (plan_compiled_wait (compiled));
  plan_compiled_free (compiled);
  g_assert_cmpint (g_unlink (path), ==, 0);
}

static void
test_no_compiler (void)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture ("mlp");
  AdjSessionRun run = open_joint (bundle);
  g_autoptr (AdjPlan) plan = plan_new (&run);
  PlanCompiled *compiled;

  g_setenv ("ADJOINT_CC", "", TRUE);
  g_assert_null (plan_compiled_new (plan));
  g_setenv ("ADJOINT_CC", "no-such-compiler", TRUE);
  g_assert_null (plan_compiled_new (plan));
  g_setenv ("ADJOINT_CC", "false", TRUE);
  compiled = plan_compiled_new (plan);
  plan_compiled_begin (compiled);
  g_assert_false (plan_compiled_wait (compiled));
  for (guint32 i = 0; i < plan->regions->len; i++)
    g_assert_null (plan_compiled_get (compiled, i));
  plan_compiled_free (compiled);
  g_setenv ("ADJOINT_CC", "cc", TRUE);
}

/* Freeing a plan does not wait for its compiler. */
static void
test_gone_meanwhile (void)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture ("dropout");
  AdjSessionRun run = open_joint (bundle);
  AdjPlan *plan = plan_new (&run);

  plan->compiled = plan_compiled_new (plan);
  plan_compiled_begin (plan->compiled);
  adj_plan_unref (plan);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (captures); i++)
    {
      g_autofree char *path = g_strdup_printf ("/plan/compiled/same-bits/%s", captures[i]);

      g_test_add_data_func (path, captures[i], test_same_bits);
    }
  g_test_add_func ("/plan/compiled/kept", test_kept);
  g_test_add_func ("/plan/compiled/no-compiler", test_no_compiler);
  g_test_add_func ("/plan/compiled/gone-meanwhile", test_gone_meanwhile);

  return g_test_run ();
}
