/* SPDX-License-Identifier: MIT */
/* Preloaded library that simulates a disk with ADJ_TEST_DISK bytes of free space: writes to
 * files beyond that fail as on a full disk. */

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static size_t
take_room (int fd, size_t n)
{
  static size_t taken;
  const char *room = getenv ("ADJ_TEST_DISK");
  size_t all = room != NULL ? strtoul (room, NULL, 10) : 0, left, got;
  struct stat status;

  if (room == NULL || fstat (fd, &status) != 0 || !S_ISREG (status.st_mode))
    return n;
  left = all - __atomic_load_n (&taken, __ATOMIC_SEQ_CST);
  got = n < left ? n : left;
  __atomic_fetch_add (&taken, got, __ATOMIC_SEQ_CST);
  return got;
}

static ssize_t
fail_full (void)
{
  errno = ENOSPC;
  return -1;
}

ssize_t
write (int fd, const void *bytes, size_t n)
{
  ssize_t (*next) (int, const void *, size_t);
  size_t got = take_room (fd, n);

  *(void **) &next = dlsym (RTLD_NEXT, "write");
  return got == 0 && n > 0 ? fail_full () : next (fd, bytes, got);
}

ssize_t
pwrite (int fd, const void *bytes, size_t n, off_t at)
{
  ssize_t (*next) (int, const void *, size_t, off_t);
  size_t got = take_room (fd, n);

  *(void **) &next = dlsym (RTLD_NEXT, "pwrite");
  return got == 0 && n > 0 ? fail_full () : next (fd, bytes, got, at);
}

ssize_t
copy_file_range (int in, off_t *from, int out, off_t *to, size_t n, unsigned int flags)
{
  ssize_t (*next) (int, off_t *, int, off_t *, size_t, unsigned int);
  size_t got = take_room (out, n);

  *(void **) &next = dlsym (RTLD_NEXT, "copy_file_range");
  return got == 0 && n > 0 ? fail_full () : next (in, from, out, to, got, flags);
}
