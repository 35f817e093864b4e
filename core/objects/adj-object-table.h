/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-object.h"

G_BEGIN_DECLS

/* The classes of opaque objects in the library. */

/* In the order of lists. */
ADJ_PUBLIC guint adj_object_classes_get_n (void);
ADJ_PUBLIC const AdjObjectClass *adj_object_classes_get (guint index); /* (transfer none) */
/* (transfer none) (nullable): by qualified name, "_TorchScriptTesting::_TensorQueue", also as
 * TorchScript writes it, "__torch__.torch.classes._TorchScriptTesting._TensorQueue". */
ADJ_PUBLIC const AdjObjectClass *adj_object_class_find (const char *name);

G_END_DECLS
