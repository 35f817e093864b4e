/* SPDX-License-Identifier: MIT */
#include "aot/aot-private.h"

gboolean
aot_dedupe (AotProgram *program, GError **error)
{
  return TRUE;
}
