/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/adj-engine-internal.h"
#include "compiled_autograd/adj-compiled-autograd-internal.h"
#include "ir/adj-value.h"
#include "ir/adj-opaque.h"
#include "ir/adj-target-internal.h"

G_BEGIN_DECLS

/* -- what a captured graph calls beside operators -- */

#define GETITEM "operator.getitem"

/* -- collecting (collection.c): what a backward consists of -- */

/* The hooks of a node in this backward, each list (owned) (nullable). */
typedef struct
{
  GPtrArray *tensor, *pre, *post, *leaf;
} CollectedHooks;

/* One node that it comes to. */
typedef struct
{
  AdjGradNode *node;           /* (unowned) */
  const GArray *captures;      /* (unowned) (nullable): targets that want what arrives */
  const CollectedHooks *hooks; /* (owned), unless there are none */
  AdjFunction *function;       /* (unowned) (nullable): that it calls */
  const AdjNodeForm *form; /* (nullable): it is called as PyTorch's node, or, where it wrote into a
                              view, what wrote is */
  guint id;                /* order of first look-up */
  guint key_end;           /* its key begins where that of the call before ends */
  guint first_object;      /* of its hooks among all objects */
  guint first_packed, n_packed; /* of what it keeps and hooks have packed */
  guint first_slot, n_slots;    /* of the tensors that it keeps */
  guint first_size;
  guint first_edge_size; /* of the gradients at its edges */
  guint needed : 1;
  guint is_written_view : 1;
} CollectedCall;

/* What a key begins with. */
typedef struct
{
  gconstpointer kind; /* node_get_kind() */
  guint64 length;     /* of what follows */
} KeyHead;

/* What hooks have packed is unpacked when its node comes. */
typedef struct
{
  guint object;
  AdjTensorMeta meta;
} CollectedPacked;

#define SLOT_PACKED (1U << 31) /* of a slot: it is a number among what is packed */

typedef struct
{
  AdjContext *cx;
  GraphTask *task;
  AdjCaptureLevel level; /* for which it is collected */
  GArray *calls;         /* CollectedCall, in the order of replay */
  GPtrArray *inputs;     /* of AdjTensor, owned */
  GArray *slots;   /* guint: of each tensor that a node keeps, as they are visited: its number among
                      inputs + 1 */
  GArray *packed;  /* CollectedPacked */
  gboolean as_2_6; /* nothing is left packed, numbers become tensors of f64, and inputs have sizes
                      of their own */
  gboolean writes_gradients; /* AdjCompiledOptions.write_gradients */
  GArray *sizes;             /* gint64 */
  GArray *dynamic;           /* guint: sizes that are never fixed */
  GPtrArray *objects; /* of AdjOpaque, owned: hooks and backwards that are called as a whole */
  guint8 *key;        /* (owned): those of all calls, one after the other */
  guint n_key, key_size;
  const char *refusal; /* (nullable): why it cannot be captured */
} Collection;

/* (transfer full): empty. */
Collection *collection_new (void);
/* Makes @collection empty, for another backward: its memory is kept. */
void collection_clear (Collection *collection);
/* Fills @collection, which is empty, with everything that the backward of @task consists of.
 * %FALSE: the context is in error. */
gboolean collect (Collection *collection,
                  AdjContext *cx,
                  GraphTask *task,
                  const AdjCompiledOptions *options);
void collection_free (Collection *collection);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Collection, collection_free)

/* What two nodes have in common that do the same with what they keep. */
gconstpointer node_get_kind (const AdjGradNode *node);
/* Whether @node is called as a whole, not looked into. */
gboolean node_is_whole (const AdjGradNode *node);

/* What wrote into a view; .inner: what keeps what @call visits, and else the node itself. */
WrittenView call_get_written (const CollectedCall *call);
/* Visits what the node of @call keeps: in the order of its form, where it has one.  %FALSE: the
 * node has let go of it, in a backward before. */
gboolean call_visit (const CollectedCall *call, GradVisitor *visitor);

/* Whether a number in place of a tensor, which @node keeps, becomes an input, so that another one
 * is no other graph. */
gboolean number_is_lifted (const AdjGradNode *node, const AdjValue *leaf);

/* -- the key in words (words.c) -- */

/* (transfer full): one line for each thing that the key of call @index consists of. */
GStrv call_describe (const Collection *collection, guint index);

/* -- objects that a captured graph calls (objects.c) -- */

typedef enum
{
  OBJECT_TENSOR_PRE_HOOK,
  OBJECT_RETAINER, /* keeps the gradient of a tensor that asked for it */
  OBJECT_PRE_HOOK,
  OBJECT_POST_HOOK,
  OBJECT_LEAF_HOOK,
  OBJECT_UNPACK,   /* of a tensor that a node keeps */
  OBJECT_BACKWARD, /* a node that is called as a whole */
  N_OBJECT_KINDS,
} ObjectKind;

/* "tensor_pre_hook": PyTorch's name of it. */
const char *object_kind_get_name (ObjectKind kind);
/* (transfer full): @hook: (nullable): of @node; @tensor (nullable): that keeps its gradient. */
AdjOpaque *object_new (ObjectKind kind, AdjGradNode *node, AdjHook *hook, AdjTensor *tensor);
/* @next (unowned): a hook that is called after @object in the same turn. */
void object_set_next (AdjOpaque *object, AdjOpaque *next);
/* (transfer full): the backward of @node, called as a whole, and what unpacks its saved tensor
 * @saved.  @once: the call also drops what only @node keeps. */
AdjOpaque *object_new_backward (AdjGradNode *node, gboolean once);
AdjOpaque *object_new_unpack (AdjGradNode *node, Saved *saved, gboolean once);
const char *object_get_name (const AdjOpaque *object);

