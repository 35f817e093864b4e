/* SPDX-License-Identifier: MIT */
#pragma once

#include "session/adj-release.h"
#include "session/adj-session.h"

G_BEGIN_DECLS

/* The inputs and the random state of a run. */
typedef struct
{
  const AdjRecordedCall *call; /* (nullable): the recorded call or kept run that they come from */
  const AdjValue *values;
  guint n;
  AdjValue *made; /* (owned) (nullable): set where they are not the recorded ones */
} SessionInputs;

void session_inputs_clear (SessionInputs *inputs);
/* @inputs: zeroed before. */
gboolean session_find_inputs (const AdjSessionRun *run, SessionInputs *inputs, GError **error);
/* As adj_session_random_inputs(); @known (nullable): items that are not NONE are used as they are.
 */
AdjValue *session_make_inputs (
    const AdjGraph *graph, const AdjValue *known, guint32 seed, guint *n, GError **error);
/* (nullable): the generator states at the start. */
const AdjValue *session_states (const AdjSessionRun *run, const SessionInputs *inputs);
/* The release of the file, or the nearest known one; 2.6 where the file has none. */
const AdjRelease *session_release (const AdjSessionRun *run);
/* The source that the file records, else that of its release or of the nearest known one. */
AdjRandomSource session_random_source (const AdjSessionRun *run);
/* The value that node @id of @graph, a call that cannot run here, had in @call, of @bundle
 * (recall.c): looked up by the node's name; @out (transfer full).  %FALSE: it was not recorded. */
gboolean session_recall (const AdjBundle *bundle,
                         const AdjRecordedCall *call,
                         const AdjGraph *graph,
                         AdjNodeId id,
                         AdjValue *out);
const AdjExecutor *session_executor (const AdjSessionRun *run);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SessionInputs, session_inputs_clear)

G_END_DECLS
