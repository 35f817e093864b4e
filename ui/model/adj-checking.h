/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-work.h"
#include "session/adj-check.h"

G_BEGIN_DECLS

/* Looks in another thread for known ways in which the graphs of @bundle are silently wrong; the
 * result is an AdjFindings. */
AdjWork *adj_checking_start (GObject *owner, AdjBundle *bundle, GAsyncReadyCallback done);

G_END_DECLS
