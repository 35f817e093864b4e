/* SPDX-License-Identifier: MIT */
#pragma once

#include <adwaita.h>

#include "formats/adj-bundle.h"

G_BEGIN_DECLS

/* A row with the executor, inputs and date of @run, and a button that removes it. */
GtkWidget *adj_kept_run_row_new (const AdjBundle *bundle, const AdjRecordedCall *run);

G_END_DECLS
