/* SPDX-License-Identifier: MIT */
#include "base/adj-error.h"

GQuark
adj_error_quark (void)
{
  return g_quark_from_static_string ("adj-error-quark");
}
