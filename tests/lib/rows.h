/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* rows: files under tests/data with one case a line, fields separated by tabs, other bytes as \xNN, '#' comments. */
#include "base/buf.h"
#include "base/str.h"

#define ROW_FIELDS_MAX 8

struct rows {
    struct buf text;
    struct str rest;
    char *decoded;
    size_t line;
};

struct row {
    struct str field[ROW_FIELDS_MAX];
    size_t n;
    char name[64]; /* file's line, for messages */
};

void rows_open(struct rows *r, const char *path); /* fails the test when the file is not there */
bool rows_next(struct rows *r, struct row *ret);  /* borrowed until the next call */
void rows_done(struct rows *r);
DEFINE_CLEANUP_VALUE(struct rows, rows_done)
