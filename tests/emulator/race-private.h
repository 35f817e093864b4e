/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Finds races of emulated kernels: what gcc's -fsanitize=thread calls for each access is defined
 * here, and nothing of the sanitizer's library is linked. */

void adj_race_begin_launch (const char *kernel);
void adj_race_end_launch (void);
void adj_race_begin_block (int64_t block);

/* What the threads of the block did is before what they will do. */
void adj_race_pass_barrier (void);

/* Accesses are those of the thread with this stack, whose own memory nobody else touches. */
void adj_race_enter (const char *stack, size_t size);

/* An access that may meet others of its kind. */
void adj_race_touch_atomic (const void *at, size_t size);

/* The arguments of the launch, which every thread has a copy of. */
void adj_race_set_arguments (const void *args, size_t size);

/* Keeps @text unless there is a problem already. */
void adj_race_note (const char *text);
