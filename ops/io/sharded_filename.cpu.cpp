#include "troupe/runtime/graph/kernel.hpp"

#include <cinttypes>
#include <cstdio>

namespace troupe::ops::sharded_filename_cpu {
namespace {

// A sign counts as one of the five characters.
std::string five_digits(int32_t number) {
  char digits[16];
  (void)std::snprintf(digits, sizeof digits, "%05" PRId32, number);
  return digits;
}

status check_scalars(const kernel_context& at) {
  for (int i = 0; i < at.inputs(); ++i)
    if (at.input(i).rank() != 0)
      return invalid("input ", i, " must be a scalar, got shape ", at.input(i).dims());
  return {};
}

status run_filename(kernel_context& at) {
  TROUPE_TRY(check_scalars(at));
  auto shard = *at.input(1).data<int32_t>(), of = *at.input(2).data<int32_t>();
  at.set_output(0,
                tensor::scalar<std::string>(concat(*at.input(0).data<std::string>(), '-',
                                                   five_digits(shard), "-of-", five_digits(of))));
  return {};
}

status run_filespec(kernel_context& at) {
  TROUPE_TRY(check_scalars(at));
  at.set_output(0, tensor::scalar<std::string>(concat(*at.input(0).data<std::string>(),
                                                      "-????"
                                                      "?-of-",
                                                      five_digits(*at.input(1).data<int32_t>()))));
  return {};
}

} // namespace

extern constexpr kernel_def sharded_filename_cpu{.op = "ShardedFilename",
                                                 .run = {{dtype::none, run_filename}}};
extern constexpr kernel_def sharded_filespec_cpu{.op = "ShardedFilespec",
                                                 .run = {{dtype::none, run_filespec}}};

} // namespace troupe::ops::sharded_filename_cpu
