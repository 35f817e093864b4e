/* SPDX-License-Identifier: MIT */
#pragma once

#include "passes/adj-finding.h"

G_BEGIN_DECLS

/* The checks of checks.inc, from all layers. */
#define CHECK(name, file) extern const AdjCheck adj_check_##name;
#include "passes/checks.inc"
#undef CHECK

G_END_DECLS
