/* SPDX-License-Identifier: MIT */
#include "window/adj-application.h"

int
main (int argc, char *argv[])
{
  g_autoptr (AdjApplication) application = NULL;

  g_set_application_name ("Adjoint");
  application = adj_application_new (G_APPLICATION_DEFAULT_FLAGS);
  return g_application_run (G_APPLICATION (application), argc, argv);
}
