/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* Calls @read with @bytes truncated at every 1/37 of their length, and with single bits flipped
 * at 2000 positions chosen by a fixed seed. */
void damage_each (GBytes *bytes, void (*read) (GBytes *damaged, gpointer data), gpointer data);
