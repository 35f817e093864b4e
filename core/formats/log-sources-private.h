/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* The sources of a region's placeholders.  In an inference graph inputs are called otherwise. */
typedef struct
{
  GHashTable *texts;        /* (owned): name of a placeholder → text of its metadata */
  GHashTable *in_inference; /* (owned): the same of an inference graph */
  guint n;
  guint n_inputs; /* of the Dynamo graph */
} LogSources;

void log_sources_init (LogSources *sources);
void log_sources_clear (LogSources *sources);
/* The expression that an input of the Dynamo graph came from. */
void log_sources_add (LogSources *sources, const char *source);
/* The inputs of the graphs that AOTAutograd makes of Dynamo's @graph are those of @graph, in the
 * same order, numbered. */
void log_sources_keep_inputs (LogSources *sources, const AdjGraph *graph);

G_END_DECLS
