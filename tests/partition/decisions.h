/* SPDX-License-Identifier: MIT */
#pragma once

#include "partition-test.h"

G_BEGIN_DECLS

/* What PyTorch decided on a joint graph, as lines "#@ key value" (data/make-expected.py). */

/* Reads the lines from @at on, to the next case.  (transfer full) */
GHashTable *decisions_read (char **lines, guint *at);
/* "" when the key is not there. */
const char *decisions_get (GHashTable *keys, const char *key);
/* Ours in compat mode are the same: cut, saved, recomputed, order of backward.  @number is said
 * when they are not. */
void decisions_check (guint number, AdjGraph *joint, GHashTable *keys);

G_END_DECLS
