/* SPDX-License-Identifier: MIT */
#pragma once

#include "session/adj-session.h"

G_BEGIN_DECLS

/* Whether the interpreter and a plan give the same bits (all NaNs being equal) in an ordinary
 * run, in a second one on the same arena, and at every node when all nodes are watched; errors
 * must be the same too. Else @why says where they differ.  The tap of @request is not used. */
gboolean plan_agrees (const AdjRunRequest *request, GString *why);
/* Like plan_agrees() for a recorded call; fails the test if it differs or does not run. @what:
 * for messages. */
void plan_check_session (const AdjSessionRun *run, const char *what);

/* Whether two results are equal; else @why says where they differ. */
gboolean plan_same_values (const AdjValue *a, const AdjValue *b, GString *why);

G_END_DECLS
