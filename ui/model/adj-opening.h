/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-work.h"

G_BEGIN_DECLS

/* Reads graphs in another thread; the result is an AdjGraphSet. */

/* A file or a folder. */
AdjWork *adj_opening_start_file (GObject *owner, GFile *file, GAsyncReadyCallback done);
/* What was pasted: the text of graphs, a console, a log. */
AdjWork *adj_opening_start_text (GObject *owner, GBytes *text, GAsyncReadyCallback done);

G_END_DECLS
