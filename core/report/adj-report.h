/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-comparison.h"
#include "formats/adj-bundle.h"
#include "passes/adj-finding.h"
#include "scene/adj-scene.h"

G_BEGIN_DECLS

/* One graph of a file as a self-contained page of HTML, without network or scripts: its picture in
 * light and dark, its parts, its stages, what it saves and holds, its comparison, and the findings
 * of the checks. */
typedef struct
{
  const char *file;      /* name of the file, for the title */
  const char *generator; /* "Adjoint 0.1.0" */
  AdjBundle *bundle;
  const AdjBundleGraph *graph;     /* of @bundle, or joined from graphs of it */
  const AdjScene *scene;           /* its picture */
  const AdjComparison *comparison; /* (nullable): it was not run, or not compared */
  const char *compared;            /* (nullable): the reference: "what was recorded" */
  const char *not_run;             /* (nullable): why there is no comparison */
  const AdjFindings *findings;     /* (nullable): of @bundle; %NULL: the checks are run */
  GCancellable *cancellable;       /* (nullable) */
  /* (nullable) Called after every step. */
  void (*progress) (guint done, guint total, gpointer data);
  gpointer data;
} AdjReport;

/* The page.  (transfer full) (nullable): %NULL when it was cancelled or the picture failed */
char *adj_report_make (const AdjReport *report, GError **error);
/* Writes it to a temporary file beside @path and renames that. */
gboolean adj_report_write (const AdjReport *report, const char *path, GError **error);

G_END_DECLS
