/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* Marks what libadjoint.so exports; everything else is hidden, or protected where tests are built.
 */
#define ADJ_PUBLIC __attribute__ ((visibility ("default")))
