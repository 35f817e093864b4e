/* SPDX-License-Identifier: MIT */
/* The toolkit, compiled once for the whole window. */

#include <adwaita.h>
