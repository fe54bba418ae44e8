/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* limits: every bound on what an outsider can make us hold or do, in one place. Each has a test at limit - 1,
 * limit and limit + 1. Bytes unless the name says otherwise. */
#include <stddef.h>

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)

/* base */
#define FS_PATH_MAX ((size_t)4096)   /* a relative path taken from an archive, an index or a key */
#define FS_TREE_DEPTH_MAX 64         /* directories in directories that a command reads */
#define LOG_FIELD_MAX ((size_t)1024) /* one field of a log line; longer ones are cut and marked */

/* JSON: Go's encoding/json stops at the same depth */
#define JSON_DEPTH_MAX 10000
#define JSON_TEXT_MAX (256 * MIB)

/* YAML: go-yaml's depth; flow nesting is quadratic in libyaml 0.2.5, so it is far lower */
#define YAML_DEPTH_MAX 1000
#define YAML_FLOW_DEPTH_MAX 256
#define YAML_TEXT_MAX (256 * MIB)

/* TOML: names of a key, and arrays and inline tables in each other */
#define TOML_DEPTH_MAX 1000
#define TOML_TEXT_MAX (64 * MIB)

/* values trees: print, compare, merge, copy recurse at most so deep */
#define VALUE_DEPTH_MAX 10000

/* chart archives: Helm's own figures (pkg/chart/loader/archive) */
#define ARCHIVE_UNPACKED_MAX (100 * MIB) /* all files of one archive together */
#define ARCHIVE_FILE_MAX (5 * MIB)       /* one file */
#define ARCHIVE_PACKED_MAX (20 * MIB)    /* the .tgz itself */
#define ARCHIVE_ENTRIES_MAX ((size_t)20000)
#define ARCHIVE_RATIO_MAX \
    ((size_t)1100)           /* unpacked : packed, beyond the first MiB; deflate cannot exceed 1032 */
#define CHART_NESTING_MAX 32 /* charts in charts */
#define CHART_UNPACKED_TOTAL_MAX (200 * MIB) /* a chart archive and all archives in it */
#define IGNORE_LINE_MAX (64 * KIB)           /* a line of .helmignore */
#define DIR_DEPTH_MAX 200                    /* folders in folders of a chart on disk */
#define VALUES_MEMORY_MAX (256 * MIB) /* arena of one values.yaml, values file or Chart.yaml being parsed */

/* templates */
#define TEMPLATE_DEPTH_MAX 1000                /* nested include of one name, as Helm */
#define TEMPLATE_STEPS_MAX ((size_t)200000000) /* evaluated nodes of one render */
#define TEMPLATE_OUTPUT_MAX (64 * MIB)         /* text of one render */
#define TEMPLATE_MEMORY_MAX (512 * MIB)        /* arena of one render */
#define TEMPLATE_NODES_DEPTH_MAX 10000         /* nested parentheses and blocks in the source */

/* JSONPath templates */
#define JSONPATH_TEXT_MAX (64 * KIB)
#define JSONPATH_DEPTH_MAX ((size_t)2000)    /* ranges in ranges, and levels that ".." goes down */
#define JSONPATH_STEPS_MAX ((size_t)4000000) /* nodes that are printed and results of all nodes, together */
#define JSONPATH_OUTPUT_MAX (64 * MIB)       /* text of one template */

/* --set: Helm's figures (pkg/strvals) */
#define STRVALS_INDEX_MAX 65536
#define STRVALS_DEPTH_MAX 30
#define STRVALS_LIST_DEPTH_MAX 1000 /* lists in lists */

/* JSON Schema */
#define SCHEMA_REF_DEPTH_MAX 256
#define SCHEMA_DEPTH_MAX 512
#define SCHEMA_STEPS_MAX ((size_t)10000000)
#define SCHEMA_REPORT_MAX (16 * MIB) /* text of all violations */

/* HTTP */
#define HTTP_BODY_MAX (64 * MIB) /* an answer kept in memory, unless the request says otherwise */
#define HTTP_HEADERS_MAX (128 * KIB)
#define HTTP_REDIRECTS_MAX 10
#define HTTP_URL_MAX (8 * KIB)
#define HTTP_ERROR_BODY_MAX (64 * KIB)     /* kept of the body of a refusal */
#define HTTP_QUEUE_MAX (256 * KIB)         /* waiting for a sink; then the transfer is held back */
#define HTTP_STREAM_QUEUE_MAX (16 * MIB)   /* waiting for a stream's reader; then the stream ends */
#define HTTP_DEADLINE_MS ((int64_t)120000) /* a whole exchange */
#define HTTP_CONNECT_MS ((int64_t)15000)   /* name, TCP and TLS */
#define HTTP_IDLE_MS ((int64_t)30000)      /* without a byte */

/* OCI registries */
#define OCI_MANIFEST_MAX (4 * MIB)    /* a manifest, a page of tags, a token; as oras and docker */
#define OCI_LAYERS_MAX ((size_t)100)  /* layers of a manifest that is looked at */
#define OCI_TAGS_MAX ((size_t)100000) /* tags of one repository */
#define OCI_PAGES_MAX ((size_t)1000)  /* pages that they come in */
#define OCI_CONFIG_MAX (1 * MIB)      /* a config.json with logins */

