/* SPDX-License-Identifier: MIT */
/* Replaces tape_new() through the linker's --wrap, so that the tests of the engine run captured. */

#include <stdlib.h>

#include "compiled_autograd/adj-compiled-autograd.h"
#include "support/tape.h"

AdjContext *__real_tape_new (void);
AdjContext *__wrap_tape_new (void);
gboolean __wrap_tape_is_captured (void);

static AdjCompiledAutograd *compiler; /* shared by all tests: one test can reuse the capture of
                                         another */

static void
free_compiler (void)
{
  adj_compiled_autograd_free (compiler);
}

AdjContext *
__wrap_tape_new (void)
{
  AdjContext *cx = __real_tape_new ();

  if (compiler == NULL)
    {
      compiler = adj_compiled_autograd_new (NULL);
      atexit (free_compiler);
    }
  g_assert_true (adj_compiled_autograd_enable (compiler, cx));
  return cx;
}

gboolean
__wrap_tape_is_captured (void)
{
  return TRUE;
}
