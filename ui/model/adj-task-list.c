/* SPDX-License-Identifier: MIT */
/* The tasks of a document, at most one of each kind, and their status line. */

#include "model/adj-task-list.h"

#include <gio/gio.h>
#include <glib/gi18n.h>

#include "report/adj-properties.h"

/* Progress is shown after this time, so that short tasks do not flicker. */
#define SHOW_AFTER_USEC 300000
#define LONG_AFTER_USEC (2 * G_TIME_SPAN_SECOND)
#define POLL_MSEC 60

/* -- what they say: @done of @total, as far as it is known -- */

static char *
describe_open (const char *subject, guint done, guint total, guint n_equal)
{
  return total > 0 ? g_strdup_printf (_ ("Opening %s: step %u of %u"), subject,
                                      MIN (done + 1, total), total)
                   : g_strdup_printf (_ ("Opening %s"), subject);
}

static char *
describe_layout (const char *subject, guint done, guint total, guint n_equal)
{
  return total > 0 ? g_strdup_printf (_ ("Laying out %s: %u equal blocks, layout %u of %u"),
                                      subject, n_equal, MIN (done + 1, total), total)
                   : g_strdup_printf (_ ("Laying out %s"), subject);
}

static char *
describe_export (const char *subject, guint done, guint total, guint n_equal)
{
  return total > 0
             ? g_strdup_printf (_ ("Writing %s: %u of %u parts painted"), subject, done, total)
             : g_strdup_printf (_ ("Writing %s"), subject);
}

static char *
describe_report (const char *subject, guint done, guint total, guint n_equal)
{
  return total > 0 ? g_strdup_printf (_ ("Writing %s: step %u of %u"), subject,
                                      MIN (done + 1, total), total)
                   : g_strdup_printf (_ ("Writing %s"), subject);
}

static char *
describe_save (const char *subject, guint done, guint total, guint n_equal)
{
  g_autofree char *saved = adj_properties_bytes ((gint64) done << 10);
  g_autofree char *all = adj_properties_bytes ((gint64) total << 10);

  return total > 0 ? g_strdup_printf (_ ("Saving %s: %s of %s"), subject, saved, all)
                   : g_strdup_printf (_ ("Saving %s"), subject);
}

static char *
describe_partitions (const char *subject, guint done, guint total, guint n_equal)
{
  return total > 0 ? g_strdup_printf (_ ("Comparing partitions of %s: plan %u of %u"), subject,
                                      MIN (done + 1, total), total)
                   : g_strdup_printf (_ ("Comparing partitions of %s"), subject);
}

static char *
describe_run (const char *subject, guint done, guint total, guint n_equal)
{
  return total > 0
             ? g_strdup_printf (_ ("Running %s: %u of %u nodes (Esc stops)"), subject, done, total)
             : g_strdup_printf (_ ("Running %s (Esc stops)"), subject);
}

static char *(*const describe[ADJ_N_TASKS]) (const char *, guint, guint, guint) = {
  [ADJ_TASK_OPEN] = describe_open,     [ADJ_TASK_LAYOUT] = describe_layout,
  [ADJ_TASK_EXPORT] = describe_export, [ADJ_TASK_REPORT] = describe_report,
  [ADJ_TASK_SAVE] = describe_save,     [ADJ_TASK_PARTITIONS] = describe_partitions,
  [ADJ_TASK_RUN] = describe_run,
};

/* -- the line -- */

static void
set_status (AdjTaskList *self, char *status, double fraction)
{
  if (g_strcmp0 (status, self->status) == 0 && fraction == self->fraction)
    {
      g_free (status);
      return;
    }
  g_free (self->status);
  self->status = status;
  self->fraction = fraction;
  self->changed (self->owner);
}

