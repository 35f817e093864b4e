/* SPDX-License-Identifier: MIT */
/* adjoint open: starts the workbench. */

#include <errno.h>
#include <gio/gio.h>
#include <unistd.h>

#include "adj-command.h"

extern const AdjCommand adj_command_open;

/* The workbench stands beside this program, installed or not; else PATH finds it. */
static char *
find_workbench (void)
{
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = self != NULL ? g_path_get_dirname (self) : NULL;
  g_autofree char *beside =
      folder != NULL ? g_build_filename (folder, "adjoint-workbench", NULL) : NULL;

  if (beside != NULL && g_file_test (beside, G_FILE_TEST_IS_EXECUTABLE))
    return g_steal_pointer (&beside);
  return g_find_program_in_path ("adjoint-workbench");
}

static AdjExit
run (int argc, char **argv, GError **error)
{
  GOptionEntry entries[] = { G_OPTION_ENTRY_NULL };
  g_autofree char *workbench = NULL;

  if (!adj_command_parse (&adj_command_open, entries, 1, 1, &argc, &argv, error))
    return ADJ_EXIT_BAD_INPUT;
  workbench = find_workbench ();
  if (workbench == NULL)
    {
      g_set_error_literal (error, ADJ_ERROR, ADJ_ERROR_DEVICE,
                           "adjoint-workbench is not installed");
      return ADJ_EXIT_CANNOT;
    }
  execl (workbench, "adjoint-workbench", argv[1], NULL);
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_DEVICE, "%s: %s", workbench, g_strerror (errno));
  return ADJ_EXIT_CANNOT;
}

const AdjCommand adj_command_open = {
  .name = "open",
  .usage = "FILE|LINK",
  .summary = "Open a file in the workbench",
  .examples = "adjoint open step.adjoint\n"
              "adjoint open 'adjoint:///tmp/step.adjoint#graph=0-0-joint&node=gelu'\n",
  .run = run,
};
