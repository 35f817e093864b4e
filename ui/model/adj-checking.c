/* SPDX-License-Identifier: MIT */
/* A task that runs all checks on a bundle. */

#include "model/adj-checking.h"

#include <gio/gio.h>

static gpointer
check (AdjTask *task, GCancellable *cancellable, GError **error)
{
  return adj_bundle_check (adj_task_get_input (task), cancellable, error);
}

AdjTask *
adj_checking_start (GObject *owner, AdjBundle *bundle, GAsyncReadyCallback done)
{
  return adj_task_start (owner, ADJ_LOAD_LIGHT, check, adj_bundle_ref (bundle),
                         (GDestroyNotify) adj_bundle_unref, (GDestroyNotify) adj_findings_free,
                         done);
}
