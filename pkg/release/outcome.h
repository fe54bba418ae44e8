/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* outcome: how a look at a Release ends: what is remembered in its record and told in its status. */
#include "controller/controller.h"
#include "release/manager.h"
#include "release/observe.h"

/* The operation waits for something. */
NODISCARD int outcome_report_waiting(struct release_manager *m, struct observation *o, struct str what,
                                     struct err **err);
/* It has ended well; the objects' health is looked at until all are well. */
NODISCARD int outcome_finish_deployed(struct release_manager *m, struct observation *o,
                                      struct release_memory *mem, struct controller_result *ret,
                                      struct err **err);
/* Nothing was left to do. */
NODISCARD int outcome_finish_unchanged(struct release_manager *m, struct observation *o,
                                       struct release_memory *mem, struct controller_result *ret,
                                       struct err **err);
/* What failed is undone, or was before this look. */
NODISCARD int outcome_finish_undone(struct release_manager *m, struct observation *o,
                                    struct release_memory *mem, struct controller_result *ret,
                                    struct err **err);
/* Ends the attempt in its record, when the failure is one that does not pass. True: it has to be undone. */
bool outcome_mark_failed(struct observation *o, struct release_run *run, const struct err *cause);
/* Deletes what this attempt created, when the Config asks for it. */
void outcome_clean_up(struct observation *o, struct release_run *run);
NODISCARD int outcome_report_failure(struct release_manager *m, struct observation *o,
                                     const struct err *cause, struct err **err);
