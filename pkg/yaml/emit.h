/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Private to yaml: the emitter of go.yaml.in/yaml (emitterc.go), v2 with its 80 columns and v3 without. */
#include "yaml/yaml_int.h"

#define YML_INDENT 2
#define YML_WIDTH 80

struct yml_emitter {
    struct buf *out;
    bool v3;
    int indent; /* -1 outside of any container */
    size_t column;
    bool whitespace, indention; /* what was written last */
};

/* How a string may be written. */
struct yml_analysis {
    bool multiline, plain, single, block;
};

enum yml_style { YML_PLAIN, YML_SINGLE, YML_DOUBLE, YML_LITERAL };

void yml_emit_indent(struct yml_emitter *e);
void yml_emit_indicator(struct yml_emitter *e, const char *text, bool need_whitespace, bool is_whitespace,
                        bool is_indention);
void yml_analyze(struct str s, bool v3, struct yml_analysis *ret);
/* A scalar in the wanted style, or in the next one that can hold it; `key`: on one line, before a colon. */
void yml_emit_scalar(struct yml_emitter *e, struct str s, enum yml_style style, const struct yml_analysis *a,
                     bool key);
/* Text that is known to be plain and without blanks. */
void yml_emit_word(struct yml_emitter *e, struct str s);
