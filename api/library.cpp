#include "troupe/api/library.hpp"

#include "troupe/api/error.hpp"
#include "troupe/devices/cpu/cpu_device.hpp"
#include "troupe/ops/all.hpp"

namespace troupe {

const registry& library() {
  static const registry all = [] {
    registry filled;
    throw_if_failed(ops::add_all(filled));
    return filled;
  }();
  return all;
}

std::vector<std::shared_ptr<device>> make_devices(int intra_op_threads, size_t memory_limit) {
  std::vector<std::shared_ptr<device>> made;
  made.push_back(
      make_cpu_device({.intra_op_threads = intra_op_threads, .memory_limit = memory_limit}));
  return made;
}

} // namespace troupe
