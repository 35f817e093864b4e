/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-error.h"

G_BEGIN_DECLS

/* Messages made safe to print. */

/* Replaces control characters by blanks, so that text from a file neither breaks the line nor
 * controls a terminal.  @message: changed in place. */
void adj_message_make_line (char *message);

G_END_DECLS
