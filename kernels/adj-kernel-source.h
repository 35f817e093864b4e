/* SPDX-License-Identifier: MIT */
#pragma once

/* A source of the kernels, or a header that one of them includes. */
typedef struct
{
  const char *name; /* as it is included: "cuda/softmax.cu" */
  const char *text;
} AdjKSource;
