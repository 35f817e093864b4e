/* SPDX-License-Identifier: MIT */
/* A task that runs all checks on a bundle. */

#include "model/adj-checking.h"

static gpointer
check (AdjWork *work, GCancellable *cancellable, GError **error)
{
  return adj_bundle_check (adj_work_get_input (work), cancellable, error);
}

AdjWork *
adj_checking_start (GObject *owner, AdjBundle *bundle, GAsyncReadyCallback done)
{
  return adj_work_start (owner, ADJ_WORK_LIGHT, check, adj_bundle_ref (bundle),
                         (GDestroyNotify) adj_bundle_unref, (GDestroyNotify) adj_findings_free,
                         done);
}
