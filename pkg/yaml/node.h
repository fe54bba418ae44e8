/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Private to yaml: a document as go-yaml holds it between parsing and decoding. Errors of syntax come before all others,
 * and an anchored node is decoded again for each alias, so both passes are needed to behave alike. */
#include "yaml/yaml_int.h"

enum yml_node_kind { YML_NODE_SCALAR, YML_NODE_TAGGED, YML_NODE_LIST, YML_NODE_MAP, YML_NODE_ALIAS };

struct yml_node {
    uint8_t kind; /* enum yml_node_kind */
    bool merge;   /* the key << */
    uint32_t line;
    uint32_t n; /* items; of a map keys and values together */
    union {
        struct value scalar; /* resolved */
        const struct yml_tagged *tagged;
        const struct yml_node *items;
        struct yml_anchor *anchor;
    };
};

struct yml_tagged {
    struct str tag, text; /* the tag is never empty */
};

struct yml_anchor {
    struct str name;
    struct yml_node node; /* its items are known when complete */
    bool complete;
    bool decoding; /* an alias of it is being decoded: meeting another one means that it contains itself */
};

/* Reads one node whose first event is *first. Nodes live in `nodes`, text in `texts`. */
NODISCARD int yml_compose(struct yml_reader *r, const struct yml_event *first, struct arena *nodes,
                          struct arena *texts, struct yml_node *ret, struct err **err);

/* What sigs.k8s.io/yaml makes of it; `ret` in `a`. */
NODISCARD int yml_decode(struct arena *a, const struct yml_node *root, const struct yml_options *o,
                         struct value *ret, struct err **err);

/* Appends the node's decoded value as fmt's %#v prints it. */
void yml_print_go(const struct yml_node *n, struct buf *out);
/* A scalar as Go holds it. False: the tag does not fit the text; then *ret_found is the tag that would. */
bool yml_scalar_value(const struct yml_node *n, struct arena *a, struct value *ret, enum yml_tag *ret_found);
