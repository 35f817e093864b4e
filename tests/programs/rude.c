/* SPDX-License-Identifier: MIT */
/* A library that ends the process that loads it. */

#include <stdlib.h>

void rude (void);
extern int rude_number;

int rude_number;

__attribute__ ((constructor)) static void
end (void)
{
  _Exit (42);
}

__attribute__ ((visibility ("default"))) void
rude (void)
{
}
