/* SPDX-License-Identifier: MIT */
#pragma once

#include "partition-test.h"

G_BEGIN_DECLS

/* PyTorch's decisions on a joint graph, as lines "#@ key value" (data/make-expected.py). */

/* (transfer full): the keys and values on the lines from @at up to the next case. */
GHashTable *decisions_read (char **lines, guint *at);
/* Returns "" if the key is absent. */
const char *decisions_get (GHashTable *keys, const char *key);
/* Expects the same decisions in compat mode: cut, saved, recomputed, order of backward.  @number
 * identifies the case in the failure message. */
void decisions_check (guint number, AdjGraph *joint, GHashTable *keys);

G_END_DECLS
