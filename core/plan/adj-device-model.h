/* SPDX-License-Identifier: MIT */
#pragma once

#include "plan/adj-plan-parts.h"

G_BEGIN_DECLS

/* Peak rates of a GPU, to judge the time of a run against a bound that does not depend on it. */
typedef struct
{
  const char *name;    /* "h200" */
  const char *title;   /* "NVIDIA H200 SXM" */
  double bandwidth;    /* of its memory, bytes a second */
  double flops;        /* f32 operations a second, without tensor cores */
  double tensor_flops; /* products of f16 and bf16 a second, dense, accumulated in f32 */
} AdjDeviceModel;

/* (nullable): %NULL with ADJ_ERROR_NOT_FOUND, which lists the models that there are. */
ADJ_PUBLIC const AdjDeviceModel *adj_device_model_find (const char *name, GError **error);

/* Seconds that a region needs at least: the longer of the two, as they overlap. */
typedef struct
{
  double memory, arithmetic;
} AdjDeviceBound;

/* The bound of region @index of @plan: every byte that it reads or writes goes through memory once,
 * none is cached from the region before.  The launch is not included. */
ADJ_PUBLIC AdjDeviceBound adj_device_model_bound (const AdjDeviceModel *model,
                                                  const AdjPlan *plan,
                                                  guint index);

G_END_DECLS
