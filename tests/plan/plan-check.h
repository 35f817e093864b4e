/* SPDX-License-Identifier: MIT */
#pragma once

#include "session/adj-session.h"

G_BEGIN_DECLS

/* Whether the interpreter and a plan give the same bits (a NaN is a NaN), in an ordinary run, once
 * more on the same arena, and at every node when all are watched; errors must be the same too. Else
 * @why says where they differ.  The tap of @request is not used. */
gboolean plan_agrees (const AdjRunRequest *request, GString *why);
/* The same for a recorded call, which must run; fails the test. @what: for messages. */
void plan_check_session (const AdjSessionRun *run, const char *what);

/* Whether two results are the same; else @why says where they differ. */
gboolean plan_same_values (const AdjValue *a, const AdjValue *b, GString *why);

G_END_DECLS
