/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* Marks what libadjoint.so exports; everything else has hidden visibility. */
#define ADJ_PUBLIC __attribute__ ((visibility ("default")))
