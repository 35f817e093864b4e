/* SPDX-License-Identifier: MIT */
/* Hands blocks to helper processes that run Graphviz, and gathers their placements; cancellable. */

#include "layout/adj-layout-pool.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <gio/gunixinputstream.h>
#include <gio/gunixoutputstream.h>
#include <glib-unix.h>

#define N_HELPERS 2
#define BUDGET (500 * G_TIME_SPAN_MILLISECOND) /* for one block */
#define MAX_ANSWER (64u << 20)

typedef struct
{
  GSubprocess *process; /* %NULL: not running */
  int to, from;         /* its input and output */
  guint job;            /* index of the job that it works on; G_MAXUINT: idle */
  gint64 deadline;
  GBytes *request;
  gsize sent;
  GByteArray *answer; /* the bytes received, with their length first */
} Helper;

typedef struct
{
  AdjLayoutJob *jobs;
  guint n, next, n_done;
  gint64 budget;
  gboolean no_helper; /* the helper could not be started */
  Helper helpers[N_HELPERS];
} Pool;

/* Path of the helper: from the environment, installed, or beside the program in a build folder. */
static char *
find_program (void)
{
  static const char *const places[] = { "../libexec/adjoint-layout", "../../libexec/adjoint-layout",
                                        "libexec/adjoint-layout" };
  const char *named = g_getenv ("ADJ_LAYOUT_HELPER");
  g_autofree char *self = NULL;
  g_autofree char *folder = NULL;

  if (named)
    return g_strdup (named);
  if (g_file_test (ADJ_LIBEXECDIR "/adjoint-layout", G_FILE_TEST_IS_EXECUTABLE))
    return g_strdup (ADJ_LIBEXECDIR "/adjoint-layout");
  self = g_file_read_link ("/proc/self/exe", NULL);
  folder = self ? g_path_get_dirname (self) : NULL;
  for (guint i = 0; folder && i < G_N_ELEMENTS (places); i++)
    {
      g_autofree char *path = g_build_filename (folder, places[i], NULL);

      if (g_file_test (path, G_FILE_TEST_IS_EXECUTABLE))
        return g_steal_pointer (&path);
    }
  return NULL;
}

static void
helper_drop_job (Helper *helper)
{
  helper->job = G_MAXUINT;
  g_clear_pointer (&helper->request, g_bytes_unref);
  g_byte_array_set_size (helper->answer, 0);
}

static void
helper_stop (Helper *helper)
{
  helper_drop_job (helper);
  if (!helper->process)
    return;
  g_subprocess_force_exit (helper->process);
  g_subprocess_wait (helper->process, NULL, NULL);
  g_clear_object (&helper->process);
}

static gboolean
helper_start (Helper *helper)
{
  g_autofree char *program = find_program ();

  if (!program)
    return FALSE;
  helper->process =
      g_subprocess_new (G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE |
                            G_SUBPROCESS_FLAGS_STDERR_SILENCE,
                        NULL, program, NULL);
  if (!helper->process)
    return FALSE;
  helper->to = g_unix_output_stream_get_fd (
      G_UNIX_OUTPUT_STREAM (g_subprocess_get_stdin_pipe (helper->process)));
  helper->from = g_unix_input_stream_get_fd (
      G_UNIX_INPUT_STREAM (g_subprocess_get_stdout_pipe (helper->process)));
  return g_unix_set_fd_nonblocking (helper->to, TRUE, NULL);
}

/* Writes without SIGPIPE: a helper that died gives an error. */
static gssize
send_some (Helper *helper)
{
  static const struct timespec now = { 0, 0 };
  gsize size;
  const guint8 *data = g_bytes_get_data (helper->request, &size);
  sigset_t pipe_signal, before, pending;
  gssize n;
  int problem;

  sigemptyset (&pipe_signal);
  sigaddset (&pipe_signal, SIGPIPE);
  sigpending (&pending);
  pthread_sigmask (SIG_BLOCK, &pipe_signal, &before);
  n = write (helper->to, data + helper->sent, size - helper->sent);
  problem = errno;
  if (n < 0 && problem == EPIPE && !sigismember (&pending, SIGPIPE))
    sigtimedwait (&pipe_signal, NULL, &now);
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  errno = problem;
  return n;
}

static void
helper_give (Helper *helper, const AdjBlockGraph *graph, guint job, gint64 budget)
{
  g_autoptr (GBytes) body = adj_block_graph_to_bytes (graph);
  guint32 size = (guint32) g_bytes_get_size (body);
  GByteArray *message = g_byte_array_new ();

  g_byte_array_append (message, (const guint8 *) &size, sizeof size);
  g_byte_array_append (message, g_bytes_get_data (body, NULL), size);
  helper->request = g_byte_array_free_to_bytes (message);
  helper->sent = 0;
  helper->job = job;
  helper->deadline = g_get_monotonic_time () + budget;
}

