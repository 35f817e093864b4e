/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-document.h"

G_BEGIN_DECLS

/* The main loop of tests, with a display or without. */

/* Runs it until @done says so; %FALSE after @seconds. */
gboolean adj_wait_until (gboolean (*done) (gpointer data), gpointer data, guint seconds);
/* Until the document has nothing to do: what it was asked for is there, or its error. */
void adj_wait_for (AdjDocument *document);
/* Until no thread works any more, for nobody. */
void adj_wait_for_threads (void);
/* A document with a graph of a file below data/ and its picture.  (transfer full) */
AdjDocument *adj_wait_open (const char *name, const char *graph_id);

G_END_DECLS
