/* SPDX-License-Identifier: MIT */
/* Compiles fused regions with the C compiler of this machine. */

#include <dlfcn.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/adj-file-cache.h"
#include "base/adj-file-internal.h"
#include "plan/compiled-private.h"

/* Number of runs after which the C text is made and looked up in the cache, and number of runs (or
 * time) after which it is compiled. */
#define RUNS_TO_LOOK 3
#define RUNS_TO_COMPILE 20
#define NS_TO_COMPILE (G_GINT64_CONSTANT (100) * 1000 * 1000)
/* Functions in one file; more take the compiler too long. */
#define MAX_FUNCTIONS 256
/* Files of the cache, and bytes of one. */
#define MAX_KEPT 512
#define MAX_FILE (16u << 20)

/* The flags that kernels are compiled with, so that results have the same bits. */
static const char *const flags[] = {
  "-std=gnu17",
  "-O3",
  "-w",
  "-march=native",
  "-fPIC",
  "-shared",
  "-ffp-contract=off",
  "-fno-strict-aliasing",
  "-fno-math-errno",
  "-fno-trapping-math",
#ifdef __x86_64__
  "-mprefer-vector-width=512",
#endif
};

typedef enum
{
  NOT_BEGUN,
  BEING_COMPILED,
  THERE,
  REFUSED,
} State;

struct _PlanCompiled
{
  gatomicrefcount ref_count; /* of the plan and of the thread that compiles */
  char *compiler;            /* (owned): path */
  char *text;                /* (owned) */
  char *path;                /* (owned): path of the cached library */
  guint n_regions;
  guint32 *of_region; /* (owned): number of its function; PLAN_NONE: none */
  guint n_functions;
  AdjKFusedMade *functions; /* (owned) */
  void *library;            /* (owned) (nullable) */
  GCancellable *cancellable;
  GMutex lock;
  GCond ended;
  State state; /* atomic; set under @lock */
};

static void
compiled_unref (PlanCompiled *self)
{
  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;

  if (self->library != NULL)
    dlclose (self->library);
  g_object_unref (self->cancellable);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->ended);
  g_free (self->compiler);
  g_free (self->text);
  g_free (self->path);
  g_free (self->of_region);
  g_free (self->functions);
  g_free (self);
}

void
plan_compiled_free (PlanCompiled *self)
{
  if (self == NULL)
    return;

  g_cancellable_cancel (self->cancellable);
  compiled_unref (self);
}

static void
end (PlanCompiled *self, State state)
{
  g_mutex_lock (&self->lock);
  g_atomic_int_set (&self->state, state);
  g_cond_broadcast (&self->ended);
  g_mutex_unlock (&self->lock);
}

/* -- text -- */

static void
write_region (FILE *out, const PlanFused *fused)
{
  g_autofree AdjKView *views = g_new0 (AdjKView, fused->n_operands + 1);
  const gint64 *stride = fused->extents + fused->rank;

  for (guint i = 0; i < fused->n_operands; i++, stride += fused->rank)
    {
      views[i].type = fused->places[i].type;
      views[i].rank = fused->rank;
      memcpy (views[i].size, fused->extents, (gsize) fused->rank * sizeof *stride);
      memcpy (views[i].stride, stride, (gsize) fused->rank * sizeof *stride);
    }
  adj_k_fused_write (out, &fused->program, views, "made");
}

/* (transfer full) (nullable) */
static char *
text_of_region (const PlanFused *fused)
{
  char *text = NULL;
  gsize length;
  FILE *out = open_memstream (&text, &length);

  if (out == NULL)
    return NULL;
  write_region (out, fused);
  fclose (out);
  return text;
}

/* Layers of a model repeat regions: each function is written once.  Regions beyond MAX_FUNCTIONS
 * are skipped. */
static void
write_functions (PlanCompiled *self, const AdjPlan *plan, FILE *out)
{
  g_autoptr (GHashTable) numbers = g_hash_table_new_full (g_str_hash, g_str_equal, free, NULL);

  for (guint32 i = 0; i < self->n_regions; i++)
    {
      const PlanFused *fused = plan_region (plan, i)->fused;
      gboolean is_written =
          fused != NULL && fused->n_operands > 0 && self->n_functions < MAX_FUNCTIONS;
      char *text = is_written ? text_of_region (fused) : NULL;
      gpointer number;

      self->of_region[i] = PLAN_NONE;
      if (text == NULL)
        continue;
      if (g_hash_table_lookup_extended (numbers, text, NULL, &number))
        self->of_region[i] = GPOINTER_TO_UINT (number);
      else
        {
          fprintf (out, "#define made made_%u\n%s#undef made\n", self->n_functions, text);
          self->of_region[i] = self->n_functions;
          g_hash_table_insert (numbers, g_steal_pointer (&text),
                               GUINT_TO_POINTER (self->n_functions++));
        }
      free (text);
    }
}

