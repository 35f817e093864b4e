/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

/* An element of x that an element of y is made of, along one axis. */
typedef struct
{
  int64_t at;
  double weight; /* a number of the class */
} ResampleTap;