/* repositories */
#define REPOSITORIES_FILE_MAX (4 * MIB) /* repositories.yaml */
#define PROVENANCE_MAX (1 * MIB)        /* a .prov file */
#define KEYRING_MAX (16 * MIB)          /* public keys that provenance files are checked with */
#define COSIGN_PAYLOAD_MAX (1 * MIB)    /* what a cosign signature is about */
#define COSIGN_SIGNATURE_MAX (8 * KIB)  /* RSA with 65,536 bits */
#define INDEX_TEXT_MAX (256 * MIB)
#define INDEX_ENTRY_MAX (16 * MIB) /* text of one entry, for the readers that look at entries as a whole */

/* chart mirror */
#define MIRROR_TAR_MAX (64 * MIB) /* an unpacked archive that is kept in pieces; larger ones are kept whole */
#define MIRROR_TEXTS_MAX (256 * MIB) /* all pieces that one archive is made of, with what lies between them */
#define MIRROR_SOURCES_MAX 32        /* objects that one archive takes pieces from */
#define MIRROR_PROVENANCE_MAX (1 * MIB)   /* a .prov file */
#define MIRROR_RECORD_MAX (1 * MIB)       /* what is kept of one version: its index entry and digests */
#define MIRROR_MANIFEST_MAX (4 * MIB)     /* an OCI manifest, as other registries */
#define MIRROR_BLOB_MAX (64 * MIB)        /* an OCI blob that is pushed */
#define MIRROR_MANIFESTS_MAX ((size_t)32) /* manifests of one version */
#define MIRROR_UPLOADS_MAX 256            /* pushes that have begun and not ended */
#define MIRROR_NAME_MAX ((size_t)255)     /* path and name of a chart */
#define MIRROR_TAG_MAX ((size_t)128)      /* a version or tag, as OCI */
#define MIRROR_SYNC_MAX ((size_t)20000)   /* versions that one sync looks at */
#define MIRROR_BUNDLE_MANIFEST_MAX (256 * MIB)

/* Kubernetes */
#define KUBE_OBJECT_MAX (3 * MIB)         /* a request body, as kube-apiserver */
#define KUBE_LIST_PAGE 500                /* objects a page */
#define KUBE_ANSWER_MAX (64 * MIB)        /* one answer, or one page of a list */
#define KUBE_DEADLINE_MS ((int64_t)60000) /* one request with its retries */
#define KUBE_EVENT_MAX (8 * MIB)          /* one event of a watch stream; etcd's objects end at 1.5 MiB */
#define KUBE_CONFIG_MAX (4 * MIB)         /* a kubeconfig file, a certificate file */
#define KUBE_EXEC_OUTPUT_MAX (1 * MIB)    /* what a credential plugin prints */
#define KUBE_EXEC_MS ((int64_t)60000)     /* how long a credential plugin may take */
#define KUBE_RECORDER_QUEUE_MAX \
    ((size_t)1024) /* events waiting to be written; more are dropped and counted */
#define METRICS_SERIES_MAX ((size_t)20000)
#define CONFIGMAP_PART_MAX (960 * KIB)          /* decoded data of one ConfigMap that we write */
#define RELEASE_OBJECTS_MAX ((size_t)20000)     /* objects of one release */
#define RELEASE_RECORD_MAX ((size_t)1048576)    /* data of a record's Secret, as the API server counts it */
#define RELEASE_RECORD_UNPACKED_MAX (128 * MIB) /* a record that somebody else wrote, unpacked */

/* the embedded API server: bodies */
#define API_PROTO_DEPTH_MAX \
    200 /* nested protobuf messages; the deepest built-in kinds need about 20, CRDs more */
#define API_SCHEMA_DEPTH_MAX 200        /* nested nodes of a CRD's schema, and of objects that it prunes */
#define API_PATCH_DEPTH_MAX 200         /* nested maps of a strategic merge patch */
#define API_JSONPATH_MAX ((size_t)4096) /* bytes of a JSONPath in a CRD */
#define API_PATCH_OPERATIONS_MAX ((size_t)10000) /* operations of one JSON patch, as kube-apiserver */
/* API server */
#define API_BODY_MAX (3 * MIB)              /* a request body, as kube-apiserver */
#define API_DEPTH_MAX 500                   /* maps and lists in each other, in a body and in an object */
#define API_OBJECT_MAX (4 * MIB)            /* an object as stored */
#define API_ANSWER_MAX (512 * MIB)          /* one answer, lists included */
#define API_REQUEST_MEMORY_MAX (1024 * MIB) /* arena of one request */
#define API_CONNECTIONS_MAX 1000            /* open at once; beyond: 429 */
#define API_CONNECTION_STACK (1 * MIB)
#define API_PARAMS_MAX ((size_t)64) /* query parameters of a request */
#define API_SELECTOR_TERMS_MAX ((size_t)256)
#define API_HISTORY_MAX 20000 /* superseded revisions kept for watches and continued lists */
#define API_HISTORY_MS 300000 /* ... and how long, as etcd's compaction on a real server */
