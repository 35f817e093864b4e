/* SPDX-License-Identifier: MIT */
/* adjoint convert: from one format to another. */

#include "picture.h"
#include "plugins.h"

extern const AdjCommand adj_command_convert;

static gboolean
convert (const AdjTarget *target, const char *path, GError **error)
{
  const AdjLayoutOptions layout = { 0 };
  const AdjPaintOptions paint = { .scale = 1, .legend = TRUE };
  const AdjSaveOptions options = { .graph = target->named ? target->graph : NULL };
  const AdjFormat *format;

  if (adj_picture_is (path))
    return adj_picture_write (target, &layout, &paint, path, error);
  format = adj_format_for_path (path, error);
  return format != NULL && format->save (target->bundle, path, &options, NULL, error);
}

static AdjExit
run (int argc, char **argv, GError **error)
{
  g_auto (AdjTarget) target = { 0 };
  g_autofree char *id = NULL;
  gboolean json = FALSE;
  GOptionEntry entries[] = {
    { "graph", 'g', 0, G_OPTION_ARG_STRING, &id, "Which graph of the file", "ID" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Say as JSON what was written", NULL },
    PLUGIN_OPTION,
    G_OPTION_ENTRY_NULL,
  };

  if (!adj_command_parse (&adj_command_convert, entries, 2, 2, &argc, &argv, error))
    return ADJ_EXIT_BAD_INPUT;
  target.whole = !adj_picture_is (argv[2]);
  if (!adj_target_open (&target, argv[1], id, error) || !convert (&target, argv[2], error))
    return ADJ_EXIT_BAD_INPUT;
  if (json)
    adj_print_written (argv[2], target.named ? target.graph->id : NULL);
  return ADJ_EXIT_DONE;
}

const AdjCommand adj_command_convert = {
  .name = "convert",
  .usage = "IN[#ID] OUT",
  .summary = "Write a file, or one of its graphs, in another format",
  .examples = "adjoint convert trace-folder/ step.adjoint\n"
              "adjoint convert step.adjoint#joint joint.txt\n"
              "adjoint convert step.adjoint#joint joint.svg\n",
  .run = run,
};
