/* SPDX-License-Identifier: Apache-2.0 */
#include "template/func.h"

const struct tpl_func_table tpl_funcs_string = { NULL, 0 };
