/* SPDX-License-Identifier: MIT */
#pragma once

/* The toolkit, compiled once for the whole window. */

#include <adwaita.h>
