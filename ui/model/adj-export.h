/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "model/adj-evaluation.h"
#include "model/adj-task.h"
#include "scene/adj-palette.h"

G_BEGIN_DECLS

/* Files that are written in another thread; the result is the GFile written. */

/**
 * adj_export_start_picture:
 * @part: (nullable): only this rectangle of @scene, without the legend
 * @path: ends in .svg, .png or .pdf
 */
AdjTask *adj_export_start_picture (GObject *owner,
                                   AdjScene *scene,
                                   const AdjRect *part,
                                   AdjScheme scheme,
                                   const char *path,
                                   GAsyncReadyCallback done);
/* Writes all graphs of @bundle, with their recording, in the format of the extension, .adjoint
 * first.  @etag: (nullable): expected etag of the file; with another one the task fails with
 * G_IO_ERROR_WRONG_ETAG. */
AdjTask *adj_export_start_bundle (GObject *owner,
                                  AdjBundle *bundle,
                                  const char *path,
                                  const char *etag,
                                  GAsyncReadyCallback done);
/* (transfer full) (nullable): an etag of the content of @file, which changes when it is written. */
char *adj_export_query_etag (GFile *file);

/**
 * adj_export_start_report:
 * @graph: of @graphs
 * @evaluation: (nullable): what came out of running it
 *
 * One page of HTML, as report/adj-report.h has it.
 */
AdjTask *adj_export_start_report (GObject *owner,
                                  AdjGraphSet *graphs,
                                  const AdjBundleGraph *graph,
                                  AdjScene *scene,
                                  AdjEvaluation *evaluation,
                                  const char *title,
                                  const char *path,
                                  GAsyncReadyCallback done);

/* The path that the task writes. */
const char *adj_export_get_path (AdjTask *task);

G_END_DECLS
