/* SPDX-License-Identifier: MIT */
/* NVRTC by dlopen, and a cache of its results in files, by the hash of all its inputs. */

#include "device/cuda-compiler.h"

#include "adj-kernel-cuda.h"
#include "base/adj-file-cache.h"
#include "base/adj-file-internal.h"
#include "base/adj-macros.h"
#include "device/cuda-library.h"

#define MAX_FILE (16u << 20)
#define MAX_HEADERS 128
/* Files of the cache. */
#define MAX_KEPT 4096

typedef void *Program;

/* The part of nvrtc.h that is used, with its names; 0 is success. */
static struct
{
  int (*nvrtcVersion) (int *major, int *minor);
  int (*nvrtcCreateProgram) (Program *program,
                             const char *source,
                             const char *name,
                             int n_headers,
                             const char *const *headers,
                             const char *const *names);
  int (*nvrtcDestroyProgram) (Program *program);
  int (*nvrtcCompileProgram) (Program program, int n_options, const char *const *options);
  int (*nvrtcGetCUBINSize) (Program program, size_t *size);
  int (*nvrtcGetCUBIN) (Program program, char *code);
  int (*nvrtcGetProgramLogSize) (Program program, size_t *size);
  int (*nvrtcGetProgramLog) (Program program, char *log);
} nvrtc;

static const char *const function_names[] = {
  "nvrtcVersion",      "nvrtcCreateProgram", "nvrtcDestroyProgram",    "nvrtcCompileProgram",
  "nvrtcGetCUBINSize", "nvrtcGetCUBIN",      "nvrtcGetProgramLogSize", "nvrtcGetProgramLog",
};
static const char *const library_names[] = { "libnvrtc.so.13", "libnvrtc.so.12", NULL };

G_STATIC_ASSERT (sizeof nvrtc == sizeof function_names);

static CudaLibrary library = { .names = library_names,
                               .functions = function_names,
                               .n_functions = G_N_ELEMENTS (function_names),
                               .table = (void **) &nvrtc };

/* Headers of the C library that kernels include, which NVRTC lacks. */
static const AdjKSource standard_headers[] = {
  { "math.h", "#pragma once\n"
              "#define INFINITY __int_as_float (0x7f800000)\n"
              "#define NAN __int_as_float (0x7fc00000)\n"
              "#define M_PI 3.14159265358979323846\n"
              "#define M_PI_2 1.57079632679489661923\n"
              "#define M_SQRT2 1.41421356237309504880\n"
              "#define M_SQRT1_2 0.70710678118654752440\n"
              "#define M_E 2.7182818284590452354\n"
              "#define M_LN2 0.69314718055994530942\n"
              "#define M_LOG2E 1.4426950408889634074\n" },
  { "stdbool.h", "#pragma once\n" },
  { "stddef.h", "#pragma once\n#define NULL 0\n" },
  { "stdint.h",
    "#pragma once\n"
    "typedef signed char int8_t;\ntypedef unsigned char uint8_t;\n"
    "typedef short int16_t;\ntypedef unsigned short uint16_t;\n"
    "typedef int int32_t;\ntypedef unsigned int uint32_t;\n"
    "typedef long long int64_t;\ntypedef unsigned long long uint64_t;\n"
    "typedef unsigned long long uintptr_t;\n"
    "#define INT8_MIN (-128)\n#define INT16_MIN (-32768)\n"
    "#define INT32_MAX 2147483647\n#define INT32_MIN (-INT32_MAX - 1)\n"
    "#define INT64_MAX 9223372036854775807ll\n#define INT64_MIN (-INT64_MAX - 1)\n"
    "#define UINT8_MAX 255\n#define UINT32_MAX 4294967295u\n"
    "#define UINT64_MAX 18446744073709551615ull\n"
    "#define INT64_C(x) x##ll\n#define UINT64_C(x) x##ull\n#define UINT32_C(x) x##u\n" },
  { "string.h", "#pragma once\n" },
};

