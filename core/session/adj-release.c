/* SPDX-License-Identifier: MIT */
/* The releases of PyTorch that are known exactly. */

#include "session/adj-release.h"

#include <stdlib.h>

static const AdjRelease releases[] = {
  { "2.6", "joint=torch", "joint", FALSE, ADJ_RANDOM_MKL, FALSE, FALSE, FALSE, FALSE },
  { "2.15", "joint=torch2.15", "joint=2.15", TRUE, ADJ_RANDOM_GENERATOR, TRUE, TRUE, TRUE, TRUE },
};

/* "2.15" gives 2015; 0: not a version. */
static guint64
read_number (const char *version)
{
  char *end = NULL;
  guint64 major = g_ascii_strtoull (version, &end, 10);

  return *end == '.' ? 1000 * major + MIN (g_ascii_strtoull (end + 1, NULL, 10), 999) : 0;
}

static guint64
distance (const AdjRelease *release, guint64 number)
{
  guint64 own = read_number (release->name);

  return MAX (own, number) - MIN (own, number);
}

const AdjRelease *
adj_release_find (const char *torch_version, gboolean *known)
{
  guint64 number = torch_version != NULL ? read_number (torch_version) : 0;
  const AdjRelease *nearest = &releases[0];

  for (guint i = 1; number > 0 && i < G_N_ELEMENTS (releases); i++)
    if (distance (&releases[i], number) < distance (nearest, number))
      nearest = &releases[i];
  if (known != NULL)
    *known = number > 0 && distance (nearest, number) == 0;
  return nearest;
}
