/* SPDX-License-Identifier: MIT */

/* Links to places in files: made, parsed, and refused. */

#include <gio/gio.h>
#include <string.h>

#include "model/adj-link.h"
#include "support/adj-test.h"

static void
test_round (void)
{
  static const struct
  {
    const char *path, *graph, *node, *link;
  } cases[] = {
    { "/home/ada/step.adjoint", "0-0-joint", "gelu_2",
      "adjoint:///home/ada/step.adjoint#graph=0-0-joint&node=gelu_2" },
    { "/tmp/a b#c?d%41.log", "g", NULL, "adjoint:///tmp/a%20b%23c%3Fd%2541.log#graph=g" },
    { "/tmp/x&y=ü", "a&b=c", "n#1", "adjoint:///tmp/x%26y%3D%C3%BC#graph=a%26b%3Dc&node=n%231" },
    { "/tmp/x", NULL, NULL, "adjoint:///tmp/x" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GFile) file = g_file_new_for_path (cases[i].path);
      g_autofree char *made = adj_link_make (file, cases[i].graph, cases[i].node);
      g_auto (AdjLink) link = { NULL };
      g_autoptr (GError) error = NULL;

      g_assert_cmpstr (made, ==, cases[i].link);
      g_assert_true (adj_link_is (made));
      g_assert_true (adj_link_parse (&link, made, &error));
      g_assert_no_error (error);
      g_assert_true (g_file_equal (link.file, file));
      g_assert_cmpstr (link.graph, ==, cases[i].graph);
      g_assert_cmpstr (link.node, ==, cases[i].node);
      g_assert_cmpuint (link.stage, ==, 0);
    }
}

static void
test_reads (void)
{
  g_auto (AdjLink) link = { NULL };

  g_assert_true (adj_link_parse (&link, "adjoint:/tmp/x#stage=5&node=a&later=1&node=b", NULL));
  g_assert_cmpuint (link.stage, ==, 5);
  g_assert_cmpstr (link.node, ==, "b");
  g_assert_null (link.graph);
  g_assert_false (adj_link_is ("class GraphModule(torch.nn.Module):"));
  g_assert_true (adj_link_is ("ADJOINT:///x"));
}

static void
test_refuses (void)
{
  static const char *const texts[] = {
    "adjoint:",
    "adjoint://step.adjoint#node=x",
    "adjoint:///tmp/%zz",
    "adjoint:///tmp/a%00b",
    "adjoint:///tmp/x#node=",
    "adjoint:///tmp/x#node",
    "adjoint:///tmp/x#stage=0",
    "adjoint:///tmp/x#stage=99999999999999999999",
    "adjoint:///tmp/x#node=%ff",
    "file:///tmp/x",
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_auto (AdjLink) link = { NULL };
      g_autoptr (GError) error = NULL;

      g_test_message ("%s", texts[i]);
      g_assert_false (adj_link_parse (&link, texts[i], &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT);
      g_assert_nonnull (strstr (error->message, texts[i]));
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ui/link/round", test_round);
  g_test_add_func ("/ui/link/reads", test_reads);
  g_test_add_func ("/ui/link/refuses", test_refuses);
  return g_test_run ();
}
