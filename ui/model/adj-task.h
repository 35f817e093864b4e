/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* A task in another thread, with a progress that the thread reports and any thread may read.
 * Counted atomically. */
typedef struct _AdjTask AdjTask;

/* In the worker thread.  Returns the result, or %NULL with @error. */
typedef gpointer (*AdjTaskFunc) (AdjTask *task, GCancellable *cancellable, GError **error);

typedef enum
{
  ADJ_LOAD_LIGHT,   /* single-threaded: reading, laying out */
  ADJ_LOAD_COMPUTE, /* may use all processors: one task at a time, always in the same thread */
} AdjTaskLoad;

/**
 * adj_task_start:
 * @input: (transfer full): what @func works on
 * @free_result: frees a result that nothing takes, after cancellation
 * @done: called in the main thread, also after failure; take the result by adj_task_finish()
 *
 * Returns: (transfer full)
 */
AdjTask *adj_task_start (GObject *owner,
                         AdjTaskLoad kind,
                         AdjTaskFunc func,
                         gpointer input,
                         GDestroyNotify free_input,
                         GDestroyNotify free_result,
                         GAsyncReadyCallback done);
/* The task of a callback. */
AdjTask *adj_task_from_result (GAsyncResult *result); /* (transfer none) */
gpointer adj_task_finish (GAsyncResult *result, GError **error);
AdjTask *adj_task_ref (AdjTask *task);
void adj_task_unref (AdjTask *task);

gpointer adj_task_get_input (AdjTask *task);
void adj_task_cancel (AdjTask *task);
/* @n_equal: parts that share another's result; may be called in any thread. */
void adj_task_report (AdjTask *task, guint done, guint total, guint n_equal);
void adj_task_get_report (AdjTask *task, guint *done, guint *total, guint *n_equal);
/* Microseconds since it started. */
gint64 adj_task_get_age (AdjTask *task);

/* Number of tasks in the process, including cancelled ones that still run. */
guint adj_task_count (void);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjTask, adj_task_unref)

G_END_DECLS
