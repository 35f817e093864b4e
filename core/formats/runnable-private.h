/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A script that repeats a compilation ("fx_graph_runnable") has a graph without annotations and,
 * behind it, a function load_args() that makes its inputs.  (transfer full) (nullable): the
 * graph of @text with what is known of them at the placeholders; %NULL when it is no such script.
 */
char *runnable_annotate (const char *text, gsize length);

G_END_DECLS
