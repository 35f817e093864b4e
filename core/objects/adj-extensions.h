/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-diag.h"
#include "call/adj-object.h"

G_BEGIN_DECLS

/* Classes of opaque objects and operators beside those of the library, which a plugin brings: what
 * a file names of them is found by name.  Counted; added to by the one who makes it, before he
 * shares it.  Graphs that were read with it must not outlive it. */
typedef struct _AdjExtensions AdjExtensions;

ADJ_PUBLIC AdjExtensions *adj_extensions_new (void);                      /* (transfer full) */
ADJ_PUBLIC AdjExtensions *adj_extensions_ref (AdjExtensions *extensions); /* (transfer full) */
ADJ_PUBLIC void adj_extensions_unref (AdjExtensions *extensions); /* @extensions: (nullable) */

/* @klass takes the place of what has its name so far, of the library's too, with a warning in
 * @diags (nullable); it must outlive all objects.  %FALSE with ADJ_ERROR_UNSUPPORTED when its
 * record is wrong. */
ADJ_PUBLIC gboolean adj_extensions_add_class (AdjExtensions *extensions,
                                              const AdjObjectClass *klass,
                                              AdjDiags *diags,
                                              GError **error);
/* @record: as of adj_op_new(), whose errors it has, or ADJ_ERROR_UNSUPPORTED when there is an
 * operator of that name. */
ADJ_PUBLIC gboolean adj_extensions_add_op (AdjExtensions *extensions,
                                           const AdjOp *record,
                                           GError **error);

/* The classes that were added and still hold, in that order. */
ADJ_PUBLIC guint adj_extensions_get_n_classes (const AdjExtensions *extensions);
ADJ_PUBLIC const AdjObjectClass *adj_extensions_get_class (const AdjExtensions *extensions,
                                                           guint index); /* (transfer none) */
/* (transfer none) (nullable): by qualified name as adj_object_class_find(), which is asked last. */
ADJ_PUBLIC const AdjObjectClass *adj_extensions_find_class (const AdjExtensions *extensions,
                                                            const char *name);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjExtensions, adj_extensions_unref)

G_END_DECLS
