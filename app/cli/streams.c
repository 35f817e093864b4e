/* SPDX-License-Identifier: MIT */
/* Standard streams: closed ones are replaced, control characters are escaped, and failures to write
 * become an exit status. */

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

static gboolean
write_all (const char *text, gsize n)
{
  while (n > 0)
    {
      gssize written = write (STDOUT_FILENO, text, n);

      if (written < 0 && errno != EINTR)
        return FALSE;
      text += MAX (written, 0);
      n -= (gsize) MAX (written, 0);
    }
  return TRUE;
}

static gboolean
is_control (guchar byte)
{
  return g_ascii_iscntrl ((char) byte) && byte != '\n' && byte != '\t';
}

/* The write function of the stream.  @cookie (guchar *): the first byte of U+0080 to U+00BF, some
 * of which are control characters, if it was the last one; else 0. */
static ssize_t
write_escaped (void *cookie, const char *text, size_t n)
{
  guchar *lead = cookie;
  g_autoptr (GString) out = g_string_sized_new (n + 8);

  for (gsize i = 0; i < n; i++)
    {
      guchar byte = (guchar) text[i];

      if (is_control (byte) || (*lead != 0 && byte >= 0x80 && byte < 0xa0))
        g_string_append_printf (out, "\\u%04x", byte);
      else
        {
          if (*lead != 0)
            g_string_append_c (out, (char) *lead);
          if (byte != 0xc2)
            g_string_append_c (out, (char) byte);
        }
      *lead = byte == 0xc2 ? byte : 0;
    }
  return write_all (out->str, out->len) ? (ssize_t) n : 0;
}

/* Escapes control characters but newlines and tabs as JSON does, since what is printed may come
 * from a file that nobody trusts. */
static void
escape_stdout (void)
{
  static guchar lead;
  FILE *escaped = fopencookie (&lead, "w", (cookie_io_functions_t){ .write = write_escaped });

  if (escaped == NULL)
    return;
  setvbuf (escaped, NULL, isatty (STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFSIZ);
  stdout = escaped;
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
  escape_stdout ();
  signal (SIGPIPE, SIG_IGN);
  signal (SIGXFSZ, SIG_IGN);
  atexit (finish_stdout);
}
