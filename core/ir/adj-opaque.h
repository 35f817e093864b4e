/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

typedef struct _AdjContext AdjContext;

/* An object of the program as a value of a graph: its content is unknown, but it can be called.
 * Counted; instances begin with an AdjOpaque. */
typedef struct
{
  const char *name; /* "hook" */
  /* (nullable): @args without the object, @kwargs DICT or NONE; @out (transfer full).  %FALSE: the
   * context is in error. */
  gboolean (*call) (AdjOpaque *object,
                    AdjContext *cx,
                    const AdjValue *args,
                    guint n_args,
                    const AdjValue *kwargs,
                    AdjValue *out);
  /* (nullable): "_opaque_obj", before a number: the attribute of a traced graph that holds it;
   * %NULL: a trace has no place for it. */
  const char *attribute;
  /* (nullable): whether two of this class have the same content, as far as that is known. */
  gboolean (*equal) (const AdjOpaque *a, const AdjOpaque *b);
  /* (nullable): whether @object is immutable, so that objects with equal content share one
   * attribute of a trace. %NULL: objects are told apart by identity. */
  gboolean (*is_value) (const AdjOpaque *object);
  /* (nullable) (transfer none): the qualified name of the class that it is an object of */
  const char *(*get_type) (const AdjOpaque *object);
  /* (nullable) (transfer full) (nullable): its text as an argument of a call in graph text:
   * "Scale(2.0)" */
  char *(*write) (const AdjOpaque *object);
  char *(*describe) (const AdjOpaque *object); /* (nullable) (transfer full): for messages */
  void (*finalize) (AdjOpaque *object);        /* (nullable): frees members of the derived struct */
} AdjOpaqueClass;

struct _AdjOpaque
{
  const AdjOpaqueClass *klass;
  gatomicrefcount ref_count;
};

/* (transfer full): an instance of @size bytes, zeroed but for the header; @klass must outlive it.
 */
ADJ_PUBLIC AdjOpaque *adj_opaque_new (const AdjOpaqueClass *klass, gsize size);
ADJ_PUBLIC AdjOpaque *adj_opaque_ref (AdjOpaque *object); /* (transfer full) */
ADJ_PUBLIC void adj_opaque_unref (AdjOpaque *object);     /* @object: (nullable) */
/* (transfer full): "hook scale", for messages. */
ADJ_PUBLIC char *adj_opaque_describe (const AdjOpaque *object);

/* (transfer none) (nullable): "_TorchScriptTesting::_TensorQueue"; %NULL: its class has no
 * qualified name. */
ADJ_PUBLIC const char *adj_opaque_get_type (const AdjOpaque *object);
/* (transfer full): an object of which only the qualified name of its class is known. */
ADJ_PUBLIC AdjOpaque *adj_opaque_new_of_type (const char *type);

#define ADJ_OPAQUE(o) ((AdjValue){ .kind = ADJ_VALUE_OPAQUE_OBJECT, .object = (o) })

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjOpaque, adj_opaque_unref)

G_END_DECLS
