/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-command.h"

G_BEGIN_DECLS

#define ADJ_DEVICE_OPTION(variable)                                                                \
  {                                                                                                \
    "device", 'd', 0, G_OPTION_ARG_STRING, variable,                                               \
        "Where executors of GPUs run it; the executor is cuda then unless one is named",           \
        "cpu|cuda[:N]|emulated"                                                                    \
  }

/* Opens the device of --device (nullable); "cpu" opens none.  @gpu: (out) (transfer full)
 * (nullable). */
gboolean adj_device_option_open (const char *device, AdjGpu **gpu, GError **error);
/* Opens the device of --device (nullable) for @run, whose executor becomes the GPU executor if it
 * is not for GPUs; "cpu" opens none.  @gpu: (out) (transfer full) (nullable): must live as long as
 * @run. */
gboolean
adj_device_option_take (const char *device, AdjSessionRun *run, AdjGpu **gpu, GError **error);

G_END_DECLS
