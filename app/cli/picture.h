/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-command.h"
#include "layout/adj-layout.h"
#include "scene/paint-cairo.h"

G_BEGIN_DECLS

/* Whether @path has the extension of a picture: .svg, .png or .pdf. */
gboolean adj_picture_is (const char *path);
/* Lays out the graph of @target and paints it to @path, with a line of progress. */
gboolean adj_picture_write (const AdjTarget *target,
                            const AdjLayoutOptions *layout,
                            const AdjPaintOptions *paint,
                            const char *path,
                            GError **error);

G_END_DECLS
