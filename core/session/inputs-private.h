/* SPDX-License-Identifier: MIT */
#pragma once

#include "session/adj-release.h"
#include "session/adj-session.h"

G_BEGIN_DECLS

/* The inputs and the random state of a run. */
typedef struct
{
  const AdjRecordedCall *call; /* (nullable): the recorded call, or kept run, that they are from */
  const AdjValue *values;
  guint n;
  AdjValue *made; /* (owned) (nullable): where they are not the recorded ones */
} SessionInputs;

void session_inputs_clear (SessionInputs *inputs);
/* @inputs: zero before. */
gboolean session_find_inputs (const AdjSessionRun *run, SessionInputs *inputs, GError **error);
/* As adj_session_random_inputs(); @known (nullable): what stands where it is not NONE. */
AdjValue *session_make_inputs (
    const AdjGraph *graph, const AdjValue *known, guint32 seed, guint *n, GError **error);
/* (nullable): what random operators start from. */
const AdjValue *session_states (const AdjSessionRun *run, const SessionInputs *inputs);
/* That of the file, or the nearest one that is known; 2.6 where nothing says it. */
const AdjRelease *session_release (const AdjSessionRun *run);
/* As the file says, else as its release, or the nearest one that is known. */
AdjRandomSource session_random_source (const AdjSessionRun *run);
/* What node @id of @graph, a call of what is not here, gave in @call, of @bundle (recall.c): by its
 * name; @out (transfer full).  %FALSE: it was not recorded. */
gboolean session_recall (const AdjBundle *bundle,
                         const AdjRecordedCall *call,
                         const AdjGraph *graph,
                         AdjNodeId id,
                         AdjValue *out);
const AdjExecutor *session_executor (const AdjSessionRun *run);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SessionInputs, session_inputs_clear)

G_END_DECLS
