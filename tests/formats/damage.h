/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* Calls @read with @bytes cut off at every 1/37 of their length, and with single bits flipped at
 * 2000 places that a fixed seed chooses. */
void damage_each (GBytes *bytes, void (*read) (GBytes *damaged, gpointer data), gpointer data);
