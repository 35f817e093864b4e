/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/late-entry-private.h"
#include "formats/pickle-private.h"
#include "formats/zip-private.h"
#include "ir/adj-value.h"

G_BEGIN_DECLS

/* What torch.save wrote (formats/SPEC.md §11): dicts, lists and tuples, numbers, texts, DATA.  What
 * only Python could make is RAW, the name of what it would call. */

/* Whether @archive looks like one that torch.save wrote. */
gboolean torch_save_is (const ZipArchive *archive);

/**
 * torch_save_read:
 * @part: the archive; tensors share it
 * @name: begins messages
 * @diags: (nullable)
 * @out: (out) (transfer full)
 *
 * Returns: %FALSE with ADJ_ERROR_PARSE or ADJ_ERROR_LIMIT
 */
gboolean torch_save_read (
    AdjFilePart *part, const char *name, AdjDiags *diags, AdjValue *out, GError **error);

/* (transfer full) (nullable): entry @index of @archive, for tensors that share its bytes: aligned
 * for every element type and read now, or, of a large file, at first use. */
AdjLateBytes *
torch_save_get_bytes (ZipArchive *archive, guint index, AdjDiags *diags, GError **error);

/* Of the elements of a storage whose class is the global @type; NONE: it is no class of storages.
 */
AdjDType storage_class_get_dtype (const PickleItem *type);

G_END_DECLS
