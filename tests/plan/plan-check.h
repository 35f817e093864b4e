/* SPDX-License-Identifier: MIT */
#pragma once

#include "session/adj-session.h"

G_BEGIN_DECLS

/* Runs by the interpreter and by a plan, and fails the test where results are not the same bits (a
 * NaN is a NaN), in an ordinary run and at every node when all are watched.  @what: for messages.
 * Errors must be the same too. */
void plan_check_session (const AdjSessionRun *run, const char *what);
/* The same for a request; its tap is not used.  Returns whether it could be run. */
gboolean plan_check_request (const AdjRunRequest *request, const char *what);

/* Whether two results are the same; else @why says where they differ. */
gboolean plan_same_values (const AdjValue *a, const AdjValue *b, GString *why);

G_END_DECLS
