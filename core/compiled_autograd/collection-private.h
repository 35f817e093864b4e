/* SPDX-License-Identifier: MIT */
#pragma once

#include <string.h>

#include "compiled_autograd/compiled-private.h"

G_BEGIN_DECLS

/* Shared by the files that collect: the visitor, and the encoding of keys. */

typedef struct
{
  GradVisitor parent;
  Collection *self;
  AdjGradNode *node;
  const AdjGradNode *keeper; /* of the values: @node, or the inner node of a write into a view */
  guint call;
  AdjFunction *function; /* (unowned) (nullable): the function that the node calls */
} Collector;

/* Visits the values saved by the node of @call (collect-values.c). */
void collector_init (Collector *self, Collection *collection, const CollectedCall *call);
/* Collects the metadata of a gradient. */
void collect_meta (GradVisitor *visitor, const char *name, AdjTensorMeta *meta);
/* Adds @object (transfer full), which the graph will call. */
void collect_object (Collector *self, AdjOpaque *object);
/* Whether called objects release values that only they hold. */
gboolean collection_is_once (const Collection *self);

/* -- the key -- */

static inline void
grow (Collection *self, guint n)
{
  self->key_size = 2 * (self->n_key + n);
  self->key = g_realloc (self->key, self->key_size);
}

/* Reserves @n more bytes, which count as written. */
static inline guint8 *
reserve (Collection *self, guint n)
{
  guint8 *room;

  if (G_UNLIKELY (self->n_key + n > self->key_size))
    grow (self, n);
  room = self->key + self->n_key;
  self->n_key += n;
  return room;
}

static inline void
put_bytes (Collection *self, gconstpointer bytes, guint n)
{
  memcpy (reserve (self, n), bytes, n);
}

static inline void
put_byte (Collection *self, guint8 byte)
{
  *reserve (self, 1) = byte;
}

static inline void
put_big_number (Collection *self, guint64 number)
{
  const guint64 little = GUINT64_TO_LE (number);
  const guint n = number <= G_MAXUINT16 ? 2 : number <= G_MAXUINT32 ? 4 : 8;
  guint8 *room = reserve (self, 1 + n);

  room[0] = n == 2 ? 253 : n == 4 ? 254 : 255;
  memcpy (room + 1, &little, n);
}

/* One byte for a small number, else a marker and the bytes. */
static inline void
put_number (Collection *self, guint64 number)
{
  if (G_LIKELY (number < 253))
    put_byte (self, (guint8) number);
  else
    put_big_number (self, number);
}

/* Writes device, dtype and requires_grad. */
static inline void
put_look (Collection *self, const AdjTensorMeta *meta, gboolean requires_grad)
{
  const guint64 dtype = GUINT64_TO_LE ((guint64) meta->dtype);
  guint8 *room = reserve (self, 2 + sizeof dtype + 1);

  room[0] = (guint8) meta->device.type;
  room[1] = (guint8) meta->device.index;
  memcpy (room + 2, &dtype, sizeof dtype);
  room[2 + sizeof dtype] = (guint8) requires_grad;
}

/* Appends @n items to @array and returns the first. */
#define ADD_ITEMS(array, Type, n) ((Type *) add_items (array, sizeof (Type), n))

static inline gpointer
add_items (GArray *array, gsize size, guint n)
{
  const guint len = array->len;

  g_array_set_size (array, len + n);
  return array->data + len * size;
}

G_END_DECLS
