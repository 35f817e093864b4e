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
  gboolean changed; /* since the view was saved */
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

/* How a document is looked at is saved where it changed and users want it. */
void page_view_save (AdjDocumentPage *self);
/* After a few seconds: a crash loses no more. */
void page_view_save_soon (AdjDocumentPage *self);
/* As it was when the document was open before, once it has a picture. */
void page_view_restore_camera (AdjDocumentPage *self);

G_END_DECLS
