/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-macros.h"

G_BEGIN_DECLS

typedef struct _AdjViewChain AdjViewChain; /* rules/: views as data */

/* The events of storages under functionalization, in order. */
typedef enum
{
  ADJ_TAPE_WRITE,  /* a view got a new value, which is queued; the generation increases */
  ADJ_TAPE_APPLY,  /* the oldest queued write was applied to the base */
  ADJ_TAPE_REMAKE, /* a view of an older generation was recreated from the base */
  ADJ_TAPE_TURN,   /* t_() and the like: the view has other metadata for the same elements */
  ADJ_TAPE_SET,    /* set_(): the tensor left the storage, which must not be written any more */
  ADJ_TAPE_RESIZE, /* the storage was resized from 0 or to 0 bytes */
  ADJ_N_TAPE_KINDS,
} AdjTapeKind;

typedef struct
{
  AdjTapeKind kind;
  guint storage;       /* number of the storage, from 1 in order of events */
  guint64 generation;  /* of the storage, after the event */
  guint n_queued;      /* number of queued writes after the event */
  const char *name;    /* (nullable): the node of the trace that made the value */
  AdjViewChain *chain; /* (nullable): the views from the base to the view */
} AdjTapeEvent;

/* All is borrowed. */
typedef void (*AdjTapeFunc) (const AdjTapeEvent *event, gpointer data);

/* The event as a sentence: "`mul` is the new value of view select, queued".  (transfer full) */
ADJ_PUBLIC char *adj_tape_describe (const AdjTapeEvent *event);

G_END_DECLS
