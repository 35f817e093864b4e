/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-comparison.h"
#include "formats/adj-bundle.h"
#include "passes/adj-finding.h"
#include "scene/adj-scene.h"

G_BEGIN_DECLS

/* One graph of a file as a page of HTML that needs nothing else, neither network nor scripts: its
 * picture in light and in dark, what it consists of, how it came about, what it saves and holds,
 * how it compared, and what the checks found. */
typedef struct
{
  const char *file;      /* its name, for the title */
  const char *generator; /* "Adjoint 0.1.0" */
  AdjBundle *bundle;
  const AdjBundleGraph *graph;     /* of @bundle, or put together from graphs of it */
  const AdjScene *scene;           /* its picture */
  const AdjComparison *comparison; /* (nullable): it was not run, or not compared */
  const char *compared;            /* (nullable): with what: "what was recorded" */
  const char *not_run;             /* (nullable): why there is no comparison */
  const AdjFindings *findings;     /* (nullable): of @bundle; %NULL: they are looked for */
  GCancellable *cancellable;       /* (nullable) */
  /* (nullable) Told of every step that is done. */
  void (*progress) (guint done, guint total, gpointer data);
  gpointer data;
} AdjReport;

/* The page.  (transfer full) (nullable): %NULL when it was cancelled or the picture failed */
char *adj_report_make (const AdjReport *report, GError **error);
/* Writes it beside @path and renames. */
gboolean adj_report_write (const AdjReport *report, const char *path, GError **error);

G_END_DECLS
