/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "apiserver/printer_int.h"

void printer_pod_row(struct printer_row *r); /* printPod() */
