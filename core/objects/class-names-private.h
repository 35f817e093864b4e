/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-object.h"

G_BEGIN_DECLS

/* Whether @name is the qualified name of @klass, "ns::Class" or, as in TorchScript,
 * "__torch__.torch.classes.ns.Class". */
gboolean object_class_is_named (const AdjObjectClass *klass, const char *name);

G_END_DECLS
