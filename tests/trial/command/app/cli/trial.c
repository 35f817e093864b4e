/* SPDX-License-Identifier: MIT */
/* trial: a minimal command. */

#include <stdio.h>

#include "adj-command.h"

extern const AdjCommand adj_command_trial;

static AdjExit
run (int argc, char **argv, GError **error)
{
  gboolean json = FALSE;
  const GOptionEntry entries[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print JSON", NULL },
    G_OPTION_ENTRY_NULL,
  };

  if (!adj_command_parse (&adj_command_trial, entries, 0, 0, &argc, &argv, error))
    return ADJ_EXIT_BAD_INPUT;
  puts (json ? "[]" : "a trial");
  return ADJ_EXIT_DONE;
}

const AdjCommand adj_command_trial = {
  .name = "trial",
  .usage = "",
  .summary = "Say that this is a trial",
  .examples = "adjoint trial --json\n",
  .run = run,
};
