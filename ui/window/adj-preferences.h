/* SPDX-License-Identifier: MIT */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

/* The dialog of preferences; each choice takes effect at once. */
GtkWidget *adj_preferences_new (GSettings *settings);

G_END_DECLS
