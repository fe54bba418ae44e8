/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* fs: files. Errors name the path and the system's reason. */
#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* Appends the whole file. LIMIT when it is larger than out->max; NOT_FOUND, FORBIDDEN, IO. Follows links.
 * "-" is standard input. */
NODISCARD int fs_read_file(const char *path, struct buf *out, struct err **err);

/* The same from a descriptor that is open; `path` is for the error. */
NODISCARD int fs_read_fd(int fd, const char *path, struct buf *out, struct err **err);

/* The same with the words of Go's os package: "open x: no such file or directory", "read x: is a directory". */
NODISCARD int fs_read_path(const char *path, struct buf *out, struct err **err);
/* "open x: no such file or directory" with the code that fits: a failed system call as Go's PathError prints it. */
int fs_path_error(struct err **err, const char *verb, const char *path, int errnum);

/* Writes a new file beside `path`, syncs it and renames it into place: readers see the old or the new content,
 * never a part, and a link at `path` is replaced, not followed. `mode` as for open(). */
NODISCARD int fs_write_file(const char *path, struct str content, int mode, struct err **err);

/* The same without the sync, for what can be made again: after a power cut it may be empty. */
NODISCARD int fs_write_cache(const char *path, struct str content, int mode, struct err **err);

/* Opens for writing and empties it. What is empty already is not truncated: ext4 would write the file to the disk when it is
 * closed. -1 with errno. */
int fs_open_empty(const char *path, int mode);

/* The first half of fs_write_file(), for whoever has to wait for something else in between: what the file will hold is on the disk,
 * without a name, so that nothing of it stays when the process dies. NULL where that cannot be done. */
struct fs_staged;
struct fs_staged *fs_stage(const char *path, struct str content, int mode) NODISCARD;
/* The second half: it takes its place, if it is this content. False: the file is as it was. */
bool fs_staged_put(struct fs_staged *s, struct str content);
void fs_staged_free(struct fs_staged *s); /* may be NULL */
DEFINE_CLEANUP(struct fs_staged *, fs_staged_free)

NODISCARD int fs_make_dirs(const char *path, int mode, struct err **err); /* mkdir -p */
NODISCARD int fs_remove_tree(const char *path, struct err **err); /* absent is fine; links are not followed */
bool fs_exists(const char *path);
/* The same with mode 0755 and the words of Go's os.MkdirAll(): "mkdir a/b: not a directory". `path` is not empty. */
NODISCARD int fs_make_path(const char *path, struct err **err);
bool fs_is_dir(const char *path);
bool fs_is_file(const char *path);

/* Names in a directory, without . and .., sorted bytewise. Release with fs_names_free(). */
NODISCARD int fs_list_dir(const char *path, char ***ret_names, size_t *ret_n, struct err **err);
void fs_names_free(char **names, size_t n);

/* A new private directory under $TMPDIR or /tmp; owned path (free()); the caller removes the tree. */
NODISCARD int fs_make_temp_dir(const char *prefix, char **ret, struct err **err);

char *fs_join(const char *dir, const char *name) NODISCARD; /* dir/name; owned */
/* Go's filepath.Clean(): "a//b/./c/.." gives "a/b", "" gives "."; by text alone, links are not looked at; owned. */
char *fs_clean(const char *path) NODISCARD;
/* Go's filepath.Abs(): clean, and seen from the working directory; owned. */
char *fs_absolute(const char *path) NODISCARD;
char *fs_home_path(const char *name) NODISCARD; /* $HOME/name, or NULL without HOME; owned */

/* Is `path` a clean relative path that stays below where it is joined: no leading '/', no empty, "." or ".."
 * part, no NUL, no backslash, at most FS_PATH_MAX bytes? */
bool fs_path_is_below(struct str path);