static void
update_long (AdjTaskList *self)
{
  AdjTask *layout = self->tasks[ADJ_TASK_LAYOUT];
  gboolean is_long = layout != NULL && adj_task_get_age (layout) > LONG_AFTER_USEC;

  if (is_long == self->is_long)
    return;
  self->is_long = is_long;
  self->changed (self->owner);
}

/* %FALSE when no task is running. */
static gboolean
update_status (AdjTaskList *self)
{
  update_long (self);
  for (guint kind = ADJ_N_TASKS; kind-- > 0;)
    {
      guint done, total, n_equal;

      if (self->tasks[kind] == NULL || adj_task_get_age (self->tasks[kind]) < SHOW_AFTER_USEC)
        continue;
      adj_task_get_report (self->tasks[kind], &done, &total, &n_equal);
      set_status (self, describe[kind](self->subjects[kind], done, total, n_equal),
                  total > 0 ? (double) done / total : -1);
      return TRUE;
    }
  set_status (self, NULL, -1);
  return adj_task_list_any (self);
}

static gboolean
on_poll (gpointer data)
{
  AdjTaskList *self = data;

  if (update_status (self))
    return G_SOURCE_CONTINUE;
  self->poll = 0;
  return G_SOURCE_REMOVE;
}

void
adj_task_list_init (AdjTaskList *tasks, void (*changed) (gpointer owner), gpointer owner)
{
  *tasks = (AdjTaskList){ .fraction = -1, .changed = changed, .owner = owner };
}

void
adj_task_list_clear (AdjTaskList *tasks)
{
  for (guint kind = 0; kind < ADJ_N_TASKS; kind++)
    {
      if (tasks->tasks[kind] != NULL)
        adj_task_cancel (tasks->tasks[kind]);
      g_clear_pointer (&tasks->tasks[kind], adj_task_unref);
      g_clear_pointer (&tasks->subjects[kind], g_free);
    }
  g_clear_handle_id (&tasks->poll, g_source_remove);
  g_clear_pointer (&tasks->status, g_free);
}

void
adj_task_list_cancel (AdjTaskList *tasks, AdjTaskKind kind)
{
  if (tasks->tasks[kind] == NULL)
    return;
  adj_task_cancel (tasks->tasks[kind]);
  g_clear_pointer (&tasks->tasks[kind], adj_task_unref);
  update_status (tasks);
  tasks->changed (tasks->owner);
}

void
adj_task_list_start (AdjTaskList *tasks, AdjTaskKind kind, AdjTask *task, const char *subject)
{
  if (tasks->tasks[kind] != NULL)
    adj_task_cancel (tasks->tasks[kind]);
  g_clear_pointer (&tasks->tasks[kind], adj_task_unref);
  tasks->tasks[kind] = task;
  update_long (tasks);
  g_free (tasks->subjects[kind]);
  tasks->subjects[kind] = g_strdup (subject);
  if (tasks->poll == 0)
    tasks->poll = g_timeout_add (POLL_MSEC, on_poll, tasks);
  tasks->changed (tasks->owner);
}

gboolean
adj_task_list_is_busy (const AdjTaskList *tasks, AdjTaskKind kind)
{
  return tasks->tasks[kind] != NULL;
}

gboolean
adj_task_list_any (const AdjTaskList *tasks)
{
  for (guint kind = 0; kind < ADJ_N_TASKS; kind++)
    if (tasks->tasks[kind] != NULL)
      return TRUE;
  return FALSE;
}

gboolean
adj_task_list_finish (AdjTaskList *tasks,
                      AdjTaskKind kind,
                      GAsyncResult *result,
                      gpointer *out,
                      gint64 *age,
                      GError **error)
{
  AdjTask *task = adj_task_from_result (result);

  if (task != tasks->tasks[kind])
    return FALSE;
  *age = adj_task_get_age (task);
  g_clear_pointer (&tasks->tasks[kind], adj_task_unref);
  *out = adj_task_finish (result, error);
  update_status (tasks);
  tasks->changed (tasks->owner);
  return TRUE;
}
