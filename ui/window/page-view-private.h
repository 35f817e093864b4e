/* SPDX-License-Identifier: MIT */
#pragma once

#include "canvas/adj-beside-pane.h"
#include "canvas/adj-canvas-page.h"
#include "inspect/adj-inspector.h"
#include "sidebar/adj-sidebar.h"
#include "stages/adj-stage-bar.h"
#include "stages/adj-stage-options.h"
#include "window/adj-document-page.h"
#include "window/adj-remarks-bar.h"

G_BEGIN_DECLS

struct _AdjDocumentPage
{
  AdwBin parent_instance;

  AdjDocument *document; /* (owned) */
  GSettings *settings;   /* (owned) (nullable) */
  gboolean had_selection;
  gboolean changed; /* the view changed since it was saved */
  guint saving;

  AdjRemarksBar *remarks_bar;
  GtkStack *pages;
  AdwStatusPage *problem_page;
  GtkSpinner *spinner;
  AdwFlap *sidebar_flap;
  AdjSidebar *sidebar;
  AdwFlap *inspector_flap;
  AdjStageBar *stage_bar;
  AdjStageOptions *stage_options;
  AdjCanvasPage *canvas_page;
  AdjBesidePane *beside_pane;
  AdjInspector *inspector;
  GtkPaned *paned;
  GtkNotebook *panel;
  GtkLabel *panel_note;
};

/* Saves the view of the document if it changed and the user wants that. */
void page_view_save (AdjDocumentPage *self);
/* The same after a few seconds, so that a crash loses no more. */
void page_view_save_soon (AdjDocumentPage *self);
/* Restores the camera of the saved view, once there is a picture. */
void page_view_restore_camera (AdjDocumentPage *self);

G_END_DECLS
