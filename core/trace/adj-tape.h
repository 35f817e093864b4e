/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-macros.h"

G_BEGIN_DECLS

typedef struct _AdjViewChain AdjViewChain; /* rules/: views as data */

/* Something that the mode did to a storage, in order. */
typedef enum
{
  ADJ_TAPE_WRITE,  /* a view got a new value, which is queued; the storage is of another generation
                    */
  ADJ_TAPE_APPLY,  /* the oldest queued write went into the base */
  ADJ_TAPE_REMAKE, /* a view of an older generation was made again of the base */
  ADJ_TAPE_TURN,   /* t_() and the like: the view shows the same elements otherwise */
  ADJ_TAPE_SET,    /* set_(): the tensor left the storage, which nothing may write any more */
  ADJ_TAPE_RESIZE, /* the storage was resized from or to nothing */
  ADJ_N_TAPE_KINDS,
} AdjTapeKind;

typedef struct
{
  AdjTapeKind kind;
  guint storage;       /* from 1, by first mention */
  guint64 generation;  /* of the storage, after the event */
  guint n_queued;      /* writes that are not in the base yet, after the event */
  const char *name;    /* (nullable): the node of the trace that made the value */
  AdjViewChain *chain; /* (nullable): what the view does to the base */
} AdjTapeEvent;

/* All is borrowed. */
typedef void (*AdjTapeFunc) (const AdjTapeEvent *event, gpointer data);

/* "`mul` is the new value of view select, queued": what the event did.  (transfer full) */
ADJ_PUBLIC char *adj_tape_describe (const AdjTapeEvent *event);

G_END_DECLS
