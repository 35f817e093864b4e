/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "model/adj-task.h"
#include "session/adj-check.h"

G_BEGIN_DECLS

/* Runs all checks on the graphs of @bundle in another thread; the result is an AdjFindings. */
AdjTask *adj_checking_start (GObject *owner, AdjBundle *bundle, GAsyncReadyCallback done);

G_END_DECLS
