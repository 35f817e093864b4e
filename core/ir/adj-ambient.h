/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-dtype.h"

G_BEGIN_DECLS

/* What the thread is set to that calls a graph, and which none of its nodes says: whether grad mode
 * is off, and autocast.  All zero: as a new thread is. */

/* By AdjDeviceType: the devices whose autocast we know. */
#define ADJ_N_AUTOCAST (ADJ_DEVICE_CUDA + 1)

typedef struct
{
  gboolean on;
  AdjDType dtype; /* what is cast to */
} AdjAutocast;

typedef struct
{
  gboolean no_grad;
  AdjAutocast autocast[ADJ_N_AUTOCAST];
} AdjAmbient;

/* One setting as files and texts say it: "grad" "off", "autocast_cpu" "bf16". */
typedef struct
{
  const char *key;
  const char *word;
} AdjAmbientFact;

#define ADJ_N_AMBIENT_FACTS (1 + ADJ_N_AUTOCAST)

/* Fills @facts, room for ADJ_N_AMBIENT_FACTS, with what differs from a new thread; returns how
 * many. */
ADJ_PUBLIC guint adj_ambient_get_facts (const AdjAmbient *ambient, AdjAmbientFact *facts);
/* %FALSE, with nothing changed, when this is no setting. */
ADJ_PUBLIC gboolean adj_ambient_set (AdjAmbient *ambient, const char *key, const char *word);
/* Whether autocast can cast to @dtype. */
ADJ_PUBLIC gboolean adj_autocast_is_possible (AdjDType dtype);

G_END_DECLS
