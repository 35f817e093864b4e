/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "model/adj-task.h"

G_BEGIN_DECLS

typedef enum
{
  ADJ_TASK_OPEN,
  ADJ_TASK_LAYOUT,
  ADJ_TASK_EXPORT,
  ADJ_TASK_REPORT,
  ADJ_TASK_SAVE,
  ADJ_TASK_PARTITIONS,
  ADJ_TASK_RUN,
  ADJ_N_TASKS
} AdjTaskKind;

/* The long tasks of a document or of a page: at most one of each kind, and one status line about
 * the most important of them. */
typedef struct
{
  AdjTask *tasks[ADJ_N_TASKS];
  char *subjects[ADJ_N_TASKS]; /* their subjects, for the status line */
  char *status;                /* (nullable): %NULL when idle, or before a task is worth showing */
  double fraction;             /* -1: unknown */
  gboolean is_long;            /* a layout that the user may not want to wait for */
  void (*changed) (gpointer owner); /* the above changed, or what is running */
  gpointer owner;
  guint poll;
} AdjTaskList;

void adj_task_list_init (AdjTaskList *tasks, void (*changed) (gpointer owner), gpointer owner);
/* Cancels all tasks silently. */
void adj_task_list_clear (AdjTaskList *tasks);

/* Starts @task (transfer full), cancelling the older one of kind @kind. */
void adj_task_list_start (AdjTaskList *tasks, AdjTaskKind kind, AdjTask *task, const char *subject);
void adj_task_list_cancel (AdjTaskList *tasks, AdjTaskKind kind);
gboolean adj_task_list_is_busy (const AdjTaskList *tasks, AdjTaskKind kind);
gboolean adj_task_list_any (const AdjTaskList *tasks);

/**
 * adj_task_list_finish:
 * @age: (out): duration in microseconds
 *
 * Takes the result of @kind; %FALSE when a newer request has replaced it.
 */
gboolean adj_task_list_finish (AdjTaskList *tasks,
                               AdjTaskKind kind,
                               GAsyncResult *result,
                               gpointer *out,
                               gint64 *age,
                               GError **error);

G_END_DECLS
