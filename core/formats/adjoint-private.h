/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-format.h"

G_BEGIN_DECLS

/* Major and minor version of .adjoint (formats/SPEC.md §5).  1.1 adds to a graph file, in the
 * object "graph", the member "ambient": {"autocast_cpu": "bf16", "autocast_cuda": "f16", "grad":
 * "off"}, the settings of the calling thread; a missing member is off, but "grad" is on.
 * 1.2 adds to a region the member "partition" (partition-private.h), and to the manifest "breaks"
 * and "frames" (remarks-private.h).  1.3 adds to a region the member "capture", and to a call
 * "backward" (backward-private.h). */
#define ADJOINT_MAJOR 1
#define ADJOINT_MINOR 3

AdjBundle *adjoint_load (const char *path, GCancellable *cancellable, GError **error);
gboolean adjoint_save (AdjBundle *bundle,
                       const char *path,
                       const AdjSaveOptions *options,
                       GCancellable *cancellable,
                       GError **error);

/* Entries that are kept as they are, %NULL at the end: annotations. */
extern const char *const adjoint_kept_entries[];

/* Members of the manifest that we write ourselves; every other one is kept as it is. */
gboolean adjoint_is_known_member (const char *key);

G_END_DECLS