/* Reads available bytes. %FALSE: the helper has ended or its answer is malformed. */
static gboolean
helper_receive (Helper *helper, AdjLayoutJob *job, gboolean *complete)
{
  guint8 buffer[1 << 16];
  gssize n = read (helper->from, buffer, sizeof buffer);
  guint32 size;

  *complete = FALSE;
  if (n < 0 && (errno == EINTR || errno == EAGAIN))
    return TRUE;
  if (n <= 0)
    return FALSE;
  g_byte_array_append (helper->answer, buffer, (guint) n);
  if (helper->answer->len < sizeof size)
    return TRUE;
  memcpy (&size, helper->answer->data, sizeof size);
  if (size > MAX_ANSWER || helper->answer->len > size + sizeof size)
    return FALSE;
  if (helper->answer->len < size + sizeof size)
    return TRUE;

  *complete = TRUE;
  if (size)
    {
      g_autoptr (GBytes) bytes = g_bytes_new (helper->answer->data + sizeof size, size);

      job->placement = adj_placement_from_bytes (bytes, job->graph);
    }
  return TRUE;
}

static void
pool_give_work (Pool *self)
{
  for (guint i = 0; i < N_HELPERS; i++)
    {
      Helper *helper = &self->helpers[i];

      if (helper->job != G_MAXUINT || self->next >= self->n || self->no_helper)
        continue;
      if (!helper->process && !helper_start (helper))
        {
          self->no_helper = TRUE;
          return;
        }
      helper_give (helper, self->jobs[self->next].graph, self->next, self->budget);
      self->next++;
    }
}

static gboolean
pool_is_busy (const Pool *self)
{
  for (guint i = 0; i < N_HELPERS; i++)
    if (self->helpers[i].job != G_MAXUINT)
      return TRUE;
  return FALSE;
}

static void
pool_serve (Pool *self, Helper *helper, const struct pollfd *in, const struct pollfd *out)
{
  gboolean complete = FALSE, good = TRUE;

  if (out->revents)
    {
      gssize n = send_some (helper);

      good = n >= 0 || errno == EAGAIN || errno == EINTR;
      helper->sent += n > 0 ? (gsize) n : 0;
    }
  if (good && in->revents)
    good = helper_receive (helper, &self->jobs[helper->job], &complete);
  if (good && !complete && g_get_monotonic_time () > helper->deadline)
    good = FALSE;
  if (good && !complete)
    return;

  self->n_done++;
  if (good)
    helper_drop_job (helper);
  else
    helper_stop (helper);
}

/* Waits until something happens; %FALSE when cancelled. */
static gboolean
pool_turn (Pool *self, GCancellable *cancellable, int cancel_fd)
{
  struct pollfd fds[2 * N_HELPERS + 1] = { 0 };
  gint64 deadline = G_MAXINT64;
  int wait;

  for (guint i = 0; i < N_HELPERS; i++)
    {
      const Helper *helper = &self->helpers[i];
      gboolean busy = helper->job != G_MAXUINT;
      gboolean sending = busy && helper->sent < g_bytes_get_size (helper->request);

      fds[2 * i] = (struct pollfd){ busy ? helper->from : -1, POLLIN, 0 };
      fds[2 * i + 1] = (struct pollfd){ sending ? helper->to : -1, POLLOUT, 0 };
      if (busy)
        deadline = MIN (deadline, helper->deadline);
    }
  fds[2 * N_HELPERS] = (struct pollfd){ cancel_fd, POLLIN, 0 };
  wait = (int) CLAMP ((deadline - g_get_monotonic_time ()) / 1000 + 1, 0, 1000);
  if (poll (fds, G_N_ELEMENTS (fds), wait) < 0 && errno != EINTR)
    return TRUE;
  if (g_cancellable_is_cancelled (cancellable))
    return FALSE;
  for (guint i = 0; i < N_HELPERS; i++)
    if (self->helpers[i].job != G_MAXUINT)
      pool_serve (self, &self->helpers[i], &fds[2 * i], &fds[2 * i + 1]);
  return TRUE;
}

gboolean
adj_layout_pool_run (AdjLayoutJob *jobs,
                     guint n,
                     gint64 budget,
                     AdjLayoutJobDone done,
                     gpointer data,
                     GCancellable *cancellable,
                     GError **error)
{
  Pool self = { .jobs = jobs, .n = n, .budget = budget > 0 ? budget : BUDGET };
  int cancel_fd = g_cancellable_get_fd (cancellable);
  gboolean going = !g_cancellable_is_cancelled (cancellable);

  for (guint i = 0; i < N_HELPERS; i++)
    {
      self.helpers[i].job = G_MAXUINT;
      self.helpers[i].answer = g_byte_array_new ();
    }
  for (pool_give_work (&self); going && pool_is_busy (&self); pool_give_work (&self))
    {
      guint before = self.n_done;

      going = pool_turn (&self, cancellable, cancel_fd);
      if (done && self.n_done != before)
        done (self.n_done, data);
    }
  for (guint i = 0; i < N_HELPERS; i++)
    {
      helper_stop (&self.helpers[i]);
      g_byte_array_unref (self.helpers[i].answer);
    }
  if (cancel_fd >= 0)
    g_cancellable_release_fd (cancellable);
  return going || !g_cancellable_set_error_if_cancelled (cancellable, error);
}
