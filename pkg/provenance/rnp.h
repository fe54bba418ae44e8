/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The functions of librnp that provenance uses, opened at first use. */
#include <rnp/rnp.h>
#include <rnp/rnp_err.h>

#include "provenance/provenance.h"

/* clang-format off */
#define RNP_FUNCTIONS(X) \
    X(buffer_destroy) X(ffi_create) X(ffi_destroy) X(import_keys) X(input_destroy) X(input_from_memory) \
    X(key_allows_usage) X(key_get_alg) X(key_get_bits) X(key_get_creation) X(key_get_fprint) X(key_get_primary_fprint) \
    X(key_get_uid_count) X(key_get_uid_handle_at) X(key_handle_destroy) X(key_is_expired) X(key_is_primary) \
    X(key_is_revoked) X(key_is_valid) X(locate_key) X(op_verify_destroy) \
    X(op_verify_detached_create) X(op_verify_execute) X(op_verify_get_signature_at) \
    X(op_verify_get_signature_count) X(op_verify_signature_get_hash) X(op_verify_signature_get_key) \
    X(op_verify_signature_get_status) X(op_verify_signature_get_times) X(set_timestamp) X(uid_get_data) \
    X(uid_get_type) X(uid_handle_destroy) X(uid_is_valid) \
    X(identifier_iterator_create) X(identifier_iterator_destroy) X(identifier_iterator_next) X(key_have_secret) \
    X(key_is_locked) X(key_unlock) X(op_sign_add_signature) X(op_sign_cleartext_create) X(op_sign_destroy) \
    X(op_sign_execute) X(op_sign_set_creation_time) X(op_sign_set_hash) X(output_destroy) X(output_memory_get_buf) \
    X(output_to_memory)
/* clang-format on */

struct rnp_table {
#define X(name) __typeof__(rnp_##name) *name;
    RNP_FUNCTIONS(X)
#undef X
};
extern struct rnp_table rnp;

/* UNSUPPORTED naming the package when it is not there. */
NODISCARD int rnp_open(struct err **err);

/* Between these two calls, which may be nested, what this thread writes to the C library's stderr is dropped; what other threads
 * write to it comes through. Debian's librnp 0.16 tells its troubles there. It is built without NDEBUG, so that RNP_LOG_CONSOLE is not
 * asked, rnp_ffi_set_log_fd() moves only a few of its messages, and its own switch is not exported. A process of its own for each
 * verification would cost more code than this filter and more time than the verification. */
void rnp_quiet_begin(void);
void rnp_quiet_end(void);

int rnp_failed(struct err **err); /* INTERNAL: what cannot fail did */
void rnp_input_free(rnp_input_t input);
DEFINE_CLEANUP(rnp_input_t, rnp_input_free)
void rnp_ffi_free(rnp_ffi_t ffi);
DEFINE_CLEANUP(rnp_ffi_t, rnp_ffi_free)

NODISCARD int rnp_input_open(struct str s, rnp_input_t *ret, struct err **err); /* borrows s */
/* A keyring with secret keys. */
NODISCARD int rnp_secret_keyring_open(struct str keys, rnp_ffi_t *ret, struct err **err);
/* The job's keyrings, read. INVALID when one of them holds no key, LIMIT. */
NODISCARD int rnp_keyrings_open(const struct provenance_job *job, rnp_ffi_t *ret, struct err **err);
