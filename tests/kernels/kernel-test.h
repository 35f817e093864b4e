/* SPDX-License-Identifier: MIT */
#pragma once

/* Arrays for the tests of kernels.  Memory lives until the test ends.  Elements are read and
 * written by their row-major number through arithmetic that shares no code with the kernels. */

#include <glib.h>

#include "adj-kernels.h"

/* A contiguous array of zeros; sizes follow, as int, @rank of them. */
AdjKView kernel_array (AdjKType type, int rank, ...);

/* The same with values, given as double. */
AdjKView kernel_array_of (AdjKType type, const double *values, int rank, ...);

/* Zeros, sizes as @like. */
AdjKView kernel_array_like (AdjKType type, const AdjKView *like);

/* The same elements at other addresses: dims in reverse order of memory, with gaps. */
AdjKView kernel_array_scramble (const AdjKView *view);

/* Uniform in [low, high], rounded to the type; always the same for a seed. */
void kernel_array_randomize (const AdjKView *view, guint32 seed, double low, double high);

double kernel_array_get (const AdjKView *view, gint64 index);
void kernel_array_set (const AdjKView *view, gint64 index, double value);

/* Elements equal as numbers, all NaN being equal. */
void kernel_assert_equal (const AdjKView *got, const double *expected);

/* Same bytes, element for element. */
void kernel_assert_same (const AdjKView *a, const AdjKView *b);

/* |got - expected| <= tolerance. */
void kernel_assert_near (double got, double expected, double tolerance);

/* |got - expected| in units of the last place of an f32 of the size of @expected. */
double kernel_ulps (float got, long double expected);

/* Adds the test once for each floating type, named "path/f32"; its data is the AdjKType. */
void kernel_add_for_floats (const char *path, GTestDataFunc func);
