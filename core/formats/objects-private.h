/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-object.h"
#include "formats/value-json-private.h"

G_BEGIN_DECLS

/* Opaque objects in files: {"$object": {"class": "ns::Class", "id": 0, "state": …}}
 * (formats/SPEC.md §5.4).  Equal ids are the same object. */

/* Owns the objects that were read. */
typedef struct _ReadObjects ReadObjects;

ReadObjects *read_objects_new (void);
void read_objects_free (ReadObjects *objects);

/* A callable object where its class is known and accepts the state, and the state is complete;
 * else an object that only has class and state.  (transfer none) (nullable): %NULL with an error
 * that names @item. */
AdjOpaque *
object_read (ReadObjects *objects, const ValueReader *reader, const JsonItem *item, GError **error);

/* The saved form of an object. */
typedef struct
{
  guint id;
  AdjValue state; /* NONE: not known; RAW: not known, and why */
} SavedObject;

/* Kept in @states from the first time on.  (transfer none) (nullable): %NULL with
 * ADJ_ERROR_UNSUPPORTED where @object is none of a class, or its state cannot be told. */
const SavedObject *object_get_state (GHashTable *states, AdjOpaque *object, GError **error);
GHashTable *object_states_new (void); /* (transfer full): AdjOpaque → SavedObject */

G_END_DECLS
