/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-dtype.h"

G_BEGIN_DECLS

/* The settings of the thread that calls a graph, which are not in its nodes: grad mode and
 * autocast. All zero: the settings of a new thread. */

/* By AdjDeviceType: the devices whose autocast we know. */
#define ADJ_N_AUTOCAST (ADJ_DEVICE_CUDA + 1)

typedef struct
{
  gboolean on;
  AdjDType dtype; /* that arguments are cast to */
} AdjAutocast;

typedef struct
{
  gboolean no_grad;
  AdjAutocast autocast[ADJ_N_AUTOCAST];
} AdjThreadState;

/* One setting as in files and texts: "grad" "off", "autocast_cpu" "bf16". */
typedef struct
{
  const char *key;
  const char *word;
} AdjThreadSetting;

#define ADJ_N_THREAD_SETTINGS (1 + ADJ_N_AUTOCAST)

/* Fills @settings, room for ADJ_N_THREAD_SETTINGS, with what differs from a new thread; returns how
 * many. */
ADJ_PUBLIC guint adj_thread_state_list_settings (const AdjThreadState *thread_state,
                                                 AdjThreadSetting *settings);
/* %FALSE, with nothing changed, when this is no setting. */
ADJ_PUBLIC gboolean adj_thread_state_set (AdjThreadState *thread_state,
                                          const char *key,
                                          const char *word);
/* Whether autocast can cast to @dtype. */
ADJ_PUBLIC gboolean adj_autocast_is_possible (AdjDType dtype);

G_END_DECLS
