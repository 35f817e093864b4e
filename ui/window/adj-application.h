/* SPDX-License-Identifier: MIT */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

/* The workbench as an application: one process, a window per file. */
#define ADJ_TYPE_APPLICATION (adj_application_get_type ())
G_DECLARE_FINAL_TYPE (AdjApplication, adj_application, ADJ, APPLICATION, AdwApplication)

/* @flags: e.g. G_APPLICATION_NON_UNIQUE for tests */
AdjApplication *adj_application_new (GApplicationFlags flags);

G_END_DECLS