const char *
adj_cuda_compiler_missing (void)
{
  return cuda_library_open (&library)
             ? NULL
             : "the library libnvrtc is not here: what goes element by element is slower";
}

/* -- files -- */

static char *
kept_folder (void)
{
  return g_build_filename (g_get_user_cache_dir (), "adjoint", "cuda", NULL);
}

static void
add_sources (GChecksum *sum, const AdjKSource *sources)
{
  for (; sources->name != NULL; sources++)
    g_checksum_update (sum, (const guchar *) sources->text, -1);
}

static char *
kept_path (const char *source, const char *architecture)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autofree char *folder = kept_folder ();
  g_autofree char *name = NULL;
  int version[2] = { 0, 0 };

  nvrtc.nvrtcVersion (&version[0], &version[1]);
  g_checksum_update (sum, (const guchar *) version, sizeof version);
  g_checksum_update (sum, (const guchar *) architecture, -1);
  g_checksum_update (sum, (const guchar *) source, -1);
  add_sources (sum, adj_k_cuda_sources);
  name = g_strconcat (g_checksum_get_string (sum), ".cubin", NULL);
  return g_build_filename (folder, name, NULL);
}

/* -- compiling -- */

static Program
new_program (const char *source)
{
  const char *texts[MAX_HEADERS], *names[MAX_HEADERS];
  Program program = NULL;
  guint n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (standard_headers); i++, n++)
    {
      texts[n] = standard_headers[i].text;
      names[n] = standard_headers[i].name;
    }
  for (const AdjKSource *one = adj_k_cuda_sources; one->name != NULL; one++, n++)
    {
      g_assert (n < MAX_HEADERS);
      texts[n] = one->text;
      names[n] = one->name;
    }
  return nvrtc.nvrtcCreateProgram (&program, source, "made.cu", (int) n, texts, names) == 0
             ? program
             : NULL;
}

static void
tell_problem (Program program, GError **error)
{
  size_t size = 0;
  g_autofree char *log = NULL;
  const char *first;

  nvrtc.nvrtcGetProgramLogSize (program, &size);
  log = g_malloc0 (size + 1);
  nvrtc.nvrtcGetProgramLog (program, log);
  first = strstr (log, "error: ");
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "CUDA's compiler refuses a kernel: %.*s",
               (int) strcspn (first != NULL ? first : log, "\n"), first != NULL ? first : log);
}

static GBytes *
take_code (Program program)
{
  size_t size = 0;
  char *code;

  nvrtc.nvrtcGetCUBINSize (program, &size);
  code = g_malloc0 (MAX (size, 1));
  nvrtc.nvrtcGetCUBIN (program, code);
  return g_bytes_new_take (code, size);
}

static GBytes *
compile (const char *source, const char *architecture, GError **error)
{
  const char *options[] = { architecture, "-fmad=false", "-default-device", "-std=c++17", "-w" };
  Program program = new_program (source);
  GBytes *code = NULL;

  if (program == NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "CUDA's compiler does not begin");
      return NULL;
    }
  if (nvrtc.nvrtcCompileProgram (program, G_N_ELEMENTS (options), options) == 0)
    code = take_code (program);
  else
    tell_problem (program, error);
  nvrtc.nvrtcDestroyProgram (&program);
  return code;
}

GBytes *
adj_cuda_compile (const char *source, guint major, guint minor, GError **error)
{
  g_autofree char *architecture = g_strdup_printf ("--gpu-architecture=sm_%u%u", major, minor);
  g_autofree char *path = NULL;
  GBytes *code;

  if (!cuda_library_open (&library))
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND,
                   "the library libnvrtc, CUDA's compiler at run time, is not here");
      return NULL;
    }
  path = kept_path (source, architecture);
  code = adj_file_read (path, ADJ_FILE_WHOLE, MAX_FILE, NULL, NULL);
  if (code != NULL)
    return code;
  code = compile (source, architecture, error);
  if (code != NULL)
    adj_file_cache_keep (path, code, MAX_KEPT);
  return code;
}
