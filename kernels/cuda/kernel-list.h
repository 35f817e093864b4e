/* SPDX-License-Identifier: MIT */
#pragma once

/* The kernels that the .cu of this folder define. */

#include "cuda/args.h"

/* X (symbol, Args) */
#define ADJ_CUDA_CLASSES(X, name, Args) X (name##_f32, Args) X (name##_f64, Args)
#define ADJ_CUDA_KERNELS(X)                                                                        \
  X (adj_fused, FusedArgs)                                                                         \
  X (adj_copy, CopyArgs)                                                                           \
  X (adj_iota, IotaArgs)                                                                           \
  X (adj_triangle, TriangleArgs)                                                                   \
  ADJ_CUDA_CLASSES (X, adj_reduce, ReduceArgs)                                                     \
  X (adj_reduce_i64, ReduceArgs)                                                                   \
  ADJ_CUDA_CLASSES (X, adj_reduce_end, ReduceArgs)                                                 \
  X (adj_reduce_end_i64, ReduceArgs)                                                               \
  ADJ_CUDA_CLASSES (X, adj_variance, VarianceArgs)                                                 \
  ADJ_CUDA_CLASSES (X, adj_extreme, ExtremeArgs)                                                   \
  X (adj_extreme_i64, ExtremeArgs)                                                                 \
  X (adj_scan_f64, ScanArgs)                                                                       \
  X (adj_scan_i64, ScanArgs)                                                                       \
  ADJ_CUDA_CLASSES (X, adj_softmax, SoftmaxArgs)                                                   \
  ADJ_CUDA_CLASSES (X, adj_softmax_backward, SoftmaxArgs)                                          \
  ADJ_CUDA_CLASSES (X, adj_layer_norm, LayerNormArgs)                                              \
  ADJ_CUDA_CLASSES (X, adj_layer_norm_gx, LayerNormBackwardArgs)                                   \
  ADJ_CUDA_CLASSES (X, adj_layer_norm_gw, LayerNormBackwardArgs)                                   \
  ADJ_CUDA_CLASSES (X, adj_nll, NllArgs)                                                           \
  ADJ_CUDA_CLASSES (X, adj_nll_backward, NllArgs)                                                  \
  ADJ_CUDA_CLASSES (X, adj_gemm, GemmArgs)                                                         \
  X (adj_gemm_i64, GemmArgs)                                                                       \
  X (adj_gather, GatherArgs)                                                                       \
  X (adj_scatter, ScatterArgs)                                                                     \
  X (adj_count, CountArgs)                                                                         \
  X (adj_many, ManyArgs)                                                                           \
  X (adj_sort_load, SortArgs)                                                                      \
  X (adj_sort_merge, SortArgs)                                                                     \
  X (adj_sort_store, SortArgs)                                                                     \
  ADJ_CUDA_CLASSES (X, adj_conv, ConvArgs)                                                         \
  X (adj_conv_i64, ConvArgs)                                                                       \
  ADJ_CUDA_CLASSES (X, adj_conv_input, ConvArgs)                                                   \
  X (adj_conv_input_i64, ConvArgs)                                                                 \
  ADJ_CUDA_CLASSES (X, adj_conv_weight, ConvArgs)                                                  \
  X (adj_conv_weight_i64, ConvArgs)                                                                \
  ADJ_CUDA_CLASSES (X, adj_max_pool, PoolArgs)                                                     \
  X (adj_max_pool_i64, PoolArgs)                                                                   \
  ADJ_CUDA_CLASSES (X, adj_avg_pool, PoolArgs)                                                     \
  X (adj_avg_pool_i64, PoolArgs)                                                                   \
  ADJ_CUDA_CLASSES (X, adj_avg_pool_backward, PoolArgs)                                            \
  X (adj_avg_pool_backward_i64, PoolArgs)                                                          \
  ADJ_CUDA_CLASSES (X, adj_unpool, PoolArgs)                                                       \
  X (adj_unpool_i64, PoolArgs)                                                                     \
  X (adj_check, CheckArgs)                                                                         \
  ADJ_CUDA_CLASSES (X, adj_resample, ResampleArgs)                                                 \
  ADJ_CUDA_CLASSES (X, adj_resample_backward, ResampleArgs)                                        \
  ADJ_CUDA_CLASSES (X, adj_attention, AttentionArgs)                                               \
  ADJ_CUDA_CLASSES (X, adj_attention_backward, AttentionArgs)                                      \
  X (adj_adam, AdamArgs)                                                                           \
  X (adj_sgd, SgdArgs)                                                                             \
  X (adj_unscale, UnscaleArgs)                                                                     \
  X (adj_words, WordsArgs)                                                                         \
  X (adj_philox, PhiloxArgs)                                                                       \
  X (adj_uniform, NumbersArgs)                                                                     \
  X (adj_normal, NormalArgs)                                                                       \
  X (adj_bernoulli, BernoulliArgs)                                                                 \
  X (adj_integers, IntegersArgs)

#define ADJ_CUDA_DECLARE(symbol, Args)                                                             \
  _Static_assert(sizeof (Args) <= 4096, "the arguments of " #symbol " fit in a launch");
ADJ_CUDA_KERNELS (ADJ_CUDA_DECLARE)
