/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-executor.h"

G_BEGIN_DECLS

/* What is special in the run of a captured backward: nothing is differentiated, so gradients are
 * noted in place of being accumulated, and objects that it calls may not be here. */
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
/* Frees what it owns; what was noted goes to @result. */
void captured_run_end (CapturedRun *self, AdjRunResult *result);

G_END_DECLS
