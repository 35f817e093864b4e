/* SPDX-License-Identifier: MIT */
/* adjoint open: starts the workbench. */

#include <errno.h>
#include <gio/gio.h>
#include <unistd.h>

#include "adj-command.h"

extern const AdjCommand adj_command_open;

/* The workbench is beside this program, installed or not; else it is searched in PATH. */
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
  g_auto (GStrv) plugins = NULL;
  GOptionEntry entries[] = {
    { "plugin", 0, 0, G_OPTION_ARG_STRING_ARRAY, &plugins,
      "Know the classes and operators of a plugin; may be given again", "FILE.so:FUNCTION" },
    G_OPTION_ENTRY_NULL,
  };
  g_autofree char *workbench = NULL;
  g_autoptr (GPtrArray) arguments = g_ptr_array_new ();

  if (!adj_command_parse (&adj_command_open, entries, 1, 1, &argc, &argv, error))
    return ADJ_EXIT_BAD_INPUT;
  workbench = find_workbench ();
  if (workbench == NULL)
    {
      g_set_error_literal (error, ADJ_ERROR, ADJ_ERROR_DEVICE,
                           "adjoint-workbench is not installed");
      return ADJ_EXIT_CANNOT;
    }
  g_ptr_array_add (arguments, (gpointer) "adjoint-workbench");
  for (guint i = 0; plugins != NULL && plugins[i] != NULL; i++)
    {
      g_ptr_array_add (arguments, (gpointer) "--plugin");
      g_ptr_array_add (arguments, plugins[i]);
    }
  g_ptr_array_add (arguments, argv[1]);
  g_ptr_array_add (arguments, NULL);
  execv (workbench, (char **) arguments->pdata);
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
