/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>
#include <time.h>

G_BEGIN_DECLS

/* Nanoseconds of a monotonic clock; GLib's has microseconds, which are too coarse for most nodes.
 */
static inline gint64
adj_clock_now (void)
{
  struct timespec time;

  clock_gettime (CLOCK_MONOTONIC, &time);
  return (gint64) time.tv_sec * G_GINT64_CONSTANT (1000000000) + time.tv_nsec;
}

G_END_DECLS
