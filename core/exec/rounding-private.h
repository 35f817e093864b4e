/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"

G_BEGIN_DECLS

/* Adds to *@limit, for each operator called, the error that its rounding may have in float64
 * (operators §5.3); not for those that an operator calls itself. */
AdjMode *rounding_mode_new (double *limit);

G_END_DECLS
