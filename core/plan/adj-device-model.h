/* SPDX-License-Identifier: MIT */
#pragma once

#include "plan/adj-plan-parts.h"

G_BEGIN_DECLS

/* What a GPU can do at most, so that a run on it can be judged against a number that was there
 * before. */
typedef struct
{
  const char *name;    /* "h200" */
  const char *title;   /* "NVIDIA H200 SXM" */
  double bandwidth;    /* of its memory, bytes a second */
  double flops;        /* f32 operations a second, without tensor cores */
  double tensor_flops; /* of products of f16 and bf16, dense, summed in f32 */
} AdjDeviceModel;

/* (nullable): %NULL with ADJ_ERROR_NOT_FOUND, which names those that there are. */
ADJ_PUBLIC const AdjDeviceModel *adj_device_model_find (const char *name, GError **error);

/* Seconds that a region needs at least: the longer of the two, as they overlap. */
typedef struct
{
  double memory, arithmetic;
} AdjDeviceBound;

/* Of the region @index of @plan: each byte that it moves goes through memory once, nothing is left
 * in a cache from the region before.  Launching it is not in it. */
ADJ_PUBLIC AdjDeviceBound adj_device_model_bound (const AdjDeviceModel *model,
                                                  const AdjPlan *plan,
                                                  guint index);

G_END_DECLS
