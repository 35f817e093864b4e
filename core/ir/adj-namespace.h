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

/* (transfer none): @name as it is, which is in use from now on. */
const char *adj_namespace_hold (AdjNamespace *space, const char *name);

/* Node number @node is called @name, which @space has handed out; %FALSE: another one was. */
gboolean adj_namespace_bind (AdjNamespace *space, const char *name, guint node);
/* The node of that name; G_MAXUINT: none has it. */
guint adj_namespace_find (const AdjNamespace *space, const char *name);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjNamespace, adj_namespace_free)

G_END_DECLS
