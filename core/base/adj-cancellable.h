/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* GIO's, for headers that only hand it on: <gio/gio.h> takes longer to read than all of ours. */
typedef struct _GCancellable GCancellable;
