/* SPDX-License-Identifier: MIT */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

/* What the user likes; each choice works at once. */
GtkWidget *adj_preferences_new (GSettings *settings);

G_END_DECLS
