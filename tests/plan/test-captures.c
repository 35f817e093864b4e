/* SPDX-License-Identifier: MIT */
/* Captures of real PyTorch training steps: a plan gives the interpreter's bits, in an ordinary
 * run and when every node is watched. */

#include <glib.h>

#include "exec/adj-executor.h"
#include "plan-check.h"
#include "support/adj-test.h"
#include "support/graphs.h"

static const char *const captures[] = {
  "mlp", "gpt2", "resnet-block", "llama", "lstm", "sac", "unet", "gpt2-inductor", "dropout",
};
static const char *const roles[] = { "dynamo", "joint", "forward", "backward" };

static void
test_same_bits (gconstpointer name)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture (name);

  for (guint i = 0; i < G_N_ELEMENTS (roles); i++)
    {
      g_autoptr (GError) error = NULL;
      AdjSessionRun run = { .bundle = bundle,
                            .graph = adj_bundle_find_graph (bundle, roles[i], &error) };
      g_autofree char *what = g_strdup_printf ("%s#%s", (const char *) name, roles[i]);

      g_assert_no_error (error);
      plan_check_session (&run, what);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (captures); i++)
    {
      g_autofree char *path = g_strdup_printf ("/plan/captures/same-bits/%s", captures[i]);

      g_test_add_data_func (path, captures[i], test_same_bits);
    }

  return g_test_run ();
}
