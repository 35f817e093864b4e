/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-format.h"

G_BEGIN_DECLS

/* Follows a file or a folder of logs while a program writes it.  Used by one thread at a time,
 * counted atomically. */
typedef struct _AdjFollower AdjFollower;

/* @known: (nullable): what has been read of @path already, a moment ago.  @extensions: (nullable):
 * as for adj_bundle_extend(), as long as the follower */
AdjFollower *adj_follower_new (const char *path, AdjBundle *known, const AdjExtensions *extensions);
AdjFollower *adj_follower_ref (AdjFollower *follower); /* (transfer full) */
void adj_follower_unref (AdjFollower *follower);

const char *adj_follower_get_path (const AdjFollower *follower); /* (transfer none) */

/**
 * adj_follower_next:
 *
 * Reads what is there by now, without a record at its end that is not complete; ten seconds after
 * the last write it will not be completed, and counts as one that was cut off.  Graphs that were
 * there before are the same objects.
 *
 * Returns: (transfer full) (nullable): %NULL without an error when nothing was written since the
 * last call, or nothing that can be read yet; with G_IO_ERROR when the followed path is gone, with
 * ADJ_ERROR_LIMIT when it has grown too large to be read
 */
AdjBundle *adj_follower_next (AdjFollower *follower, GCancellable *cancellable, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjFollower, adj_follower_unref)

G_END_DECLS
