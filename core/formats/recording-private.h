/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-bundle-private.h"

G_BEGIN_DECLS

/* recording.json of .adjoint: the stages of a pipeline.  Their graphs are graphs of the file, and
 * nodes of these say where they came from ("origin": the number of a node in the graph before). */

/* @name begins messages.  Gives @builder the recording. */
gboolean
recording_read (const char *name, GBytes *bytes, AdjBundleBuilder *builder, GError **error);
/* (transfer full) (nullable): %NULL when @bundle has no recording. */
GBytes *recording_write (const AdjBundle *bundle);

G_END_DECLS
