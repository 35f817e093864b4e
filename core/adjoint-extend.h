/* SPDX-License-Identifier: MIT */
#pragma once

/* What adds to libadjoint: operators with their kernels, modes that calls pass through, classes of
 * composite tensors, objects that graphs call, passes and whatever else builds graphs, formats. */

#include "adjoint.h"
#include "base/adj-file-writer.h"
#include "call/adj-effect-call.h"
#include "call/adj-higher-order.h"
#include "call/adj-mode.h"
#include "call/adj-object-call.h"
#include "call/adj-op.h"
#include "call/adj-trace-wrapped.h"
#include "interpreter/adj-effect-ops.h"
#include "ir/adj-builder.h"
#include "ir/adj-opaque.h"
#include "rules/adj-own-op.h"
#include "trace/adj-composite.h"