/* -- sizes (capture-sizes.c): which are symbols, and for which values a capture holds -- */

typedef struct
{
  gint64 expected;
  gboolean dynamic;
} SizeState;

/* What a capture takes a size for. */
typedef struct
{
  gboolean passed; /* it is among the graph's sizes */
  gint64 hint;
  AdjSize size; /* in the symbols of the graph: what it is there */
} SizeRule;

typedef struct
{
  guint index;
  gint64 before;
} SizeChange;

/* @states: SizeState by size.  Notes changes; says whether one changed that was taken for fixed:
 * @change (out) (nullable): the first of them. */
gboolean sizes_update (GArray *states, const GArray *sizes, SizeChange *change);
/* (transfer full): SizeRule by size; equal dynamic sizes are one symbol. */
GArray *sizes_make_rules (const GArray *states, AdjSymbols *symbols);
/* Whether @sizes fit @rules and the guards of @symbols; @reason (out) (transfer full): why not. */
gboolean sizes_fit (const GArray *rules, const GArray *sizes, AdjSymbols *symbols, char **reason);

/* The value of @size, of @symbols, for @sizes; %FALSE: it is not known from them. */
gboolean sizes_evaluate (
    const GArray *rules, const GArray *sizes, AdjSymbols *symbols, AdjSize size, gint64 *out);

/* -- replaying (replay.c) -- */

struct _AdjCapture
{
  gint ref_count;
  guint id;
  AdjGraph *replayed, *graph; /* (owned) */
  AdjFunction *compiled;      /* (owned) (nullable): %NULL: the graph is interpreted */
  AdjCaptureOrder order;
  char *reason; /* (owned) */
  guint64 n_runs;
  gboolean any_sizes; /* nothing was computed from sizes: it holds for all of those that it takes */
  GArray *sizes;      /* gint64: for which it held last */
  guint n_lists;      /* that the graph takes */
  GArray *rules;      /* SizeRule */
  GArray *moved;      /* guint: inputs that go to the GPU before the graph runs */
  guint n_calls;      /* that were replayed */
};

/* (transfer full): of what was collected, without graphs (capture.c). */
AdjCapture *capture_new (guint id, const Collection *collection, const char *reason);

/* (transfer full) (nullable): the graph of what was collected; @rules as sizes_make_rules() in
 * @symbols.  %NULL with @error; nothing has happened then. */
AdjGraph *replay (const Collection *collection,
                  AdjCaptureLevel level,
                  const char *name,
                  const GArray *rules,
                  AdjSymbols *symbols,
                  GError **error);

/* (transfer full) (nullable): @graph, of nodes, without sizes that nobody reads, which are then not
 * among those passed by @rules (nullable).  %NULL with @error. */
AdjGraph *drop_sizes (AdjGraph *graph, GArray *rules, GError **error);

/* -- orders (capture-order.c) -- */

/* (transfer full) (nullable): @graph in the order asked for, without what nobody needs; every step
 * is a stage of @recording (nullable), the first one because of @reason. */
AdjGraph *reorder (AdjGraph *graph,
                   AdjCaptureOrder order,
                   AdjRecording *recording,
                   const char *reason,
                   GError **error);

/* -- devices (move-scalars.c) -- */

/* (transfer full) (nullable): @graph with scalars on the GPU where other inputs are; @moved, of
 * guint, gets their numbers among the inputs.  %NULL with @error. */
AdjGraph *move_scalars (AdjGraph *graph, GArray *moved, GError **error);

/* -- the cache (cache.c): a tree; a node is a run of calls that no two backwards part at -- */

typedef struct
{
  guint end;             /* of its key, among those of the run */
  const char *name;      /* (unowned): of its node */
  GStrv words;           /* (owned): its key */
  AdjFunction *function; /* (owned) (nullable): that it calls, so that its address stays its own */
} CacheCall;

typedef struct _CacheNode CacheNode;

struct _CacheNode
{
  CacheNode *first, *next; /* (owned) (nullable): the last made child; the sibling made before */
  guint8 *key;             /* (owned) (nullable): of all calls, as Collection.key */
  GArray *calls;           /* CacheCall */
  GArray *sizes;           /* (nullable): SizeState, where a path ends */
  GPtrArray *captures;     /* (nullable): of AdjCapture, owned; the last one is tried first */
  guint64 used;            /* where a path ends: the higher, the later it was gone */
};

CacheNode *cache_node_new (void);
void cache_node_free (CacheNode *node);
/* (transfer none): the end of the way of @collection down from @root, made where nobody went it;
 * @reason (out) (transfer full) (nullable): then why nobody did. */
CacheNode *cache_find (CacheNode *root, const Collection *collection, char **reason);
/* If more than @n paths end below @root, the one that was gone longest ago is removed, with its
 * captures, whose number is returned. */
guint cache_evict (CacheNode *root, guint n);

/* -- running (run-capture.c), and what is done there in place of a call (undefined.c, layouts.c) --
 */

typedef struct
{
  AdjContext *cx;
  const AdjCapture *capture;
  const GArray *sizes;
} CaptureRun;

/* %TRUE: @node, an operator that depends on strides, was called with an argument as it was to lie
 * in memory; or the context is in error. */
gboolean layout_replace (const CaptureRun *run,
                         const AdjGraph *graph,
                         const AdjNode *node,
                         const AdjValue *args,
                         AdjValue *value);
/* As AdjInterpreterHooks.replace; @run: CaptureRun. */
gboolean capture_replace (
    const AdjGraph *graph, AdjNodeId id, const AdjValue *args, AdjValue *value, gpointer run);

/* %FALSE: the context is in error. */
gboolean capture_run (AdjCapture *capture, AdjContext *cx, Collection *collection);

G_END_DECLS
