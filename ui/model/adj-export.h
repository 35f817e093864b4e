/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-bundle.h"
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
/* The same for all graphs of @bundle, with how they came about; by extension, .adjoint first. */
AdjWork *adj_export_start_bundle (GObject *owner,
                                  AdjBundle *bundle,
                                  const char *path,
                                  GAsyncReadyCallback done);
const char *adj_export_get_path (AdjWork *work);

G_END_DECLS
