/* SPDX-License-Identifier: MIT */
#pragma once

/* The kernels defined in the .cu files of this folder. */

#include "cuda/args.h"

/* X (symbol, Args, "source") */
#define ADJ_CUDA_CLASSES(X, name, Args, file) X (name##_f32, Args, file) X (name##_f64, Args, file)
#define ADJ_CUDA_KERNELS(X)                                                                        \
  X (adj_fused, FusedArgs, "pointwise")                                                            \
  X (adj_copy, CopyArgs, "copy")                                                                   \
  X (adj_iota, IotaArgs, "copy")                                                                   \
  X (adj_triangle, TriangleArgs, "copy")                                                           \
  ADJ_CUDA_CLASSES (X, adj_reduce, ReduceArgs, "reduce")                                           \
  X (adj_reduce_i64, ReduceArgs, "reduce")                                                         \
  ADJ_CUDA_CLASSES (X, adj_reduce_columns, ReduceArgs, "reduce")                                   \
  X (adj_reduce_columns_i64, ReduceArgs, "reduce")                                                 \
  ADJ_CUDA_CLASSES (X, adj_reduce_end, ReduceArgs, "reduce")                                       \
  X (adj_reduce_end_i64, ReduceArgs, "reduce")                                                     \
  ADJ_CUDA_CLASSES (X, adj_variance, VarianceArgs, "variance")                                     \
  ADJ_CUDA_CLASSES (X, adj_extreme, ExtremeArgs, "extreme")                                        \
  X (adj_extreme_i64, ExtremeArgs, "extreme")                                                      \
  X (adj_scan_f64, ScanArgs, "scan")                                                               \
  X (adj_scan_i64, ScanArgs, "scan")                                                               \
  ADJ_CUDA_CLASSES (X, adj_softmax, SoftmaxArgs, "softmax")                                        \
  ADJ_CUDA_CLASSES (X, adj_softmax_backward, SoftmaxArgs, "softmax")                               \
  ADJ_CUDA_CLASSES (X, adj_layer_norm, LayerNormArgs, "layer-norm")                                \
  ADJ_CUDA_CLASSES (X, adj_layer_norm_gx, LayerNormBackwardArgs, "layer-norm")                     \
  ADJ_CUDA_CLASSES (X, adj_layer_norm_gw, LayerNormBackwardArgs, "layer-norm")                     \
  ADJ_CUDA_CLASSES (X, adj_nll, NllArgs, "loss")                                                   \
  ADJ_CUDA_CLASSES (X, adj_nll_backward, NllArgs, "loss")                                          \
  ADJ_CUDA_CLASSES (X, adj_gemm, GemmArgs, "gemm")                                                 \
  X (adj_gemm_i64, GemmArgs, "gemm")                                                               \
  X (adj_gather, GatherArgs, "index")                                                              \
  X (adj_scatter, ScatterArgs, "index")                                                            \
  X (adj_count, CountArgs, "index")                                                                \
  X (adj_keys, KeysArgs, "index")                                                                  \
  X (adj_put, PutArgs, "index")                                                                    \
  X (adj_many_keys, ManyArgs, "index")                                                             \
  X (adj_many, ManyArgs, "index")                                                                  \
  X (adj_sort_load, SortArgs, "sort")                                                              \
  X (adj_sort_merge, SortArgs, "sort")                                                             \
  X (adj_sort_store, SortArgs, "sort")                                                             \
  ADJ_CUDA_CLASSES (X, adj_conv, ConvArgs, "conv")                                                 \
  X (adj_conv_i64, ConvArgs, "conv")                                                               \
  ADJ_CUDA_CLASSES (X, adj_conv_input, ConvArgs, "conv")                                           \
  X (adj_conv_input_i64, ConvArgs, "conv")                                                         \
  ADJ_CUDA_CLASSES (X, adj_conv_weight, ConvArgs, "conv")                                          \
  X (adj_conv_weight_i64, ConvArgs, "conv")                                                        \
  ADJ_CUDA_CLASSES (X, adj_max_pool, PoolArgs, "pool")                                             \
  X (adj_max_pool_i64, PoolArgs, "pool")                                                           \
  ADJ_CUDA_CLASSES (X, adj_avg_pool, PoolArgs, "pool")                                             \
  X (adj_avg_pool_i64, PoolArgs, "pool")                                                           \
  ADJ_CUDA_CLASSES (X, adj_avg_pool_backward, PoolArgs, "pool")                                    \
  X (adj_avg_pool_backward_i64, PoolArgs, "pool")                                                  \
  ADJ_CUDA_CLASSES (X, adj_unpool, PoolArgs, "pool")                                               \
  X (adj_unpool_i64, PoolArgs, "pool")                                                             \
  X (adj_check, CheckArgs, "pool")                                                                 \
  ADJ_CUDA_CLASSES (X, adj_resample, ResampleArgs, "resample")                                     \
  ADJ_CUDA_CLASSES (X, adj_resample_backward, ResampleArgs, "resample")                            \
  ADJ_CUDA_CLASSES (X, adj_attention, AttentionArgs, "attention")                                  \
  ADJ_CUDA_CLASSES (X, adj_attention_backward, AttentionArgs, "attention")                         \
  ADJ_CUDA_CLASSES (X, adj_attention_rows, TilesArgs, "attention-tiles")                           \
  ADJ_CUDA_CLASSES (X, adj_attention_values, TilesArgs, "attention-tiles")                         \
  X (adj_adam, AdamArgs, "optimizer")                                                              \
  X (adj_sgd, SgdArgs, "optimizer")                                                                \
  X (adj_unscale, UnscaleArgs, "optimizer")                                                        \
  X (adj_words, WordsArgs, "draw")                                                                 \
  X (adj_words_ahead, WordsArgs, "draw")                                                           \
  X (adj_words_jump, WordsArgs, "draw")                                                            \
  X (adj_philox, PhiloxArgs, "draw")                                                               \
  X (adj_uniform, NumbersArgs, "draw")                                                             \
  X (adj_normal, NormalArgs, "draw")                                                               \
  X (adj_bernoulli, BernoulliArgs, "draw")                                                         \
  X (adj_integers, IntegersArgs, "draw")                                                           \
  X (adj_draw, DrawArgs, "draw")                                                                   \
  X (adj_draw_move, DrawArgs, "draw")

#define ADJ_CUDA_DECLARE(symbol, Args, file)                                                       \
  _Static_assert(sizeof (Args) <= 4096, "the arguments of " #symbol " fit in a launch");
ADJ_CUDA_KERNELS (ADJ_CUDA_DECLARE)
