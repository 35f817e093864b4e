/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-arena.h"
#include "call/adj-schema.h"

G_BEGIN_DECLS

/* @arena owns the result. */
const AdjSchema *adj_schema_parse (const char *text, AdjArena *arena, GError **error);

/* Index of argument @name; -1: it has none. */
gint adj_schema_find_argument (const AdjSchema *schema, const char *name);

/* Whether a call bumps the version of written arguments. As in PyTorch not for buffers that an
 * operator with other results updates, such as the running statistics of batch norm. */
gboolean adj_schema_counts_writes (const AdjSchema *schema);

/* Whether @type, of kind ANY, is the class of an object: "__main__.Scale",
 * "__torch__.torch.classes.ns.Queue?". */
gboolean adj_type_is_class (const AdjType *type);
/* Whether it is the class @name, "ns::Queue" or "module.Scale". */
gboolean adj_type_is_class_named (const AdjType *type, const char *name);
/* Whether an argument is an object of a C++ class, "__torch__.torch.classes.ns.Queue". */
gboolean adj_schema_takes_scripted (const AdjSchema *schema);

/* "Tensor", "SymInt"; "Any" for unknown types. */
const char *adj_type_kind_name (AdjTypeKind kind);

G_END_DECLS
