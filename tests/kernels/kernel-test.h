/* SPDX-License-Identifier: MIT */
#pragma once

/* Arrays for the tests of kernels, freed at the end of the test.  Elements are addressed by
 * their row-major index and converted by arithmetic that shares no code with the kernels. */

#include <glib.h>

#include "adj-kernels.h"

/* Makes a contiguous array of zeros; @rank sizes of type int follow. */
AdjKView kernel_array (AdjKType type, int rank, ...);

/* Like kernel_array(), with the elements @values. */
AdjKView kernel_array_of (AdjKType type, const double *values, int rank, ...);

/* Makes zeros with the sizes of @like. */
AdjKView kernel_array_like (AdjKType type, const AdjKView *like);

/* Copies to other addresses: dims in reverse memory order, with gaps. */
AdjKView kernel_array_scramble (const AdjKView *view);

/* Fills with uniform numbers in [low, high], rounded to the type; a seed determines them. */
void kernel_array_randomize (const AdjKView *view, guint32 seed, double low, double high);

double kernel_array_get (const AdjKView *view, gint64 index);
void kernel_array_set (const AdjKView *view, gint64 index, double value);

/* Expects numerically equal elements; all NaNs are equal. */
void kernel_assert_equal (const AdjKView *got, const double *expected);

/* Expects the same bytes in each element. */
void kernel_assert_same (const AdjKView *a, const AdjKView *b);

/* Expects |got - expected| <= tolerance. */
void kernel_assert_near (double got, double expected, double tolerance);

/* Returns |got - expected| in units in the last place of @expected as f32. */
double kernel_ulps (float got, long double expected);

/* Adds the test once for each floating type, named "path/f32"; its data is the AdjKType. */
void kernel_add_for_floats (const char *path, GTestDataFunc func);
