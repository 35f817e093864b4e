/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* Where the tensors of a bundle go when it is written.  First every tensor is added, then each has
 * a place: tensors that alias share a key, and then say how they look at its bytes. */
typedef struct _TensorStore TensorStore;

TensorStore *tensor_store_new (void);
void tensor_store_free (TensorStore *store);

/* @file: (unowned) id of the file it goes to; @name: its key, made unique.  A tensor that is there
 * already stays where it is. */
void
tensor_store_add (TensorStore *store, const char *file, const char *name, AdjTensorData *tensor);
/* All tensors in @value, and in the states of objects in it. */
void tensor_store_add_value (TensorStore *store,
                             const char *file,
                             const char *name,
                             const AdjValue *value);
/* As object_get_state(), the same for each object that was added. @id: (out) (optional) */
const AdjValue *
tensor_store_get_state (TensorStore *store, AdjOpaque *object, guint *id, GError **error);
/* Appends ["file", "key"] or ["file", "key", {"size": …, "stride": …, "offset": …}]; with "dtype"
 * for complex numbers that safetensors does not know, which are stored as pairs. */
void tensor_store_print_place (TensorStore *store, AdjTensorData *tensor, GString *out);
/* The content of every file that is needed: id → GBytes. */
GHashTable *tensor_store_write (TensorStore *store, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (TensorStore, tensor_store_free)

G_END_DECLS
