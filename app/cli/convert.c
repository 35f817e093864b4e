/* SPDX-License-Identifier: MIT */
#include "adj-command.h"

extern const AdjCommand adj_command_convert;

static AdjExit
run (int argc, char **argv, GError **error)
{
  g_auto (AdjTarget) target = { 0 };
  g_autofree char *id = NULL;
  const AdjFormat *format;
  GOptionEntry entries[] = {
    { "graph", 'g', 0, G_OPTION_ARG_STRING, &id, "Which graph of the file", "ID" },
    G_OPTION_ENTRY_NULL,
  };

  if (!adj_command_parse (&adj_command_convert, entries, 2, 2, &argc, &argv, error))
    return ADJ_EXIT_BAD_INPUT;
  format = adj_format_for_path (argv[2], error);
  if (format == NULL || !adj_target_open (&target, argv[1], id, error))
    return ADJ_EXIT_BAD_INPUT;
  if (!format->save (target.bundle, target.named ? target.graph : NULL, argv[2], NULL, error))
    return ADJ_EXIT_BAD_INPUT;
  return ADJ_EXIT_DONE;
}

const AdjCommand adj_command_convert = {
  .name = "convert",
  .usage = "IN[#ID] OUT",
  .summary = "Write a file, or one of its graphs, in another format",
  .run = run,
};
