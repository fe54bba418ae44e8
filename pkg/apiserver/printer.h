/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* printer: Table columns and cells, as kube-apiserver's printers (pkg/printers/internalversion) and CRDs'
 * additionalPrinterColumns. */
#include "apiserver/kinds.h"
#include "base/arena.h"
#include "base/clock.h"

struct api_printer;

/* The printer of a built-in kind; constant. Kinds without columns of their own get Name and Created At. Never NULL. */
const struct api_printer *api_printer_of_kind(const struct api_kind *k);
/* From additionalPrinterColumns (a list; null: Name and Age). Owned; INVALID for a JSONPath outside of the subset. */
NODISCARD int api_printer_new(struct value columns, struct api_printer **ret, struct err **err);
void api_printer_free(struct api_printer *p); /* only of api_printer_new(); p may be NULL */
DEFINE_CLEANUP(struct api_printer *, api_printer_free)

/* columnDefinitions as a list value in `a`. */
struct value api_printer_columns(const struct api_printer *p, struct arena *a);
/* One row's cells, as many as there are columns, and its conditions (`*ret_conditions` null when none). */
void api_printer_row(const struct api_printer *p, struct arena *a, struct value object, struct wall_time now,
                     struct value *ret_cells, struct value *ret_conditions);
/* "5m3s", "2d1h": apimachinery's duration.HumanDuration. */
void api_printer_duration(int64_t seconds, struct buf *out);
