/* SPDX-License-Identifier: MIT */
#pragma once

#include "trace/adj-trace.h"

G_BEGIN_DECLS

/* Example inputs as values of the context that traces, one by one: what aliased, aliases. */
typedef struct _AdjExamples AdjExamples;

/* @symbols: (nullable): what sizes in the examples refer to. */
AdjExamples *adj_examples_new (AdjContext *cx, AdjSymbols *symbols, gboolean real);
void adj_examples_free (AdjExamples *examples);
/* What sizes that are integers become; STATIC at first. */
void adj_examples_set_policy (AdjExamples *examples, AdjSizePolicy policy);
/* What @map gives for an integer, in place of a policy. */
void adj_examples_set_map (AdjExamples *examples,
                           AdjSize (*map) (gint64 size, gconstpointer data),
                           gconstpointer data);
/* @out (transfer full).  %FALSE: the context is in error. */
gboolean adj_examples_import (AdjExamples *examples, const AdjValue *value, AdjValue *out);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjExamples, adj_examples_free)

G_END_DECLS
