/* SPDX-License-Identifier: MIT */
#include "base/adj-error.h"

G_DEFINE_QUARK (adj - error - quark, adj_error)
