// Kernels of the ops on lookup tables; both versions use them.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

status hold_table(kernel_context& at);
status find_in_table(kernel_context& at);
status insert_into_table(kernel_context& at);
status remove_from_table(kernel_context& at);
status size_of_table(kernel_context& at);
status export_table(kernel_context& at);
status import_table(kernel_context& at);
status fill_table(kernel_context& at);
result<std::shared_ptr<void>> keep_table_file_format(const kernel_setup& setup);
status fill_table_from_file(kernel_context& at);

/// The table determines the types, so one kernel serves all types.
constexpr kernel_def table_kernel(std::string_view op, kernel_fn run) {
  return {.op = op, .run = {{dtype::none, run}}};
}

} // namespace troupe::ops
