/* SPDX-License-Identifier: MIT */
/* The trial check reports the call it looks for, and no other. */

#include "adjoint.h"
#include "passes/adj-check-internal.h"
#include "support/graphs.h"

static guint
count (const char *call)
{
  g_autofree char *text = g_strdup_printf ("class GraphModule(torch.nn.Module):\n"
                                           "    def forward(self, x: \"f32[4][1]cpu\"):\n"
                                           "        y = torch.ops.%s.default(x)\n"
                                           "        return (y,)\n",
                                           call);
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  g_autoptr (AdjFindings) findings = adj_findings_new ();

  adj_check_trial.run (&adj_check_trial, &(AdjCheckedRegion){ .joint = graph }, findings);
  return adj_findings_get_n (findings);
}

static void
finds_the_call (void)
{
  g_assert_cmpuint (count ("trial.call"), ==, 1);
  g_assert_cmpuint (count ("aten.neg"), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/passes/check-trial/finds-the-call", finds_the_call);

  return g_test_run ();
}
