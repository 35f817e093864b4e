/* SPDX-License-Identifier: MIT */
#pragma once

/* The window of a pool along one axis, for the CPU and devices. */

#include "adj-kernel-pool.h"
#include "cpu/convert.h"

/* The elements begin, begin + step, … < end of a window along one dim; full counts those in the
 * padding too. */
typedef struct
{
  int64_t begin, end, step, full;
} Window;

/* Of output element @i of @out along @axis, where x has @size elements. */
INLINE Window
window_of (const AdjKPool *pool, int axis, int64_t size, int64_t out, int64_t i)
{
  Window window;
  int64_t start, reach;

  window.step = pool->adaptive ? 1 : pool->dilation[axis];
  if (pool->adaptive)
    {
      window.begin = i * size / out;
      window.end = ((i + 1) * size + out - 1) / out;
      window.full = window.end - window.begin;
      return window;
    }
  start = i * pool->stride[axis] - pool->padding[axis];
  reach = (pool->kernel[axis] - 1) * window.step + 1;
  window.full =
      (start + reach < size + pool->padding[axis] ? start + reach : size + pool->padding[axis]) -
      start;
  window.begin = start;
  if (start < 0)
    window.begin += (-start + window.step - 1) / window.step * window.step;
  window.end = start + reach < size ? start + reach : size;
  return window;
}
