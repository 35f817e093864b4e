/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "ir/adj-value.h"
#include "model/adj-task.h"

G_BEGIN_DECLS

/* What compiling a graph decides about its calls: the handling of each input and output, by which
 * rule, and how writes were functionalised. */

typedef struct
{
  char *name;     /* "input 0 · x" */
  char *text;     /* "is written by the last nodes of the graph, since …" */
  char *rule;     /* "rule 2.4-3c", or "generation 1": its reference */
  char *why;      /* explanation; "" where @text suffices */
  AdjNodeId node; /* of the graph; ADJ_NO_NODE: none */
} AdjContractRow;

typedef struct
{
  GPtrArray *rows; /* of AdjContractRow: inputs, outputs, bases, tangents */
  GPtrArray *tape; /* of AdjContractRow: operations on storages, in order */
} AdjContract;

/* The result is an AdjContract; an error says why the graph cannot be compiled. */
AdjTask *adj_contract_start (GObject *owner, AdjGraph *graph, GAsyncReadyCallback done);
void adj_contract_free (AdjContract *contract);

G_END_DECLS
