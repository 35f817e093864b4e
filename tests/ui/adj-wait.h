/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-document.h"

G_BEGIN_DECLS

/* Runs the main loop in tests, with or without a display. */

/* How long to wait for what is certain to come: a busy machine; under sanitizers ten times that. */
#ifdef __SANITIZE_ADDRESS__
#define ADJ_WAIT_SECONDS 600
#else
#define ADJ_WAIT_SECONDS 60
#endif

/* Runs the main loop until @done returns %TRUE; %FALSE after @seconds. */
gboolean adj_wait_until (gboolean (*done) (gpointer data), gpointer data, guint seconds);
/* Runs until @document is idle: the requested result, or its error, is there. */
void adj_wait_for (AdjDocument *document);
/* Runs until no worker thread is running. */
void adj_wait_for_threads (void);
/* (transfer full): a document with a graph of a file below data/ and its picture. */
AdjDocument *adj_wait_open (const char *name, const char *graph_id);

G_END_DECLS
