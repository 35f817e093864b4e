/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Whether item @a of one sequence may stand for item @b of the other. */
typedef gboolean (*AlignmentFunc) (guint a, guint b, gpointer data);

/**
 * session_align:
 *
 * Pairs two sequences without crossing, so that as few as possible are left alone.
 *
 * Returns: (transfer full) (nullable): of each of @n_a items its partner, or -1; %NULL when more
 *   than some thousands would be left alone
 */
gint *session_align (guint n_a, guint n_b, AlignmentFunc same, gpointer data);

G_END_DECLS
