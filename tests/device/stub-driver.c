/* SPDX-License-Identifier: MIT */
/* An NVIDIA driver stub controlled by the environment: cuInit() returns STUB_INIT, and
 * STUB_VERSION is its CUDA version.  Every other call fails. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum
{
  NOT_INITIALIZED = 3
};

int cuInit (unsigned flags);
int cuDriverGetVersion (int *version);
int cuDeviceGetCount (int *n);
int cuGetProcAddress_v2 (const char *name, void **out, int version, uint64_t flags, int *status);

static int
number (const char *name, int if_unset)
{
  const char *text = getenv (name);

  return text != NULL ? atoi (text) : if_unset;
}

int
cuInit (unsigned flags)
{
  return number ("STUB_INIT", 0);
}

int
cuDriverGetVersion (int *version)
{
  *version = number ("STUB_VERSION", 99000);
  return 0;
}

int
cuDeviceGetCount (int *n)
{
  *n = 0;
  return 0;
}

static int
refuse (void)
{
  return NOT_INITIALIZED;
}

int
cuGetProcAddress_v2 (const char *name, void **out, int version, uint64_t flags, int *status)
{
  if (strcmp (name, "cuInit") == 0)
    *out = (void *) cuInit;
  else if (strcmp (name, "cuDriverGetVersion") == 0)
    *out = (void *) cuDriverGetVersion;
  else if (strcmp (name, "cuDeviceGetCount") == 0)
    *out = (void *) cuDeviceGetCount;
  else if (strcmp (name, "cuGetProcAddress") == 0)
    *out = (void *) cuGetProcAddress_v2;
  else
    *out = (void *) refuse;
  if (status != NULL)
    *status = 0;
  return 0;
}
