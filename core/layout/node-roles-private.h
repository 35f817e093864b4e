/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"
#include "layout/adj-node-roles.h"

G_BEGIN_DECLS

/* The packet of a target: "view" of "torch.ops.aten.view.default", "getitem" of
 * "operator.getitem". */
gboolean node_roles_packet_is (const char *target, const char *packet);

/* objects.c */

gboolean node_roles_orders_effects (const AdjNode *node);
/* Sets which nodes are objects or calls of their methods, and which are tokens. */
void node_roles_find_objects (AdjNodeRoles *self);

/* input-chips.c: inputs that are chips, when the results are known.  (transfer full) (array
 * length=n) */
guint8 *node_roles_find_chips (const AdjNodeRoles *self);

/* copies.c: @repeats holds for each node the first one that makes the same call. */

guint32 *node_roles_find_repeats (const AdjGraph *graph); /* (transfer full) */
/* Sets the originals, when hosts and sides are known. */
void node_roles_find_copies (AdjNodeRoles *self, const guint32 *repeats);

G_END_DECLS
