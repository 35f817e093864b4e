/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-tensor-data.h"

G_BEGIN_DECLS

/* safetensors (formats/SPEC.md §6): the names and tensors of one file, checked as the reference
 * reader does.  Tensors share the bytes that were read. */
typedef struct _AdjSafetensors AdjSafetensors;

#define ADJ_SAFETENSORS_MAX_HEADER 100000000

/* Whether the file at @path is one, by its name or by its first bytes. */
ADJ_PUBLIC gboolean adj_safetensors_is (const char *path);

/* (transfer full) (nullable): %NULL with ADJ_ERROR_PARSE or ADJ_ERROR_LIMIT.  @name (nullable)
 * begins error messages. */
ADJ_PUBLIC AdjSafetensors *adj_safetensors_read (GBytes *bytes, const char *name, GError **error);
/* (transfer full) (nullable): of the file at @path, with which errors begin: %NULL with
 * G_IO_ERROR, or the errors of adj_safetensors_read(). */
ADJ_PUBLIC AdjSafetensors *adj_safetensors_load (const char *path, GError **error);
ADJ_PUBLIC void adj_safetensors_free (AdjSafetensors *file);
/* In the order of the header. */
ADJ_PUBLIC guint adj_safetensors_get_n (const AdjSafetensors *file);
ADJ_PUBLIC const char *adj_safetensors_get_name (const AdjSafetensors *file, guint index);
/* (transfer none) (nullable): %NULL for an element smaller than a byte, or more dimensions than
 * ADJ_MAX_RANK. */
ADJ_PUBLIC AdjTensorData *adj_safetensors_get (const AdjSafetensors *file, guint index);
/* (transfer none) (nullable): %NULL with ADJ_ERROR_NOT_FOUND, or with ADJ_ERROR_UNSUPPORTED where
 * adj_safetensors_get() is %NULL; the message does not name the file. */
ADJ_PUBLIC AdjTensorData *
adj_safetensors_find (const AdjSafetensors *file, const char *name, GError **error);

/* By decreasing element size, then name; data aligned to 64 bytes.  Same tensors, same bytes.
 * (transfer full) (nullable): %NULL with ADJ_ERROR_UNSUPPORTED for a dtype that the format does not
 * have, ADJ_ERROR_VERIFY for a name that is taken, ADJ_ERROR_LIMIT or ADJ_ERROR_MEMORY when it is
 * too much. */
ADJ_PUBLIC GBytes *adj_safetensors_write (const char *const *names,
                                          AdjTensorData *const *tensors,
                                          guint n,
                                          GError **error);

/* The same into a file, tensor by tensor; what stood there stays until all is written.  %FALSE with
 * the errors of adj_safetensors_write(), or with G_IO_ERROR. */
ADJ_PUBLIC gboolean adj_safetensors_save (const char *path,
                                          const char *const *names,
                                          AdjTensorData *const *tensors,
                                          guint n,
                                          GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjSafetensors, adj_safetensors_free)

G_END_DECLS
