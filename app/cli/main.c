/* SPDX-License-Identifier: MIT */
/* The command line: finds the command, prints help, turns errors into exit statuses. */

#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "adj-command.h"
#include "base/adj-error-internal.h"
#include "streams.h"

#define COMMAND(name, file) extern const AdjCommand adj_command_##name;
#include "commands.inc"
#undef COMMAND

static const AdjCommand *const commands[] = {
#define COMMAND(name, file) &adj_command_##name,
#include "commands.inc"
#undef COMMAND
};

static void
print_help (FILE *out)
{
  fputs ("Usage: adjoint COMMAND [OPTION…] ARGUMENT…\n\n", out);
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    fprintf (out, "  %-8s  %s\n", commands[i]->name, commands[i]->summary);
  fputs ("\nA graph is named FILE[#ID]; ID may be a role when only one graph has it (#joint).\n"
         "'adjoint COMMAND --help' tells more.\n",
         out);
}

static AdjExit
exit_for_error (const GError *error)
{
  if (g_error_matches (error, ADJ_ERROR, ADJ_ERROR_DEVICE) ||
      g_error_matches (error, ADJ_ERROR, ADJ_ERROR_MEMORY) ||
      g_error_matches (error, ADJ_ERROR, ADJ_ERROR_UNRECORDED))
    return ADJ_EXIT_CANNOT;
  return ADJ_EXIT_BAD_INPUT;
}

static AdjExit
run_command (const AdjCommand *command, int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  AdjExit status = command->run (argc, argv, &error);

  if (error == NULL)
    return status;
  adj_message_make_line (error->message);
  fprintf (stderr, "%s\n", error->message);
  return exit_for_error (error);
}

int
main (int argc, char **argv)
{
  streams_init ();
  setlocale (LC_ALL, "");
  g_set_prgname ("adjoint");
  if (argc < 2)
    {
      print_help (stderr);
      return ADJ_EXIT_BAD_INPUT;
    }
  if (g_str_equal (argv[1], "--help") || g_str_equal (argv[1], "help"))
    {
      print_help (stdout);
      return ADJ_EXIT_DONE;
    }
  if (g_str_equal (argv[1], "--version"))
    {
      puts ("adjoint " ADJ_VERSION);
      return ADJ_EXIT_DONE;
    }
  adj_file_writer_sweep ();
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    if (g_str_equal (commands[i]->name, argv[1]))
      return (int) run_command (commands[i], argc - 1, argv + 1);
  fprintf (stderr, "there is no command '%s'; 'adjoint --help' lists them\n", argv[1]);
  return ADJ_EXIT_BAD_INPUT;
}
