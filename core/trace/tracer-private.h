/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-arena.h"
#include "call/adj-context-internal.h"
#include "call/adj-effect-call.h"
#include "call/adj-mode.h"
#include "call/adj-object-call-internal.h"
#include "ir/adj-builder.h"
#include "trace/adj-tracer.h"

G_BEGIN_DECLS

typedef struct
{
  AdjOpcode opcode;
  gboolean only_if_read;
  gboolean own_texts; /* @meta has texts that are not owned by the graph of @origin */
  const char *name;
  const char *target;
  const AdjOp *op;            /* (nullable): the operator that @target names */
  AdjValue args, kwargs, val; /* in the graph's arena; may be changed */
  const AdjNodeMeta *meta;
  AdjNodeId origin;
} AdjTracedNode;

/* Identifies a trace; referenced by the tensors that it has marked. */
typedef struct
{
  guint n_refs;
  gboolean ended;
  const AdjTracer *tracer; /* (unowned): %NULL after the trace ended */
} AdjTraceMark;

struct _AdjTracer
{
  AdjContext *cx; /* (unowned) */
  AdjTraceMark *mark;
  gboolean items_when_read;
  gboolean drop_dead;
  gboolean formulas;        /* adj_tracer_set_formulas() */
  AdjArena *arena;          /* (unowned): of the graph to be built */
  AdjArena *temporary;      /* memory needed only during the trace */
  AdjBuilder *builder;      /* gives names during the trace; receives the nodes at its end */
  GArray *nodes;            /* AdjTracedNode */
  guint n_if_read;          /* number of nodes kept only if read */
  GHashTable *targets;      /* name of a target → TracedTarget */
  GHashTable *storages;     /* id of a storage → its number in the graph, plus one */
  GPtrArray *data;          /* lifted constants: _tensor_constant<index> */
  GHashTable *data_by_at;   /* address of bytes → index in data, plus one */
  GArray *attributes;       /* TracedAttribute */
  GHashTable *object_nodes; /* AdjObject → its node, plus one */
  GHashTable *kept_nodes;   /* AdjKeptValue → Proxy: the node that returned it last */
  GHashTable *sizes;        /* word of a size → its node */
  GArray *subgraphs;        /* TracedGraph */
  const AdjOpCall *call;    /* (nullable): the call whose arguments are converted */
  const AdjNodeMeta *meta;  /* metadata of nodes made at the last place */
  const char *meta_aten;    /* (nullable): original_aten of that place */
  AdjPlace meta_place;
  gint64 meta_sequence;
  AdjRegionTag meta_region;
};

#define ADJ_ITEMS(k, array, count)                                                                 \
  ((AdjValue){ .kind = ADJ_VALUE_##k, .n = (count), .items = (array) })

AdjNodeId adj_tracer_add (AdjTracer *tracer, AdjTracedNode *node, const char *stem);
/* Makes calls of the target of @op in the graph calls of @op, whether or not it is in the table. */
void adj_tracer_note_op (AdjTracer *tracer, const AdjOp *op);

/* -- subgraphs.c -- */

/* A graph that a node of the trace calls. */
typedef struct
{
  char *name;       /* (owned): name of its attribute */
  char *identifier; /* (owned) (nullable) */
  AdjGraph *graph;  /* (owned) */
} TracedGraph;

void adj_traced_graph_clear (gpointer graph);

/* -- attributes.c -- */

/* An object that the graph holds. */
typedef struct
{
  const char *stem;  /* constant */
  char *name;        /* (owned): the stem and a number */
  AdjOpaque *object; /* (owned) */
} TracedAttribute;

void adj_traced_attribute_clear (gpointer attribute);
/* Adds an attribute "<@stem>0", … that holds @object. (transfer none): valid until the next call.
 */
const TracedAttribute *
adj_tracer_take_attribute (AdjTracer *tracer, const char *stem, AdjOpaque *object);
/* The same, and adds a get_attr node for it. */
AdjNodeId adj_tracer_add_attribute (AdjTracer *tracer, const char *stem, AdjOpaque *object);

/* -- effects.c -- */

/* Adds a node for @call, after the modes below @mode have computed its result. */
gboolean adj_tracer_record_effect (AdjTracer *tracer, AdjMode *mode, AdjEffectCall *call);

/* -- wrapped.c -- */

/* Adds a node for @call, without calling its function. */
gboolean adj_tracer_record_wrapped (AdjTracer *tracer, AdjWrappedCall *call);

/* -- proxy.c -- */

/* The effect by which a call is ordered. */
typedef struct
{
  AdjTensor *token, *new_token;
  const char *target; /* of the operator */
  gboolean returns_list;
} AdjTracedEffect;

/* Adds a with_effects node, as adj_tracer_add_call(). */
gboolean adj_tracer_add_ordered_call (AdjTracer *tracer,
                                      const AdjTracedEffect *effect,
                                      const AdjValue *args,
                                      const AdjValue *kwargs,
                                      const AdjValue *result);

/* -- objects.c -- */

/* The node that represents @object: a placeholder, or the get_attr of an attribute. */
void adj_tracer_take_object (AdjTracer *tracer, AdjObject *object, AdjValue *out);
void adj_tracer_track_object (AdjTracer *tracer, AdjObject *object, AdjNodeId id);
/* A snapshot of @object: class and state, without elements. */
AdjValue adj_tracer_snapshot_object (AdjTracer *tracer, AdjObject *object);
/* Adds a node for @call, after the modes below @mode have computed its result. */
gboolean adj_tracer_record_object (AdjTracer *tracer, AdjMode *mode, AdjObjectCall *call);

/* -- tensors.c -- */

void adj_trace_mark_unref (AdjTraceMark *mark);
/* A snapshot of @value, unaffected by later changes. */
AdjValue
adj_tracer_snapshot (AdjTracer *tracer, const AdjValue *value, gboolean with_requires_grad);
/* Makes node @id represent @value. */
void adj_tracer_track (AdjTracer *tracer, const AdjValue *value, AdjNodeId id);
/* Makes the getitem nodes of @call represent its results. */
void adj_tracer_track_items (AdjTracer *tracer, AdjNodeId call, const AdjValue *result);
gboolean adj_tracer_take_tensor (AdjTracer *tracer, AdjTensor *tensor, AdjValue *out);
/* The name of the node that represents @tensor in the running trace.  (nullable) */
const char *adj_tracer_name_value (const AdjTensor *tensor);

/* -- sizes.c -- */

/* Makes node @id represent @size, replacing a node that reads it from a tensor. */
void adj_tracer_bind_size (AdjTracer *tracer, AdjSize size, AdjNodeId id);
/* Registers the metadata of node @id as source of its symbolic sizes. */
void adj_tracer_offer_sizes (AdjTracer *tracer, const AdjTensorMeta *meta, AdjNodeId id);
gboolean adj_tracer_take_size (AdjTracer *tracer, AdjSize size, AdjValue *out);
/* Adds a node for @size, which is the one element of @tensor or whether that is 1; only once. */
void adj_tracer_add_item (AdjTracer *tracer, const char *target, AdjTensor *tensor, AdjSize size);
void adj_tracer_add_size (
    AdjTracer *tracer, const char *target, const AdjValue *args, guint n_args, AdjSize result);

G_END_DECLS
