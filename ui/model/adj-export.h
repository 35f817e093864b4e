/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-work.h"
#include "scene/adj-palette.h"

G_BEGIN_DECLS

/**
 * adj_export_start:
 * @path: ends in .svg, .png or .pdf
 *
 * Writes the whole picture with its legend in another thread; the result is the GFile written.
 */
AdjWork *adj_export_start (
    GObject *owner, AdjScene *scene, AdjScheme scheme, const char *path, GAsyncReadyCallback done);

/* What is written, or was to be. */
const char *adj_export_get_path (AdjWork *work);

G_END_DECLS
