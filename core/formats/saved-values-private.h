/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-diag.h"
#include "formats/pickle-private.h"
#include "ir/adj-value.h"
#include "tensor/adj-late-bytes-internal.h"

G_BEGIN_DECLS

/* Makes values of what a pickle describes (formats/SPEC.md §11.2): dicts, lists and tuples,
 * numbers, texts, DATA.  What only Python could make is RAW, the name of what it would call. */
typedef struct
{
  const char *name; /* (unowned): "path: entry", begins messages */
  AdjDiags *diags;  /* (nullable) */
  /* (nullable): (transfer none) (nullable): storage @key, which must have @n_bytes, of those that
   * lie beside the pickle */
  AdjLateBytes *(*find_storage) (gpointer data, const char *key, guint64 n_bytes, GError **error);
  gpointer data;
  /* Private. */
  GHashTable *objects; /* PickleItem → AdjOpaque */
  GHashTable *bytes;   /* PickleItem → GBytes: texts and bytes of which arrays and storages are */
  GHashTable *streams; /* GBytes → SavedElements: storages that are streams in the pickle */
  GHashTable *storages; /* PickleItem, a call → AdjLateBytes: what it makes */
  GPtrArray *open;      /* PickleItem: what is being read, each inside the one before it */
  guint n_values;
  guint64 n_text_bytes;
} SavedValues;

void saved_values_init (SavedValues *values, const char *name, AdjDiags *diags);
void saved_values_clear (SavedValues *values);
/* FALSE with ADJ_ERROR_PARSE or ADJ_ERROR_LIMIT; @out: (out) (transfer full). */
gboolean
saved_values_read (SavedValues *values, const PickleItem *item, AdjValue *out, GError **error);

/* Sets @error; returns %FALSE. */
gboolean saved_values_fail (const SavedValues *values, GError **error, const char *what);
/* Makes @out RAW, the name of what @item calls; returns %TRUE. */
gboolean saved_values_name_call (const PickleItem *item, AdjValue *out);

/* The elements of a storage inside a pickle. */
typedef struct
{
  GBytes *bytes; /* (owned) */
  AdjDType dtype;
} SavedElements;

/* (transfer none) (nullable): the bytes that @item is: BYTES, or a text whose characters are bytes,
 * as protocol 2 writes them; at an address that every element may have. */
GBytes *saved_values_get_bytes (SavedValues *values, const PickleItem *item);
/* (transfer none): the storage that @call, an item of the pickle, makes of @bytes: one for each
 * call, although the bytes of many may be one item. */
AdjLateBytes *saved_values_get_storage (SavedValues *values, const PickleItem *call, GBytes *bytes);

/* Calls that make tensors. */
gboolean
saved_tensor_read (SavedValues *values, const PickleItem *item, AdjValue *out, GError **error);
gboolean
saved_parameter_read (SavedValues *values, const PickleItem *item, AdjValue *out, GError **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SavedValues, saved_values_clear)

G_END_DECLS
