/* SPDX-License-Identifier: MIT */
/* Standard streams: closed ones are replaced, and failures to write become an exit status. */

#include "streams.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "adj-command.h"

/* Opens closed streams with the wrong mode, so that their use gives an error. */
static void
fill_closed (void)
{
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fcntl (fd, F_GETFD) < 0)
      open ("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

static gboolean
has_reader (void)
{
  struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };

  return poll (&out, 1, 0) <= 0 || (out.revents & POLLERR) == 0;
}

/* The reason why earlier output failed, by writing once more. */
static const char *
ask_again (void)
{
  return write (STDOUT_FILENO, "\n", 1) < 0 ? g_strerror (errno) : "not all of it was written";
}

/* (nullable) */
static const char *
find_problem (void)
{
  gboolean failed = ferror (stdout) != 0;

  if (fflush (stdout) != 0)
    return g_strerror (errno);
  if (failed)
    return ask_again ();
  return close (STDOUT_FILENO) != 0 ? g_strerror (errno) : NULL;
}

static void
finish_stdout (void)
{
  const char *problem = find_problem ();

  if (problem == NULL || !has_reader ())
    return;
  fprintf (stderr, "stdout: %s\n", problem);
  _exit (ADJ_EXIT_CANNOT);
}

void
streams_init (void)
{
  fill_closed ();
  signal (SIGPIPE, SIG_IGN);
  signal (SIGXFSZ, SIG_IGN);
  atexit (finish_stdout);
}
