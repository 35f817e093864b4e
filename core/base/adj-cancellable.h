/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* GIO's type, for headers that only pass it on: including <gio/gio.h> is slow. */
typedef struct _GCancellable GCancellable;
