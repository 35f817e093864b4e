/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

/* An element of x that contributes to an element of y, along one axis. */
typedef struct
{
  int64_t at;
  double weight; /* a number of the class */
} ResampleTap;
