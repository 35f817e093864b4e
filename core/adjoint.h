/* SPDX-License-Identifier: MIT */
#pragma once

/* Everything of libadjoint that a program, the command line and the window use. */

#include "autograd/adj-autograd.h"
#include "base/adj-diag.h"
#include "base/adj-error.h"
#include "call/adj-context.h"
#include "call/adj-function.h"
#include "exec/adj-comparison.h"
#include "exec/adj-executor.h"
#include "formats/adj-bundle.h"
#include "formats/adj-format.h"
#include "formats/adj-safetensors.h"
#include "interpreter/adj-interpreter.h"
#include "interpreter/adj-numeric.h"
#include "ir/adj-builder.h"
#include "ir/adj-compare.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "passes/adj-compose.h"
#include "passes/adj-finding.h"
#include "passes/adj-pass.h"
#include "passes/adj-recording.h"
#include "session/adj-pipeline.h"
#include "session/adj-session.h"
#include "tensor/adj-tensor.h"
#include "trace/adj-trace.h"
