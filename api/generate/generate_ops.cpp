// Writes what follows from the op definitions:
//   generate_ops HEADER SOURCE      the C++ builders
//   generate_ops --docs FILE        the reference, docs/ops.md
//   generate_ops --check FILE       fails when the reference in FILE is not that of this build
#include "troupe/api/generate/builders.hpp"
#include "troupe/api/generate/reference.hpp"
#include "troupe/ops/all.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

namespace {

std::string content_of(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  return (std::ostringstream{} << in.rdbuf()).str();
}

/// Leaves a file that would not change alone, so that nothing is built again.
void write(const std::string& path, const std::string& text) {
  if (content_of(path) == text)
    return;
  std::ofstream out{path, std::ios::binary};
  out << text << std::flush;
  if (!out)
    throw std::runtime_error{"cannot write " + path};
}

/// A build without CUDA has no kernels that are only for GPUs, of which the reference speaks.
bool knows_gpus(const troupe::registry& ops) {
  return std::ranges::any_of(ops.ops(), [&](auto* op) {
    auto* kernel = ops.find_kernel(op->name, troupe::device_kind::gpu);
    return kernel && !kernel->on_any_device;
  });
}

std::string without_devices(const std::string& text) {
  std::istringstream in{text};
  std::string kept;
  for (std::string line; std::getline(in, line);)
    if (!line.starts_with("- devices: "))
      kept += line + '\n';
  return kept;
}

int run(const std::vector<std::string>& arguments) {
  troupe::registry ops;
  if (auto added = troupe::ops::add_all(ops); !added)
    throw std::runtime_error{added.message()};
  if (arguments.size() != 2) {
    std::cerr << "usage: generate_ops HEADER SOURCE | --docs FILE | --check FILE\n";
    return 2;
  }
  const auto& path = arguments[1];
  if (arguments[0] == "--docs") {
    if (!knows_gpus(ops))
      throw std::runtime_error{"this build has no CUDA and does not know which ops run on GPUs; "
                               "write the reference where the toolkit is"};
    write(path, troupe::generate::reference(ops));
  } else if (arguments[0] == "--check") {
    auto is = content_of(path), should = troupe::generate::reference(ops);
    if (!knows_gpus(ops)) {
      is = without_devices(is);
      should = without_devices(should);
    }
    if (is != should) {
      std::cerr << path << " is not what the op definitions say; write it again with\n"
                << "  cmake --build --preset default --target docs\n";
      return 1;
    }
  } else {
    write(arguments[0], troupe::generate::builders_header(ops.ops()));
    write(path, troupe::generate::builders_source(ops.ops()));
  }
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::cerr << "generate_ops: " << e.what() << '\n';
    return 1;
  }
}
