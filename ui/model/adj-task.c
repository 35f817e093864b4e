/* SPDX-License-Identifier: MIT */
/* One task in a thread: its input, progress, cancellation and result. */

#include "model/adj-task.h"

#include <gio/gio.h>

struct _AdjTask
{
  gatomicrefcount refs;
  AdjTaskFunc func;
  gpointer input;
  GDestroyNotify free_input, free_result;
  GCancellable *cancellable;
  gint64 started;
  gint done, total, n_equal; /* atomic */
};

static gint n_tasks; /* atomic */

guint
adj_task_count (void)
{
  return (guint) g_atomic_int_get (&n_tasks);
}

AdjTask *
adj_task_ref (AdjTask *task)
{
  g_atomic_ref_count_inc (&task->refs);
  return task;
}

void
adj_task_unref (AdjTask *task)
{
  if (!g_atomic_ref_count_dec (&task->refs))
    return;
  if (task->free_input != NULL)
    task->free_input (task->input);
  g_object_unref (task->cancellable);
  g_free (task);
  g_atomic_int_add (&n_tasks, -1);
}

static void
perform (GTask *gtask, gpointer source, gpointer data, GCancellable *cancellable)
{
  AdjTask *task = data;
  GError *error = NULL;
  gpointer result = task->func (task, cancellable, &error);

  if (error != NULL)
    g_task_return_error (gtask, error);
  else
    g_task_return_pointer (gtask, result, task->free_result);
}

static void
perform_computation (gpointer data, gpointer unused)
{
  g_autoptr (GTask) gtask = data;

  perform (gtask, g_task_get_source_object (gtask), g_task_get_task_data (gtask),
           g_task_get_cancellable (gtask));
}

/* The only thread that enters parallel regions, so that OpenMP keeps one team. */
static GThreadPool *
get_compute_thread (void)
{
  static GThreadPool *pool;
  static gsize once;

  if (g_once_init_enter (&once))
    {
      pool = g_thread_pool_new (perform_computation, NULL, 1, TRUE, NULL);
      g_once_init_leave (&once, 1);
    }
  return pool;
}

AdjTask *
adj_task_start (GObject *owner,
                AdjTaskLoad kind,
                AdjTaskFunc func,
                gpointer input,
                GDestroyNotify free_input,
                GDestroyNotify free_result,
                GAsyncReadyCallback done)
{
  AdjTask *task = g_new0 (AdjTask, 1);
  g_autoptr (GTask) gtask = NULL;

  g_atomic_int_inc (&n_tasks);
  g_atomic_ref_count_init (&task->refs);
  task->func = func;
  task->input = input;
  task->free_input = free_input;
  task->free_result = free_result;
  task->cancellable = g_cancellable_new ();
  task->started = g_get_monotonic_time ();

  gtask = g_task_new (owner, task->cancellable, done, NULL);
  g_task_set_source_tag (gtask, adj_task_start);
  g_task_set_task_data (gtask, adj_task_ref (task), (GDestroyNotify) adj_task_unref);
  if (kind == ADJ_LOAD_COMPUTE)
    g_thread_pool_push (get_compute_thread (), g_steal_pointer (&gtask), NULL);
  else
    g_task_run_in_thread (gtask, perform);

  return task;
}

AdjTask *
adj_task_from_result (GAsyncResult *result)
{
  return g_task_get_task_data (G_TASK (result));
}

gpointer
adj_task_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}

gpointer
adj_task_get_input (AdjTask *task)
{
  return task->input;
}

void
adj_task_cancel (AdjTask *task)
{
  g_cancellable_cancel (task->cancellable);
}

void
adj_task_report (AdjTask *task, guint done, guint total, guint n_equal)
{
  g_atomic_int_set (&task->done, (gint) done);
  g_atomic_int_set (&task->total, (gint) total);
  g_atomic_int_set (&task->n_equal, (gint) n_equal);
}

void
adj_task_get_report (AdjTask *task, guint *done, guint *total, guint *n_equal)
{
  *done = (guint) g_atomic_int_get (&task->done);
  *total = (guint) g_atomic_int_get (&task->total);
  *n_equal = (guint) g_atomic_int_get (&task->n_equal);
}

gint64
adj_task_get_age (AdjTask *task)
{
  return g_get_monotonic_time () - task->started;
}
