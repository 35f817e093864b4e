/* SPDX-License-Identifier: MIT */
/* adjoint render: the picture of a graph. */

#include "picture.h"
#include "plugins.h"

extern const AdjCommand adj_command_render;

typedef struct
{
  char *id;
  char *output;
  char *layout;
  gint fold;
  double scale;
  gboolean dark;
  gboolean aliases;
  gboolean json;
} Options;

static void
options_clear (Options *options)
{
  g_free (options->id);
  g_free (options->output);
  g_free (options->layout);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static gboolean
find_view (const char *name, AdjLayoutView *view, GError **error)
{
  static const struct
  {
    const char *name;
    AdjLayoutView view;
  } views[] = { { "mirror", ADJ_VIEW_MIRROR },
                { "stacked", ADJ_VIEW_STACKED },
                { "dot", ADJ_VIEW_DOT } };

  for (guint i = 0; i < G_N_ELEMENTS (views); i++)
    if (name == NULL || g_str_equal (views[i].name, name))
      {
        *view = views[i].view;
        return TRUE;
      }
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "--layout %s: there is mirror, stacked, dot",
               name);
  return FALSE;
}

static gboolean
render (const AdjTarget *target, const Options *options, GError **error)
{
  AdjLayoutOptions layout = { .keep_aliases = options->aliases,
                              .fold_depth =
                                  options->fold < 0 ? ADJ_FOLD_BY_SIZE : (guint) options->fold };
  AdjPaintOptions paint = {
    .scheme = options->dark ? ADJ_SCHEME_DARK : ADJ_SCHEME_LIGHT,
    .scale = (float) options->scale,
    .legend = TRUE,
  };

  return find_view (options->layout, &layout.view, error) &&
         adj_picture_write (target, &layout, &paint, options->output, error);
}

static AdjExit
run (int argc, char **argv, GError **error)
{
  g_auto (Options) options = { .scale = 1, .fold = -1 };
  g_auto (AdjTarget) target = { 0 };
  GOptionEntry entries[] = {
    { "graph", 'g', 0, G_OPTION_ARG_STRING, &options.id, "Which graph of the file", "ID" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
      "Where to write; .svg, .png or .pdf", "FILE" },
    { "layout", 'l', 0, G_OPTION_ARG_STRING, &options.layout, "mirror (default), stacked or dot",
      "NAME" },
    { "fold", 'f', 0, G_OPTION_ARG_INT, &options.fold,
      "Close modules this deep, 0: none; 1 of large graphs", "DEPTH" },
    { "scale", 's', 0, G_OPTION_ARG_DOUBLE, &options.scale, "Pixels of a PNG per unit", "N" },
    { "dark", 'd', 0, G_OPTION_ARG_NONE, &options.dark, "Dark colours", NULL },
    { "aliases", 'a', 0, G_OPTION_ARG_NONE, &options.aliases, "Show views as nodes of their own",
      NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Say as JSON what was written", NULL },
    PLUGIN_OPTION,
    G_OPTION_ENTRY_NULL,
  };

  if (!adj_command_parse (&adj_command_render, entries, 1, 1, &argc, &argv, error))
    return ADJ_EXIT_BAD_INPUT;
  if (options.output == NULL)
    {
      g_set_error_literal (error, ADJ_ERROR, ADJ_ERROR_PARSE,
                           "render: say where to write with -o FILE.svg, .png or .pdf");
      return ADJ_EXIT_BAD_INPUT;
    }
  if (!adj_target_open (&target, argv[1], options.id, error) || !render (&target, &options, error))
    return ADJ_EXIT_BAD_INPUT;
  if (options.json)
    adj_print_written (options.output, target.graph->id);
  return ADJ_EXIT_DONE;
}

const AdjCommand adj_command_render = {
  .name = "render",
  .usage = "FILE[#ID] -o X.svg|png|pdf [--layout mirror|stacked|dot] [--fold DEPTH]",
  .summary = "Draw a graph into a file, as the window shows it",
  .examples = "adjoint render step.adjoint#joint -o step.svg\n"
              "adjoint render step.adjoint#joint -o step.png --fold 2 --scale 2 --dark\n",
  .run = run,
};
