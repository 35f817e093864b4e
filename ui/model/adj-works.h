/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-work.h"

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
} AdjTask;

/* The long works of a document or of a page: at most one of each kind, and one line that says what
 * the most important of them does. */
typedef struct
{
  AdjWork *works[ADJ_N_TASKS];
  char *subjects[ADJ_N_TASKS];      /* what they work on */
  char *status;                     /* (nullable): %NULL when idle or done too soon to tell */
  double fraction;                  /* -1: unknown */
  gboolean is_long;                 /* a layout that the user may not want to wait for */
  void (*changed) (gpointer owner); /* the above or what is running */
  gpointer owner;
  guint poll;
} AdjWorks;

void adj_works_init (AdjWorks *works, void (*changed) (gpointer owner), gpointer owner);
/* Cancels everything without a word. */
void adj_works_clear (AdjWorks *works);

/* Cancels the older one in @task.  @work: (transfer full) */
void adj_works_start (AdjWorks *works, AdjTask task, AdjWork *work, const char *subject);
void adj_works_cancel (AdjWorks *works, AdjTask task);
gboolean adj_works_is_busy (const AdjWorks *works, AdjTask task);
gboolean adj_works_any (const AdjWorks *works);

/**
 * adj_works_finish:
 * @age: (out): microseconds that it took
 *
 * Takes the result of @task; %FALSE when a newer request has replaced it.
 */
gboolean adj_works_finish (AdjWorks *works,
                           AdjTask task,
                           GAsyncResult *result,
                           gpointer *out,
                           gint64 *age,
                           GError **error);

G_END_DECLS
