/* SPDX-License-Identifier: MIT */
#pragma once

/* The streams that a program gets from whoever starts it.  From here on a descriptor that was
 * closed is no file's by chance, and what cannot be written is an error and no signal.  However the
 * program ends: where stdout did not take all, it says so in one line and ends with
 * ADJ_EXIT_CANNOT; but nothing, where the reader of a pipe has gone. */
void streams_init (void);
