/* SPDX-License-Identifier: MIT */
/* Streams, events and graphs of the emulated GPU: queues of commands, run when they are waited for.
 */

#include <time.h>

#include "device/emulated-stream-private.h"

struct _AdjGpuStream
{
  GQueue commands;     /* EmulatedCommand (owned) */
  GPtrArray *captured; /* (owned) (nullable): commands that are being captured instead */
};

/* Records are numbered; the last one has happened when @happened equals @recorded. */
struct _AdjGpuEvent
{
  gatomicrefcount ref_count;
  AdjGpuStream *stream; /* (unowned) (nullable): stream of the last record */
  guint recorded, happened;
  gint64 ns;
};

struct _AdjGpuGraph
{
  GPtrArray *commands; /* (owned) */
};

/* -- commands -- */

gpointer
emulated_command_new (gsize size,
                      void (*run) (EmulatedCommand *command, EmulatedMemory *memory),
                      void (*clear) (EmulatedCommand *command))
{
  EmulatedCommand *command = g_malloc0 (size);

  g_atomic_ref_count_init (&command->ref_count);
  command->run = run;
  command->clear = clear;
  return command;
}

EmulatedCommand *
emulated_command_ref (EmulatedCommand *command)
{
  g_atomic_ref_count_inc (&command->ref_count);
  return command;
}

void
emulated_command_unref (gpointer data)
{
  EmulatedCommand *command = data;

  if (!g_atomic_ref_count_dec (&command->ref_count))
    return;
  if (command->clear != NULL)
    command->clear (command);
  g_free (command);
}

/* -- streams -- */

AdjGpuStream *
emulated_stream_new (void)
{
  AdjGpuStream *stream = g_new0 (AdjGpuStream, 1);

  g_queue_init (&stream->commands);
  return stream;
}

static gboolean
do_next (AdjGpuStream *stream, EmulatedMemory *memory)
{
  EmulatedCommand *command = g_queue_pop_head (&stream->commands);

  if (command == NULL)
    return FALSE;
  command->run (command, memory);
  emulated_command_unref (command);
  return TRUE;
}

void
emulated_stream_finish (AdjGpuStream *stream, EmulatedMemory *memory)
{
  while (do_next (stream, memory))
    ;
}

void
emulated_stream_forget (AdjGpuStream *stream)
{
  g_queue_clear_full (&stream->commands, emulated_command_unref);
  g_clear_pointer (&stream->captured, g_ptr_array_unref);
}

void
emulated_stream_free (AdjGpuStream *stream, EmulatedMemory *memory)
{
  emulated_stream_finish (stream, memory);
  emulated_stream_forget (stream);
  g_free (stream);
}

void
emulated_stream_ask (AdjGpuStream *stream, EmulatedCommand *command)
{
  if (stream->captured != NULL)
    g_ptr_array_add (stream->captured, command);
  else
    g_queue_push_tail (&stream->commands, command);
}

/* -- events -- */

typedef struct
{
  EmulatedCommand parent;
  AdjGpuEvent *event; /* (owned) */
  guint number;
} EventCommand;

AdjGpuEvent *
emulated_event_new (void)
{
  AdjGpuEvent *event = g_new0 (AdjGpuEvent, 1);

  g_atomic_ref_count_init (&event->ref_count);
  return event;
}

void
emulated_event_free (AdjGpuEvent *event)
{
  if (g_atomic_ref_count_dec (&event->ref_count))
    g_free (event);
}

static void
clear_event (EmulatedCommand *command)
{
  emulated_event_free (((EventCommand *) command)->event);
}

static void
let_happen (EmulatedCommand *command, EmulatedMemory *memory)
{
  EventCommand *self = (EventCommand *) command;
  struct timespec time;

  clock_gettime (CLOCK_MONOTONIC, &time);
  self->event->ns = (gint64) time.tv_sec * 1000000000 + time.tv_nsec;
  self->event->happened = self->number;
}

static void
finish_until (AdjGpuEvent *event, guint number, EmulatedMemory *memory)
{
  gboolean more = TRUE;

  while (event->happened < number && more)
    more = do_next (event->stream, memory);
}

static void
await (EmulatedCommand *command, EmulatedMemory *memory)
{
  EventCommand *self = (EventCommand *) command;

  finish_until (self->event, self->number, memory);
}

void
emulated_event_finish (AdjGpuEvent *event, EmulatedMemory *memory)
{
  finish_until (event, event->recorded, memory);
}

static void
ask_event (AdjGpuEvent *event,
           AdjGpuStream *stream,
           void (*run) (EmulatedCommand *command, EmulatedMemory *memory))
{
  EventCommand *command = emulated_command_new (sizeof *command, run, clear_event);

  g_atomic_ref_count_inc (&event->ref_count);
  command->event = event;
  command->number = event->recorded;
  emulated_stream_ask (stream, &command->parent);
}

void
emulated_event_record (AdjGpuEvent *event, AdjGpuStream *stream)
{
  event->stream = stream;
  event->recorded++;
  ask_event (event, stream, let_happen);
}

void
emulated_event_hold (AdjGpuEvent *event, AdjGpuStream *stream)
{
  ask_event (event, stream, await);
}

gboolean
emulated_event_get_time (const AdjGpuEvent *event, gint64 *ns)
{
  *ns = event->ns;
  return event->recorded > 0 && event->happened == event->recorded;
}

/* -- graphs -- */

typedef struct
{
  EmulatedCommand parent;
  GPtrArray *commands; /* (owned) */
} GraphCommand;

static void
run_graph (EmulatedCommand *command, EmulatedMemory *memory)
{
  GPtrArray *commands = ((GraphCommand *) command)->commands;

  for (guint i = 0; i < commands->len; i++)
    ((EmulatedCommand *) commands->pdata[i])->run (commands->pdata[i], memory);
}

static void
clear_graph (EmulatedCommand *command)
{
  g_ptr_array_unref (((GraphCommand *) command)->commands);
}

void
emulated_capture_begin (AdjGpuStream *stream)
{
  stream->captured = g_ptr_array_new_with_free_func (emulated_command_unref);
}

AdjGpuGraph *
emulated_capture_end (AdjGpuStream *stream)
{
  AdjGpuGraph *graph = g_new (AdjGpuGraph, 1);

  graph->commands = g_steal_pointer (&stream->captured);
  return graph;
}

gboolean
emulated_stream_is_captured (const AdjGpuStream *stream)
{
  return stream->captured != NULL;
}

void
emulated_graph_free (AdjGpuGraph *graph)
{
  g_ptr_array_unref (graph->commands);
  g_free (graph);
}

void
emulated_graph_ask (AdjGpuGraph *graph, AdjGpuStream *stream)
{
  GraphCommand *command = emulated_command_new (sizeof *command, run_graph, clear_graph);

  command->commands = g_ptr_array_ref (graph->commands);
  emulated_stream_ask (stream, &command->parent);
}
