/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-bundle.h"
#include "model/adj-work.h"

G_BEGIN_DECLS

/* Reads graphs in another thread; the result is an AdjGraphSet. */

/* A file or a folder. */
AdjWork *adj_opening_start_file (GObject *owner, GFile *file, GAsyncReadyCallback done);
/* Runs the default pipeline on @graph of @bundle; the result is the recording as a set. */
AdjWork *adj_opening_start_trace (GObject *owner,
                                  AdjBundle *bundle,
                                  const AdjBundleGraph *graph,
                                  GAsyncReadyCallback done);
/* What was pasted: the text of graphs, a console, a log. */
AdjWork *adj_opening_start_text (GObject *owner, GBytes *text, GAsyncReadyCallback done);

G_END_DECLS
