/* SPDX-License-Identifier: MIT */
/* One task in a thread: its input, progress, cancellation and result. */

#include "model/adj-work.h"

struct _AdjWork
{
  gatomicrefcount refs;
  AdjWorkFunc func;
  gpointer input;
  GDestroyNotify free_input, free_result;
  GCancellable *cancellable;
  gint64 started;
  gint done, total, n_equal; /* atomic */
};

static gint n_works; /* atomic */

guint
adj_work_count (void)
{
  return (guint) g_atomic_int_get (&n_works);
}

AdjWork *
adj_work_ref (AdjWork *work)
{
  g_atomic_ref_count_inc (&work->refs);
  return work;
}

void
adj_work_unref (AdjWork *work)
{
  if (!g_atomic_ref_count_dec (&work->refs))
    return;
  if (work->free_input != NULL)
    work->free_input (work->input);
  g_object_unref (work->cancellable);
  g_free (work);
  g_atomic_int_add (&n_works, -1);
}

static void
perform (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  AdjWork *work = data;
  GError *error = NULL;
  gpointer result = work->func (work, cancellable, &error);

  if (error != NULL)
    g_task_return_error (task, error);
  else
    g_task_return_pointer (task, result, work->free_result);
}

static void
perform_computation (gpointer data, gpointer unused)
{
  g_autoptr (GTask) task = data;

  perform (task, g_task_get_source_object (task), g_task_get_task_data (task),
           g_task_get_cancellable (task));
}

/* The one thread that owns parallel regions, so that OpenMP keeps one team. */
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

AdjWork *
adj_work_start (GObject *owner,
                AdjWorkKind kind,
                AdjWorkFunc func,
                gpointer input,
                GDestroyNotify free_input,
                GDestroyNotify free_result,
                GAsyncReadyCallback done)
{
  AdjWork *work = g_new0 (AdjWork, 1);
  g_autoptr (GTask) task = NULL;

  g_atomic_int_inc (&n_works);
  g_atomic_ref_count_init (&work->refs);
  work->func = func;
  work->input = input;
  work->free_input = free_input;
  work->free_result = free_result;
  work->cancellable = g_cancellable_new ();
  work->started = g_get_monotonic_time ();

  task = g_task_new (owner, work->cancellable, done, NULL);
  g_task_set_source_tag (task, adj_work_start);
  g_task_set_task_data (task, adj_work_ref (work), (GDestroyNotify) adj_work_unref);
  if (kind == ADJ_WORK_COMPUTE)
    g_thread_pool_push (get_compute_thread (), g_steal_pointer (&task), NULL);
  else
    g_task_run_in_thread (task, perform);

  return work;
}

AdjWork *
adj_work_from_result (GAsyncResult *result)
{
  return g_task_get_task_data (G_TASK (result));
}

gpointer
adj_work_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}

gpointer
adj_work_get_input (AdjWork *work)
{
  return work->input;
}

void
adj_work_cancel (AdjWork *work)
{
  g_cancellable_cancel (work->cancellable);
}

void
adj_work_report (AdjWork *work, guint done, guint total, guint n_equal)
{
  g_atomic_int_set (&work->done, (gint) done);
  g_atomic_int_set (&work->total, (gint) total);
  g_atomic_int_set (&work->n_equal, (gint) n_equal);
}

void
adj_work_get_report (AdjWork *work, guint *done, guint *total, guint *n_equal)
{
  *done = (guint) g_atomic_int_get (&work->done);
  *total = (guint) g_atomic_int_get (&work->total);
  *n_equal = (guint) g_atomic_int_get (&work->n_equal);
}

gint64
adj_work_get_age (AdjWork *work)
{
  return g_get_monotonic_time () - work->started;
}
