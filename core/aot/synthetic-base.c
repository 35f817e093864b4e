/* SPDX-License-Identifier: MIT */
#include "aot/aot-private.h"

gboolean
aot_synthetic_base (AotProgram *program, GError **error)
{
  return TRUE;
}
