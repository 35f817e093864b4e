/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernel-backend.h"

/* The kernels of CUDA: launchers over the queue's AdjKDevice, which finds the symbols in the module
 * that kernels/cuda make. */
extern const AdjKBackend adj_k_cuda_backend;
