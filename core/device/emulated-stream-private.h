/* SPDX-License-Identifier: MIT */
#pragma once

#include "device/adj-gpu-runtime.h"
#include "device/emulated-memory-private.h"

G_BEGIN_DECLS

/* What was asked of an emulated GPU and is done when it is waited for: a stream does nothing by
 * itself, so that what forgot to wait reads what was there before. */

typedef struct _EmulatedCommand EmulatedCommand;

/* Of one command: with what it needs to do it; refcounted, as a graph does it again and again. */
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

/* All of these are the runtime's handles under another name. */
AdjGpuStream *emulated_stream_new (void);
/* Does what is left to do. */
void emulated_stream_free (AdjGpuStream *stream, EmulatedMemory *memory);
/* @command: (transfer full) */
void emulated_stream_ask (AdjGpuStream *stream, EmulatedCommand *command);
void emulated_stream_finish (AdjGpuStream *stream, EmulatedMemory *memory);
/* Forgets what was asked. */
void emulated_stream_forget (AdjGpuStream *stream);

AdjGpuEvent *emulated_event_new (void);
void emulated_event_free (AdjGpuEvent *event);
void emulated_event_record (AdjGpuEvent *event, AdjGpuStream *stream);
void emulated_event_hold (AdjGpuEvent *event, AdjGpuStream *stream);
/* Does what its stream was asked until it happens. */
void emulated_event_finish (AdjGpuEvent *event, EmulatedMemory *memory);
/* %FALSE: it has not happened. */
gboolean emulated_event_get_time (const AdjGpuEvent *event, gint64 *ns);

void emulated_capture_begin (AdjGpuStream *stream);
AdjGpuGraph *emulated_capture_end (AdjGpuStream *stream);
gboolean emulated_stream_is_captured (const AdjGpuStream *stream);
void emulated_graph_free (AdjGpuGraph *graph);
void emulated_graph_ask (AdjGpuGraph *graph, AdjGpuStream *stream);

G_END_DECLS
