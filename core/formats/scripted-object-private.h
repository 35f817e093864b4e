/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/pickle-private.h"
#include "ir/adj-opaque.h"

G_BEGIN_DECLS

/* Objects of TorchScript's classes in archives of torch.save (formats/SPEC.md §12.3). */

/* (nullable): the class of the object that @item is; @pickled (out) (nullable): what the class
 * pickled of it. */
const char *scripted_object_find (const PickleItem *item, const PickleItem **pickled);
/* (transfer full): the object as a description; @pickled: (nullable): as it was read */
AdjOpaque *scripted_object_new (const char *name, const AdjValue *pickled);
/* (transfer full): the same without a state, because of @reason. */
AdjOpaque *scripted_object_new_unknown (const char *name, const char *reason);

G_END_DECLS
