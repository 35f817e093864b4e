/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

#define ADJ_LINK_SCHEME "adjoint"

/* A place in a file, to be sent to others who have the file:
 *
 *   adjoint:///home/ada/step.adjoint#graph=0-0-joint&node=gelu_2
 *
 * The path is absolute.  Paths and values are escaped as in any URI.  Instead of "graph", an id,
 * "stage" may give the number of a stage of a recording, from 1, as Alt+1 … do.  Without "node" the
 * link is to the graph, without both to the file.  Other keys are ignored. */
typedef struct
{
  GFile *file;
  char *graph; /* (nullable): id */
  guint stage; /* from 1; 0: not given */
  char *node;  /* (nullable): name */
} AdjLink;

/* Whether @text begins as a link does. */
gboolean adj_link_is (const char *text);
/* @graph, @node: (nullable).  (transfer full) (nullable): %NULL for files without a path */
char *adj_link_make (GFile *file, const char *graph, const char *node);
/* %FALSE with G_IO_ERROR_INVALID_ARGUMENT, which says what is wrong. */
gboolean adj_link_parse (AdjLink *link, const char *text, GError **error);
void adj_link_clear (AdjLink *link);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AdjLink, adj_link_clear)

G_END_DECLS
