/* SPDX-License-Identifier: MIT */
#pragma once

#include "cuda/device.h"

typedef struct
{
  int64_t *out;
  const int64_t *elsewhere; /* host memory */
} PlantedArgs;
