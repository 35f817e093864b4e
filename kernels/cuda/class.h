/* SPDX-License-Identifier: MIT */
#pragma once

/* The compute classes on a device. */

#include "cuda/device.h"

#include "element.h"

/* One element of any class. */
typedef union
{
  float f32;
  double f64;
  int64_t i64;
} Scalar;

/* Copies the element of @bytes bytes at @from to @to, unchanged. */
DEVICE void
copy_element (void *dst, int64_t to, const void *src, int64_t from, int bytes)
{
  if (bytes == 1)
    ((uint8_t *) dst)[to] = ((const uint8_t *) src)[from];
  else if (bytes == 2)
    ((uint16_t *) dst)[to] = ((const uint16_t *) src)[from];
  else if (bytes == 4)
    ((uint32_t *) dst)[to] = ((const uint32_t *) src)[from];
  else
    ((uint64_t *) dst)[to] = ((const uint64_t *) src)[from];
}

/* Where element @i, in row-major order, of @view stands. */
DEVICE int64_t
offset_of (const AdjKView *view, int64_t i)
{
  int64_t offset = 0;

  UNROLLED for (int d = view->rank - 1; d > 0; d--)
  {
    offset += i % view->size[d] * view->stride[d];
    i /= view->size[d];
  }
  return view->rank > 0 ? offset + i * view->stride[0] : offset;
}
