/* SPDX-License-Identifier: MIT */
#pragma once

#include "trace/adj-trace.h"

G_BEGIN_DECLS

/* Converts example inputs, one by one, to values of the tracing context; aliases stay aliases. */
typedef struct _AdjExamples AdjExamples;

/* @symbols: (nullable): symbols in the sizes of the examples. */
AdjExamples *adj_examples_new (AdjContext *cx, AdjSymbols *symbols, gboolean real);
void adj_examples_free (AdjExamples *examples);
/* How integer sizes are converted; STATIC at first. */
void adj_examples_set_policy (AdjExamples *examples, AdjSizePolicy policy);
/* Converts integer sizes by @map, instead of a policy. */
void adj_examples_set_map (AdjExamples *examples,
                           AdjSize (*map) (gint64 size, gconstpointer data),
                           gconstpointer data);
/* @out (transfer full).  %FALSE: the context is in error. */
gboolean adj_examples_import (AdjExamples *examples, const AdjValue *value, AdjValue *out);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjExamples, adj_examples_free)

G_END_DECLS
