/* SPDX-License-Identifier: MIT */
/* The main function of the workbench. */

#include <gio/gio.h>
#include <signal.h>

#include "base/adj-file-writer.h"
#include "window/adj-application.h"

int
main (int argc, char *argv[])
{
  g_autoptr (AdjApplication) application = NULL;

  /* Exceeding the file size limit gives a write error instead of a signal. */
  signal (SIGXFSZ, SIG_IGN);
  adj_file_writer_sweep ();
  g_set_application_name ("Adjoint");
  application = adj_application_new (G_APPLICATION_DEFAULT_FLAGS);
  return g_application_run (G_APPLICATION (application), argc, argv);
}
