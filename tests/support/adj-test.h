/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Helpers for all tests, in addition to GLib's.  An error in a helper fails the running test, so
 * none returns an error. */

/* Results of a program that has ended. */
typedef struct
{
  int status; /* exit status; minus the signal's number if one ended it */
  char *out;  /* NUL-terminated; may hold other NULs */
  gsize out_length;
  char *err;
  gsize err_length;
} AdjTestProcess;

AdjTestProcess *adj_test_spawn (const char *const *argv, const char *input, const char *directory);
void adj_test_process_free (AdjTestProcess *process);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjTestProcess, adj_test_process_free)

/* A temporary folder for one test, removed with its contents when the handle is freed. */
typedef struct
{
  char *path;
} AdjTestFolder;

AdjTestFolder *adj_test_folder_new (void);
void adj_test_folder_free (AdjTestFolder *folder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjTestFolder, adj_test_folder_free)

char *adj_test_data_path (const char *name) G_GNUC_WARN_UNUSED_RESULT;
char *adj_test_read_file (const char *path, gsize *length) G_GNUC_WARN_UNUSED_RESULT;
/* (transfer full): the contents of a gzip-compressed text file. */
char *adj_test_read_packed (const char *path) G_GNUC_WARN_UNUSED_RESULT;

void adj_test_check_golden (const char *name, const char *got);

G_END_DECLS