/* -- files -- */

/* The instruction set extensions of this processor, as part of the cache key. */
static char *
find_processor (void)
{
  g_autofree char *text = NULL;
  const char *line;

  if (!g_file_get_contents ("/proc/cpuinfo", &text, NULL, NULL))
    return g_strdup ("");
  line = strstr (text, "\nflags");
  if (line == NULL)
    line = strstr (text, "\nFeatures");
  return line != NULL ? g_strndup (line, strcspn (line + 1, "\n") + 1) : g_strdup ("");
}

static char *
path_of (const PlanCompiled *self)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autofree char *processor = find_processor ();
  g_autofree char *name = NULL;
  struct stat status = { 0 };

  stat (self->compiler, &status);
  g_checksum_update (sum, (const guchar *) self->compiler, -1);
  g_checksum_update (sum, (const guchar *) &status.st_mtime, sizeof status.st_mtime);
  g_checksum_update (sum, (const guchar *) &status.st_size, sizeof status.st_size);
  g_checksum_update (sum, (const guchar *) processor, -1);
  for (guint i = 0; i < G_N_ELEMENTS (flags); i++)
    g_checksum_update (sum, (const guchar *) flags[i], -1);
  for (const AdjKSource *source = adj_k_cpu_sources; source->name != NULL; source++)
    g_checksum_update (sum, (const guchar *) source->text, -1);
  g_checksum_update (sum, (const guchar *) self->text, -1);
  name = g_strconcat (g_checksum_get_string (sum), ".so", NULL);
  return g_build_filename (g_get_user_cache_dir (), "adjoint", "compiled", name, NULL);
}

/* Whether only this user can have written to it. */
static gboolean
is_ours (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);
  struct stat of_folder, of_file;

  return stat (folder, &of_folder) == 0 && stat (path, &of_file) == 0 &&
         of_folder.st_uid == geteuid () && of_file.st_uid == geteuid () &&
         ((of_folder.st_mode | of_file.st_mode) & (S_IWGRP | S_IWOTH)) == 0;
}

/* Loads the library; whether it has all functions. */
static gboolean
load (PlanCompiled *self)
{
  if (!is_ours (self->path) || (self->library = dlopen (self->path, RTLD_NOW | RTLD_LOCAL)) == NULL)
    return FALSE;
  for (guint i = 0; i < self->n_functions; i++)
    {
      g_autofree char *name = g_strdup_printf ("made_%u", i);

      self->functions[i] = (AdjKFusedMade) dlsym (self->library, name);
      if (self->functions[i] == NULL)
        return FALSE;
    }
  return TRUE;
}

/* -- compiling -- */

static gboolean
write_file (const char *folder, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autofree char *parent = g_path_get_dirname (path);

  return g_mkdir_with_parents (parent, 0700) == 0 && g_file_set_contents (path, text, -1, NULL);
}

static gboolean
write_sources (const PlanCompiled *self, const char *folder)
{
  gboolean done = write_file (folder, "regions.c", self->text);

  for (const AdjKSource *source = adj_k_cpu_sources; done && source->name != NULL; source++)
    done = write_file (folder, source->name, source->text);
  return done;
}

static void
remove_folder (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *inner = g_build_filename (path, name, NULL);

      if (g_file_test (inner, G_FILE_TEST_IS_DIR))
        remove_folder (inner);
      else
        g_unlink (inner);
    }
  g_rmdir (path);
}

/* Gives the compiler a lower priority than runs have. */
static void
be_modest (gpointer data)
{
  if (nice (10) == -1)
    return;
}

static gboolean
run_compiler (PlanCompiled *self, const char *folder, const char *out)
{
  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (
      G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_SILENCE);
  g_autoptr (GPtrArray) words = g_ptr_array_new ();
  g_autofree char *source = g_build_filename (folder, "regions.c", NULL);
  g_autoptr (GSubprocess) compiler = NULL;

  g_ptr_array_add (words, self->compiler);
  for (guint i = 0; i < G_N_ELEMENTS (flags); i++)
    g_ptr_array_add (words, (gpointer) flags[i]);
  g_ptr_array_add (words, (gpointer) "-I");
  g_ptr_array_add (words, (gpointer) folder);
  g_ptr_array_add (words, source);
  g_ptr_array_add (words, (gpointer) "-o");
  g_ptr_array_add (words, (gpointer) out);
  g_ptr_array_add (words, (gpointer) "-lm");
  g_ptr_array_add (words, NULL);
  g_subprocess_launcher_set_child_setup (launcher, be_modest, NULL, NULL);
  compiler = g_subprocess_launcher_spawnv (launcher, (const char *const *) words->pdata, NULL);
  if (compiler == NULL)
    return FALSE;
  if (g_subprocess_wait (compiler, self->cancellable, NULL))
    return g_subprocess_get_successful (compiler);
  g_subprocess_force_exit (compiler);
  return FALSE;
}

