/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* Alias versions: kept values are those before later writes. This tells which node's result holds
 * the current content of a value. */
typedef struct _AliasVersions AliasVersions;

#define ALIAS_VERSIONS_UNKNOWN G_MAXUINT

AliasVersions *alias_versions_new (const AdjGraph *graph);
void alias_versions_free (AliasVersions *versions);

/* After node @index, in order. */
void alias_versions_pass (AliasVersions *versions, guint index);

/* The node whose result is the current value of node @index; ALIAS_VERSIONS_UNKNOWN: none. */
guint alias_versions_get_holder (const AliasVersions *versions, guint index);

/* Whether node @index writes, and two tensors that it is given may share memory: alone it gives
 * something else. */
gboolean alias_versions_writes_shared (const AliasVersions *versions, guint index);

G_END_DECLS
