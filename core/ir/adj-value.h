/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-tensor.h"

G_BEGIN_DECLS

typedef struct _AdjGraph AdjGraph;
typedef struct _AdjNode AdjNode;
typedef struct _AdjNodeMeta AdjNodeMeta;
typedef struct _AdjOp AdjOp;
typedef struct _AdjOpaque AdjOpaque; /* objects/: a user object behind a vtable */

/* The position of a node in its graph.  A struct, so that it is not mixed up with other numbers. */
typedef struct
{
  guint32 index;
} AdjNodeId;

#define ADJ_NO_NODE ((AdjNodeId){ G_MAXUINT32 })

static inline gboolean
adj_node_id_is_valid (AdjNodeId id)
{
  return id.index != G_MAXUINT32;
}

typedef enum
{
  ADJ_VALUE_NONE,
  ADJ_VALUE_BOOL,
  ADJ_VALUE_INT,
  ADJ_VALUE_FLOAT,
  ADJ_VALUE_COMPLEX, /* items: two FLOATs */
  ADJ_VALUE_SIZE,    /* symbolic scalar of the graph's or context's symbol table */
  ADJ_VALUE_STRING,
  ADJ_VALUE_BYTES,
  ADJ_VALUE_ELLIPSIS,
  ADJ_VALUE_DTYPE,
  ADJ_VALUE_DEVICE,
  ADJ_VALUE_LAYOUT,
  ADJ_VALUE_MEMORY_FORMAT,
  ADJ_VALUE_TENSOR, /* a tensor of a context; counted reference */
  ADJ_VALUE_DATA,   /* an immutable tensor; counted reference */
  ADJ_VALUE_META,   /* the description of a tensor: the annotation of a node */
  ADJ_VALUE_LIST,
  ADJ_VALUE_TUPLE,
  ADJ_VALUE_DICT,  /* items: key, value, key, value … in order; n counts both */
  ADJ_VALUE_SLICE, /* items: start, stop, step */
  ADJ_VALUE_RANGE, /* items: start, stop, step */
  ADJ_VALUE_OP,    /* an operator, or the name of one that we do not have, as an argument */
  ADJ_VALUE_OPAQUE_OBJECT,
  ADJ_VALUE_TOKEN, /* an effect token; carries nothing but order */
  ADJ_VALUE_GRAPH, /* a subgraph as an argument */
  ADJ_VALUE_NODE,  /* in the IR only: the result of an earlier node */
  ADJ_VALUE_RAW,   /* text that we could not read, kept verbatim */
  ADJ_N_VALUE_KINDS,
} AdjValueKind;

/* One tagged union for arguments and results of calls, for arguments and annotations in the IR.
 *
 * A value is copied with adj_value_copy() and ended with adj_value_clear(), which own containers,
 * strings and references.  Values inside a sealed graph live in its arena: they are borrowed, and
 * never cleared. */
typedef struct _AdjValue AdjValue;

struct _AdjValue
{
  AdjValueKind kind;
  guint n; /* entries of items; bytes of a string */
  union
  {
    gboolean boolean;
    gint64 integer;
    double number;
    AdjSize size;
    const char *text; /* STRING, BYTES (n bytes), RAW, and the target of an OP */
    AdjDType dtype;
    AdjDevice device;
    AdjLayout layout;
    AdjMemoryFormat format;
    AdjTensor *tensor;
    AdjTensorData *data;
    const AdjTensorMeta *meta;
    AdjValue *items;
    AdjOpaque *object;
    AdjGraph *graph;
    AdjNodeId node;
  };
};

#define ADJ_NONE ((AdjValue){ .kind = ADJ_VALUE_NONE })
#define ADJ_BOOL(b) ((AdjValue){ .kind = ADJ_VALUE_BOOL, .boolean = !!(b) })
#define ADJ_INT(i) ((AdjValue){ .kind = ADJ_VALUE_INT, .integer = (i) })
#define ADJ_FLOAT(f) ((AdjValue){ .kind = ADJ_VALUE_FLOAT, .number = (f) })
#define ADJ_DTYPE(d) ((AdjValue){ .kind = ADJ_VALUE_DTYPE, .dtype = (d) })
#define ADJ_NODE(id) ((AdjValue){ .kind = ADJ_VALUE_NODE, .node = (id) })
/* Borrow: the reference stays the caller's. */
#define ADJ_TENSOR(t) ((AdjValue){ .kind = ADJ_VALUE_TENSOR, .tensor = (t) })
#define ADJ_DATA(d) ((AdjValue){ .kind = ADJ_VALUE_DATA, .data = (d) })

/* An integer becomes INT, an expression SIZE. */
ADJ_PUBLIC AdjValue adj_value_from_size (AdjSize size);
ADJ_PUBLIC gboolean adj_value_get_size (const AdjValue *value, AdjSize *out);

/* @text is copied. */
ADJ_PUBLIC AdjValue adj_value_new_string (const char *text);
/* Takes the @n values (their ownership, not the array). */
ADJ_PUBLIC AdjValue adj_value_new_items (AdjValueKind kind, const AdjValue *items, guint n);
/* (transfer full): an array of values that it owns, to gather items in. */
ADJ_PUBLIC GArray *adj_value_array_new (void);
/* Makes a value of @kind from the gathered items, which are moved; @items stays allocated. */
ADJ_PUBLIC AdjValue adj_value_array_end (GArray *items, AdjValueKind kind);

/* A deep copy: containers and strings are copied, and a reference is taken to each counted leaf. */
ADJ_PUBLIC AdjValue adj_value_copy (const AdjValue *value);
/* Releases what @value owns and sets it to NONE; not for a borrowed value. */
ADJ_PUBLIC void adj_value_clear (AdjValue *value);

static inline AdjValue
adj_value_steal (AdjValue *value)
{
  AdjValue stolen = *value;

  value->kind = ADJ_VALUE_NONE;
  return stolen;
}

/* Whether @value is a container whose entries are items. */
static inline gboolean
adj_value_is_container (const AdjValue *value)
{
  const guint32 containers = 1u << ADJ_VALUE_LIST | 1u << ADJ_VALUE_TUPLE | 1u << ADJ_VALUE_DICT |
                             1u << ADJ_VALUE_SLICE | 1u << ADJ_VALUE_RANGE |
                             1u << ADJ_VALUE_COMPLEX;

  return (containers >> value->kind & 1) != 0;
}

/* Structural equality; floats by bits (NaN equals NaN, 0.0 differs from -0.0), tensors by identity.
 */
ADJ_PUBLIC gboolean adj_value_equal (const AdjValue *a, const AdjValue *b);

/* Calls @each for every leaf (depth first, in order); stops when it returns %FALSE. */
typedef gboolean (*AdjValueFunc) (const AdjValue *leaf, gpointer data);
ADJ_PUBLIC gboolean adj_value_foreach (const AdjValue *value, AdjValueFunc each, gpointer data);

/* A copy in which every leaf is replaced by what @map makes of it (owned by the result); %FALSE
 * from @map stops and fails. */
typedef gboolean (*AdjValueMapFunc) (const AdjValue *leaf, AdjValue *out, gpointer data);
ADJ_PUBLIC gboolean adj_value_map (const AdjValue *value,
                                   AdjValueMapFunc map,
                                   gpointer data,
                                   AdjValue *out);

/* "a list", "float", "Tensor": for messages. */
ADJ_PUBLIC const char *adj_value_kind_name (AdjValueKind kind);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AdjValue, adj_value_clear)

G_END_DECLS
