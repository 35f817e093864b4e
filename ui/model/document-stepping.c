/* SPDX-License-Identifier: MIT */
/* The document's captured backward, run event by event. */

#include "model/document-private.h"

/* Shows the node where it waits. */
static void
on_changed (AdjStepping *stepping, AdjDocument *self)
{
  AdjSteppingEvent event;

  if (adj_stepping_get_event (stepping, &event) &&
      adj_stepping_get_backward (stepping)->captured == adj_document_get_captured (self))
    adj_document_set_selected (self, event.node);
  adj_document_changed (self, PROP_STEPPING);
}

void
adj_document_forget_stepping (AdjDocument *self)
{
  if (self->stepping == NULL)
    return;
  g_signal_handlers_disconnect_by_func (self->stepping, on_changed, self);
  adj_stepping_stop (self->stepping);
  g_clear_object (&self->stepping);
}

AdjStepping *
adj_document_get_stepping (AdjDocument *self)
{
  AdjCaptured *captured;

  g_return_val_if_fail (ADJ_IS_DOCUMENT (self), NULL);

  captured = adj_document_get_captured (self);
  if (self->stepping != NULL && adj_stepping_get_backward (self->stepping)->captured != captured)
    adj_document_forget_stepping (self);
  if (self->stepping == NULL && captured != NULL)
    {
      self->stepping = adj_stepping_new (self->graphs, self->graph, captured);
      g_signal_connect (self->stepping, "changed", G_CALLBACK (on_changed), self);
    }
  return self->stepping;
}

void
adj_document_step_backward (AdjDocument *self, gboolean continues)
{
  AdjStepping *stepping = adj_document_get_stepping (self);

  if (stepping == NULL)
    return;
  adj_stepping_go (stepping, adj_document_get_run_choice (self), continues);
  adj_document_changed (self, PROP_STEPPING);
}

gboolean
adj_document_is_stepping (AdjDocument *self)
{
  g_return_val_if_fail (ADJ_IS_DOCUMENT (self), FALSE);

  return self->stepping != NULL && adj_stepping_is_busy (self->stepping);
}

void
adj_document_toggle_breakpoint (AdjDocument *self)
{
  AdjStepping *stepping = adj_document_get_stepping (self);

  if (stepping != NULL)
    adj_stepping_toggle_breakpoint (
        stepping, adj_stepping_find_step (stepping, adj_document_get_selected (self)));
}
