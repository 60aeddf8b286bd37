// Generates files from the op definitions, in the tree ROOT: the C++ builders
// (api/generated/ops.hpp and .cpp) and the reference (docs/ops.md).
//   generate_ops write ROOT
//   generate_ops check ROOT    fails if a file is not up to date
#include "troupe/api/generate/builders.hpp"
#include "troupe/api/generate/reference.hpp"
#include "troupe/ops/all.hpp"

#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

namespace {

struct generated_file {
  std::string path, content;
};

std::string content_of(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  return (std::ostringstream{} << in.rdbuf()).str();
}

void write(const generated_file& file) {
  std::ofstream out{file.path, std::ios::binary};
  out << file.content << std::flush;
  if (!out)
    throw std::runtime_error{"cannot write " + file.path};
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() != 2 || (arguments[0] != "write" && arguments[0] != "check")) {
    std::cerr << "usage: generate_ops write|check ROOT\n";
    return 2;
  }
  troupe::registry ops;
  for (const auto* op : troupe::ops::all_ops())
    if (auto added = ops.add(*op); !added)
      throw std::runtime_error{added.message()};
  const auto& root = arguments[1];
  int stale = 0;
  for (const auto& file :
       {generated_file{root + "/api/generated/ops.hpp",
                       troupe::generate::builders_header(ops.ops())},
        generated_file{root + "/api/generated/ops.cpp",
                       troupe::generate::builders_source(ops.ops())},
        generated_file{root + "/docs/ops.md", troupe::generate::reference(ops)}}) {
    if (content_of(file.path) == file.content)
      continue;
    if (arguments[0] == "write") {
      write(file);
    } else {
      std::cerr << file.path << " does not match the op definitions; regenerate it with\n"
                << "  cmake --build --preset default --target generate\n";
      stale = 1;
    }
  }
  return stale;
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
