/* SPDX-License-Identifier: MIT */
#pragma once

#include "device/adj-gpu-runtime.h"
#include "device/emulated-memory-private.h"

G_BEGIN_DECLS

/* Queued work of an emulated GPU, which runs only when it is waited for, so that code that forgets
 * to wait reads old data. */

typedef struct _EmulatedCommand EmulatedCommand;

/* A command with its data; refcounted, as a graph runs it repeatedly. */
struct _EmulatedCommand
{
  gatomicrefcount ref_count;
  void (*run) (EmulatedCommand *command, EmulatedMemory *memory);
  void (*clear) (EmulatedCommand *command); /* (nullable) */
};

/* (transfer full): of @size bytes, which begin with an EmulatedCommand. */
gpointer emulated_command_new (gsize size,
                               void (*run) (EmulatedCommand *command, EmulatedMemory *memory),
                               void (*clear) (EmulatedCommand *command));
EmulatedCommand *emulated_command_ref (EmulatedCommand *command);
void emulated_command_unref (gpointer command);

/* These are the runtime's handles under other names. */
AdjGpuStream *emulated_stream_new (void);
/* Runs the remaining commands. */
void emulated_stream_free (AdjGpuStream *stream, EmulatedMemory *memory);
/* @command: (transfer full) */
void emulated_stream_ask (AdjGpuStream *stream, EmulatedCommand *command);
void emulated_stream_finish (AdjGpuStream *stream, EmulatedMemory *memory);
/* Drops the queued commands. */
void emulated_stream_forget (AdjGpuStream *stream);

AdjGpuEvent *emulated_event_new (void);
void emulated_event_free (AdjGpuEvent *event);
void emulated_event_record (AdjGpuEvent *event, AdjGpuStream *stream);
void emulated_event_hold (AdjGpuEvent *event, AdjGpuStream *stream);
/* Runs the commands of its stream up to its record. */
void emulated_event_finish (AdjGpuEvent *event, EmulatedMemory *memory);
/* %FALSE: it has not happened. */
gboolean emulated_event_get_time (const AdjGpuEvent *event, gint64 *ns);

void emulated_capture_begin (AdjGpuStream *stream);
AdjGpuGraph *emulated_capture_end (AdjGpuStream *stream);
gboolean emulated_stream_is_captured (const AdjGpuStream *stream);
void emulated_graph_free (AdjGpuGraph *graph);
void emulated_graph_ask (AdjGpuGraph *graph, AdjGpuStream *stream);

G_END_DECLS
