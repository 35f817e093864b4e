/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-graph.h"

G_BEGIN_DECLS

/* A value that was kept as it came out is not what its users get when somebody writes to it in
 * between: which node's result holds it now. */
typedef struct _Written Written;

#define WRITTEN_UNKNOWN G_MAXUINT

Written *written_new (const AdjGraph *graph);
void written_free (Written *written);

/* After node @index, in order. */
void written_pass (Written *written, guint index);

/* The node whose result is what node @index gave, as it is now; WRITTEN_UNKNOWN: none is. */
guint written_get_holder (const Written *written, guint index);

G_END_DECLS
