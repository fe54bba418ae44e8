/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* gocert_rsa: RSA keys with two primes as Go's crypto/rsa makes them. Private to the module. */
#include "base/openssl.h"

/* A new key with the exponent 65537, or NULL. Takes seconds for 4096 bits, on two processors when there are two. */
EVP_PKEY *gocert_rsa_new(int bits);
