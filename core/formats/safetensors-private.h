/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-safetensors.h"
#include "formats/late-entry-private.h"

G_BEGIN_DECLS

/* adj_safetensors_read() of the header alone: tensors are read from @entry, which is @part, at
 * first use. */
AdjSafetensors *
safetensors_read_late (AdjFilePart *part, LateEntry *entry, const char *name, GError **error);

G_END_DECLS
