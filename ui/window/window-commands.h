/* SPDX-License-Identifier: MIT */
#pragma once

#include "window/adj-window.h"

G_BEGIN_DECLS

/* All commands of the workbench, from which actions, keys, the palette and the window of shortcuts
 * are made.  Keys of the canvas are in canvas/adj-graph-view.h. */

typedef enum
{
  ADJ_NEEDS_NOTHING,
  ADJ_NEEDS_GRAPH,
  ADJ_NEEDS_FILE,
  ADJ_NEEDS_SELECTION,
  ADJ_NEEDS_TASK, /* a running task */
  ADJ_NEEDS_RUN,  /* a run that can be kept */
  ADJ_NEEDS_PROBLEM,
  ADJ_NEEDS_PAST,
  ADJ_NEEDS_FUTURE,
  ADJ_NEEDS_DONE, /* a change that can be undone */
  ADJ_NEEDS_UNDONE,
  ADJ_NEEDS_EARLIER, /* an earlier stage */
  ADJ_NEEDS_LATER,
  ADJ_NEEDS_LONG_LAYOUT, /* a long running layout */
  ADJ_NEEDS_BACKWARD,    /* a graph that compiled autograd captured */
  ADJ_NEEDS_STEP,        /* a selected step of one */
  ADJ_N_NEEDS,
} AdjNeeds;

typedef enum
{
  ADJ_COMMANDS_FILES,
  ADJ_COMMANDS_GRAPH,
  ADJ_COMMANDS_RUN,
  ADJ_COMMANDS_VIEW,
  ADJ_N_COMMAND_GROUPS,
} AdjCommandGroup;

/* A value of a command's parameter. */
typedef struct
{
  const char *value, *title;
} AdjCommandTarget;

typedef struct
{
  const char *name;  /* of the action: "win.open" */
  const char *title; /* (nullable): %NULL: it is in no list */
  AdjCommandGroup group;
  AdjNeeds needs;
  const char *parameter; /* (nullable): its type */
  const char *accels[3];
  void (*run) (AdjWindow *self, GVariant *parameter); /* (nullable): others have the action */
  GVariant *(*get_state) (AdjDocument *document); /* (nullable): floating: the state of a choice */
  const AdjCommandTarget *targets; /* (nullable): ends with %NULL: each is a command of its own */
  AdjMenu menus;                   /* context menus with it; a string parameter gets their target */
} AdjCommand;

const AdjCommand *adj_commands_get (guint *n);
const char *adj_command_group_title (AdjCommandGroup group);
gboolean adj_command_is_possible (AdjDocument *document, AdjNeeds need);

G_END_DECLS
