/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-error.h"

G_BEGIN_DECLS

/* Messages made safe to print. */

/* Blanks instead of control characters: what a message has from a file neither breaks its line nor
 * steers a terminal.  @message: changed in place. */
void adj_message_make_line (char *message);

G_END_DECLS
