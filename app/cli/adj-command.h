/* SPDX-License-Identifier: MIT */
#pragma once

#include <json-glib/json-glib.h>

#include "adjoint.h"

G_BEGIN_DECLS

/* Exit statuses of the program. */
typedef enum
{
  ADJ_EXIT_DONE = 0,
  ADJ_EXIT_DIFFERENT = 1, /* a comparison found differences */
  ADJ_EXIT_BAD_INPUT = 2, /* bad input or usage: one line on stderr */
  ADJ_EXIT_CANNOT = 3,    /* cannot run or judge: no device, memory, room on stdout or recording */
} AdjExit;

/* One command of the program; each is in a file of its own. */
typedef struct
{
  const char *name;
  const char *usage;    /* the arguments after the name: "FILE[#ID] …" */
  const char *summary;  /* one line */
  const char *examples; /* (nullable): one per line */
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

/* An opened FILE[#ID][@HOW]. */
typedef struct
{
  const char *name; /* (unowned): as it was typed */
  AdjBundle *bundle;
  const AdjBundleGraph *graph;
  const AdjBundleGraph *recorded; /* (nullable): graph whose recorded calls are used for @graph */
  AdjBundleGraph composed;        /* for #forward+backward: @graph points to it */
  const AdjExecutor *executor;
  char *path;       /* of the file */
  gboolean named;   /* the graph was named by the user, not chosen by default */
  AdjValue *inputs; /* (nullable): of the file of inputs that was named */
  guint n_inputs;
  AdjRecordedCall *kept; /* (nullable): the kept run that was named */
  /* To be set before opening: the command is about the file, so @graph is %NULL unless one is
   * named. */
  gboolean whole;
} AdjTarget;

/* @id (nullable): from --graph; naming two different ones is bad usage. */
gboolean adj_target_open (AdjTarget *target, const char *text, const char *id, GError **error);
/* Whether everything that the graph returns was understood by the reader; else the error names the
 * place in the file. */
gboolean adj_target_check_understood (const AdjTarget *target, GError **error);
/* The request of a run of the target. */
AdjSessionRun adj_target_run (const AdjTarget *target);
/* Says on stderr which inputs come from the file, where a given seed draws only the others. */
void adj_target_say_inputs (const AdjSessionRun *run);
/* Sets the inputs of @run from the value of --inputs: a file, or ADJ_RUN_PREFIX and the name of a
 * kept run. */
#define ADJ_RUN_PREFIX "run:"
gboolean
adj_target_take_inputs (AdjTarget *target, const char *text, AdjSessionRun *run, GError **error);
void adj_target_clear (AdjTarget *target);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AdjTarget, adj_target_clear)

/* A line of progress, "226 of 371 nodes" (or other things), on stderr for work of more than 300 ms,
 * if stderr is a terminal. */
typedef struct
{
  const char *what; /* (nullable) */
  gint64 started;
  gint64 shown;
} AdjProgressLine;

void adj_progress_line (guint done, guint total, gpointer line);
void adj_progress_line_end (AdjProgressLine *line);

/* Prints what a command that wrote a file prints with --json; @graph (nullable): the one in the
 * file. */
void adj_print_written (const char *path, const char *graph);

/* Prints the JSON of @builder, indented, and frees it.  An object gets the warnings of the readers
 * as "warnings". */
void adj_print_json (JsonBuilder *builder);

G_END_DECLS
