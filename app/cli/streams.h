/* SPDX-License-Identifier: MIT */
#pragma once

/* Sets up the standard streams.  Closed descriptors are occupied, so that no file gets one of them
 * by chance, and a failing write gives an error instead of a signal.  Control characters in what
 * is printed to stdout, other than newline and tab, are written as \u001b.  However the program
 * ends: if stdout did not take all output, it says so in one line and exits with ADJ_EXIT_CANNOT;
 * but it is silent if the reader of a pipe has gone. */
void streams_init (void);
