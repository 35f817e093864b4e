/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Whether item @a of one sequence may stand for item @b of the other. */
typedef gboolean (*AlignmentFunc) (guint a, guint b, gpointer data);

/**
 * session_align:
 *
 * Pairs items of two sequences in order, so that as few as possible have no partner.
 *
 * Returns: (transfer full) (nullable): of each of @n_a items its partner, or -1; %NULL when some
 *   thousands of items would have none
 */
gint *session_align (guint n_a, guint n_b, AlignmentFunc same, gpointer data);

G_END_DECLS
