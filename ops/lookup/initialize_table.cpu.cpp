#include "troupe/ops/lookup/shared/lookup.cpu.hpp"

namespace troupe::ops::initialize_table_cpu {

extern constexpr kernel_def initialize_table_cpu = table_kernel("InitializeTable", fill_table);

extern constexpr kernel_def initialize_table_from_text_file_cpu{
    .op = "InitializeTableFromTextFile",
    .run = {{dtype::none, fill_table_from_file}},
    .prepare = keep_table_file_format,
};

} // namespace troupe::ops::initialize_table_cpu
