/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* Alias versions: kept values are those before later writes.  Tells which node's result has the
 * current content of a value's memory. */
typedef struct _AliasVersions AliasVersions;

#define ALIAS_VERSIONS_UNKNOWN G_MAXUINT

AliasVersions *alias_versions_new (const AdjGraph *graph);
void alias_versions_free (AliasVersions *versions);

/* To be called after each node, in order. */
void alias_versions_pass (AliasVersions *versions, guint index);

/* The node whose result is the current content of node @index's value; ALIAS_VERSIONS_UNKNOWN:
 * none. */
guint alias_versions_get_holder (const AliasVersions *versions, guint index);

/* Whether node @index writes and two of its tensors may share memory, so that computing it alone
 * gives another result. */
gboolean alias_versions_writes_shared (const AliasVersions *versions, guint index);

G_END_DECLS
