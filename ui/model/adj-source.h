/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "ir/adj-graph.h"
#include "model/adj-task.h"

G_BEGIN_DECLS

/* A line of source text with the nodes that it made. */
#define ADJ_TYPE_SOURCE_LINE (adj_source_line_get_type ())
G_DECLARE_FINAL_TYPE (AdjSourceLine, adj_source_line, ADJ, SOURCE_LINE, GObject)

guint adj_source_line_get_number (AdjSourceLine *self); /* 0: a gap in the source */
const char *adj_source_line_get_text (AdjSourceLine *self);
gboolean adj_source_line_is_current (AdjSourceLine *self);
guint adj_source_line_get_n_nodes (AdjSourceLine *self);
AdjNodeId adj_source_line_get_node (AdjSourceLine *self, guint index);

typedef struct
{
  GListModel *lines; /* (owned): of AdjSourceLine */
  guint current;     /* row of the line that was asked for */
  gboolean complete; /* read from the file itself, not assembled from stack traces */
} AdjSource;

/**
 * adj_source_load:
 * @frame: of a node of @graph
 * @folder: (nullable): where to look for the file when it is not at the traced path
 *
 * Loads the text around @frame: from the file if it exists and agrees with the stack traces, else
 * assembled from the stack traces of the graph.
 */
void adj_source_load (const AdjGraph *graph, const AdjFrame *frame, GFile *folder, AdjSource *out);
void adj_source_clear (AdjSource *source);

/* The same in another thread; @frame: copied, of a node or of something that a node calls.  The
 * result is an AdjSource, to be freed by adj_source_free(). */
AdjTask *adj_source_start (GObject *owner,
                           AdjGraph *graph,
                           const AdjFrame *frame,
                           GFile *folder,
                           GAsyncReadyCallback done);
void adj_source_free (AdjSource *source);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AdjSource, adj_source_clear)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjSource, adj_source_free)

G_END_DECLS
