/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Detects races of emulated kernels: defines the functions that gcc's -fsanitize=thread calls at
 * each access; the sanitizer's library is not linked. */

void adj_race_begin_launch (const char *kernel);
void adj_race_end_launch (void);
void adj_race_begin_block (int64_t block);

/* Orders everything the threads of the block did before everything they will do. */
void adj_race_pass_barrier (void);

/* Attributes the following accesses to the thread with this stack; its own stack is not checked. */
void adj_race_enter (const char *stack, size_t size);

/* Notes an atomic access, which may race with other atomic ones. */
void adj_race_touch_atomic (const void *at, size_t size);

/* Sets the arguments of the launch, of which every thread has a copy. */
void adj_race_set_arguments (const void *args, size_t size);

/* Stores @text as the problem unless there already is one. */
void adj_race_note (const char *text);
