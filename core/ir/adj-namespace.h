/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* An identifier: each run of characters that none may have becomes one underscore. */
char *adj_name_clean (const char *candidate);

/* Unique names of the nodes of one graph, by the rule of ir/SPEC.md §2.2, and the node of each. A
 * name is never released. */
typedef struct _AdjNamespace AdjNamespace;

AdjNamespace *adj_namespace_new (void);
void adj_namespace_free (AdjNamespace *space);

/* (transfer none): @candidate, or it with other characters and another suffix; lives as long as
 * @space. */
const char *adj_namespace_take (AdjNamespace *space, const char *candidate);

/* (transfer none): reserves @name unchanged. */
const char *adj_namespace_hold (AdjNamespace *space, const char *name);

/* Records that node number @node has @name, which @space has handed out; %FALSE if another node has
 * it. */
gboolean adj_namespace_bind (AdjNamespace *space, const char *name, guint node);
/* The node of that name; G_MAXUINT: none has it. */
guint adj_namespace_find (const AdjNamespace *space, const char *name);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjNamespace, adj_namespace_free)

G_END_DECLS
