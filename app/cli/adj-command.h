/* SPDX-License-Identifier: MIT */
#pragma once

#include <json-glib/json-glib.h>

#include "adjoint.h"

G_BEGIN_DECLS

/* Exit statuses of the program. */
typedef enum
{
  ADJ_EXIT_DONE = 0,
  ADJ_EXIT_DIFFERENT = 1, /* compared, and not the same */
  ADJ_EXIT_BAD_INPUT = 2, /* bad input or usage: one line on stderr */
  ADJ_EXIT_CANNOT = 3, /* cannot run or judge here: no device, no memory, no room on stdout, nothing
                        * recorded */
} AdjExit;

/* One command of the program: one file each. */
typedef struct
{
  const char *name;
  const char *usage;    /* what follows the name: "FILE[#ID] …" */
  const char *summary;  /* one line */
  const char *examples; /* (nullable): a line each */
  /* @argv[0] is the command's name.  With @error set the result is ignored and main reports. */
  AdjExit (*run) (int argc, char **argv, GError **error);
} AdjCommand;

/* Parses options and leaves @n_min to @n_max other arguments in @argv[1…]; bad usage is an error,
 * --help prints and exits. */
gboolean adj_command_parse (const AdjCommand *command,
                            const GOptionEntry *entries,
                            guint n_min,
                            guint n_max,
                            int *argc,
                            char ***argv,
                            GError **error);

/* FILE[#ID][@HOW], opened. */
typedef struct
{
  const char *name; /* (unowned): as it was typed */
  AdjBundle *bundle;
  const AdjBundleGraph *graph;
  const AdjBundleGraph *recorded; /* (nullable): the graph whose recorded calls fit @graph */
  AdjBundleGraph composed;        /* what @graph points to for #forward+backward */
  const AdjExecutor *executor;
  char *path;       /* of the file */
  gboolean named;   /* the graph was named, not chosen by default */
  AdjValue *inputs; /* (nullable): of a file that was named */
  guint n_inputs;
  AdjRecordedCall *kept; /* (nullable): a run that was named */
  /* Set before opening: the file is wanted, so that @graph may be %NULL when none was named. */
  gboolean whole;
} AdjTarget;

/* @id (nullable): from --graph; naming two different ones is bad usage. */
gboolean adj_target_open (AdjTarget *target, const char *text, const char *id, GError **error);
/* Whether what the graph returns was understood when it was read; else the error names the place in
 * the file. */
gboolean adj_target_check_understood (const AdjTarget *target, GError **error);
/* A run to be made of it. */
AdjSessionRun adj_target_run (const AdjTarget *target);
/* Says on stderr where inputs come from of which a seed that was typed draws only some. */
void adj_target_say_inputs (const AdjSessionRun *run);
/* Takes the inputs of @run from what --inputs says: a file, or ADJ_RUN_PREFIX and the name of a run
 * that was kept. */
#define ADJ_RUN_PREFIX "run:"
gboolean
adj_target_take_inputs (AdjTarget *target, const char *text, AdjSessionRun *run, GError **error);
void adj_target_clear (AdjTarget *target);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AdjTarget, adj_target_clear)

/* A line "226 of 371 nodes" (or other things) on stderr for work that takes longer than 300 ms,
 * when it is a terminal. */
typedef struct
{
  const char *what; /* (nullable) */
  gint64 started;
  gint64 shown;
} AdjProgressLine;

void adj_progress_line (guint done, guint total, gpointer line);
void adj_progress_line_end (AdjProgressLine *line);

/* What a command that writes a file prints with --json; @graph (nullable): the one of the file. */
void adj_print_written (const char *path, const char *graph);

/* Prints what @builder holds, indented, and frees it.  An object gets what the readers of the files
 * warned of as "warnings". */
void adj_print_json (JsonBuilder *builder);

G_END_DECLS