static gboolean
compile (PlanCompiled *self)
{
  g_autofree char *folder = g_dir_make_tmp ("adjoint-XXXXXX", NULL);
  g_autofree char *out = folder != NULL ? g_build_filename (folder, "regions.so", NULL) : NULL;
  g_autoptr (GBytes) code = NULL;

  if (folder == NULL)
    return FALSE;
  if (write_sources (self, folder) && run_compiler (self, folder, out))
    code = adj_file_read (out, ADJ_FILE_WHOLE, MAX_FILE, NULL, NULL);
  remove_folder (folder);
  if (code == NULL)
    return FALSE;
  adj_file_cache_keep (self->path, code, MAX_KEPT);
  return load (self);
}

/* Runs in the compiling thread: one plan after the other. */
static void
compile_next (gpointer data, gpointer user_data)
{
  PlanCompiled *self = data;

  end (self, compile (self) ? THERE : REFUSED);
  compiled_unref (self);
}

static GThreadPool *
get_pool (void)
{
  static GThreadPool *pool;

  if (g_once_init_enter (&pool))
    g_once_init_leave (&pool, g_thread_pool_new (compile_next, NULL, 1, FALSE, NULL));
  return pool;
}

void
plan_compiled_begin (PlanCompiled *self)
{
  if (!g_atomic_int_compare_and_exchange ((gint *) &self->state, NOT_BEGUN, BEING_COMPILED))
    return;

  g_atomic_ref_count_inc (&self->ref_count);
  g_thread_pool_push (get_pool (), self, NULL);
}

gboolean
plan_compiled_wait (PlanCompiled *self)
{
  g_mutex_lock (&self->lock);
  while (g_atomic_int_get (&self->state) == BEING_COMPILED)
    g_cond_wait (&self->ended, &self->lock);
  g_mutex_unlock (&self->lock);
  return g_atomic_int_get (&self->state) == THERE;
}

char *
plan_compiled_get_path (const PlanCompiled *self)
{
  return g_strdup (self->path);
}

AdjKFusedMade
plan_compiled_get (PlanCompiled *self, guint32 region)
{
  if (g_atomic_int_get (&self->state) != THERE || self->of_region[region] == PLAN_NONE)
    return NULL;
  return self->functions[self->of_region[region]];
}

/* -- which -- */

static char *
find_compiler (void)
{
  const char *named = g_getenv ("ADJOINT_CC");

  if (named != NULL && *named == '\0')
    return NULL;
  return g_find_program_in_path (named != NULL ? named : "cc");
}

PlanCompiled *
plan_compiled_new (const AdjPlan *plan)
{
  g_autofree char *compiler = find_compiler ();
  PlanCompiled *self;
  gsize length;
  char *text = NULL;
  FILE *out = compiler != NULL ? open_memstream (&text, &length) : NULL;

  if (out == NULL)
    return NULL;
  self = g_new0 (PlanCompiled, 1);
  g_atomic_ref_count_init (&self->ref_count);
  self->compiler = g_steal_pointer (&compiler);
  self->cancellable = g_cancellable_new ();
  g_mutex_init (&self->lock);
  g_cond_init (&self->ended);
  self->n_regions = plan->regions->len;
  self->of_region = g_new (guint32, self->n_regions + 1);
  adj_k_fused_write_prelude (out);
  write_functions (self, plan, out);
  fclose (out);
  self->text = g_strdup (text);
  free (text);
  self->functions = g_new0 (AdjKFusedMade, self->n_functions + 1);
  self->path = path_of (self);
  if (self->n_functions == 0)
    self->state = REFUSED;
  else if (load (self))
    self->state = THERE;
  return self;
}

void
plan_compiled_note_run (AdjPlan *plan, gint64 ns)
{
  gint n_runs = g_atomic_int_add (&plan->n_runs, 1) + 1;
  gint64 all_ns = __atomic_add_fetch (&plan->run_ns, ns, __ATOMIC_RELAXED);
  PlanCompiled *compiled;

  if (n_runs == RUNS_TO_LOOK && g_atomic_pointer_get (&plan->compiled) == NULL)
    g_atomic_pointer_set (&plan->compiled, plan_compiled_new (plan));
  compiled = g_atomic_pointer_get (&plan->compiled);
  if (compiled != NULL && (n_runs >= RUNS_TO_COMPILE || all_ns > NS_TO_COMPILE))
    plan_compiled_begin (compiled);
}
