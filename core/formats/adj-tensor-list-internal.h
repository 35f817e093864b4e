/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-tensor-data.h"

G_BEGIN_DECLS

/* The tensors of a file, safetensors or what torch.save wrote, in its order.  Keys of nested dicts
 * are joined by dots; if any tensor has no text as its key, tensors have no names, only indices. */
typedef struct _AdjTensorList AdjTensorList;

/* Whether the file at @path is of these formats and holds no graph. */
gboolean adj_tensor_list_is (const char *path);
/* (transfer full) (nullable): %NULL with ADJ_ERROR_PARSE, ADJ_ERROR_LIMIT or G_IO_ERROR; messages
 * begin with @path */
AdjTensorList *adj_tensor_list_load (const char *path, GError **error);
void adj_tensor_list_free (AdjTensorList *list);
guint adj_tensor_list_get_n (const AdjTensorList *list);
/* (nullable): %NULL: tensors of this list have no names */
const char *adj_tensor_list_get_name (const AdjTensorList *list, guint index);
/* (transfer none) (nullable): as adj_safetensors_find(). */
AdjTensorData *adj_tensor_list_get (const AdjTensorList *list, guint index, GError **error);
AdjTensorData *adj_tensor_list_find (const AdjTensorList *list, const char *name, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjTensorList, adj_tensor_list_free)

G_END_DECLS
