/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-executor.h"

G_BEGIN_DECLS

/* The run of a captured backward: gradients are collected instead of accumulated, since there are
 * no leaves, and objects that it calls may be missing. */
typedef struct
{
  AdjContext *cx;
  const AdjRunRequest *request;
  GArray *gradients; /* AdjRunGradient */
  GArray *recalled;  /* AdjNodeId */
} CapturedRun;

void captured_run_init (CapturedRun *self, AdjContext *cx, const AdjRunRequest *request);
/* As in AdjInterpreterHooks. */
gboolean captured_replace (
    CapturedRun *self, const AdjGraph *graph, AdjNodeId id, const AdjValue *args, AdjValue *value);
/* Frees the members of @self; moves the collected gradients to @result. */
void captured_run_end (CapturedRun *self, AdjRunResult *result);

G_END_DECLS
