/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-bundle.h"
#include "formats/entries-private.h"
#include "formats/json-private.h"

G_BEGIN_DECLS

/* The tensor files of an .adjoint, opened when they are first named.  Counted: the taps of a bundle
 * stay behind when loading has ended. */
typedef struct _TensorFiles TensorFiles;

/* All arguments are borrowed until tensor_files_close (). */
TensorFiles *tensor_files_new (const char *path, Entries *entries, AdjDiags *diags);
/* Ends loading: drops the borrowed arguments and the reference. */
void tensor_files_close (TensorFiles *files);

/* A file that the manifest lists, and the sha256 (nullable) that it states; both texts are
 * borrowed.
 */
void tensor_files_set_hash (TensorFiles *files, const char *id, const char *sha256);
/* What {"$tensor": @place} names.  Values of the same key share their bytes.  (transfer none)
 * (nullable) */
AdjTensorData *tensor_files_get (TensorFiles *files,
                                 const JsonReader *json,
                                 const JsonItem *place,
                                 GError **error);
/* Gives @builder the tensors of all files in the manifest that no value refers to and that belong
 * to no node by name. */
void tensor_files_keep_loose (TensorFiles *files, AdjBundleBuilder *builder);
/* Taps of the call that was added last: {"f32": id, "f64": id}, or null.  Calls that name the same
 * files share one source: see bundle_shares_taps (). */
gboolean tensor_files_set_taps (TensorFiles *files,
                                AdjBundleBuilder *builder,
                                const JsonReader *json,
                                const JsonItem *item,
                                GError **error);

G_END_DECLS
