/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A file that a thread cuts short and writes anew, in place, again and again. */
typedef struct _AdjTestSpoiledFile AdjTestSpoiledFile;

AdjTestSpoiledFile *adj_test_spoil_file (const char *path);
/* Whole again. */
void adj_test_spoiled_file_stop (AdjTestSpoiledFile *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjTestSpoiledFile, adj_test_spoiled_file_stop)

G_END_DECLS
