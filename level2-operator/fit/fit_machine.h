// What the model shall run on: a published device, or this machine.
#ifndef LEVEL2_FIT_MACHINE_H
#define LEVEL2_FIT_MACHINE_H

#include "level2-operator/fit/device_table.h"
#include "level2-operator/fit/fit_case.h"

// Thousandths of a device that an engine takes unless it is told otherwise: vLLM's
// gpu_memory_utilization was 0.9 for long.
enum { FIT_DEFAULT_SHARE = 900 };

// Overhead of each device is the middle of what start-up logs showed: context, activations, graphs, and
// when a model is split buffers to talk; the highest of each is kept beside it. ERR_FORMAT: overheads
// lacks one of them.
enum status fit_machine_of_entry(struct fit_machine *m, const struct device_entry *e,
                                 const struct data_table *overheads, struct error *err);

// Memory is the least of RAM and the limit of the control group. Overhead is serve_bytes, what serve takes
// beside model and KV (engine/serial_fit.h knows), and the tables that it makes of a file. Its speed is
// not known here: make lesson0.
void fit_machine_here(struct fit_machine *m, const struct fit_subject *s,
                      uint64_t serve_bytes);

// ERR_FORMAT: rates lacks one of them.
enum status fit_machine_rates(struct fit_machine *m, const struct data_table *rates,
                              struct error *err);

#endif
