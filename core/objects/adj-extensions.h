/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-diag.h"
#include "call/adj-object.h"

G_BEGIN_DECLS

/* Classes of opaque objects and operators beyond those of the library, provided by plugins; files
 * refer to them by name.  Counted; only its creator adds to it, before sharing it.  Graphs that
 * were read with it must not outlive it. */
typedef struct _AdjExtensions AdjExtensions;

ADJ_PUBLIC AdjExtensions *adj_extensions_new (void);                      /* (transfer full) */
ADJ_PUBLIC AdjExtensions *adj_extensions_ref (AdjExtensions *extensions); /* (transfer full) */
ADJ_PUBLIC void adj_extensions_unref (AdjExtensions *extensions); /* @extensions: (nullable) */

/* @klass replaces the class of that name, also one of the library, with a warning in @diags
 * (nullable); it must outlive all objects.  %FALSE with ADJ_ERROR_UNSUPPORTED when its record is
 * invalid. */
ADJ_PUBLIC gboolean adj_extensions_add_class (AdjExtensions *extensions,
                                              const AdjObjectClass *klass,
                                              AdjDiags *diags,
                                              GError **error);
/* @record: as in adj_op_new(), with the same errors, or ADJ_ERROR_UNSUPPORTED when an operator of
 * that name exists. */
ADJ_PUBLIC gboolean adj_extensions_add_op (AdjExtensions *extensions,
                                           const AdjOp *record,
                                           GError **error);

/* The added classes that were not replaced, in order. */
ADJ_PUBLIC guint adj_extensions_get_n_classes (const AdjExtensions *extensions);
ADJ_PUBLIC const AdjObjectClass *adj_extensions_get_class (const AdjExtensions *extensions,
                                                           guint index); /* (transfer none) */
/* (transfer none) (nullable): by qualified name; the library's classes, adj_object_class_find(),
 * last. */
ADJ_PUBLIC const AdjObjectClass *adj_extensions_find_class (const AdjExtensions *extensions,
                                                            const char *name);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjExtensions, adj_extensions_unref)

G_END_DECLS
