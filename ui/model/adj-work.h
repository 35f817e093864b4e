/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* A piece of work in another thread, with numbers that the thread reports and anyone may read.
 * Counted atomically. */
typedef struct _AdjWork AdjWork;

/* In the worker thread.  Returns the result, or %NULL with @error. */
typedef gpointer (*AdjWorkFunc) (AdjWork *work, GCancellable *cancellable, GError **error);

typedef enum
{
  ADJ_WORK_LIGHT,   /* single-threaded: reading, laying out */
  ADJ_WORK_COMPUTE, /* may use all processors: one at a time, always in the same thread */
} AdjWorkKind;

/**
 * adj_work_start:
 * @input: (transfer full): what @func works on
 * @free_result: frees a result that came too late
 * @done: called in the main thread, also after failure; take the result by adj_work_finish()
 *
 * Returns: (transfer full)
 */
AdjWork *adj_work_start (GObject *owner,
                         AdjWorkKind kind,
                         AdjWorkFunc func,
                         gpointer input,
                         GDestroyNotify free_input,
                         GDestroyNotify free_result,
                         GAsyncReadyCallback done);
/* The work that a callback is about. */
AdjWork *adj_work_from_result (GAsyncResult *result); /* (transfer none) */
gpointer adj_work_finish (GAsyncResult *result, GError **error);
AdjWork *adj_work_ref (AdjWork *work);
void adj_work_unref (AdjWork *work);

gpointer adj_work_get_input (AdjWork *work);
void adj_work_cancel (AdjWork *work);
/* @n_equal: parts that share the result of another; may be called in any thread. */
void adj_work_report (AdjWork *work, guint done, guint total, guint n_equal);
void adj_work_get_report (AdjWork *work, guint *done, guint *total, guint *n_equal);
/* Microseconds since it began. */
gint64 adj_work_get_age (AdjWork *work);

/* How many there are in the process, cancelled ones that have not come to an end included. */
guint adj_work_count (void);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjWork, adj_work_unref)

G_END_DECLS
